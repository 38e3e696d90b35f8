#!/usr/bin/env python3
"""Runs every family of kernels under each of compute-sanitizer's four tools, on small graphs, and prints a table.

    gpu_sanitize.py BUILD OUT [--seconds N] [--total N] [--jobs N] [--only TEXT] [--tools memcheck,racecheck]

BUILD is a folder with `shoal`; each log goes to OUT. Runs are side by side, spread over the GPUs; on one GPU, two PEs share it. A
cell is `ok`, `N found` (errors that the tool reports), `wrong` (the program failed: see the log), `late` (it took longer than
--seconds) or `not run` (the time of --total was over). Exit status 1 unless all cells are ok.
"""

import argparse
import concurrent.futures
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import time

from gpu_matrix import check_folders, visible_gpus

TOOLS = ["memcheck", "synccheck", "initcheck", "racecheck"]
ROAD, KRON = "road:16", "kron:8"
ASYNC = "--strategy async --capacity 16 --workers 64"
WEIGHTED = f"sssp {KRON} --weights hash255 --predecessors"
RANKED = "pagerank kron:6 --tolerance 0.01"
JACOBI = "jacobi3d 21 17 35 --odf 4 --iterations 6"

# Name, PEs, arguments of `shoal`.
CASES = [
    ("bfs async thread", 1, f"bfs {ROAD} {ASYNC} --worker thread"),
    ("bfs async warp", 1, f"bfs {ROAD} {ASYNC} --worker warp"),
    ("bfs async block, parents", 1, f"bfs {ROAD} {ASYNC} --worker block:64 --parents"),
    ("bfs async, rounds", 1, f"bfs {ROAD} {ASYNC} --worker warp --kernel discrete"),
    ("bfs async, priorities", 1, f"bfs {KRON} {ASYNC} --worker warp --queue priority --threshold 1"),
    ("bfs async, file", 1, "bfs FILE --undirected --strategy async --worker warp --workers 64"),
    ("bfs levels, skewed", 1, f"bfs {KRON} --strategy levels --parents"),
    ("bfs levels, narrow", 1, f"bfs {ROAD} --strategy levels"),
    ("sssp async, priorities", 1, f"{WEIGHTED} {ASYNC} --worker warp --queue priority"),
    ("sssp async thread, rounds", 1, f"{WEIGHTED} {ASYNC} --worker thread --kernel discrete --queue fifo"),
    ("sssp delta, skewed", 1, f"{WEIGHTED} --strategy delta"),
    ("sssp delta, narrow", 1, f"sssp {ROAD} --weights hash255 --strategy delta --delta 64"),
    ("components async", 1, f"components {KRON} {ASYNC} --worker warp"),
    ("components async thread", 1, f"components {KRON} {ASYNC} --worker thread"),
    ("kcore async", 1, f"kcore {KRON} {ASYNC} --worker warp"),
    ("kcore async thread", 1, f"kcore {KRON} {ASYNC} --worker thread"),
    ("components hook", 1, "components uniform:8 --strategy hook"),
    ("pagerank async", 1, f"{RANKED} {ASYNC} --worker warp"),
    ("pagerank pull", 1, f"pagerank {ROAD} --tolerance 0.01 --strategy pull"),
    ("pagerank pull, hot vertices", 1, "pagerank kron:8 --tolerance 0.01 --strategy pull"),
    ("bfs async thread", 2, f"bfs {ROAD} {ASYNC} --worker thread --partition random"),
    ("bfs async warp, combine", 2, f"bfs {ROAD} {ASYNC} --worker warp --combine on"),
    ("bfs async warp, segments", 2, f"bfs {ROAD} {ASYNC} --worker warp --batch-bytes 1024"),
    ("bfs async block, segments", 2, f"bfs {ROAD} {ASYNC} --worker block --batch-bytes 1024 --batch-wait 2"),
    ("bfs async block, judge remote", 2, f"bfs {ROAD} {ASYNC} --worker block:64 --judge remote"),
    ("bfs async warp, rounds", 2, f"bfs {KRON} {ASYNC} --worker warp --kernel discrete"),
    ("bfs levels", 2, f"bfs {KRON} --strategy levels --parents"),
    ("sssp async, priorities, combine", 2, f"{WEIGHTED} {ASYNC} --worker warp --queue priority --combine on"),
    ("sssp delta", 2, f"{WEIGHTED} --strategy delta"),
    ("components async, judge remote", 2, f"components {KRON} {ASYNC} --worker warp --judge remote"),
    ("components async block, rounds", 2, f"components {KRON} {ASYNC} --worker block:64 --kernel discrete"),
    ("kcore async, judge remote", 2, f"kcore {KRON} {ASYNC} --worker warp --judge remote"),
    ("kcore async block, rounds", 2, f"kcore {KRON} {ASYNC} --worker block:64 --kernel discrete"),
    ("components hook", 2, "components uniform:8 --strategy hook --partition edges"),
    ("components hook, giants apart", 2, "components road:64 --strategy hook --partition block"),
    ("components, forests", 2, "components uniform:9,degree=1 --strategy hook --partition random"),
    ("pagerank async", 2, f"{RANKED} {ASYNC} --worker warp"),
    ("pagerank pull, phases", 2, "pagerank kron:9 --tolerance 0.001 --strategy pull"),
    ("pagerank pull, recursion", 2, "pagerank uniform:8 --tolerance 0.01 --strategy pull"),
    ("blocks resident", 1, f"{JACOBI} --form resident"),
    ("blocks resident, tiny", 2, "jacobi3d 3 4 5 --blocks 3x4x5 --iterations 6 --mapping round-robin --form resident"),
    ("blocks kernels, fusion none", 2, f"{JACOBI} --form kernels --fusion none"),
    ("blocks kernels, fusion c, graph", 2, f"{JACOBI} --form kernels --fusion c --graph 2"),
    (
        "blocks kernels, fusion d, across x",
        1,
        "jacobi3d 21 17 35 --blocks 4x1x1 --iterations 6 --form kernels --fusion d",
    ),
    ("blocks that move", 2, f"{JACOBI} --form resident --balance 3"),
]


