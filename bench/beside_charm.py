#!/usr/bin/env python3
"""Compares Jacobi iteration of shoal on GPUs with Charm++'s own program, one after the other, in microseconds an iteration.

    bench/beside_charm.py --charm CHARM/examples/charm++/cuda/gpudirect/jacobi3d/jacobi3d --shoal build/gpu/shoal \\
                          --gpus 1 2 4 --blocks 1 4 192:200 768:50

CHARM is a checkout of github.com/UIUC-PPL/charm, built by `./build charm++ multicore-linux-x86_64 cuda --with-production
--disable-fortran`; in the folder of the program, `make NVCC_FLAGS="-c -std=c++17 -use_fast_math -O3 -arch=sm_90"`. Charm++ is
one process with a thread for each GPU. With `-d` it sends faces from GPU to GPU, without it through the host. It iterates 20
times before it starts the clock. shoal runs three times, and the median counts. The answers are not checked here.
bench/results/jacobi3d_4xh200.txt has such a table. Exit status 1 if a command failed.
"""

import argparse
import json
import re
import statistics
import sys
from pathlib import Path

from host import BenchError, run
from text_table import table


def grid(text: str) -> tuple[int, int]:
    """Parses CELLS:ITERATIONS."""
    cells, _, iterations = text.partition(":")
    return int(cells), int(iterations or 100)


def charm(args: argparse.Namespace, cells: int, iterations: int, gpus: int, blocks: int, *flags: str) -> float:
    sides = [word for axis in "xyz" for word in (f"-{axis}", cells)]
    said = run([args.charm, f"+p{gpus}", *sides, "-c", gpus * blocks, "-i", iterations, "-w", 20, *flags])
    found = re.search(r"Average iteration time: ([0-9.]+) us", said)
    if not found:
        raise BenchError(f"{args.charm}: says no average iteration time")
    return float(found[1])


def shoal(args: argparse.Namespace, cells: int, iterations: int, gpus: int, blocks: int) -> float:
    where = ["--device", "gpu", "--pes", gpus, "--odf", blocks]
    said = run([args.shoal, "jacobi3d", *[cells] * 3, *where, "--iterations", iterations, "--trials", 3, "--json"])
    return statistics.median(trial["seconds"] for trial in json.loads(said)["trials"]) / iterations * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grids", nargs="+", type=grid, metavar="CELLS:ITERATIONS", help="along each side; default: 100")
    parser.add_argument("--charm", type=Path, required=True, help="Charm++'s program")
    parser.add_argument("--shoal", type=Path, required=True, help="the shoal command")
    parser.add_argument("--gpus", type=int, nargs="+", default=[1])
    parser.add_argument("--blocks", type=int, nargs="+", default=[1], help="of each GPU")
    args = parser.parse_args()
    for program in (args.charm, args.shoal):
        if not program.is_file():
            parser.error(f"{program} is not there")
    columns = ["Charm++", "Charm++ -d", "shoal", "best Charm++ / shoal"]
    cells, failed = {}, 0
    for size, iterations in args.grids:
        for gpus in args.gpus:
            for blocks in args.blocks:
                row = f"{size}^3, {gpus} GPUs, {blocks} blocks each"
                which = (args, size, iterations, gpus, blocks)
                try:
                    staged, direct, ours = charm(*which), charm(*which, "-d"), shoal(*which)
                except BenchError as error:
                    print(f"{row}: {error}", file=sys.stderr)
                    failed += 1
                    continue
                values = (f"{staged:.1f}", f"{direct:.1f}", f"{ours:.1f}", f"{min(staged, direct) / ours:.2f}")
                cells |= {(row, column): value for column, value in zip(columns, values, strict=True)}
    print("\n".join(table("us an iteration", columns, list(dict.fromkeys(row for row, _ in cells)), cells)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
