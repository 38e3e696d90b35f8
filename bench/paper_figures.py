#!/usr/bin/env python3
"""Figures of two papers beside what stands here for their programs: `shoal bench bfs-fig41` and the like call this.

    bench/paper_figures.py charm-fig7b --folder build/cpu --device cpu --pes 1 2 --shrink 8

bfs-*: time and communication of level-synchronous search: the three programs of baselines/ (MPI, NCCL, CUDASTF), shoal's own
strategies, and GAPBS where the variable GAPBS names its folder. Graphs are generated, written once, and read by all; all
search from the same sources. Every program's first search is checked, and not timed.

charm-*: Jacobi iteration: shoal's forms, and the baselines with MPI (CPU ranks) and NCCL (GPUs; faces from GPU to GPU, or by
way of the host). A run is 100 iterations; three runs of each, of which the median is shown. Baselines iterate ten times
before each run; shoal has one whole run before the three. On CPUs each PE of shoal has one thread, as each MPI rank has.
Every way is checked once against the serial reference where the grid has at most 2^22 cells.

What cannot run here is left out, with the reason.
"""

import argparse
import datetime
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import beside_baselines as beside
from host import ROOT, BenchError, machine, revision, run

RIGHT, WRONG, USAGE = 0, 1, 2
MOST_CHECKED_CELLS = 1 << 22
BYTES_OF_A_CELL = 2 * 8  # two states of float64

# The paper's name, what is generated in its place, and small.
GRAPHS = {
    "scale18": ("kron:18", "kron:8"),
    "scale19": ("kron:19", "kron:9"),
    "scale21": ("kron:21", "kron:11"),
    "scale23": ("kron:23", "kron:13"),
    "web-uk-2002": ("community:24,directed,mixing=0.05", "community:10,degree=4,directed,mixing=0.05"),
}
GRAPHS_NOTE = (
    "Graph500's generator at the paper's scales, as undirected graphs; a directed graph with communities, of 16.8 M vertices, "
    "in place of web-uk-2002 (18.5 M, 298 M arcs)."
)
BFS_SEES = "the CPU version is ahead on small graphs, by less the larger they are; CUDASTF is at or ahead of NCCL nearly always"


class Usage(Exception):
    """A wrong argument, in one line."""


class Left:
    """What was left out, and why; each reason once."""

    def __init__(self):
        self.reasons = []

    def out(self, what, why):
        line = f"{what}: {why}"
        if line not in self.reasons:
            self.reasons.append(line)


# ---------------------------------------------------------------------------------------------------------------------
# Breadth-first search.


def bfs_rows(args, left):
    """All programs that can search here."""
    rows, missing = beside.rows_of(args)
    for line in missing:
        if args.device == "gpu" or "shoal_mpi" in line:
            left.out("skipped", line)
    if args.device != "gpu":
        left.out("skipped", "shoal_nccl and shoal_stf: they need GPUs, and --device is cpu or there is none")
    if not args.ranks:
        left.out("skipped", f"shoal_mpi: no {args.mpirun}, or no --ranks")
    if args.gapbs is None:
        left.out("skipped", "GAPBS: the variable GAPBS names no folder in which its bfs was built")
    return rows


def search(args, left):
    """{graph: its rows, measured}"""
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
    """GAPBS's time, by the levels that shoal found from the same sources."""

    baseline = False
    trials = ()

    def __init__(self, args, file, rows):
        self.name = f"GAPBS, {args.threads} threads"
        self.failed = None
        self.result = {}
        try:
            seconds = beside.gapbs_seconds(args, None, file)
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
    """Mean time of a level, programs by graphs."""
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
    """What of a search is computation, communication, and neither."""
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


# ---------------------------------------------------------------------------------------------------------------------
# Jacobi iteration.


class Way:
    """A program that iterates a grid, on so many PEs. `needs`: a reason why it cannot, or nothing."""

    def __init__(self, name, command, needs=None):
        self.name = name
        self.command = command  # (pes) -> words before the size, words behind it
        self.needs = needs  # (pes) -> text or None


