#!/usr/bin/env python3
"""Makes the table of results in README.md, and docs/results.md, from bench/results/*.json.

Reads what `shoal bfs|sssp|pagerank|components --json=FILE`, `shoal tune --json=FILE`, `shoal bench NAME --json=FILE` and
`bench/beside_gapbs.py` and `bench/partitions.py --json FILE` write. Prints docs/results.md; `--write` writes it, and puts
the table of runs between the `<!-- results -->` marks of README.md. A result whose answers were not verified, or were
wrong, is left out and named.
"""

import json
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKS = re.compile(r"(<!-- results -->\n).*?(<!-- end -->)", re.DOTALL)
HEAD = (
    "| what | graph | arcs | machine | how | median ms | Garcs/s | beside it |\n|---|---|---:|---|---|---:|---:|---|\n"
)
RUNS = ("bfs", "sssp", "pagerank", "components")


def row(what: str, graph: str, arcs: int, machine: str, how: str, seconds: float, rate: float, beside: str = "") -> str:
    return f"| {what} | {graph} | {arcs:,} | {machine} | {how} | {seconds * 1e3:.2f} | {rate / 1e9:.2f} | {beside} |"


def machine_of(data: dict, chosen: dict) -> str:
    """What ran: of a report's choices, "gpu: all of them" and so on, only the values are kept."""
    kept = {k: v.split(":")[0] for k, v in chosen.items()}
    pes = int(kept.get("pes", 1))
    if kept.get("device") == "gpu":
        return f"{pes} x {data['devices'][0]['name']}"
    return f"{data['machine']['cpu']}, {pes} x {kept.get('threads', '?')} threads"


def run_rows(data: dict) -> list[str]:
    """One row of a `shoal NAME --json` file. ValueError: not a result that may be shown."""
    trials = data["trials"]
    if not trials or not all(t["verified"] is True for t in trials):
        raise ValueError("not every trial is verified and right (run with --verify)")
    chosen = {k: v.split(":")[0] for k, v in trials[-1]["report"]["chosen"].items()}
    how = ", ".join(chosen[k] for k in ("strategy", "kernel", "worker") if k in chosen)
    if data["command"] == "pagerank":
        how += f", error below {max(t['error_bound'] for t in trials) * 1.05:.1e}"  # never rounded down
    return [
        row(
            data["command"],
            data["graph"]["name"],
            data["graph"]["num_arcs"],
            machine_of(data, trials[-1]["report"]["chosen"]),
            f"{how}; {len(trials)} trials",
            statistics.median(t["seconds"] for t in trials),
            statistics.median(t["arcs_per_second"] for t in trials),
        )
    ]


def cpu_bench_rows(data: dict) -> list[str]:
    """A row for each graph of a bench/beside_gapbs.py file, which checks every answer before it times."""
    rows = []
    how = {"bfs": "levels", "sssp": "delta"}.get(data["algorithm"], "auto")
    for result in data["results"]:
        ours, beside = result["shoal"], result["gapbs"]
        rows.append(
            row(
                data["algorithm"],
                result["graph"],
                result["num_arcs"],
                f"{data['machine']['processor']}, {data['pes']} x {data['threads'] // data['pes']} threads",
                f"{how}; {len(result['sources'])} {'rounds' if how == 'auto' else 'sources'}",
                ours["median_seconds"],
                ours.get("median_arcs_per_second", result["num_arcs"] / ours["median_seconds"]),
                f"GAPBS {beside['median_seconds'] * 1e3:.2f} ms (ratio {result['median_ratio']:.2f})",
            )
        )
    return rows


def partition_section(data: dict) -> str:
    """A bench/partitions.py file as a section: a row for each graph and partition, a column for each way to run."""
    if not all(row["verified"] for row in data["rows"]):
        raise ValueError("not every answer is right")
    on = f"{data['pes']} x {data['devices'][0]['name']}" if data["device"] == "gpu" else data["machine"]["cpu"]
    ways = list(dict.fromkeys(row["way"] for row in data["rows"]))
    lines = [
        f"## Partitions on {data['pes']} PEs, {on}",
        "",
        f"`bench/partitions.py`: medians of {data['trials']} runs in ms. Cut: arcs between PEs. Imbalance: most arcs of a PE "
        f"over the mean.{' ' + data['note'] if 'note' in data else ''}",
        "",
        "| graph | partition | cut | imbalance | " + " | ".join(ways) + " |",
        "|---|---|---:|---:|" + "---:|" * len(ways),
    ]
    places = list(dict.fromkeys((row["graph"], row["partition"]) for row in data["rows"]))
    for graph, partition in places:
        rows = {r["way"]: r for r in data["rows"] if (r["graph"], r["partition"]) == (graph, partition)}
        one = next(iter(rows.values()))
        times = " | ".join(f"{rows[way]['median_seconds'] * 1e3:.2f}" if way in rows else "-" for way in ways)
        cut = one["cut_arcs"] / max(one["num_arcs"], 1)
        name = pathlib.Path(graph).name
        lines.append(f"| {name} | {partition} | {cut:.2%} | {one['imbalance']:.3f} | {times} |")
    return "\n".join(lines) + "\n"


