"""Runs of algorithms, read from bench/results, as rows of tables."""

import collections
import dataclasses
import math
import statistics
import textwrap

LIBRARIES = {"networkit": "NetworKit", "igraph": "igraph"}  # of bench/libraries_bfs.py
ALGORITHMS = ("bfs", "sssp", "pagerank", "components", "kcore")


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
    vertices: int = 0
    depth: int = 0  # of a breadth-first search, in hops; median over the trials
    sweeps: int = 0  # of PageRank over all arcs
    gapbs_seconds: float | None = None
    ratio: float | None = None  # ours over GAPBS's, median over rounds
    true_error: float | None = None  # PageRank beside GAPBS: both programs are only as exact as it demands
    remark: str = ""  # what a reader has to know about the numbers
    measured: str = ""  # date and revision
    libraries: dict[str, float] = dataclasses.field(default_factory=dict)  # "NetworKit 11.2.2" -> seconds, median

    @property
    def on_gpu(self) -> bool:
        return self.threads == 0

    @property
    def machine(self) -> str:
        return f"{self.pes} x {self.device}" if self.on_gpu else f"{self.device}, {self.pes} x {self.threads} threads"


def rounded_up(bound: float) -> str:
    """The bound in two digits, rounded up."""
    text = f"{bound:.1e}"
    return text if float(text) >= bound else f"{bound + 0.05 * 10 ** math.floor(math.log10(bound)):.1e}"


def measured(data: dict) -> str:
    """Date and revision of a result file. Older files lack one of them, or both."""
    revision = data.get("revision") or data.get("revisions", {}).get("shoal")
    return " ".join(str(text)[:10] for text in (data.get("date"), revision) if text) or "not written down"


def values_of(chosen: dict[str, str]) -> dict[str, str]:
    """The values of a report's decisions: "gpu" of "gpu: all of them"."""
    return {option: text.split(": ")[0] for option, text in chosen.items()}


def machine_of(data: dict, chosen: dict[str, str]) -> tuple[str, int, int]:
    """Device, number of PEs and threads per PE (0 on GPUs), from the report's decisions."""
    values = values_of(chosen)
    pes = int(values.get("pes", 1))
    if values.get("device") == "gpu":
        return data["devices"][0]["name"], pes, 0
    return data["machine"]["cpu"], pes, int(values.get("threads", 1))


def from_command(data: dict) -> list[Run]:
    """The run of a `shoal NAME --json` file. ValueError: not every trial was verified and right."""
    trials = data["trials"]
    if not trials or not all(t["verified"] is True for t in trials):
        raise ValueError("not every trial is verified and right (run with --verify)")
    chosen = trials[-1]["report"]["chosen"]
    values = values_of(chosen)
    how = ", ".join(values[k] for k in ("strategy", "kernel", "worker") if k in values)
    if data["command"] == "pagerank":
        how += f", error below {rounded_up(max(t['error_bound'] for t in trials))}"
    graph = data["graph"]
    seconds = statistics.median(t["seconds"] for t in trials)
    rate = statistics.median(t["arcs_per_second"] for t in trials)
    how += f"; {len(trials)} trials"
    run = Run(data["command"], graph["name"], graph["num_arcs"], *machine_of(data, chosen), how, seconds, rate)
    run.vertices = graph["num_vertices"]
    run.depth = int(statistics.median(t.get("depth", 0) for t in trials))
    run.sweeps = trials[-1].get("sweeps", 0)
    run.measured = measured(data)
    run.remark = data.get("remark", "")
    return [run]


def from_scaling(data: dict) -> list[Run]:
    """The runs of a bench/scaling.py file. ValueError: not every answer was right."""
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
        run = Run(row["algorithm"], row["graph"], row["num_arcs"], device, row["pes"], threads, how, seconds, rate)
        run.vertices, run.depth, run.sweeps = row["num_vertices"], row.get("depth", 0), row.get("sweeps", 0)
        run.measured = measured(data)
        runs.append(run)
    return runs