def ours(args, name, odf, *flags, needs=None):
    threads = [] if args.device == "gpu" else ["--threads", "1"]

    def command(pes):
        where = ["--device", args.device, "--pes", str(pes), *threads]
        how = ["--odf", str(odf), *flags, "--iterations", str(args.iterations), "--trials", str(args.trials + 1)]
        return [args.shoal, "jacobi3d"], [*where, *how]

    return Way(f"shoal {name}, ODF {odf}" if name else f"shoal, ODF {odf}", command, needs)


def baseline(args, name, *flags):
    """The baseline of this device: MPI ranks, or GPUs."""
    program = "shoal_nccl" if args.device == "gpu" else "shoal_mpi"
    binary = args.folder / program

    def needs(pes):
        if not os.access(binary, os.X_OK):
            return f"{binary} was not built"
        if program == "shoal_mpi" and pes > 1 and shutil.which(args.mpirun) is None:
            return f"there is no {args.mpirun}"
        if "--staged" in flags and pes == 1:
            return "one rank sends nothing by way of the host"
        return None

    def command(pes):
        counts = ["--iterations", args.iterations, "--warmup", args.warmup, "--trials", args.trials]
        launcher = [args.mpirun, "-n", str(pes)] if program == "shoal_mpi" and pes > 1 else []
        gpus = ["--gpus", str(pes)] if program == "shoal_nccl" else []
        return [*launcher, binary, "jacobi3d"], [*map(str, counts), *gpus, *flags]

    return Way(f"{program}{', ' + name if name else ''}", command, needs)


def versions(args, odfs=(1, 2, 4)):
    """What stands for the paper's MPI-H, MPI-D and Charm-D."""
    ways = [baseline(args, ""), baseline(args, "overlapped", "--overlap")]
    if args.device == "gpu":
        ways += [
            baseline(args, "by the host", "--staged"),
            baseline(args, "by the host, overlapped", "--staged", "--overlap"),
        ]
    return ways + [ours(args, "", odf) for odf in odfs]


def weak(side, pes):
    """As many cells on each PE: the first side that is least is doubled for each factor of 2; else x grows by so much."""
    sides = [side, side, side]
    while pes % 2 == 0:
        i = sides.index(min(sides))
        sides[i] *= 2
        pes //= 2
    sides[0] *= pes
    return tuple(sides)


def strong(side, _pes):
    return (side, side, side)


