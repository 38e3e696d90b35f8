#!/usr/bin/env python3
"""Runs every mutation of mutants.tsv under the simulator. Each must be found, except that `harmless` ones must not.

    check_mutants.py LIST BIN_DIR [--only NAME] [--schedules N] [--seconds S] [--jobs J]

The defaults leave a margin: the rarest mutations are found once in some 100,000 schedules, and the seeds that find them
change when the headers change. A rare mutation may name the seed where its search begins (`first=SEED` in `by`), so that
it is found soon until the headers change.

BIN_DIR holds sim_ring, sim_channel, sim_segments, sim_scheduler, sim_phases, sim_blocks and sim_wires. A mutation counts as
found if a program that its `by` names reports a failure (exit status 1) within N schedules and S seconds. A crash counts
too, and is reported as a crash. Exit status 1 if a mutation was missed, no longer
applies to the headers, or is marked harmless and was found.
"""

import argparse
import concurrent.futures
import pathlib
import subprocess
import sys
import time

PROGRAMS = ["ring", "channel", "segments", "scheduler", "phases", "blocks", "wires"]


def run(binary, number, first, schedules, seconds):
    done = subprocess.run(
        [binary, *f"--mutant {number} --first {first} --schedules {schedules} --seconds {seconds} --trace 0".split()],
        capture_output=True,
        text=True,
        timeout=seconds + 60,
    )
    first = done.stdout.splitlines()[0] if done.stdout else ""
    seed = next((line.split("--seed ")[1] for line in done.stdout.splitlines() if line.startswith("replay:")), "?")
    return done.returncode, first[:110], seed


def judge(row, a):
    number, name, by, status, why = row
    if status != "ok":
        return False, f"DOES NOT APPLY {name}: {status}; bring its text up to date"
    words = dict(word.split("=") for word in by.split() if "=" in word)
    programs = PROGRAMS if by == "harmless" else [word for word in by.split() if "=" not in word]
    for program in programs:
        # Schedules of sim_wires are twenty times as long.
        share = 1 if by != "harmless" else 2000 if program == "wires" else 200
        schedules = a.schedules // share
        begin = words.get("first", "1")
        code, first, seed = run(a.bin.resolve() / f"sim_{program}", number, begin, schedules, a.seconds)
        if code in (0, 3):
            continue
        if code == 2:
            return False, f"CANNOT RUN {name}: {first}"
        what = f"crashed with signal {-code}" if code < 0 else f"seed {seed}: {first}"
        return by != "harmless", f"{'found' if by != 'harmless' else 'NOT HARMLESS'} {name} by {program}, {what}"
    return by == "harmless", f"{'harmless' if by == 'harmless' else 'MISSED'} {name}: {why}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--schedules", type=int, default=400000)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    a = parser.parse_args()
    rows = [line.split("\t") for line in a.list.read_text().splitlines()]
    rows = [row for row in rows if a.only in row[1]]
    begin, bad = time.time(), 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for good, line in pool.map(lambda row: judge(row, a), rows):
            bad += not good
            print(line, flush=True)
    print(f"{len(rows)} mutations, {bad} not as they should be, {time.time() - begin:.0f} s")
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
