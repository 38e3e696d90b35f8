#!/usr/bin/env python3
"""Prints which objects of a build folder took longest to compile, and the sum over all objects, from ninja's log.

    compile_times.py build/gpu [--most 30]

The seconds are wall-clock time. If the build ran as many jobs as the machine has cores, and nothing else ran, they are about the
seconds of one core. Objects from a compiler cache took no time. An object that was built several times counts with its last
time.
"""

import argparse
import pathlib
import sys


def read_log(path: pathlib.Path) -> dict[str, float]:
    """Seconds by object; the last entry of each object counts."""
    seconds = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        start, end, _, output, _ = line.split("\t")
        if output.endswith(".o"):
            seconds[output] = (int(end) - int(start)) / 1000
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="a build folder of ninja")
    parser.add_argument("--most", type=int, default=30, help="lines to print")
    options = parser.parse_args()
    log = options.build / ".ninja_log"
    if not log.is_file():
        print(f"{log}: there is none; give a folder that ninja has built", file=sys.stderr)
        return 2
    seconds = read_log(log)
    for output, taken in sorted(seconds.items(), key=lambda one: -one[1])[: options.most]:
        print(f"{taken:8.1f}  {output}")
    print(f"{sum(seconds.values()):8.1f}  all {len(seconds)} objects")
    return 0


if __name__ == "__main__":
    sys.exit(main())
