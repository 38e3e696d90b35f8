"""Sections of docs/results.md: partitions, ends and lags, queues, experiments of papers."""

import pathlib
import statistics

from results_runs import measured

COUNTS = ("items taken / vertices reached", "million items run")  # units of `shoal bench` that are not times


def hardware(data: dict) -> str:
    """The GPUs or the processor of a run, by name."""
    return data["devices"][0]["name"] if data["device"] == "gpu" else data["machine"]["cpu"]


def partition_place(data: dict) -> str:
    """Number of PEs and machine of a bench/partitions.py file. ValueError: an answer is wrong."""
    if not all(row["verified"] for row in data["rows"] if "failed" not in row):
        raise ValueError("not every answer is right")
    on = f"{data['pes']} x {data['devices'][0]['name']}" if data["device"] == "gpu" else data["machine"]["cpu"]
    return f"{data['pes']} PEs, {on}"


def partition_section(parts: list[dict]) -> str:
    """bench/partitions.py files of one place as a section: a row for each graph and partition, a column for each way to run."""
    data = {**parts[0], "rows": [row for part in parts for row in part["rows"]]}
    ways = list(dict.fromkeys(row["way"] for row in data["rows"]))
    lines = [
        f"## Partitions on {partition_place(data)}",
        "",
        f"`bench/partitions.py`: medians of {data['trials']} runs in ms. `cut`: the share of arcs that lead from one PE to "
        f"another. `imbalance`: the arcs of the PE that has most, over the mean.{' ' + data['note'] if 'note' in data else ''}",
        "",
        "| graph | partition | cut | imbalance | " + " | ".join(ways) + " |",
        "|---|---|---:|---:|" + "---:|" * len(ways),
    ]
    places = list(dict.fromkeys((row["graph"], row["partition"]) for row in data["rows"]))
    for graph, partition in places:
        rows = {r["way"]: r for r in data["rows"] if (r["graph"], r["partition"]) == (graph, partition)}
        one = next((row for row in rows.values() if "failed" not in row), None)
        if one is None:
            continue
        times = " | ".join(partition_cell(rows.get(way)) for way in ways)
        cut = one["cut_arcs"] / max(one["num_arcs"], 1)
        name = pathlib.Path(graph).name
        lines.append(f"| {name} | {partition} | {cut:.2%} | {one['imbalance']:.3f} | {times} |")
    failed = [row for row in data["rows"] if "failed" in row]
    if failed:
        lines += ["", "Failed:", ""]
        lines += [f"- {pathlib.Path(r['graph']).name}, {r['partition']}, {r['way']}: {r['failed']}" for r in failed]
    return "\n".join(lines) + "\n"


def partition_cell(row: dict | None) -> str:
    return "not run" if row is None else "failed" if "failed" in row else f"{row['median_seconds'] * 1e3:.2f}"


def cuts_section(parts: list[dict], note: str) -> str:
    """bench/cuts.py files as a section: a row for each graph and partition, a column for each number of parts."""
    rows = [row for part in parts for row in part["rows"]]
    counts = sorted({row["pes"] for row in rows})
    lines = [
        "## What parts cut",
        "",
        "`bench/cuts.py`: the share of arcs whose ends lie in different parts; the columns are numbers of parts. In "
        "brackets: the arcs of the largest part over the mean, minus one.",
        *(["", note.strip()] if note else []),
        "",
        "| graph | arcs | parts | " + " | ".join(str(n) for n in counts) + " |",
        "|---|---:|---|" + "---:|" * len(counts),
    ]
    for graph, partition in dict.fromkeys((row["graph"], row["partition"]) for row in rows):
        of = {row["pes"]: row for row in rows if (row["graph"], row["partition"]) == (graph, partition)}
        arcs = next((f"{row['num_arcs']:,}" for row in of.values() if "failed" not in row), "")
        cells = " | ".join(cut_cell(of.get(n)) for n in counts)
        lines.append(f"| {pathlib.Path(graph).name.removesuffix('.el.gz')} | {arcs} | {partition} | {cells} |")
    return "\n".join(lines) + "\n"


def cut_cell(row: dict | None) -> str:
    if row is None or "failed" in row:
        return "failed" if row else "not run"
    return f"{row['cut_arcs'] / max(row['num_arcs'], 1):.1%} ({row['imbalance'] - 1:.0%})"


