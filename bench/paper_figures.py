#!/usr/bin/env python3
"""Reproduces figures of two papers with the programs that stand here for the papers' own. `shoal bench bfs-fig41` etc. call this.

    bench/paper_figures.py charm-fig7b --folder build/cpu --device cpu --pes 1 2 --shrink 8

bfs-*: time and communication of level-synchronous search: the three programs of baselines/ (MPI, NCCL, CUDASTF), shoal's own
strategies, and GAPBS if the variable GAPBS names its folder. Graphs are generated and written once, and all programs read them
and search from the same sources. Every program's first search is checked, and not timed.

charm-*: Jacobi iteration: shoal's forms, and the baselines with MPI (CPU ranks) and NCCL (GPUs; faces go from GPU to GPU, or
through the host). shoal's PEs are in one process, or each in a process of its own. A run is 100 iterations; the median of three
runs is shown. Baselines iterate ten times before each run; shoal makes one whole run before the three. On CPUs each PE of shoal
has one thread, as each MPI rank has. Every way is checked once against the serial reference if the grid has at most 2^22 cells.

Ways that cannot run here are left out, with the reason.
"""

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from beside_baselines import gapbs_program, threads_of_gapbs
from grid_figures import fig6, fig7, fig7c, fig8, fig9, odf
from host import ROOT, BenchError, machine, revision, run
from search_figures import GRAPHS, fig41, fig42, fig43

RIGHT, WRONG, USAGE = 0, 1, 2

GRAPHS_NOTE = (
    "Graph500's generator at the paper's scales, as undirected graphs; a directed graph with communities, of 16.8 M vertices, "
    "in place of web-uk-2002 (18.5 M, 298 M arcs)."
)
BFS_SEES = "the CPU version is ahead on small graphs, by less the larger they are; CUDASTF is at or ahead of NCCL nearly always"


class Usage(Exception):
    """A wrong argument; its message is one line."""


class Left:
    """What was left out, and why. Each reason is kept once."""

    def __init__(self):
        self.reasons = []

    def out(self, what, why):
        line = f"{what}: {why}"
        if line not in self.reasons:
            self.reasons.append(line)


SUMMIT = "Summit, 6 V100 on each node, one process for each GPU"
CHARM_NOTE = "The paper's times are curves without numbers: compare shapes."
BFS_MACHINE = "2 nodes with 2 A100 40 GB each, CUDA 12.2"
HOST_NOTE = "No run of shoal has a host that waits in an iteration; of the baselines, those by way of the host have."

# name: function that measures it, the paper's machine, what the paper observes, how this experiment differs
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


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--title")
    parser.add_argument("--source", default="")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "cpu", help="has the programs (%(default)s)")
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument(
        "--pes", nargs="+", type=int, help="and GPUs (default: 1 and 2, as there are GPUs; bfs-* on CPUs: as --ranks)"
    )
    parser.add_argument("--ranks", nargs="+", type=int, default=[1, 2, 4], help="of MPI (default: 1 2 4)")
    parser.add_argument("--graphs", nargs="+", help=f"of {', '.join(GRAPHS)}")
    parser.add_argument("--trials", type=int, help="searches, or runs (default: 8, 3; with --quick 2, 2)")
    parser.add_argument("--iterations", type=int, help="of a run of charm-* (default: 100; with --quick 10)")
    parser.add_argument("--shrink", type=int, help="the paper's grids are divided by this along each side")
    parser.add_argument("--quick", action="store_true", help="small graphs and grids, ten iterations")
    parser.add_argument("--limit", type=float, default=60, help="seconds of one program (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=1e6, help="seconds after which nothing is begun")
    parser.add_argument("--seed", type=int, default=1, help="of the sources")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--json", help="write everything here; -: to standard output, and nothing else")
    parser.add_argument("--quiet", action="store_true", help="no table and no progress")
    return parser.parse_args(words)


def find_gapbs(args):
    """Finds GAPBS, or the reason why it is missing."""
    named = os.environ.get("GAPBS")
    args.gapbs, args.threads = Path(named) if named else None, threads_of_gapbs(args)
    args.no_gapbs = "the variable GAPBS names no folder in which its bfs was built (github.com/sbeamer/gapbs, make bfs)"
    if gapbs_program(args.gapbs) is None:
        if named:
            args.no_gapbs = (
                f"{args.gapbs / 'bfs'} is not a program; the variable GAPBS names that folder. Run make bfs in it"
            )
        args.gapbs = None


def complete(args):
    """Fills in what the arguments leave open, from what this machine has. Raises Usage for wrong arguments."""
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
    engine = next((e for e in known["engines"] if e["name"] == "openshmem"), {"found": False, "cure": ""})
    args.no_processes = None if engine["found"] else f"no engine for several processes ({engine['cure']})"
    if args.device == "gpu" and not args.devices:
        raise Usage(f"--device gpu: {known.get('no_devices_because', 'there is none')}")
    if args.device == "auto":
        args.device = "gpu" if args.devices else "cpu"
    bfs = args.experiment.startswith("bfs")
    if args.pes is None:
        if args.device == "gpu":
            args.pes = [p for p in (1, 2) if p <= len(args.devices)]
        else:
            args.pes = args.ranks if bfs else [1, 2]
    if args.device == "gpu" and max(args.pes) > len(args.devices):
        raise Usage(f"--pes {max(args.pes)}: this machine has only {len(args.devices)} GPUs")
    args.trials = args.trials or (2 if args.quick else 8 if bfs else 3)
    args.shrink = args.shrink or (64 if args.quick else 1 if args.device == "gpu" else 8)
    args.iterations, args.warmup = args.iterations or (10 if args.quick else 100), 2 if args.quick else 10
    for name, values in (
        ("--pes", args.pes),
        ("--ranks", args.ranks),
        ("--trials", [args.trials]),
        ("--shrink", [args.shrink]),
        ("--iterations", [args.iterations]),
    ):
        if min(values) < 1 or max(values) > 1000:
            raise Usage(f"{name}: use numbers from 1 to 1,000")
    unknown = [g for g in args.graphs or [] if g not in GRAPHS]
    if unknown or (args.graphs and not bfs):
        has = ", ".join(GRAPHS) if bfs else "no graphs"
        raise Usage(f"graph '{(unknown or args.graphs)[0]}' is not of {args.experiment}, which has {has}")
    if args.json and args.json != "-" and not os.access(Path(args.json).resolve().parent, os.W_OK):
        raise Usage(f"--json {args.json}: cannot be written")
    if shutil.which(args.mpirun) is None:
        args.ranks = []
    find_gapbs(args)
    args.algorithm, args.strategies, args.processes = "bfs", None, False
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
        print(f"{args.source + '; ' if args.source else ''}{paper_machine}.\n{note}\nThe paper finds: {sees}.")
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