def tune_rows(data: dict) -> list[str]:
    """One row of a `shoal tune --json` file."""
    if any("wrong" in way for way in data["ways"]):
        raise ValueError("a way of it gave a wrong answer")
    best = f"`{' '.join(data['best'])}`" if data["best"] else "auto"
    return [
        f"| {data['algorithm']} | {data['graph']['name']} | {machine_of(data, data['auto_chose'])} "
        f"| {data['auto_seconds'] * 1e3:.3f} | {data['best_seconds'] * 1e3:.3f} | {data['auto_above_best'] * 100:.1f} % "
        f"| {best} | {len(data['ways'])} |"
    ]


def experiment_section(data: dict) -> str:
    """A `shoal bench NAME --json` file as a section: the paper's numbers beside ours."""
    if any("wrong" in run for run in data["runs"]):
        raise ValueError("a way of it gave a wrong answer")
    ours = data["devices"][0]["name"] if data["devices"] else data["machine"]["cpu"]
    lines = [
        f"## {data['experiment']}: {data['title']}",
        "",
        f"{data['source']}; {data['paper_machine']}. Ours: {ours}, medians of {data['trials']} runs, every answer checked. "
        f"{data['note']} The paper sees: {data['sees']}.",
        "",
        f"| {data['unit']} | " + " | ".join(f"{n} PE{'s' if n > 1 else ''}" for n in data["columns"]) + " |",
        "|---|" + "---:|" * len(data["columns"]),
    ]
    lines_of = {run["graph"]: run["graph_line"] for run in data["runs"]}
    failed = {(r["graph"], "shoal " + r["way"], r["pes"]) for r in data["runs"] if "failed" in r}
    graph = None
    for series in data["series"]:
        if series["graph"] != graph:
            graph = series["graph"]
            lines.append(f"| **{lines_of[graph]}** |" + " |" * len(data["columns"]))
        cells = []
        for pes, value in zip(data["columns"], series["values"]):
            if (graph, series["system"], pes) in failed:
                cells.append("failed")
            else:
                cells.append("-" if value is None else f"{value:.0f}" if value >= 1000 else f"{value:.3g}")
        lines.append(f"| {series['system']}{'' if series['ours'] else ' (paper)'} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def load(folder: pathlib.Path) -> tuple[dict[str, list[str]], list[str]]:
    """Rows and sections by kind (run, tune, bench), and a line for each file that gives none."""
    parts: dict[str, list[str]] = {"run": [], "tune": [], "bench": []}
    left_out = []
    for file in sorted(folder.glob("*.json")):
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            command = data.get("command") if isinstance(data, dict) else None
            if command in RUNS:
                parts["run"] += run_rows(data)
            elif command == "tune":
                parts["tune"] += tune_rows(data)
            elif command == "bench":
                parts["bench"].append(experiment_section(data))
            elif isinstance(data, dict) and data.get("bench") == "partitions":
                parts["bench"].append(partition_section(data))
            elif isinstance(data, dict) and data.get("bench") == "beside_gapbs":
                parts["run"] += cpu_bench_rows(data)
            else:
                left_out.append(f"{file.name}: not of a kind that is shown here")
        except (ValueError, KeyError, IndexError, TypeError) as error:
            left_out.append(f"{file.name}: {error or type(error).__name__}")
    return parts, left_out


def table(folder: pathlib.Path) -> tuple[str, list[str]]:
    """The table of runs, and a line for each file that is not shown."""
    parts, left_out = load(folder)
    return HEAD + "\n".join(parts["run"]) + "\n" if parts["run"] else "No results are recorded yet.\n", left_out


def document(folder: pathlib.Path) -> str:
    """docs/results.md."""
    parts, _ = load(folder)
    text = """# Results

Made by `scripts/results_table.py` from `bench/results`; not written by hand. Times are of the computation alone, the graph
placed before; medians; every answer was checked. Papers' numbers come from other machines: compare shapes.

## Runs

"""
    text += table(folder)[0]
    if parts["tune"]:
        text += """
## How far `auto` is from the best

`shoal tune`: the median with no option given, beside the best way that successive halving found, measured in turns.

| what | graph | machine | auto ms | best ms | auto above best | best way | ways tried |
|---|---|---|---:|---:|---:|---|---:|
"""
        text += "\n".join(parts["tune"]) + "\n"
    return text + "".join("\n" + section for section in parts["bench"])


def main() -> int:
    folder = ROOT / "bench" / "results"
    text, left_out = table(folder)
    for line in left_out:
        print(f"results_table: left out {line}", file=sys.stderr)
    if "--write" not in sys.argv[1:]:
        print(document(folder), end="")
        return 0
    readme = ROOT / "README.md"
    before = readme.read_text(encoding="utf-8")
    after, count = MARKS.subn(lambda m: m.group(1) + text + m.group(2), before)
    if count != 1:
        print("results_table: README.md needs one pair of <!-- results --> and <!-- end --> marks", file=sys.stderr)
        return 1
    readme.write_text(after, encoding="utf-8")
    (ROOT / "docs" / "results.md").write_text(document(folder), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
