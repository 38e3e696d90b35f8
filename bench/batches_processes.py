#!/usr/bin/env python3
"""Compares the batches that `auto` chooses between two processes with fixed settings, in turns.

    bench/batches_processes.py --shoal build/cpu/shoal
    bench/batches_processes.py --shoal build/cpu/shoal --rounds 5 "bfs road:512" "pagerank kron:18"
    bench/batches_processes.py "pagerank kron:16" --rounds 20 --trials 3 --settings again "16 KiB" "wait 100"

Each process is one thread. A round runs one command of each setting; every second round runs them in the opposite order. The
number in brackets is the time of auto divided by that of the setting: above 1.10, the setting is more than a tenth better. The
last column is the median over the rounds of this ratio, taken between the fastest runs of a round. `again` is auto once more: its
distance from 1.00 shows the noise. Many short commands tell more than a few long ones, because a process keeps the speed with
which it began. Exit status 1 if a command failed.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import host

SETTINGS = {
    "auto": "",
    "again": "",
    "256 B": "--batch-bytes 256",
    "1 KiB": "--batch-bytes 1024",
    "16 KiB": "--batch-bytes 16384",
    "64 KiB": "--batch-bytes 65536",
    "wait 4": "--batch-bytes 4096 --batch-wait 4",
    "wait 20": "--batch-bytes 4096 --batch-wait 20",
    "wait 100": "--batch-bytes 4096 --batch-wait 100",
    "20 us": "--batch-bytes 4096 --batch-wait 20us",
    "200 us": "--batch-bytes 4096 --batch-wait 200us",
}
ROWS = ["bfs road:512", "bfs road:1024", "pagerank kron:16"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS), help="which; auto is always one"
    )
    parser.add_argument("rows", nargs="*", default=ROWS, help=f"algorithms on graphs (default: {', '.join(ROWS)})")
    parser.add_argument("--shoal", type=Path, default=Path("build/cpu/shoal"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=5, help="runs of one command")
    options = parser.parse_args()
    shoal, failed, began = options.shoal.resolve(), False, time.monotonic()
    settings = {name: words for name, words in SETTINGS.items() if name in ("auto", *options.settings)}
    print(f"# {' '.join(sys.argv)}; idle {host.idle_fraction() or 0:.0%} of {host.machine()['cores']} cores")
    for row in options.rows:
        took = {name: [] for name in settings}
        best = {name: {} for name in settings}  # the fastest run, by round
        for turn in range(max(1, options.rounds)):
            for name in settings if turn % 2 == 0 else reversed(settings):
                words = [shoal, "run", "-n", "2", "--", *row.split(), "--threads", "1", "--strategy", "async"]
                words += ["--seed", "1", "--trials", str(options.trials), "--quiet", "--json"]
                try:
                    report = json.loads(host.run([*words, *settings[name].split()]))
                    times = [trial["seconds"] * 1e3 for trial in report["trials"]]
                    took[name] += times
                    best[name][turn] = min(times)
                except (host.BenchError, json.JSONDecodeError) as error:
                    failed = True
                    print(f"{row}, {name}: {error}")
        for name, times in took.items():
            if not times or not took["auto"]:
                continue
            cells = [
                (what, of(times), of(took["auto"])) for what, of in (("fastest", min), ("median", statistics.median))
            ]
            told = "  ".join(f"{what} {mine:9.1f} ms ({auto / mine:.2f})" for what, mine, auto in cells)
            ratios = [best["auto"][turn] / mine for turn, mine in best[name].items() if turn in best["auto"]]
            by_round = f"  by rounds ({statistics.median(ratios):.2f})" if ratios else ""
            print(f"{row:20} {name:9} {told}{by_round}", flush=True)
    print(f"# {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