def beside_gapbs(data: dict) -> list[Run]:
    """A run for each graph of a bench/beside_gapbs.py file. That script checks every answer before it times.

    ValueError: PageRank was not compared at the same true error."""
    runs = []
    how = {"bfs": "levels", "sssp": "delta"}.get(data["algorithm"], "auto")
    rounds = "sources" if how != "auto" else "rounds"
    for result in data["results"]:
        ours, beside = result["shoal"], result["gapbs"]
        if data["algorithm"] == "pagerank":
            errors = result.get("true_error", {})
            if not all(errors.get(name, math.inf) <= data.get("error", 0) for name in ("shoal", "gapbs")):
                raise ValueError(f"{result['graph']}: not timed at the same true error")
            how = f"auto, true error below {rounded_up(data['error'])}"
        runs.append(
            Run(
                data["algorithm"],
                result["graph"],
                result["num_arcs"],
                data["machine"]["processor"],
                data["pes"],
                data["threads"] // data["pes"],
                f"{how}; {len(result['sources'])} {rounds}",
                ours["median_seconds"],
                ours.get("median_arcs_per_second", result["num_arcs"] / ours["median_seconds"]),
                gapbs_seconds=beside["median_seconds"],
                ratio=result["median_ratio"],
                true_error=data.get("error"),
                remark=data.get("remark", ""),
                measured=measured(data),
                libraries={
                    f"{name} {result[key]['version']}": result[key]["median_seconds"]
                    for key, name in LIBRARIES.items()
                    if key in result
                },
            )
        )
    return runs


def on_one(run: Run, runs: list[Run]) -> Run | None:
    """The fastest run on one GPU of the same algorithm, graph and kind of GPU. None: no such run, or `run` is not on several."""
    same = [r for r in runs if (r.what, r.graph, r.device, r.pes) == (run.what, run.graph, run.device, 1) and r.on_gpu]
    return min(same, key=lambda r: r.seconds) if same and run.on_gpu and run.pes > 1 else None


def is_wanted_beside(one: Run, runs: list[Run]) -> bool:
    """Whether `one`, on one GPU, belongs into the table: there are runs on several such GPUs, and none on one that is as fast."""
    same = [r for r in runs if (r.what, r.graph, r.device) == (one.what, one.graph, one.device)]
    return any(r.pes > 1 for r in same) and all(r.pes > 1 or r.seconds > one.seconds for r in same)


BYTES_PER_SECOND = 4.0e12  # of streaming loads and stores on one H200
HOP_SECONDS = (683 + 297) / 1.98e9  # a dependent load and an atomic minimum on one H200
LAUNCH_SECONDS = 7.9e-6  # to launch a kernel that the host waits for
FLOOR = """The columns:

- `graph`: `kron:S` (Graph500 Kronecker) and `uniform:S` (random edges) have 2^S vertices; `road:N` is an N x N grid, a
  tenth of whose edges are deleted. An undirected edge is two arcs.
- `machine`: PEs x kind of GPU; or the processor, and PEs x threads of each PE.
- `how`: the strategy (for `async` in most rows also the kernel and the worker), and how many runs were timed.
- `Garcs/s`: 10⁹ arcs per second. Searches count the arcs of reached vertices once, components all arcs once, PageRank
  all arcs once per sweep (by worklist, the items that were pushed; beside GAPBS, all arcs once).
- `floor`: a lower bound, see below; in brackets, how many times as long the run took.
- `against the best on one GPU`: how many times as fast the run is as the fastest recorded run on one GPU of that kind.
  Empty where the run on one GPU is of a later day, and so of a later state of the program.
- `best other program`: its time on the same number of GPUs of that kind, or on as many CPU threads; in brackets, the
  time of shoal over it, so less than 1 means that shoal is faster. Programs with a looser answer are left out.
- `measured`: date and revision.

`floor` is a lower bound for any program on such GPUs, whatever its algorithm. It is the time of one kernel launch that
the host waits for (7.9 us), plus the longer of two times: that of moving the bytes that must move, at 4.0 TB/s for each
GPU, and that of following the graph's depth, at 0.49 us per hop (a load and an atomic minimum, one after the other).
Bandwidth and hop were measured on one H200. The bytes per vertex are 8 in a breadth-first search (a level is written, an
arc is read), 12 in shortest paths (a distance, an arc and its weight), and 12 in components, plus up to 32 for its arcs.
In PageRank they are 4 per arc and sweep. Arcs that an algorithm may skip are not counted: to read all arcs of kron:26
once, with their weights, takes one GPU 4.2 ms.
"""


