#!/usr/bin/env python3
"""Compares the defaults of a run with a search over the options, for tasks that were not used when the rules of `auto` were made.

    scripts/own_tasks.py --folder build/cpu --device cpu --json own_cpu.json
    scripts/own_tasks.py --folder build/gpu --device gpu --limit 240 --json own_1xh200.json

The rules of `auto` come from measurements of bfs, sssp, pagerank and components. The tasks here are different:

  reach     examples/02_reach.cpp: a bounded search          INPUT is a graph
  hash      examples/03_hash_table.cpp: counting keys        INPUT is a number of keys
  kcore     `shoal kcore`                                    INPUT is a graph
  sandpile  bench/worklist/own_sandpile.cpp: bursts          INPUT is a number of cells
  walk      bench/worklist/own_walk.cpp: long chains         INPUT is a graph

For each task and input, the search tries every kind of worker and kernel, then the other options, one at a time, with the
fastest of those. The fastest four ways run three more times. The best of them and the defaults then run in turns, --trials times
each. Only these last times count, because a way that was fast by chance is not fast again. Each run is a process, and each checks
its own answer. A GPU build makes the last two programs only by name (`ninja own_sandpile own_walk`). To search all kinds of
workers on GPUs, configure with -DSHOAL_PROGRAM_KERNELS=all; ways for which a program has no kernel are left out, and counted.
`ratio` is the time of the defaults divided by that of the best way; it is 1 if no way is 2 % faster. Exit status 1 if a run
failed or its answer was wrong.
"""

import argparse
import datetime
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
import host
import in_turns

PROGRAMS = {
    "reach": ("example_02_reach",),
    "hash": ("example_03_hash_table", "--size"),
    "kcore": ("shoal", "kcore"),
    "sandpile": ("own_sandpile", "--size"),
    "walk": ("own_walk",),
}
CPU_PAIRS = [
    ("reach", "kron:16"), ("reach", "uniform:16"), ("hash", "1000000"), ("kcore", "kron:14"), ("kcore", "road:300"),
    ("sandpile", "1000000"), ("walk", "kron:16"), ("walk", "road:512"),
]  # fmt: skip
GPU_PAIRS = [
    ("sandpile", "4000000"), ("walk", "kron:20"), ("hash", "2000000"), ("reach", "kron:20"), ("kcore", "kron:18"),
    ("walk", "road:1024"), ("kcore", "road:1024"), ("reach", "uniform:20"),
]  # fmt: skip
Way = tuple[str, ...]  # the options that differ from the defaults
GPU_WORKERS = ("warp", "block:128", "block:256", "block:384", "thread")
NO_KERNEL = "this program has no kernel for"  # src/worklist/kernel_set.cpp
FINALISTS, FINAL_ROUNDS = 4, 3
WORTH_NAMING = 1.02  # a smaller gain is noise, and the defaults then count as the best, as in `shoal tune`


def workers_and_kernels(device: str) -> list[Way]:
    """The defaults, and every kind of worker and kernel."""
    if device == "cpu":
        return [(), ("--kernel", "discrete")]
    kernels = ("persistent", "discrete")
    return [(), *(("--worker", worker, "--kernel", kernel) for worker in GPU_WORKERS for kernel in kernels)]


def one_option(name: str, device: str, pes: int) -> list[Way]:
    """The other options, one value of one option at a time."""
    knobs = [("--fetch", n) for n in ("1", "4", "16", "64")]
    knobs += [("--workers", n) for n in ("256", "1024", "4096")] if device == "gpu" else [("--threads", "1")]
    knobs += [("--capacity", n) for n in ("4096", "65536")]
    if pes > 1:
        knobs += [("--batch-bytes", n) for n in ("1024", "4096", "16384")]
        knobs += [("--partition", "random")]
        knobs += [("--judge", "owner"), ("--combine", "on")] if name == "kcore" else []  # others lack these
    return knobs


class Task:
    """One task on one input. Runs it with given options, in turns, and keeps the times."""

    def __init__(self, args: argparse.Namespace, name: str, size: str) -> None:
        program, *words = PROGRAMS[name]
        self.binary, self.words = str(args.folder / program), [*words, size]
        self.fixed = ["--device", args.device, "--pes", str(args.pes)]
        self.timeout = args.timeout
        self.answer = None  # what the program prints about its answer, beside the time
        self.lacking: set[Way] = set()  # ways for which the program has no kernel
        self.failed: dict[Way, str] = {}  # ways that failed or gave a wrong answer, with the reason

    def run(self, way: Way) -> float | None:
        """The seconds of one run whose answer was right; None if it was wrong, or if the program has no kernel for this way."""
        arguments = [*self.words, *self.fixed, *way]
        if self.words[0] == "kcore":
            seconds, error = in_turns.one_run(self.binary, arguments, True, self.timeout)
        else:
            seconds, error = self.run_program(arguments)
        if error and NO_KERNEL in error:
            self.lacking.add(way)
        elif error:
            self.failed[way] = error
        return None if error else seconds

    def run_program(self, arguments: list[str]) -> tuple[float | None, str | None]:
        """The same as in_turns.one_run(), for a program that prints `1.234 ms, WHAT: right`."""
        command = [self.binary, *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=self.timeout, check=False)
        except subprocess.TimeoutExpired:
            return None, f"took longer than {self.timeout} s"
        line = re.fullmatch(r"([0-9.]+) ms, (.*): right\n", done.stdout)
        if done.returncode != 0 or line is None:
            return None, (done.stderr or done.stdout or f"exit status {done.returncode}").strip().splitlines()[-1]
        self.answer = self.answer or line[2]
        if line[2] != self.answer:
            return None, f"{line[2]}; another run said {self.answer}"
        return float(line[1]) / 1e3, None

    def in_turns(self, ways: list[Way], rounds: int) -> dict[Way, list[float]]:
        """The seconds of each way that was always right. Every second round goes through the ways in the opposite order."""
        times: dict[Way, list[float]] = {way: [] for way in ways}
        for turn in range(rounds):
            for way in ways if turn % 2 == 0 else reversed(ways):
                if way in self.lacking or way in self.failed:
                    continue
                if (seconds := self.run(way)) is not None:
                    times[way].append(seconds)
        return {way: of for way, of in times.items() if of and way not in self.failed}


