#!/usr/bin/env python3
"""Compares two processes of one PE with one process of two PEs: the same worklist, graph and sources, in turns.

    bench/beside_processes.py --shoal build/cpu/shoal                              # what docs/promises.md speaks of
    bench/beside_processes.py --shoal build/cpu/shoal --graphs kron:18 --algorithms bfs sssp --rounds 3
    bench/beside_processes.py --shoal build/cpu/shoal --options "--batch-bytes 1024" --side-by-side 8

Each PE is one thread. A round runs one command of each kind, with --trials runs each; every second round runs them in the
opposite order. There are two ratios: of the fastest runs of all rounds, and of the medians of all runs. `owner` is the third
kind: two PEs of one process where the owner judges, as it has to between processes. --side-by-side N measures N rows at the same
time, each on cores of its own; use it on machines with many cores that nobody else uses. Exit status 1 if a command failed or an
answer was wrong.
"""

import argparse
import concurrent.futures
import json
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import host

ALGORITHMS = ("bfs", "sssp", "components", "pagerank")
KINDS = {
    "threads": ["--pes", "2", "--engine", "threads"],
    "processes": [],
    "owner": ["--pes", "2", "--engine", "threads", "--judge", "owner"],
}
LIMIT_SECONDS = 300


class Row:
    """One algorithm on one graph."""

    def __init__(self, algorithm, graph, file, options):
        self.name = f"{algorithm} {graph}"
        self.command = [algorithm, str(file), "--device", "cpu", "--threads", "1", "--strategy", "async"]
        self.command += ["--seed", "1", "--trials", str(options.trials), "--quiet", "--json"]
        self.command += ["--weights", "hash255"] if algorithm == "sssp" else []
        self.command += options.options.split()
        self.kinds = [kind for kind in KINDS if kind != "owner" or (options.owner and algorithm != "pagerank")]
        self.seconds = {kind: [] for kind in self.kinds}
        self.items = {}
        self.wrong = []

    def run(self, kind, shoal, cores, verify):
        words = [str(shoal), *(["run", "-n", "2", "--", str(shoal)] if kind == "processes" else [])]
        words += [*self.command, *KINDS[kind], *(["--verify"] if verify else [])]
        if cores:
            words = ["taskset", "-c", ",".join(map(str, cores)), *words]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
            if done.returncode == 0:
                return json.loads(done.stdout)
            said = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        except (subprocess.TimeoutExpired, json.JSONDecodeError) as error:
            said = str(error)
        self.wrong.append(f"{kind}: {said}")
        return None

    def measure(self, options, cores):
        for turn in range(options.rounds):
            for kind in self.kinds if turn % 2 == 0 else reversed(self.kinds):
                report = self.run(kind, options.shoal, cores, options.verify and turn == 0)
                if report:
                    self.seconds[kind] += [trial["seconds"] for trial in report["trials"]]
                    self.items[kind] = statistics.median(trial["report"]["run"] for trial in report["trials"])

    def line(self, width, kinds):
        cells = []
        for sum_of in (min, statistics.median):
            took = {kind: sum_of(seconds) for kind, seconds in self.seconds.items() if seconds}
            cells += [f"{took[kind] * 1e3:10.1f}" if kind in took else " " * 10 for kind in kinds]
            cells.append(ratio(took, "processes", "threads"))
        cells.append(ratio(self.items, "processes", "threads"))
        return f"{self.name:{width}}{''.join(cells)}  {'; '.join(self.wrong)}".rstrip()


def ratio(of, above, below):
    return f"{of[above] / of[below]:8.2f}" if of.get(above) and of.get(below) else " " * 8


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", type=Path, default=Path("build/cpu/shoal"))
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=ALGORITHMS)
    parser.add_argument("--graphs", nargs="+", default=["kron:20", "road:2048"])
    parser.add_argument("--rounds", type=int, default=1, help="of all kinds (default 1)")
    parser.add_argument("--trials", type=int, default=5, help="runs of one command (default 5)")
    parser.add_argument("--options", default="", help="of shoal, for all kinds")
    parser.add_argument("--owner", action="store_true", help="also two PEs of threads with --judge owner")
    parser.add_argument("--verify", action="store_true", help="check the answers of the first round")
    parser.add_argument("--side-by-side", type=int, default=1, metavar="N", help="rows at the same time (default 1)")
    parser.add_argument("--json", type=Path, help="file for all times, in seconds")
    options = parser.parse_args()
    options.shoal = options.shoal.resolve()
    options.rounds, options.trials = max(1, options.rounds), max(1, options.trials)
    began = time.monotonic()
    about = {"machine": host.machine(), "idle": host.idle_fraction(), "command": sys.argv}
    about["revision"] = host.run([options.shoal, "--version"]).strip()
    print(f"# {about['revision']}; {about['machine']['cores']} x {about['machine']['processor']}; ", end="")
    print("" if about["idle"] is None else f"idle {about['idle']:.0%}; ", " ".join(sys.argv), sep="")
    processors = sorted(os.sched_getaffinity(0))
    lanes = max(1, min(options.side_by_side, len(processors) // 2))
    each = len(processors) // lanes
    free = queue.SimpleQueue()
    for lane in range(lanes):
        free.put(processors[lane * each : (lane + 1) * each] if lanes > 1 else [])
    with tempfile.TemporaryDirectory(prefix="shoal-processes-") as folder:
        files = {}
        for graph in options.graphs:
            files[graph] = Path(folder) / f"{len(files)}.shoal"
            host.run([options.shoal, "convert", graph, files[graph]])
        # Rows that take longest come first.
        rows = [
            Row(algorithm, graph, files[graph], options)
            for algorithm in sorted(options.algorithms, key=ALGORITHMS.index, reverse=True)
            for graph in options.graphs
        ]

        def measure(row):
            cores = free.get()
            try:
                row.measure(options, cores)
            finally:
                free.put(cores)

        with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
            list(pool.map(measure, rows))
    width = max(len(row.name) for row in rows) + 1
    kinds = [kind for kind in KINDS if kind != "owner" or options.owner]
    heads = "".join(f"{kind:>10}" for kind in kinds) + f"{'ratio':>8}"
    print(" " * width + f"{'fastest, ms':>{len(heads)}}{'median, ms':>{len(heads)}}{'items':>8}")
    print(" " * width + heads * 2 + f"{'ratio':>8}")
    for row in sorted(rows, key=lambda row: (options.graphs.index(row.name.split()[1]), row.name)):
        print(row.line(width, kinds))
    print(f"# {time.monotonic() - began:.0f} s")
    if options.json:
        about["rows"] = [
            {"row": row.name, "seconds": row.seconds, "run": row.items, "wrong": row.wrong} for row in rows
        ]
        options.json.write_text(json.dumps(about, indent=1) + "\n")
    return 1 if any(row.wrong for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