def shrunk(side, args):
    return max(1, side // args.shrink)


def largest(args, left):
    """The largest side, up to the paper's 3072, of which the fewest PEs asked for can hold the grid."""
    memory = min((d["memory_bytes"] for d in args.devices), default=0) * min(args.pes)
    if args.device != "gpu":
        memory = args.machine.get("available_bytes", 1 << 30) // 2
    for side in (3072, 2560, 2048, 1792, 1536, 1024, 768, 512, 256, 128):
        cells = (shrunk(side, args) + 2) ** 3
        if cells * BYTES_OF_A_CELL * 1.05 < memory * 0.95:
            if side < 3072:
                left.out("grid", f"{shrunk(side, args)} along each side, because more does not fit {min(args.pes)} PE")
            return shrunk(side, args)
    raise BenchError("not even the smallest grid fits")


def iterate(args, way, size, left):
    """{pes: a run}, ms of an iteration in `value`; without those that cannot run."""
    runs = {}
    for pes in args.pes:
        what = f"{way.name}, {'PE' if pes == 1 else 'PEs'} {pes}"
        reason = way.needs(pes) if way.needs else None
        if reason is None and args.out_of_time():
            reason = "the budget is spent (--budget)"
        if reason:
            left.out(what, reason)
            continue
        sides = size(pes)
        before, behind = way.command(pes)
        command = [*before, *map(str, sides), *behind, "--json"]
        if sides[0] * sides[1] * sides[2] <= MOST_CHECKED_CELLS:
            command += ["--verify"]
        args.tell(f"{' x '.join(map(str, sides))}, {what}")
        this = {
            "way": way.name,
            "pes": pes,
            "size": sides,
            "command": " ".join(map(str, command[:-1])).replace(f"{args.folder}/", ""),
        }
        try:
            trials = beside.ask(command, min(args.limit, args.deadline - time.monotonic()))["trials"]
            seconds = [t["seconds"] / t["iterations"] for t in trials[-args.trials :]]
            this |= {"seconds": seconds, "value": statistics.median(seconds) * 1e3}
            this["verified"] = True if any(t["verified"] for t in trials) else None
        except BenchError as error:
            this["failed"] = str(error)
            this["wrong"] = "wrong result" in str(error)
            left.out(what, this["failed"])
        runs[pes] = this
    return runs


def grid_table(args, ways, size, left, title):
    """Lines and runs of ways by PEs."""
    cells, runs = {}, []
    for way in ways:
        for pes, found in iterate(args, way, size, left).items():
            cells[way.name, str(pes)] = f"{found['value']:.4f}" if "value" in found else "failed"
            runs.append(found)
    lines = ["", title + ": " + "; ".join(f"{' x '.join(map(str, size(p)))} on {p}" for p in args.pes)]
    shown = [way.name for way in ways if any((way.name, str(p)) in cells for p in args.pes)]
    lines += table("PEs", [str(p) for p in args.pes], shown, cells)
    return lines, runs


def together(*parts):
    return [line for p in parts for line in p[0]], [run for p in parts for run in p[1]]


def fig6(args, left):
    if args.device == "gpu":
        ways = [
            baseline(args, "by the host", "--staged"),
            baseline(args, ""),
            ours(args, "kernels without fusion", 4, "--form", "kernels", "--fusion", "none"),
            ours(args, "kernels", 4, "--form", "kernels"),
            ours(args, "auto", 4),
        ]
    else:
        left.out("skipped", "hosts that wait for GPUs: there are none, or --device is cpu")
        ways = [baseline(args, ""), ours(args, "", 4)]
    side, all_sides = shrunk(1536, args), largest(args, left)
    return together(
        grid_table(args, ways, lambda p: weak(side, p), left, "weak scaling, ms an iteration"),
        grid_table(args, ways, lambda p: strong(all_sides, p), left, "strong scaling, ms an iteration"),
    )


def fig7(side):
    def measure(args, left):
        cells = shrunk(side, args)
        return grid_table(args, versions(args), lambda p: weak(cells, p), left, "ms an iteration")

    return measure


def fig7c(args, left):
    side = largest(args, left)
    return grid_table(args, versions(args), lambda p: strong(side, p), left, "ms an iteration")


def only_kernels(args, left, *more):
    """Ways of form kernels, with each fusion, at ODF 1 and 8. On CPUs there is one form."""
    if args.device != "gpu":
        left.out("skipped", "fusion and graphs are of kernels on GPUs; there are none, or --device is cpu")
        return [ours(args, "threads", odf) for odf in (1, 8)]
    flags = ["--form", "kernels", "--fusion"]
    return [
        ours(args, f"fusion {fusion}{name}", odf, *flags, fusion, *words)
        for odf in (1, 8)
        for fusion in ("none", "a", "b", "c")
        for name, words in [("", []), *more]
    ]


def fig8(args, left):
    side = shrunk(768, args)
    return grid_table(args, only_kernels(args, left), lambda p: strong(side, p), left, "ms an iteration")


def fig9(args, left):
    side = shrunk(768, args)
    help_text = subprocess.run([args.shoal, "jacobi3d", "--help"], capture_output=True, text=True, check=False).stdout
    graphs = []
    if "--graph " not in help_text:
        left.out("skipped", "CUDA graphs: this shoal's jacobi3d has no --graph")
    else:
        graphs = [(", graphs", ["--graph", "2"])]
    return grid_table(args, only_kernels(args, left, *graphs), lambda p: strong(side, p), left, "ms an iteration")


def odf(args, left):
    sides = [shrunk(1536, args), shrunk(192, args)]
    ways = [ours(args, "", odf) for odf in (1, 2, 4, 8, 16)]
    return together(*(grid_table(args, ways, lambda p, s=s: weak(s, p), left, "ms an iteration") for s in sides))


# ---------------------------------------------------------------------------------------------------------------------

SUMMIT = "Summit, 6 V100 on each node, one process for each GPU"
CHARM_NOTE = "The paper's times are curves without numbers: compare shapes."
BFS_MACHINE = "2 nodes with 2 A100 40 GB each, CUDA 12.2"
HOST_NOTE = "No run of shoal has a host that waits in an iteration; of the baselines, those by way of the host have."

# name: what measures it, the paper's machine, what the paper sees, how ours differs
EXPERIMENTS = {
    "bfs-fig41": (fig41, BFS_MACHINE, BFS_SEES, GRAPHS_NOTE),
    "bfs-fig42": (fig42, BFS_MACHINE, "the CPU version has by far the smallest share of communication",
                  GRAPHS_NOTE + " Which of the two figures shows what is not known here: this one is by program."),
    "bfs-fig43": (fig43, BFS_MACHINE, "the CPU version has by far the smallest share of communication",
                  GRAPHS_NOTE + " Which of the two figures shows what is not known here: this one is by level."),
    "charm-fig6": (fig6, SUMMIT, "one wait of the host for each iteration in place of two, and streams of their own for "
                   "packing and for copies, are faster at ODF 4", HOST_NOTE + " " + CHARM_NOTE),
    "charm-fig7a": (fig7(1536), SUMMIT, "ODF 4 is best by way of hosts, ODF 2 from GPU to GPU, which is at most 5 % ahead",
                    CHARM_NOTE),
    "charm-fig7b": (fig7(192), SUMMIT, "ODF 1 is best for both", CHARM_NOTE),
    "charm-fig7c": (fig7c, SUMMIT, "the best ODF falls with the number of nodes by way of hosts, and is 2 from GPU to GPU",
                    CHARM_NOTE),
    "charm-fig8": (fig8, SUMMIT, "fusion C brings 20 % at ODF 1 and 51 % at ODF 8 on 128 nodes, and nothing on few at ODF 1",
                   "One machine. " + CHARM_NOTE),
    "charm-fig9": (fig9, SUMMIT, "graphs bring nothing at ODF 1, 1.5 times at ODF 8 without fusion, and less with more fusion",
                   CHARM_NOTE),
    "charm-odf": (odf, SUMMIT, "large blocks gain by ODF 2 to 4, small ones lose", "The two weak sizes. " + CHARM_NOTE),
}  # fmt: skip


def table(corner, columns, rows, cells):
    """Lines of text; cells[row, column] are texts."""
    widths = [max([len(c), *(len(cells.get((r, c), "-")) for r in rows)]) for c in columns]
    first = max([len(corner), *map(len, rows)])
    lines = ["  " + corner.ljust(first) + "".join(f"  {c:>{w}}" for c, w in zip(columns, widths))]
    for r in rows:
        lines.append(
            "  " + r.ljust(first) + "".join(f"  {cells.get((r, c), '-'):>{w}}" for c, w in zip(columns, widths))
        )
    return lines


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--title")
    parser.add_argument("--source", default="")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "cpu", help="has the programs (%(default)s)")
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--pes", nargs="+", type=int, help="and GPUs (default: 1 and 2, as there are GPUs)")
    parser.add_argument("--ranks", nargs="+", type=int, default=[1, 2, 4], help="of MPI (default: 1 2 4)")
    parser.add_argument("--graphs", nargs="+", help=f"of {', '.join(GRAPHS)}")
    parser.add_argument("--trials", type=int, help="searches, or runs (default: 8, 3; with --quick 2, 2)")
    parser.add_argument("--shrink", type=int, help="the paper's grids are divided by this along each side")
    parser.add_argument("--quick", action="store_true", help="small graphs and grids, ten iterations")
    parser.add_argument("--limit", type=float, default=60, help="seconds of one program (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=1e6, help="seconds after which nothing is begun")
    parser.add_argument("--seed", type=int, default=1, help="of the sources")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--json", help="write everything here; -: to standard output, and nothing else")
    parser.add_argument("--quiet", action="store_true", help="no table and no progress")
    return parser.parse_args(words)


def complete(args):
    """What is not told: what is here."""
    args.shoal = args.folder / "shoal"
    if not os.access(args.shoal, os.X_OK):
        raise Usage(f"--folder: there is no {args.shoal}; ./run build makes it")
    if not args.title:
        lines = run([args.shoal, "bench", "--list"]).splitlines()
        at = next((i for i, line in enumerate(lines) if line.startswith(f"{args.experiment} ")), None)
        if at is not None:
            args.title, args.source = lines[at].split(maxsplit=1)[1], lines[at + 1].strip()
    known = json.loads(
        subprocess.run([args.shoal, "doctor", "--json"], capture_output=True, text=True, check=True).stdout
    )
    args.devices, args.machine = known["devices"], known["machine"]
    if args.device == "gpu" and not args.devices:
        raise Usage(f"--device gpu: {known.get('no_devices_because', 'there is none')}")
    if args.device == "auto":
        args.device = "gpu" if args.devices else "cpu"
    if args.pes is None:
        args.pes = [p for p in (1, 2) if args.device == "cpu" or p <= len(args.devices)]
    if args.device == "gpu" and max(args.pes) > len(args.devices):
        raise Usage(f"--pes {max(args.pes)}: there are {len(args.devices)} GPUs")
    bfs = args.experiment.startswith("bfs")
    args.trials = args.trials or (2 if args.quick else 8 if bfs else 3)
    args.shrink = args.shrink or (64 if args.quick else 1 if args.device == "gpu" else 8)
    args.iterations, args.warmup = (10, 2) if args.quick else (100, 10)
    for name, values in (
        ("--pes", args.pes),
        ("--ranks", args.ranks),
        ("--trials", [args.trials]),
        ("--shrink", [args.shrink]),
    ):
        if min(values) < 1 or max(values) > 1000:
            raise Usage(f"{name} is a number from 1 to 1,000")
    unknown = [g for g in args.graphs or [] if g not in GRAPHS]
    if unknown or (args.graphs and not bfs):
        has = ", ".join(GRAPHS) if bfs else "no graphs"
        raise Usage(f"graph '{(unknown or args.graphs)[0]}' is not of {args.experiment}, which has {has}")
    if args.json and args.json != "-" and not os.access(Path(args.json).resolve().parent, os.W_OK):
        raise Usage(f"--json {args.json}: cannot be written")
    if shutil.which(args.mpirun) is None:
        args.ranks = []
    gapbs = os.environ.get("GAPBS")
    args.gapbs = Path(gapbs) if gapbs and os.access(Path(gapbs) / "bfs", os.X_OK) else None
    args.threads, args.algorithm, args.processes = os.cpu_count(), "bfs", False
    args.silent = args.quiet or args.json == "-"
    begin = time.monotonic()
    args.deadline = begin + args.budget
    args.out_of_time = lambda: time.monotonic() >= args.deadline
    shows = sys.stderr.isatty() and not args.silent
    args.tell = lambda what: shows and print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)


