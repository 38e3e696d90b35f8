#!/usr/bin/env python3
"""Runs every algorithm over several processes with all partitions, queues, --judge and --combine. All answers are verified.

    bench/matrix_processes.py --shoal build/cpu/shoal > bench/results/matrix_processes.txt
    bench/matrix_processes.py --shoal build/cpu/shoal --processes 2 --algorithms bfs --partitions modulo

`--judge remote` must be refused with one line, because PEs of several processes do not access each other's memory. Prints a line
per algorithm, graph and number of processes, and each command that went wrong. Exit status 1 if one did.
"""

import argparse
import concurrent.futures
import datetime
import itertools
import subprocess
import sys
import tempfile
import time
from pathlib import Path

USAGE = 2
OPTIONS = {
    "bfs": ["--strategy", "async"],
    "sssp": ["--strategy", "async", "--weights", "hash255"],
    "components": ["--strategy", "async"],
    "pagerank": ["--strategy", "async"],
    "kcore": [],
}
PARTITIONS = ("block", "edges", "strips", "random", "modulo", "metis", "one")
WAYS = list(itertools.product(("fifo", "priority"), ("owner", "remote"), ("off", "on")))


def commands(algorithm, graph, processes, partition, shoal):
    """The command lines, and whether each must be refused. Priorities are tried only for algorithms that have them."""
    for queue, judge, combine in WAYS:
        if queue == "priority" and algorithm not in ("bfs", "sssp"):
            continue
        words = [algorithm, graph, *OPTIONS[algorithm], "--threads", "1", "--partition", partition, "--verify"]
        words += ["--queue", queue, "--judge", judge, "--combine", combine, "--quiet"]
        yield [str(shoal), "run", "-n", str(processes), "--", *words], judge == "remote"


def wrong_with(command, refused):
    """What went wrong; an empty text if nothing did."""
    with tempfile.TemporaryDirectory(prefix="shoal-matrix-") as folder:
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return "did not end in 120 s"
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    if refused:
        said = done.returncode == USAGE and len(errors) == 1 and "judge remote" in errors[0]
        return "" if said else f"status {done.returncode}, not refused in one line: {done.stderr.strip()[-300:]}"
    return "" if done.returncode == 0 else f"status {done.returncode}: {(errors or ['no message'])[0]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", type=Path, default=Path("build/cpu/shoal"))
    parser.add_argument("--processes", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--algorithms", nargs="+", choices=OPTIONS, default=list(OPTIONS))
    parser.add_argument("--graphs", nargs="+", default=["kron:10", "road:40"])
    parser.add_argument("--partitions", nargs="+", default=PARTITIONS)
    parser.add_argument("--jobs", type=int, default=2, help="commands at the same time (default 2)")
    options = parser.parse_args()
    shoal = options.shoal.resolve()
    version = subprocess.run([shoal, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"# {' '.join(sys.argv)}\n# {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC, {version}")
    right = wrong = 0
    for processes, algorithm, graph in itertools.product(options.processes, options.algorithms, options.graphs):
        began = time.monotonic()
        rows = [row for p in options.partitions for row in commands(algorithm, graph, processes, p, shoal)]
        with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
            said = list(pool.map(lambda row: wrong_with(*row), rows))
        bad = [(row, what) for row, what in zip(rows, said) if what]
        refused = sum(row[1] for row in rows)
        right, wrong = right + len(rows) - len(bad), wrong + len(bad)
        print(
            f"{algorithm:11} {graph:10} {processes} processes: {len(rows) - len(bad)} of {len(rows)} as they must be, "
            f"{refused} of them refused; {time.monotonic() - began:.0f} s",
            flush=True,
        )
        for (command, _), what in bad:
            print(f"  {' '.join(command[1:])}: {what}", flush=True)
    print(f"{right} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