def floor_seconds(run: Run, runs: list[Run]) -> float | None:
    """The bound of FLOOR. None: the run is not on GPUs, or is PageRank without sweeps or k-core, for which no bound is stated."""
    if not run.on_gpu or run.what == "kcore" or (run.what == "pagerank" and run.sweeps == 0):
        return None
    of_vertices = {"bfs": 8, "sssp": 12, "components": 12, "pagerank": 0}[run.what] * run.vertices
    of_arcs = {"components": min(32 * run.vertices, 4 * run.arcs), "pagerank": 4 * run.arcs * run.sweeps}
    depth = max((r.depth for r in runs if r.graph == run.graph), default=0) if run.what in ("bfs", "sssp") else 0
    moved = (of_vertices + of_arcs.get(run.what, 0)) / (BYTES_PER_SECOND * run.pes)
    return LAUNCH_SECONDS + max(moved, depth * HOP_SECONDS)


def digits(milliseconds: float) -> str:
    return f"{milliseconds:.2f}" if milliseconds >= 0.1 else f"{milliseconds:.3f}"


def floor_cell(run: Run, runs: list[Run]) -> str:
    floor = floor_seconds(run, runs)
    return f"{digits(floor * 1e3)} ({run.seconds / floor:.1f} x)" if floor else ""


class Peers:
    """Times of other programs on the same kind of GPU: bench/results/peers_*.json."""

    def __init__(self, data: dict) -> None:
        self.device, self.note, self.rows = data["device"], data["note"], data["rows"]

    def best(self, run: Run) -> dict | None:
        """The fastest other program on the same graph and number of GPUs, of those whose answer is not `looser`."""
        same = [
            row
            for row in self.rows
            if (row["algorithm"], row["graph"], row["pes"], self.device) == (run.what, run.graph, run.pes, run.device)
            and run.on_gpu
            and not row.get("looser")
        ]
        return min(same, key=lambda row: row["milliseconds"], default=None)

    def section(self) -> str:
        lines = [f"## Other programs on {self.device}s", "", self.note, ""]
        lines += ["| what | graph | program | ms on 1 GPU | 2 GPUs | 4 GPUs |", "|---|---|---|---:|---:|---:|"]
        cells: dict[tuple[str, ...], dict[int, float]] = {}
        for row in self.rows:
            program = f"{row['program']}, {row['how']}" if row["how"] else row["program"]
            of_program = cells.setdefault((row["algorithm"], row["graph"], program), {})
            of_program[row["pes"]] = row["milliseconds"]
        for key, times in sorted(cells.items(), key=lambda cell: (ALGORITHMS.index(cell[0][0]), cell[0][1:])):
            shown = " | ".join(f"{times[n]:g}" if n in times else "" for n in (1, 2, 4))
            lines.append(f"| {' | '.join(key)} | {shown} |")
        return "\n".join(lines) + "\n"


