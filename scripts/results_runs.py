"""Runs of algorithms, read from bench/results, as rows of tables."""

import dataclasses
import math
import statistics

ALGORITHMS = ("bfs", "sssp", "pagerank", "components")


@dataclasses.dataclass
class Run:
    """One line of a table: an algorithm on a graph on a machine."""

    what: str
    graph: str
    arcs: int
    device: str  # "NVIDIA H200", or a processor
    pes: int
    threads: int  # of a PE; 0 on GPUs
    how: str
    seconds: float  # median
    rate: float  # arcs per second, median
    gapbs_seconds: float | None = None
    ratio: float | None = None  # ours over GAPBS's, median over rounds

    @property
    def on_gpu(self) -> bool:
        return self.threads == 0

    @property
    def machine(self) -> str:
        return f"{self.pes} x {self.device}" if self.on_gpu else f"{self.device}, {self.pes} x {self.threads} threads"


def rounded_up(bound: float) -> str:
    """Two digits of a bound, never less than it."""
    text = f"{bound:.1e}"
    return text if float(text) >= bound else f"{bound + 0.05 * 10 ** math.floor(math.log10(bound)):.1e}"


def machine_of(data: dict, chosen: dict) -> tuple[str, int, int]:
    """Device, PEs and threads of a PE. Of a report's choices, "gpu: all of them" and so on, only the values count."""
    kept = {k: v.split(":")[0] for k, v in chosen.items()}
    pes = int(kept.get("pes", 1))
    if kept.get("device") == "gpu":
        return data["devices"][0]["name"], pes, 0
    return data["machine"]["cpu"], pes, int(kept.get("threads", 1))


def from_command(data: dict) -> list[Run]:
    """Of a `shoal NAME --json` file. ValueError: not a result that may be shown."""
    trials = data["trials"]
    if not trials or not all(t["verified"] is True for t in trials):
        raise ValueError("not every trial is verified and right (run with --verify)")
    chosen = trials[-1]["report"]["chosen"]
    how = ", ".join(chosen[k].split(":")[0] for k in ("strategy", "kernel", "worker") if k in chosen)
    if data["command"] == "pagerank":
        how += f", error below {rounded_up(max(t['error_bound'] for t in trials))}"
    graph = data["graph"]
    seconds = statistics.median(t["seconds"] for t in trials)
    rate = statistics.median(t["arcs_per_second"] for t in trials)
    how += f"; {len(trials)} trials"
    return [Run(data["command"], graph["name"], graph["num_arcs"], *machine_of(data, chosen), how, seconds, rate)]


