"""The figures of Jacobi iteration for paper_figures.py."""

import os
import shutil
import statistics
import subprocess
import time

import beside_baselines as beside
from host import BenchError
from text_table import table

MOST_CHECKED_CELLS = 1 << 22
BYTES_OF_A_CELL = 2 * 8  # two states of float64


class Way:
    """A program that iterates on a grid. `needs` gives a reason why it cannot run on that many PEs, or None."""

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


def ours_apart(args, name, odf, *flags):
    """The same with a process for each PE, as in the paper's programs and the MPI baseline."""
    way = ours(args, f"{name}, a process each" if name else "", odf, *flags)
    together = way.command

    def needs(pes):
        if pes == 1:
            return "one PE is one process"
        return args.no_processes

    def command(pes):
        before, behind = together(1)
        return [args.shoal, "run", "-n", str(pes), "--", *before[1:]], behind

    return Way(way.name if name else f"shoal, a process each, ODF {odf}", command, needs)


def baseline(args, name, *flags):
    """The baseline for this device: MPI ranks on CPUs, NCCL on GPUs."""
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


def by_the_host(args, odf):
    """shoal with halos that go through the host, like the paper's Charm-H."""
    return ours(
        args, "by the host", odf, "--halos", "staged",
        needs=lambda pes: "one PE sends nothing by way of the host" if pes == 1 else None,
    )  # fmt: skip


def versions(args, odfs=(1, 2, 4)):
    """The ways that stand for the paper's MPI-H, MPI-D, Charm-H and Charm-D."""
    ways = [baseline(args, ""), baseline(args, "overlapped", "--overlap")]
    if args.device == "gpu":
        ways += [
            baseline(args, "by the host", "--staged"),
            baseline(args, "by the host, overlapped", "--staged", "--overlap"),
            *(by_the_host(args, odf) for odf in odfs),
        ]
    return ways + [ours(args, "", odf) for odf in odfs] + [ours_apart(args, "", odf) for odf in odfs]


def weak(side, pes):
    """The same number of cells on each PE. For each factor of 2 the first of the smallest sides is doubled; x takes the rest."""
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
    """The largest side, up to the paper's 3072, for which the grid fits in the memory of the smallest number of PEs asked for."""
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
    """{pes: run}, with the ms of an iteration in `value`. Ways that cannot run are left out, with a reason."""
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
    """The lines of a table of ways by PEs, and the runs."""
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
            by_the_host(args, 4),
            ours(args, "kernels without fusion", 4, "--form", "kernels", "--fusion", "none"),
            ours(args, "urgent packs", 4, "--form", "kernels", "--fusion", "none", "--urgent-packs"),
            ours(args, "kernels", 4, "--form", "kernels"),
            ours(args, "auto", 4),
            ours_apart(args, "auto", 4),
        ]
    else:
        left.out("skipped", "hosts that wait for GPUs: there are none, or --device is cpu")
        ways = [baseline(args, ""), ours(args, "", 4), ours_apart(args, "", 4)]
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
    """Ways of the form `kernels`, with each fusion, at ODF 1 and 8. On CPUs there is only one form."""
    if args.device != "gpu":
        left.out("skipped", "fusion and graphs are of kernels on GPUs; there are none, or --device is cpu")
        return [ours(args, "threads", odf) for odf in (1, 8)]
    flags = ["--form", "kernels", "--fusion"]
    ways = [
        (f"fusion {fusion}{name}", odf, *flags, fusion, *words)
        for odf in (1, 8)
        for fusion in ("none", "a", "b", "c", "d")
        for name, words in [("", []), *more]
    ]
    apart = [way for way in ways if way[0].startswith(("fusion none", "fusion c"))]
    return [ours(args, *way) for way in ways] + [ours_apart(args, *way) for way in apart]


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
    odfs = (1, 2, 4, 8, 16)
    ways = [ours(args, "", odf) for odf in odfs] + [ours_apart(args, "", odf) for odf in odfs]
    return together(*(grid_table(args, ways, lambda p, s=s: weak(s, p), left, "ms an iteration") for s in sides))