def beside_cell(run: Run, peers: Peers | None) -> str:
    """GAPBS on CPU threads, or the best other program on GPUs: "XBFS 2.1 (0.10)"."""
    if run.gapbs_seconds:
        return f"GAPBS {run.gapbs_seconds * 1e3:.2f} ({run.ratio:.2f})"
    best = peers.best(run) if peers else None
    if best is None:
        return ""
    return f"{best['program']} {best['milliseconds']:g} ({run.seconds * 1e3 / best['milliseconds']:.2g})"


def library_lines(runs: list[Run]) -> str:
    """The times of libraries for Python on the same graphs, in a sentence for each algorithm."""
    text = ""
    for what in ALGORITHMS:
        mine = sorted((r for r in runs if r.what == what and r.libraries), key=lambda r: r.graph)
        names = list(dict.fromkeys(name for run in mine for name in run.libraries))
        takes = [
            f"{name} takes "
            + " and ".join(f"{r.libraries[name] * 1e3:.1f} on {r.graph}" for r in mine if name in r.libraries)
            for name in names
        ]
        if takes:
            says = f"Python libraries for {what}, in milliseconds: {'; '.join(takes)}."
            text += "\n" + textwrap.fill(says, 120) + "\n"
    return text


def libraries_section(runs: list[Run]) -> str:
    """shoal on CPU threads beside GAPBS and libraries for Python, for the files in which bench/beside_gapbs.py ran both."""
    mine = [run for run in runs if run.libraries]
    names = list(dict.fromkeys(name for run in mine for name in run.libraries))
    lines = [
        "## Other programs on CPU threads",
        "",
        "`bench/beside_gapbs.py`, in milliseconds. In brackets: our time over theirs. shoal and GAPBS run in turns in one "
        "call, on the same number of threads. Python libraries use that number too (igraph: one thread); they are timed "
        "inside the script's process, once for each of a few of the sources.",
        "",
        f"| what | graph | machine | shoal | GAPBS | {' | '.join(names)} |",
        "|---|---|---|---:|---:|" + "---:|" * len(names),
    ]
    for run in mine:
        cells = [f"{run.gapbs_seconds * 1e3:.2f} ({run.ratio:.2f})"]
        for name in names:
            seconds = run.libraries.get(name)
            cells.append(f"{seconds * 1e3:.1f} ({run.seconds / seconds:.3f})" if seconds else "")
        lines.append(f"| {run.what} | {run.graph} | {run.machine} | {run.seconds * 1e3:.2f} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def remarks_on(runs: list[Run]) -> str:
    """A paragraph for each remark of these runs."""
    remarks = dict.fromkeys(run.remark for run in runs if run.remark)
    return "".join("\n" + textwrap.fill(remark, 120) + "\n" for remark in remarks)


def full_table(runs: list[Run], peers: Peers | None) -> str:
    """All runs, by algorithm; GPUs first (by kind of graph, size and number of GPUs), then CPU threads."""
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
            "| graph | arcs | machine | how | median ms | Garcs/s | floor ms (over it) | against the best on one GPU "
            "| best other program, ms (ours / its) | measured |",
            "|---|---:|---|---|---:|---:|---:|---:|---:|---|",
        ]
        for r in mine:
            one = on_one(r, runs)
            against = f"{one.seconds / r.seconds:.2f} x" if one and not since(r, one) else ""  # of one state only
            lines.append(
                f"| {r.graph} | {r.arcs:,} | {r.machine} | {r.how} | {r.seconds * 1e3:.2f} | {r.rate / 1e9:.2f} "
                f"| {floor_cell(r, runs)} | {against} | {beside_cell(r, peers)} | {r.measured} |"
            )
        lines += remarks_on(mine).splitlines()
    return "\n".join(lines[1:]) + "\n"


