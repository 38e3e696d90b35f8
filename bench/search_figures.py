"""The figures of breadth-first search for paper_figures.py."""

import subprocess
import tempfile
from pathlib import Path

import beside_baselines as beside
from host import BenchError, run
from text_table import table

# The paper's name: the graph that is generated in its place, and a small one for --quick.
GRAPHS = {
    "scale18": ("kron:18", "kron:8"),
    "scale19": ("kron:19", "kron:9"),
    "scale21": ("kron:21", "kron:11"),
    "scale23": ("kron:23", "kron:13"),
    "web-uk-2002": ("community:24,directed,mixing=0.05", "community:10,degree=4,directed,mixing=0.05"),
}


def bfs_rows(args, left):
    """The rows of all programs that can search here."""
    rows, missing = beside.rows_of(args)
    for line in missing:
        if args.device == "gpu" or "shoal_mpi" in line:
            left.out("skipped", line)
    if args.device != "gpu":
        left.out("skipped", "shoal_nccl and shoal_stf: they need GPUs, and --device is cpu or there is none")
    if not args.ranks:
        left.out("skipped", f"shoal_mpi: no {args.mpirun}, or no --ranks")
    if args.gapbs is None:
        left.out("skipped", f"GAPBS: {args.no_gapbs}")
    return rows


def search(args, left):
    """{graph: its measured rows}"""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in args.graphs or GRAPHS:
            if args.out_of_time():
                left.out(name, "the budget is spent (--budget)")
                continue
            args.tell(f"generating {name}")
            file = Path(folder) / f"{name}.sg"
            run([args.shoal, "generate", GRAPHS[name][1 if args.quick else 0], file, "--quiet"])
            rows = bfs_rows(args, left)
            for row in rows:
                args.tell(f"{name}, {row.name}")
                row.measure(args, file, 1, check=True)
                row.measure(args, file, args.trials)
            found[name] = rows
            if args.gapbs is not None:
                rows.append(Gapbs(args, file, rows))
            file.unlink()
    return found


class Gapbs:
    """GAPBS's time, divided by the number of levels that shoal found from the same sources."""

    baseline = False
    trials = ()

    def __init__(self, args, file, rows):
        self.name = f"GAPBS, {args.threads} threads"
        self.failed = None
        self.result = {}
        try:
            seconds = beside.gapbs_seconds(args, file)
            self.result = {"median_seconds": seconds}
            steps = [s["steps"] for s in (r.summary() for r in rows) if s.get("steps")]
            if steps:
                self.result |= {"steps": steps[0], "seconds_by_step": seconds / steps[0]}
        except (BenchError, OSError, subprocess.SubprocessError) as error:
            self.failed = str(error)

    def summary(self):
        return {"failed": self.failed} if self.failed else self.result

    def by_level(self):
        return []


def searches_to_json(found, args):
    size = 1 if args.quick else 0
    return [
        {"graph": graph, "generator": GRAPHS[graph][size], "way": row.name, **row.summary(), "by_level": row.by_level()}
        for graph, rows in found.items()
        for row in rows
    ]


def graph_title(name, args):
    return f"{name}; here {GRAPHS[name][1 if args.quick else 0]}"


def fig41(args, left):
    """The mean time of a level, programs by graphs."""
    found = search(args, left)
    names = list(dict.fromkeys(row.name for rows in found.values() for row in rows))
    cells = {}
    for graph, rows in found.items():
        for row in rows:
            s = row.summary()
            cells[row.name, graph] = "failed" if "failed" in s else f"{s['seconds_by_step'] * 1e3:.4f}"
            if "failed" in s:
                left.out(f"{graph}, {row.name}", s["failed"])
    lines = [graph_title(g, args) for g in found] + ["ms for each level, median over searches of their means:"]
    lines += table("", list(found), names, cells)
    return lines, searches_to_json(found, args)


def shares(s):
    compute, communicate = s["compute_seconds"], s["communicate_seconds"]
    rest = s["median_seconds"] - compute - communicate
    return [f"{x * 1e3:.3f}" for x in (s["median_seconds"], compute, communicate, rest)] + [
        f"{communicate / s['median_seconds']:.0%}"
    ]


def fig42(args, left):
    """How much of a search is computation, communication, and neither."""
    found = search(args, left)
    lines = []
    columns = ["ms", "computation", "communication", "rest", "communic. %"]
    for graph, rows in found.items():
        cells, names = {}, []
        for row in rows:
            s = row.summary()
            if "failed" in s:
                left.out(f"{graph}, {row.name}", s["failed"])
                continue
            names.append(row.name)
            values = shares(s) if row.baseline else [f"{s['median_seconds'] * 1e3:.3f}"]
            cells |= {(row.name, c): v for c, v in zip(columns, values)}
        lines += ["", graph_title(graph, args), *table("", columns, names, cells)]
    lines += ["Of shoal and GAPBS only the whole is known. Rest: launches of the host, and waiting for results."]
    return lines, searches_to_json(found, args)


def fig43(args, left):
    """Computation + communication by level."""
    found = search(args, left)
    lines = ["ms of the slowest rank (computation + communication: means over ranks), means over searches"]
    for graph, rows in found.items():
        levels = {row.name: row.by_level() for row in rows if row.baseline and row.trials}
        for row in rows:
            if row.failed:
                left.out(f"{graph}, {row.name}", row.failed)
        cells = {}
        for name, by_level in levels.items():
            for i, (frontier, seconds, compute, communicate) in enumerate(by_level[: beside.MOST_LEVELS]):
                cells[str(i), name] = f"{seconds * 1e3:.3f} ({compute * 1e3:.3f} + {communicate * 1e3:.3f})"
                cells[str(i), "frontier"] = f"{frontier:.0f}"
        count = max((len(x) for x in levels.values()), default=0)
        steps = [str(i) for i in range(min(count, beside.MOST_LEVELS))]
        lines += ["", graph_title(graph, args), *table("level", ["frontier", *levels], steps, cells)]
    return lines, searches_to_json(found, args)
