#!/usr/bin/env python3
"""Compares shoal with the three programs of baselines/, which are level-synchronous: with MPI on CPU ranks, with NCCL and with
CUDASTF on GPUs.

    bench/beside_baselines.py --folder build/gpu --device gpu --pes 1 2 --json bench/results/baselines_2xh200.json

Measures the time per level and its shares of computation and communication, as in the paper's figures 4.1 to 4.3, on graphs of
the Graph500 generator at the paper's scales, and on a directed graph with communities in place of the paper's web graph. All
programs search from the same sources. Programs that are not in --folder are left out, with a message.

Each graph is written once, and all programs read it. Each program's first trial is checked, and not timed. Then all programs run
one after the other, --rounds times; the printed time is the median trial of all rounds. `ms/level` is the median over trials of a
trial's time divided by its levels (for PageRank: sweeps). Computation and communication are medians over trials of the mean over
ranks. The baselines measure them by events on the GPU, or within MPI; waiting for other ranks counts as communication. The rest
is the host's time: launches and waiting for results. shoal's own programs do not tell these apart. On CPUs a PE of shoal has one
thread, as an MPI rank has. --levels adds a table by level: the mean, over the trials that have that level, of the slowest rank's
time.
"""

import argparse
import datetime
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from beside_gapbs import graph_file_of, time_gapbs
from host import ROOT, BenchError, machine, revision, run

GRAPHS = ["kron:18", "kron:19", "kron:21", "kron:23", "community:20,directed"]
STRATEGIES = {"bfs": ["levels", "async"], "pagerank": ["pull", "async"]}
MOST_LEVELS = 40  # rows of a table by level; with more levels (roads have thousands), the file has no table
# Lets mpirun run as root, with more ranks than cores, and in containers where a process may not read another's memory.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def how_it_ended(status):
    """How a program ended, in words. `timeout` returns its status, or 128 + the signal; 124 and 137 are timeout's own."""
    if status in (124, 137):
        return "too slow"
    number = -status if status < 0 else status - 128
    try:
        return f"ended by {signal.Signals(number).name}"
    except ValueError:
        return f"exit status {status}"


def json_of(text):
    """The JSON that a program wrote, without what libraries print before it (NCCL's version, if NCCL_DEBUG is set)."""
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("{")), None)
    if first is None:
        raise BenchError(f"no JSON, but '{text[:80]}'")
    try:
        return json.loads("\n".join(lines[first:]))
    except ValueError as error:
        raise BenchError(f"what it wrote is not JSON: {error}") from error