def from_scaling(data: dict) -> list[Run]:
    """Of a bench/scaling.py file."""
    if not all(row["verified"] for row in data["rows"]):
        raise ValueError("not every answer is right")
    runs = []
    for row in data["rows"]:
        seconds = statistics.median(row["seconds"])
        device = data["devices"][0]["name"] if data["device"] == "gpu" else data["machine"]["cpu"]
        threads = 0 if data["device"] == "gpu" else max(1, data["machine"]["usable_threads"] // row["pes"])
        bound = f", error below {rounded_up(row['error_bound'])}" if "error_bound" in row else ""
        how = f"{row['strategy']}{bound}; {len(row['seconds'])} trials"
        rate = row["arcs_per_second"]
        runs.append(
            Run(row["algorithm"], row["graph"], row["num_arcs"], device, row["pes"], threads, how, seconds, rate)
        )
    return runs


def beside_gapbs(data: dict) -> list[Run]:
    """A run for each graph of a bench/beside_gapbs.py file, which checks every answer before it times."""
    runs = []
    how = {"bfs": "levels", "sssp": "delta"}.get(data["algorithm"], "auto")
    for result in data["results"]:
        ours, beside = result["shoal"], result["gapbs"]
        runs.append(
            Run(
                data["algorithm"],
                result["graph"],
                result["num_arcs"],
                data["machine"]["processor"],
                data["pes"],
                data["threads"] // data["pes"],
                f"{how}; {len(result['sources'])} {'rounds' if how == 'auto' else 'sources'}",
                ours["median_seconds"],
                ours.get("median_arcs_per_second", result["num_arcs"] / ours["median_seconds"]),
                beside["median_seconds"],
                result["median_ratio"],
            )
        )
    return runs


def on_one(run: Run, runs: list[Run]) -> Run | None:
    """The same on one GPU."""
    same = [r for r in runs if (r.what, r.graph, r.device, r.pes) == (run.what, run.graph, run.device, 1) and r.on_gpu]
    return same[0] if same and run.on_gpu and run.pes > 1 else None


def full_table(runs: list[Run]) -> str:
    """All runs, by algorithm; on one GPU first, then several, then CPU threads."""
    lines = []
    for what in ALGORITHMS:
        mine = sorted(
            (r for r in runs if r.what == what), key=lambda r: (not r.on_gpu, r.graph.split(":")[0], r.arcs, r.pes)
        )
        if not mine:
            continue
        lines += [
            "",
            f"### {what}",
            "",
            "| graph | arcs | machine | how | median ms | Garcs/s | against the best on one GPU | GAPBS ms (ratio) |",
            "|---|---:|---|---|---:|---:|---:|---:|",
        ]
        for r in mine:
            one = on_one(r, runs)
            against = f"{one.seconds / r.seconds:.2f} x" if one else ""
            beside = f"{r.gapbs_seconds * 1e3:.2f} ({r.ratio:.2f})" if r.gapbs_seconds else ""
            lines.append(
                f"| {r.graph} | {r.arcs:,} | {r.machine} | {r.how} | {r.seconds * 1e3:.2f} | {r.rate / 1e9:.2f} "
                f"| {against} | {beside} |"
            )
    return "\n".join(lines[1:]) + "\n"


def short_tables(runs: list[Run]) -> str:
    """The dozen for a first look: the largest graph of each kind on one and on four GPUs; CPU threads beside GAPBS."""
    gpu, cpu = [], []
    for what in ALGORITHMS:
        several = [r for r in runs if r.what == what and r.on_gpu and r.pes == 4 and on_one(r, runs)]
        for kind in ("kron", "road"):
            shown = [r for r in several if r.graph.startswith(kind + ":")]
            if not shown:
                continue
            four = (max if kind == "kron" else min)(shown, key=lambda r: r.arcs)
            one = on_one(four, runs)
            error = next((x for x in four.how.split("; ")[0].split(", ") if x.startswith("error")), "")
            name = f"{what}, {error}" if error else what
            times = f"{one.seconds * 1e3:.2f} | {one.rate / 1e9:.1f} | {four.seconds * 1e3:.2f}"
            gpu.append(f"| {name} | {four.graph} | {four.arcs:,} | {times} | {one.seconds / four.seconds:.2f} x |")
        beside = sorted((r for r in runs if r.what == what and r.gapbs_seconds), key=lambda r: r.graph)
        cells = [f"{r.seconds * 1e3:.1f} / {r.gapbs_seconds * 1e3:.1f} ({r.ratio:.2f})" for r in beside]
        if beside:
            cpu.append((tuple(r.graph for r in beside), beside[0].machine, f"| {what} | " + " | ".join(cells) + " |"))
    text = ""
    if gpu:
        device = next(r.device for r in runs if r.on_gpu)
        text += f"| what | graph | arcs | ms on one {device} | Garcs/s | ms on four | four against one |\n"
        text += "|---|---|---:|---:|---:|---:|---:|\n" + "\n".join(gpu) + "\n"
    if cpu:
        graphs, machine, _ = cpu[0]
        text += f"\nOn CPU threads ({machine}), shoal's ms / GAPBS's ms (ratio):\n\n"
        text += "| what | " + " | ".join(graphs) + " |\n|---|" + "---:|" * len(graphs) + "\n"
        text += "\n".join(line for names, _, line in cpu if names == graphs) + "\n"
    return text or "No results are recorded yet.\n"