def first_look(runs: list[Run], peers: Peers | None) -> list[tuple[Run, Run | None]]:
    """Pairs of runs of one algorithm, on one GPU and on four, for the short table: the largest Kronecker graph that another
    program ran on one GPU, and the largest Kronecker graph and the smallest road that were run on four."""
    shown = []
    for kind in ("kron", "road"):
        on_four = [r for r in runs if r.graph.startswith(kind + ":") and r.pes == 4 and on_one(r, runs)]
        best = (max if kind == "kron" else min)(on_four, key=lambda r: r.arcs, default=None)
        known = [r for r in runs if kind == "kron" and r.graph.startswith("kron:") and peers and peers.best(r)]
        beside = max((r for r in known if r.pes == 1), key=lambda r: r.arcs, default=None)
        if beside and not (best and best.graph == beside.graph):
            fastest = {
                pes: min(
                    (r for r in runs if (r.graph, r.pes) == (beside.graph, pes)), key=lambda r: r.seconds, default=None
                )
                for pes in (1, 4)
            }
            shown.append((fastest[1], fastest[4]))
        if best:
            shown.append((on_one(best, runs), best))
    return shown


def gapbs_table(runs: list[Run]) -> str:
    """CPU threads beside GAPBS: a line for each algorithm (PageRank: for each true error), a column for each graph."""
    graphs = sorted({r.graph for r in runs})
    text = f"\nOn CPU threads ({runs[0].machine}): milliseconds of shoal / of GAPBS (their ratio; below 1, shoal is faster):\n\n"
    text += "| what | " + " | ".join(graphs) + " |\n|---|" + "---:|" * len(graphs) + "\n"
    for what, error in dict.fromkeys((r.what, r.true_error) for r in runs):
        mine = {r.graph: r for r in runs if (r.what, r.true_error) == (what, error)}
        cells = [f"{what}, true error below {rounded_up(error)}" if error else what]
        for graph in graphs:
            r = mine.get(graph)
            cells.append(f"{r.seconds * 1e3:.1f} / {r.gapbs_seconds * 1e3:.1f} ({r.ratio:.2f})" if r else "")
        text += f"| {' | '.join(cells)} |\n"
    return text + remarks_on(runs)


def since(run: Run, other: Run) -> str:
    """The day of a run that is of an older day than the other, for a table that shows both; else empty."""
    day = run.measured[:10]
    return f" ({day})" if day < other.measured[:10] else ""


def short_tables(runs: list[Run], peers: Peers | None) -> str:
    """The tables of README.md: a dozen runs for a first look (first_look), on the kind of GPU that has most runs; and CPU
    threads beside GAPBS."""
    gpu, cpu = [], []
    devices = collections.Counter(r.device for r in runs if r.on_gpu)
    device = devices.most_common(1)[0][0] if devices else ""
    for what in ALGORITHMS:
        for one, four in first_look([r for r in runs if (r.what, r.on_gpu, r.device) == (what, True, device)], peers):
            error = next((x for x in one.how.split("; ")[0].split(", ") if x.startswith("error")), "")
            name = f"{what}, {error}" if error else what
            beside = f"{floor_cell(one, runs)} | {beside_cell(one, peers)}"
            times = f"{one.seconds * 1e3:.2f} | {one.rate / 1e9:.1f} | {beside}"
            day = since(four, one) if four else ""
            ratio = f"{one.seconds / four.seconds:.2f} x" if four and not day else ""  # of one state only
            more = f"{four.seconds * 1e3:.2f}{day} | {ratio}" if four else " | "
            gpu.append(f"| {name} | {one.graph} | {one.arcs:,} | {times} | {more} |")
        cpu += [r for r in runs if r.what == what and r.gapbs_seconds]
    text = ""
    if gpu:
        text += (
            f"| what | graph | arcs | ms on one {device} | Garcs/s | floor ms (over it) "
            "| best other program, ms (ours / its) | ms on four | four against one |\n"
        )
        text += "|---|---|---:|---:|---:|---:|---:|---:|---:|\n" + "\n".join(gpu) + "\n"
    if cpu:
        text += gapbs_table([r for r in cpu if r.machine == cpu[0].machine]) + library_lines(runs)
    return text or "No results are recorded yet.\n"
