#!/usr/bin/env python3
"""Times commands of several builds of shoal in turns, and prints a table of medians.

    bench/in_turns.py --rounds 3 --json turns.json old=build/old/shoal new=build/new/shoal < rows.txt

Each line of standard input is one row: arguments of `shoal`, such as `bfs kron:20 --device gpu --seed 1 --trials 7`. Text after
a # is a comment. Every second round runs the builds in the opposite order; the first round verifies the answers. The last columns
are each build's time divided by that of the first build. bench/results/house_*.txt and atomics_*.txt were made in this way. Exit
status 1 if a command failed or an answer was wrong.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path


def one_run(binary, arguments, verify, limit):
    """The median seconds of one command and None, or None and an error message."""
    command = [binary, *arguments, *(["--verify"] if verify else []), "--json", "--quiet"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None, f"took longer than {limit} s"
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    return json.loads(done.stdout)["median_seconds"], None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="+", metavar="NAME=BINARY", help="a name for the table, and a `shoal`")
    parser.add_argument("--rounds", type=int, default=3, help="of all builds, for each row (default 3)")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one command (default 600)")
    parser.add_argument("--json", type=Path, help="file for all times, in seconds")
    options = parser.parse_args()
    builds = dict(build.split("=", 1) for build in options.builds if "=" in build)
    if len(builds) != len(options.builds):
        parser.error("each build is NAME=BINARY, with a name of its own")
    rows = [row for row in (line.split("#")[0].strip() for line in sys.stdin) if row]
    width = max((len(row) for row in rows), default=0)
    first = next(iter(builds))
    print(" " * width, *(f"{name:>10}" for name in builds), *(f"{name + '/' + first:>10}" for name in list(builds)[1:]))
    all_rows, failed = [], False
    for row in rows:
        times, wrong = {name: [] for name in builds}, []
        for turn in range(options.rounds):
            for name in builds if turn % 2 == 0 else reversed(list(builds)):
                seconds, error = one_run(builds[name], row.split(), turn == 0, options.limit)
                if error:
                    wrong.append(f"{name}: {error}")
                else:
                    times[name].append(seconds)
        median = {name: statistics.median(of) if of else float("nan") for name, of in times.items()}
        cells = [f"{seconds * 1e3:10.3f}" for seconds in median.values()]
        ratios = [f"{median[name] / median[first]:10.3f}" for name in list(builds)[1:]]
        print(f"{row:{width}}", *cells, *ratios, *wrong, flush=True)
        all_rows.append({"row": row, "seconds": times, "wrong": wrong})
        failed = failed or bool(wrong)
    if options.json:
        options.json.write_text(json.dumps({"builds": builds, "rows": all_rows}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