def main(words):
    args = arguments(words)
    left = Left()
    measure, paper_machine, sees, note = EXPERIMENTS[args.experiment]
    try:
        complete(args)
        lines, runs = measure(args, left)
    except (Usage, BenchError, OSError, ValueError, subprocess.SubprocessError) as error:
        print(f"shoal: error: {error}", file=sys.stderr)
        return USAGE if isinstance(error, Usage) else 4
    args.tell("")
    if not args.silent:
        print(args.title or args.experiment)
        print(f"{args.source + '; ' if args.source else ''}{paper_machine}.\n{note}\nThe paper sees: {sees}.")
        if not args.experiment.startswith("bfs"):
            print(f"Medians of {args.trials} runs of {args.iterations} iterations.")
        print("\n".join(lines))
        for line in left.reasons:
            print(f"  {line}")
        sys.stdout.flush()
    if args.json:
        whole = {
            "bench": "paper_figures",
            "experiment": args.experiment,
            "title": args.title,
            "source": args.source,
            "papers_machine": paper_machine,
            "note": note,
            "sees": sees,
            "table": lines,
            "machine": {**machine(), **args.machine},
            "devices": args.devices,
            "device": args.device,
            "options": {"pes": args.pes, "ranks": args.ranks, "trials": args.trials, "iterations": args.iterations,
                        "warmup": args.warmup, "shrink": args.shrink, "quick": args.quick, "seed": args.seed},
            "runs": runs,
            "left_out": left.reasons,
            "arguments": words,
            "date": datetime.date.today().isoformat(),
            "revision": os.environ.get("SHOAL_REVISION") or revision(ROOT),
        }  # fmt: skip
        text = json.dumps(whole, indent=1) + "\n"
        if args.json == "-":
            sys.stdout.write(text)
        else:
            Path(args.json).write_text(text)
    wrong = [r for r in runs if r.get("wrong") or r.get("failed") == "a wrong answer"]
    for r in wrong:
        print(f"shoal: wrong result: {r['way']}: {r['failed']}", file=sys.stderr)
    return WRONG if wrong else RIGHT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