def by_median(times: dict[Way, list[float]]) -> list[Way]:
    return sorted(times, key=lambda way: statistics.median(times[way]))


def compare(args: argparse.Namespace, name: str, size: str) -> dict:
    """A row of the table: the defaults and the best way, and the ways that failed."""
    task = Task(args, name, size)
    row = {"task": name, "input": size}
    searched = task.in_turns(workers_and_kernels(args.device), args.screen)
    if searched:
        base = by_median(searched)[0]
        searched |= task.in_turns([base + knob for knob in one_option(name, args.device, args.pes)], args.screen)
    finals = task.in_turns([way for way in by_median(searched) if way][:FINALISTS], FINAL_ROUNDS)
    last = task.in_turns([(), *by_median(finals)[:1]], args.trials) if () in searched else {}
    row["failed"] = [{"flags": list(way), "how": how} for way, how in task.failed.items()]
    if () not in last:
        return row
    default, best = statistics.median(last[()]), by_median(last)[0]
    if default < WORTH_NAMING * statistics.median(last[best]):
        best = ()
    return row | {
        "default_seconds": default,
        "best_seconds": statistics.median(last[best]),
        "default_over_best": default / statistics.median(last[best]),
        "best": list(best),
        "ways": len(searched),
        "left_out": len(task.lacking),
        "last": written(last),
        "finals": written(finals),
        "search": written(searched),
    }


def written(times: dict[Way, list[float]]) -> list[dict]:
    return [{"flags": list(way), "seconds": of} for way, of in times.items()]


def where(args: argparse.Namespace) -> dict:
    """The machine, GPUs, driver and options, for the result file."""
    told = json.loads(host.run([args.folder / "shoal", "kcore", "chain:2", "--device", "cpu", "--json", "--quiet"]))
    devices = [{k: v for k, v in device.items() if k != "free_bytes"} for device in told["devices"]]
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    head = {"bench": "own_tasks", "arguments": sys.argv[1:], "date": now, "driver": host.driver(), "devices": devices}
    head |= {key: told[key] for key in ("version", "revision", "machine")}
    return head | {key: getattr(args, key) for key in ("device", "pes", "trials", "screen")}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--folder", type=pathlib.Path, required=True, help="a build: shoal, the examples and own_* lie in it"
    )
    parser.add_argument("--device", choices=["cpu", "gpu"], required=True)
    parser.add_argument("--pes", type=int, default=1, help="PEs of every run (default 1)")
    parser.add_argument("--trials", type=int, default=9, help="of the last comparison in turns (default 9)")
    parser.add_argument("--screen", type=int, default=1, help="trials of each way in the search (default 1)")
    parser.add_argument("--timeout", type=float, default=60, help="seconds after which a run has failed (default 60)")
    parser.add_argument("--limit", type=float, help="seconds after which no further row is begun (default: none)")
    parser.add_argument("--pairs", nargs="+", metavar="TASK/INPUT", help="only these, such as kcore/kron:16 hash/50000")
    parser.add_argument("--json", type=pathlib.Path, help="file for all times, written after every row")
    args = parser.parse_args()
    args.folder = args.folder.resolve()
    named = [tuple(pair.split("/", 1)) for pair in args.pairs or []]
    for pair in named:
        if len(pair) != 2 or pair[0] not in PROGRAMS:
            parser.error(f"--pairs {'/'.join(pair)}: use TASK/INPUT, with a TASK of: {', '.join(PROGRAMS)}")
    args.pairs = named or (GPU_PAIRS if args.device == "gpu" else CPU_PAIRS)
    return args


def line_of(row: dict) -> str:
    """A row of the table; each failed way has a line of its own."""
    line = f"{row['task']:8}  {row['input']:12}"
    if "best" in row:
        ms = [f"{row[key] * 1e3:10.3f}" for key in ("default_seconds", "best_seconds")]
        left_out = f", {row['left_out']} left out" if row["left_out"] else ""
        line += f"  {ms[0]}  {ms[1]}  {row['default_over_best']:6.3f}"
        line += f"  {' '.join(row['best']) or 'defaults'}  ({row['ways']} ways{left_out})"
    for one in row["failed"]:
        line += f"\n{'':8}  failed: {' '.join(one['flags']) or 'defaults'}: {one['how']}"
    return line


def main() -> int:
    args = parse()
    begin, out, rows = time.monotonic(), where(args), []
    out |= {"rows": rows, "not_run": [f"{name}/{size}" for name, size in args.pairs]}
    print(f"{'task':8}  {'input':12}  {'default ms':>10}  {'best ms':>10}  {'ratio':>6}  best way")
    for name, size in args.pairs:
        if args.limit is not None and time.monotonic() - begin > args.limit:
            break
        rows.append(compare(args, name, size))
        del out["not_run"][0]
        print(line_of(rows[-1]), flush=True)
        if args.json:  # after every row, so that a run that is cut off leaves the rows that it has
            args.json.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")
    if out["not_run"]:
        print(f"not run: {' '.join(out['not_run'])}")
    near = sum(row.get("default_over_best", 2) <= 1.1 for row in rows)
    print(f"the defaults are within 10 % of the best on {near} of {len(rows)}")
    return 1 if any(row["failed"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