def run(case: tuple[str, int, str], tool: str, args: argparse.Namespace, file: pathlib.Path, gpus: list[int]) -> str:
    """Runs one cell of the table, and returns its text."""
    name, pes, arguments = case
    log = args.out / f"{tool}-{pes}-{re.sub('[^a-z]+', '-', name)}.log"
    command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", str(args.build / "shoal")]
    command += arguments.replace("FILE", str(file)).split()
    if pes > len(gpus):
        command += ["--pes-per-gpu", str(pes)]
    command += ["--device", "gpu", "--pes", str(pes), "--trials", "1", "--verify", "--stall-timeout", str(args.seconds)]
    # Every array is an allocation of its own: in a pool, an access beyond the end of an array would hit another array, and reused
    # memory would not count as uninitialised.
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES=",".join(map(str, gpus)))
    environment["SHOAL_PLAIN_MALLOC"] = "1"
    begin = time.monotonic()
    with log.open("w") as out:
        print(" ".join(command), file=out, flush=True)
        try:
            status = subprocess.run(
                command, stdout=out, stderr=subprocess.STDOUT, env=environment, timeout=args.seconds, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            return "late"
    text = log.read_text(errors="replace")
    found = re.findall(r"(?:ERROR SUMMARY: |RACECHECK SUMMARY: )(\d+)", text)
    errors = sum(map(int, found))
    if errors > 0:
        return f"{errors} found"
    return f"ok {time.monotonic() - begin:.0f} s" if status == 0 and found else f"wrong ({status})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=60, help="limit of one run")
    parser.add_argument("--total", type=int, default=10**6, help="seconds after which no run begins")
    parser.add_argument("--jobs", type=int, default=8, help="runs side by side")
    parser.add_argument("--only", default="", help="only families with this in their name")
    parser.add_argument("--tools", default=",".join(TOOLS))
    args = parser.parse_args()
    check_folders(parser, args, ["shoal"])
    if not shutil.which("compute-sanitizer"):
        parser.error("compute-sanitizer is not in PATH; it is part of the CUDA toolkit (bin/)")
    args.out.mkdir(parents=True, exist_ok=True)
    gpus = visible_gpus()
    if not gpus:
        print("no GPU is visible", file=sys.stderr)
        return 2
    tools = args.tools.split(",")
    cases = [case for case in CASES if args.only in case[0]]
    file = args.out / "ring.el"  # for the case that reads a graph from a file
    file.write_text("".join(f"{v} {(v + step) % 300}\n" for v in range(300) for step in (1, 17)))

    free: queue.Queue[int] = queue.Queue()  # the first GPU of each pair; several jobs may share a pair
    for job in range(args.jobs):
        free.put((2 * job) % len(gpus))
    cells: dict[tuple[int, str], str] = {}

    begin = time.monotonic()

    def work(row: int, tool: str) -> None:
        if time.monotonic() - begin > args.total:
            cells[row, tool] = "not run"
            return
        pes, first = cases[row][1], free.get()
        mine = [gpus[(first + row + i) % len(gpus)] for i in range(pes)] if pes == 1 else gpus[first : first + pes]
        if len(mine) < pes:
            mine = gpus[:pes]  # fewer GPUs than PEs: take all of them
        try:
            cells[row, tool] = run(cases[row], tool, args, file, mine)
        finally:
            free.put(first)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done in [pool.submit(work, row, tool) for tool in tools for row in range(len(cases))]:
            done.result()
    lines = [f"{'kernels':<32} PEs  " + "".join(f"{tool:<14}" for tool in tools)]
    for row, case in enumerate(cases):
        lines.append(f"{case[0]:<32} {case[1]:>3}  " + "".join(f"{cells[row, tool]:<14}" for tool in tools))
    good = sum(cell.startswith("ok") for cell in cells.values())
    lines.append(f"{good} ok, {len(cells) - good} not")
    (args.out / "table.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(line.rstrip() for line in lines))
    return 0 if good == len(cells) else 1


if __name__ == "__main__":
    sys.exit(main())