def ask(command, seconds):
    """The JSON that a program writes. Raises BenchError, which says how the program ended."""
    if seconds <= 0:
        raise BenchError("no time was left")
    # `timeout` lets mpirun end by itself, so that it ends the processes that it started.
    done = subprocess.run(
        ["timeout", "-k", "5", f"{seconds:.3f}", *map(str, command)],
        env={**ENVIRONMENT, **os.environ},
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        said = [x for x in done.stderr.splitlines() if "shoal" in x] or done.stderr.strip().splitlines() or [""]
        raise BenchError(f"{how_it_ended(done.returncode)}: {said[0]}")
    return json_of(done.stdout)


class Row:
    """One program in one configuration on one graph."""

    def __init__(self, name, program, flags=(), launcher=()):
        self.name = name
        self.program = program
        self.flags = flags
        self.launcher = launcher
        self.baseline = program.name != "shoal"
        self.trials = []
        self.failed = None

    def run(self, args, file, trials, check):
        command = [*self.launcher, self.program, args.algorithm, file, *self.flags, "--trials", str(trials), "--json"]
        if args.algorithm == "bfs":
            command += ["--seed", str(args.seed)]
        else:
            command += ["--tolerance", str(args.tolerance)]
        if self.baseline:
            command += ["--stats"]
        if check:
            command += ["--verify"]
        return ask(command, min(args.limit, args.deadline - time.monotonic()))["trials"]

    def measure(self, args, file, trials, check=False):
        """Runs trials, and keeps them unless they only check answers."""
        if self.failed:
            return
        try:
            found = self.run(args, file, trials, check)
            if check and not all(t["verified"] is True for t in found):
                raise BenchError("a wrong answer")
        except BenchError as error:
            self.failed = str(error)
            return
        if not check:
            self.trials += found

    def steps(self, trial):
        if self.baseline:
            return trial["steps"]
        return trial["depth"] + 1 if "depth" in trial else trial["sweeps"]

    def summary(self):
        if self.failed or not self.trials:
            return {"failed": self.failed or "not run"}
        result = {
            "median_seconds": statistics.median(t["seconds"] for t in self.trials),
            "steps": statistics.median(self.steps(t) for t in self.trials),
        }
        if result["steps"] > 0:  # async PageRank has no sweeps
            result["seconds_by_step"] = statistics.median(t["seconds"] / self.steps(t) for t in self.trials)
        if self.baseline:
            for what in ("compute", "communicate"):
                result[f"{what}_seconds"] = statistics.median(
                    statistics.mean(r[f"{what}_seconds"] for r in t["by_rank"]) for t in self.trials
                )
        return result

    def by_level(self):
        """One row per level: vertices, seconds, computation, communication; means over trials."""
        table = []
        for i in range(max((len(t.get("by_step", [])) for t in self.trials), default=0)):
            levels = [t["by_step"][i] for t in self.trials if len(t["by_step"]) > i]
            table.append(
                [
                    statistics.mean(sum(r["vertices"] for r in ranks) for ranks in levels),
                    statistics.mean(max(r["seconds"] for r in ranks) for ranks in levels),
                    statistics.mean(statistics.mean(r["compute_seconds"] for r in ranks) for ranks in levels),
                    statistics.mean(statistics.mean(r["communicate_seconds"] for r in ranks) for ranks in levels),
                ]
            )
        return table


def rows_of(args):
    """All rows to run on each graph, and messages about programs that are missing."""
    rows, missing = [], []
    for program, counts in (("shoal_mpi", args.ranks), ("shoal_nccl", args.pes), ("shoal_stf", args.pes)):
        binary = args.folder / program
        if not os.access(binary, os.X_OK):
            missing.append(f"{binary} was not built")
        elif program == "shoal_mpi":
            rows += [Row(f"{program}, {n} ranks", binary, launcher=[args.mpirun, "-n", str(n)]) for n in counts]
        elif args.device == "gpu":
            for n in counts:
                rows.append(Row(f"{program}, {n} GPUs", binary, ["--gpus", str(n)]))
                if args.processes and n > 1:
                    rows.append(Row(f"{program}, {n} processes", binary, launcher=[args.mpirun, "-n", str(n)]))
    for strategy in args.strategies or STRATEGIES[args.algorithm]:
        for n in args.pes:
            flags = ["--device", args.device, "--pes", str(n), "--strategy", strategy]
            flags += ["--threads", "1"] if args.device == "cpu" else []  # as an MPI rank has
            rows.append(Row(f"shoal {strategy}, {n} PEs", args.shoal, flags))
    return rows, missing


def gapbs_program(folder):
    """GAPBS's search program, or None."""
    return folder / "bfs" if folder and os.access(folder / "bfs", os.X_OK) and (folder / "bfs").is_file() else None


def threads_of_gapbs(args):
    return max([*args.pes, *args.ranks]) if args.device == "cpu" else os.cpu_count()


def gapbs_seconds(args, file):
    """The median time of GAPBS over a few of the sources. Raises BenchError if it reaches other vertices than shoal."""
    command = [
        args.shoal,
        "bfs",
        file,
        "--device",
        "cpu",
        "--trials",
        "3",
        "--seed",
        str(args.seed),
        "--json",
        "--quiet",
    ]
    times = []
    for trial in ask(command, min(args.limit, args.deadline - time.monotonic()))["trials"]:
        found = time_gapbs(args, file, trial["source"], 3)
        if found["reached"] != trial["reached"]:
            raise BenchError(
                f"a wrong answer: {found['reached']} vertices from {trial['source']}, not {trial['reached']}"
            )
        times.append(statistics.median(found["seconds"]))
    return statistics.median(times)


def measure(args, graph, folder):
    file = graph if Path(graph).exists() else graph_file_of(args, graph, folder)
    rows, _ = rows_of(args)
    for row in rows if not args.unchecked else []:
        row.measure(args, file, 1, check=True)
    for _ in range(args.rounds):
        for row in rows:
            row.measure(args, file, args.trials)
    print(f"\n{args.algorithm} {graph}: median of {args.rounds} x {args.trials} trials")
    print(f"  {'':24} {'ms':>10} {'levels':>7} {'ms/level':>9} {'comput.':>8} {'commun.':>8} {'rest':>6}")
    result = {"graph": graph, "rows": []}
    for row in rows:
        s = row.summary()
        by_level = row.by_level()
        if len(by_level) > MOST_LEVELS:
            by_level = []
        result["rows"].append({"name": row.name, **s, "by_level": by_level, "trials": len(row.trials)})
        if "failed" in s:
            print(f"  {row.name:24} FAILED: {s['failed'][:120]}")
            continue
        line = f"  {row.name:24} {s['median_seconds'] * 1e3:10.3f}"
        line += f" {s['steps']:7.0f} {s['seconds_by_step'] * 1e3:9.4f}" if s["steps"] > 0 else f" {'-':>7} {'-':>9}"
        if row.baseline:
            shares = [s[f"{what}_seconds"] / s["median_seconds"] for what in ("compute", "communicate")]
            line += f" {shares[0]:8.0%} {shares[1]:8.0%} {1 - sum(shares):6.0%}"
        print(line, flush=True)
    if args.gapbs and args.algorithm == "bfs":
        result["gapbs_threads"] = args.threads
        try:
            result["gapbs_seconds"] = gapbs_seconds(args, file)
            said = f"{result['gapbs_seconds'] * 1e3:10.3f}"
        except (BenchError, OSError, subprocess.SubprocessError) as error:
            result["gapbs_failed"] = said = str(error)
        print(f"  {'GAPBS, ' + str(args.threads) + ' threads':24} {said}")
    best = {
        kind: min(
            (r["median_seconds"] for r in result["rows"] if r["name"].startswith(kind) and "failed" not in r), default=0
        )
        for kind in ("shoal_", "shoal ")
    }
    if all(best.values()):
        result["best_baseline_over_shoal"] = best["shoal_"] / best["shoal "]
        print(f"  best baseline / best of shoal: {result['best_baseline_over_shoal']:.2f}", flush=True)
    if args.levels:
        show_levels(rows)
    return result


def show_levels(rows):
    tables = {row.name: row.by_level() for row in rows if row.baseline and row.trials}
    if not tables:
        return
    width = max(len(name) for name in tables)
    print(f"  by level: ms of the slowest rank (computation + communication)\n  {'level':>5} {'frontier':>12}", end="")
    print("".join(f"  {name:>{max(width, 26)}}" for name in tables))
    for i in range(min(MOST_LEVELS, max(map(len, tables.values())))):
        frontier = next((t[i][0] for t in tables.values() if len(t) > i), 0)
        cells = [
            f"{t[i][1] * 1e3:.4f} ({t[i][2] * 1e3:.4f} + {t[i][3] * 1e3:.4f})" if len(t) > i else ""
            for t in tables.values()
        ]
        print(f"  {i:5} {frontier:12.0f}" + "".join(f"  {cell:>{max(width, 26)}}" for cell in cells), flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithm", choices=STRATEGIES, default="bfs")
    parser.add_argument("--strategies", nargs="+", metavar="NAME", help="of shoal (default: levels async; pull async)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "cpu", help="has the programs (%(default)s)")
    parser.add_argument("--graphs", nargs="+", default=GRAPHS, help="generators or files")
    parser.add_argument(
        "--device", choices=("cpu", "gpu"), default="cpu", help="of shoal; gpu: NCCL and CUDASTF as well"
    )
    parser.add_argument("--pes", nargs="+", type=int, default=[1, 2], help="of shoal, and GPUs (default: 1 2)")
    parser.add_argument("--ranks", nargs="*", type=int, default=[1, 2, 4], help="of MPI (default: 1 2 4)")
    parser.add_argument("--processes", action="store_true", help="GPUs driven by processes as well as by threads")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--gapbs", type=Path, help="folder of github.com/sbeamer/gapbs, built by its make")
    parser.add_argument(
        "--threads", type=int, help="of GAPBS (default: with --device cpu as many as ranks or PEs at most)"
    )
    parser.add_argument("--trials", type=int, default=8, help="of each round, each from another source")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="of the sources")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="PageRank's")
    parser.add_argument("--unchecked", action="store_true", help="check no answers")
    parser.add_argument("--levels", action="store_true", help="a table by level")
    parser.add_argument("--limit", type=float, default=60, help="seconds of one run (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=3600, help="of all runs (default: %(default)s)")
    parser.add_argument("--keep", type=Path, help="keep the graph files here (default: a temporary folder)")
    parser.add_argument("--json", type=Path, help="write everything here")
    args = parser.parse_args()
    unknown = [name for name in args.strategies or [] if name not in STRATEGIES[args.algorithm]]
    if unknown:
        parser.error(
            f"--strategies: of {args.algorithm} there are {', '.join(STRATEGIES[args.algorithm])}, not {unknown[0]}"
        )
    args.shoal = args.folder / "shoal"
    if not os.access(args.shoal, os.X_OK):
        parser.error(f"--folder: there is no {args.shoal}; ./run build makes it")
    if min(args.rounds, args.trials, *args.pes) < 1:
        parser.error("--rounds, --trials and --pes must be at least 1")
    if args.ranks and shutil.which(args.mpirun) is None:
        print(f"no {args.mpirun}, so shoal_mpi is left out", file=sys.stderr)
        args.ranks = []
        args.processes = False
    gapbs = gapbs_program(args.gapbs)
    if args.gapbs and not gapbs:
        parser.error(
            f"--gapbs: {args.gapbs / 'bfs'} is not a program; clone github.com/sbeamer/gapbs and run make in it"
        )
    args.threads = args.threads or threads_of_gapbs(args)
    return args


def main():
    args = arguments()
    args.deadline = time.monotonic() + args.seconds
    for line in rows_of(args)[1]:
        print(line, file=sys.stderr)
    results = []
    try:
        with tempfile.TemporaryDirectory() as temporary:
            folder = args.keep or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            for graph in args.graphs:
                results.append(measure(args, graph, folder))
    except (BenchError, OSError, ValueError, subprocess.SubprocessError) as error:
        print(f"beside_baselines: {error}", file=sys.stderr)
        return 1
    if args.json:
        whole = {
            "bench": "beside_baselines",
            "algorithm": args.algorithm,
            "date": datetime.date.today().isoformat(),
            "machine": {"cpu": machine()["processor"], **machine()},
            "device": args.device,
            "devices": json.loads(run([args.shoal, "doctor", "--json"]))["devices"],
            "checked": not args.unchecked,
            "revision": revision(ROOT),
            "arguments": sys.argv[1:],
            "results": results,
        }
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(whole, indent=1) + "\n")
    return 0 if all("failed" not in row for r in results for row in r["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