def several_section(place: str, parts: list[dict], note: str) -> str:
    """bench/scaling.py files of one place as a section: a row for each graph, a column for each algorithm."""
    rows = [row for part in parts for row in part["rows"]]
    if not all(row["verified"] for row in rows):
        raise ValueError("not every answer is right")
    counts = sorted({row["pes"] for row in rows})
    algorithms = list(dict.fromkeys(row["algorithm"] for row in rows))
    flags = "; ".join(f"{a} {' '.join(words)}" for a, words in parts[0]["flags"].items() if a in algorithms)
    lines = [
        f"## Several PEs and one on {place}",
        "",
        f"`bench/scaling.py --table`: `auto`, medians in ms on {' / '.join(map(str, counts))} PEs (`-`: not run). Answers are "
        f"checked between runs. Options: {flags}.",
        "",
        *([note.strip(), ""] if note else []),
        "| graph | vertices | " + " | ".join(algorithms) + " |",
        "|---|---:|" + "---:|" * len(algorithms),
    ]
    kinds = {row["graph"]: (row["graph"].split(":")[0], row["num_vertices"]) for row in rows}
    for graph, (_, vertices) in sorted(kinds.items(), key=lambda item: item[1]):
        cells = []
        for algorithm in algorithms:
            times = {r["pes"]: r["seconds"] for r in rows if (r["graph"], r["algorithm"]) == (graph, algorithm)}
            each = [f"{statistics.median(times[n]) * 1e3:.3g}" if n in times else "-" for n in counts]
            cells.append(" / ".join(each) if times else "")
        lines.append(f"| {graph} | {vertices:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def end_row(data: dict) -> str:
    """A row of END_HEAD from a bench/worklist/end_detection.cu file."""
    if not data["right"]:
        raise ValueError("not every run was right")
    found, idle = data["end_found_us"], data["run_without_work_us"]
    items = data.get("items", 1)
    at_once = f", {items:,} items at once" if items > 1 else ""
    hop = f"{data['hop_us']['median']:.2f}" if items == 1 else "-"
    share = f"{found['median'] / data['run_us']['median']:.2%}" if items > 1 else "-"
    return (
        f"| {workers_of(data)}{at_once} "
        f"| {found['median']:.1f} | {found['p99']:.1f} | {share} | {hop} | {idle['median']:.1f} |"
    )


def workers_of(data: dict) -> str:
    return f"{data['device']}, {data['pes']} x {data['workers_per_pe']} {data['worker']}s, {data['kernel']}"


END_HEAD = """## Finding the end

`bench/worklist/end_detection.cu`, in microseconds. `workers`: PEs x workers of each PE. `end found`: the median time from
the end of the last item until a worker finds that nothing is left, and its 99th percentile. `of the run`: that median as
a share of a run that is full of work. `hop`: the time that an item takes from one worker to another. `run without work`:
how long a run without any work takes in all.

| workers | end found | 99th percentile | of the run | hop | run without work |
|---|---:|---:|---:|---:|---:|
"""


def lag_rows(data: dict) -> list[str]:
    """Rows of LAG_HEAD from a bench/worklist/worklist_lag.cu file."""
    rows = []
    for where, says in (("local", "on its PE"), ("round", "round all PEs")):
        if where not in data:
            continue
        if not data[where]["right"]:
            raise ValueError("hops were lost")
        lag, push = data[where]["lag_ns"], data[where]["push_ns"]
        rows.append(
            f"| {workers_of(data)}, {says} | {data['in_flight']:,} | {lag['median'] / 1e3:.1f} | {lag['p99'] / 1e3:.1f} "
            f"| {push['median'] / 1e3:.2f} | {lag['p99'] / push['median']:.1f} |"
        )
    return rows


LAG_HEAD = """## From push to run

`bench/worklist/worklist_lag.cu`, in microseconds. Each item pushes the next one: to its own PE (`on its PE`), or to
the next PE (`round all PEs`). `items`: how many are in flight at the same time. `pushed to run`: the median time from the
beginning of an item's push until it is run, and its 99th percentile. `a push`: from its beginning until the item is queued.
The last column is the 99th percentile in units of such a push. There are at most 15 items for 16 workers, and a worker has
one at a time, so no item waits for a worker that is busy with another.

| workers | items | pushed to run | 99th percentile | a push | 99th percentile in pushes |
|---|---:|---:|---:|---:|---:|
"""


def queue_section(parts: list[dict], note: str) -> str:
    """bench/queue/gpu_queue.cu files of one kind of GPU as a section: the best rate of each ring over all numbers of threads."""
    best: dict[tuple[str, int, str], dict[str, float]] = {}
    rows = [row for part in parts for row in part["rows"]]
    for row in rows:
        if row["verdict"] == "ok" and row["op"] in ("push", "pop", "both"):
            cells = best.setdefault((row["worker"], row["bytes"], row["ring"]), {})
            cells[row["op"]] = max(cells.get(row["op"], 0), row["items_per_second"] / 1e9)
    lines = [
        f"## Queues on one {parts[0]['gpu']}",
        "",
        f"`bench/queue/gpu_queue.cu`, {max(part.get('date', 'undated')[:10] for part in parts)}, in 10⁹ items/s at the best "
        "number of threads. `bare` is the limit: the atomics that every queue needs, and nothing else. `of bare`: the share of "
        "that limit that push and pop reach.",
        *([note.rstrip()] if note else []),
        "",
        "| workers | bytes of an item | ring | push | pop | push and pop | of bare |",
        "|---|---:|---|---:|---:|---:|---:|",
    ]
    order = ("thread", "warp", "block")
    for (worker, size, ring), cells in sorted(best.items(), key=lambda row: (row[0][1], order.index(row[0][0]))):
        shown = " | ".join(f"{cells[op]:.3g}" if op in cells else "-" for op in ("push", "pop", "both"))
        bare = best.get((worker, size, "bare"), {}).get("both")
        part = f"{cells['both'] / bare:.0%}" if bare and "both" in cells else "-"
        lines.append(f"| {worker}s | {size} | {ring} | {shown} | {part} |")
    bad = [row for row in rows if row["verdict"] != "ok"]
    if bad:
        lines += ["", "Not in the table:", ""]
        lines += [f"- {r['op']}, {r['ring']}, {r['worker']}s, {r['threads']:,} threads: {r['verdict']}" for r in bad]
    stress = [
        row for row in rows if row["op"] == "stress" and row["ring"].startswith("slot") and row["verdict"] == "ok"
    ]
    if stress:
        sizes = [row["capacity"] for row in stress]
        lines += [
            "",
            f"Under stress (`--stress`: random stalls between reserving, writing and publishing; {min(sizes)} to "
            f"{max(sizes):,} slots; every kind of worker): {sum(r['items'] for r in stress):.2g} pushes and as many pops, "
            "each item once.",
        ]
    return "\n".join(lines) + "\n"


def cell(run: dict | None, value: float | None, unit: str, ours: bool) -> str:
    if ours and run is None:
        return "not run"
    if run is not None and "failed" in run:
        return "failed"
    if run is not None and "over_seconds" in run:
        return f"> {run['over_seconds'] * 1e3:.0f}" if unit == "ms" else "too slow"
    if value is None:
        return "-"
    return (f"{value:.0f}" if value >= 1000 else f"{value:.3g}") + ("*" if run is not None and shares_gpus(run) else "")


def counted(pes: int) -> str:
    return f"{pes} PE{'s' if pes > 1 else ''}"


def shares_gpus(run: dict) -> bool:
    """Whether PEs of this run shared GPUs: then its counts are valid, but its times are not those of as many GPUs."""
    return run.get("pes_per_gpu", 1) > 1


def merge(parts: list[dict]) -> dict:
    """Merges `shoal bench NAME --json` files of one experiment, which differ in graphs or in numbers of PEs."""
    columns = sorted({n for part in parts for n in part["columns"]})
    graphs = list(dict.fromkeys(series["graph"] for part in parts for series in part["series"]))
    merged: dict[tuple[str, str], dict] = {}
    for part in parts:
        for series in part["series"]:
            one = merged.setdefault((series["graph"], series["system"]), {**series, "values": [None] * len(columns)})
            for pes, value in zip(part["columns"], series["values"], strict=True):
                if value is not None:
                    one["values"][columns.index(pes)] = value
    series = [one for graph in graphs for one in merged.values() if one["graph"] == graph]
    return {**parts[0], "columns": columns, "series": series, "runs": [run for part in parts for run in part["runs"]]}


def shapes(data: dict) -> list[str]:
    """A table of ratios, the paper's and ours: of two ways on the most PEs that both have, and of one way on one PE and on most.

    Only ways that follow a system of the paper take part. Milliseconds of other machines say little; ratios can be compared.
    """
    values = {}
    timed = data["unit"] not in COUNTS
    no_times = {(r["graph"], "shoal " + r["way"], r["pes"]) for r in data["runs"] if timed and shares_gpus(r)}
    for series in data["series"]:
        for pes, value in zip(data["columns"], series["values"], strict=True):
            if value and (series["graph"], series["system"], pes) not in no_times:
                values[series["graph"], series["system"], pes] = value
    rows = []
    for graph in dict.fromkeys(series["graph"] for series in data["series"]):
        ours = [s for s in data["series"] if s["graph"] == graph and s.get("follows")]
        keys = {s["system"]: (s["follows"], s["system"]) for s in ours}
        shared = {
            system: [n for n in data["columns"] if all((graph, who, n) in values for who in pair)]
            for system, pair in keys.items()
        }

        def ratio(one: str, n_one: int, other: str, n_other: int, graph: str = graph, keys: dict = keys) -> list[float]:
            return [
                values[graph, a, n_one] / values[graph, b, n_other] for a, b in zip(keys[one], keys[other], strict=True)
            ]

        for i, first in enumerate(ours):
            name = first["system"].removeprefix("shoal ")
            for second in ours[i + 1 :]:
                both = [n for n in shared[first["system"]] if n in shared[second["system"]]]
                if both:
                    what = f"{name} / {second['system'].removeprefix('shoal ')}, {counted(both[-1])}"
                    rows.append((graph, what, ratio(first["system"], both[-1], second["system"], both[-1])))
            mine = shared[first["system"]]
            if len(mine) > 1 and mine[0] == 1:
                rows.append(
                    (graph, f"{name}, 1 / {mine[-1]} PEs", ratio(first["system"], 1, first["system"], mine[-1]))
                )
    if not rows:
        return []
    table = [f"| {graph} | {what} | {paper:.3g} | {our:.3g} |" for graph, what, (paper, our) in rows]
    return [
        "",
        f"Shapes: ratios of {data['unit']}, the paper's and ours. `a / b, N PEs`: way a over way b. `a, 1 / N PEs`: way a on one "
        "PE over the same on N.",
        "",
        "| graph | ratio | paper | here |",
        "|---|---|---:|---:|",
        *table,
    ]


def reasons(runs: list[dict]) -> list[str]:
    """A line for each cell without a number: the error, or the time after which the run was ended."""
    lines = []
    for run in runs:
        where = f"- {run['graph']}, {run['way']}, {counted(run['pes'])}: "
        if "failed" in run:
            lines.append(where + " ".join(run["failed"].split()))
        elif "over_seconds" in run:
            lines.append(where + f"ended after {run['over_seconds']:g} s")
    return ["", "Cells without a number:", "", *lines] if lines else []


def experiment_section(parts: list[dict], note: str) -> str:
    """One experiment on one kind of machine as a section: the paper's numbers beside ours.

    note: what we find, from bench/results/notes/NAME.md; may be empty.
    """
    data = merge(parts)
    columns = data["columns"]
    times = {n: dict.fromkeys(measured(p) for p in parts if n in {run["pes"] for run in p["runs"]}) for n in columns}
    ours = data["devices"][0]["name"] if data["devices"] else data["machine"]["cpu"]
    lines = [
        f"## {data['experiment']}: {data['title']}",
        "",
        f"{data['source']}; {data['paper_machine']}. Ours: {ours}, medians of {data['trials']} runs, every answer checked. "
        f"{data['note']} The paper finds: {data['sees']}.",
        *(["", note.strip()] if note else []),
        "",
        f"| {data['unit']} | " + " | ".join(map(counted, columns)) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    lines_of = {run["graph"]: run["graph_line"] for run in sorted(data["runs"], key=lambda r: len(r["graph_line"]))}
    runs = {(r["graph"], "shoal " + r["way"], r["pes"]): r for r in data["runs"]}
    graph = None
    for series in data["series"]:
        if series["graph"] != graph:
            graph = series["graph"]
            lines.append(f"| **{lines_of[graph]}** |" + " |" * len(columns))
        cells = [
            cell(runs.get((graph, series["system"], n)), value, data["unit"], series["ours"])
            for n, value in zip(columns, series["values"], strict=True)
        ]
        lines.append(f"| {series['system']}{'' if series['ours'] else ' (paper)'} | " + " | ".join(cells) + " |")
    lines += ["", "Measured: " + "; ".join(f"{counted(n)} {', '.join(times[n])}" for n in columns if times[n])]
    if any(shares_gpus(run) for run in data["runs"]):
        lines += ["", "*: PEs shared GPUs; counts of items are valid, but times are not those of so many GPUs"]
    return "\n".join(lines + reasons(data["runs"]) + shapes(data)) + "\n"
