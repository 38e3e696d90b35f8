#!/usr/bin/env python3
"""Runs the matrix of algorithms, and soaks with delays, spread over this machine's GPUs, and adds up the results.

    gpu_matrix.py BUILD OUT [--data FOLDER] [--seconds N] [--copies N] [--shards N] [--soak RUNS]
                  [--algorithms bfs,sssp] [--pes 1,2,3,4] [--pes-per-gpu N] [--ways core,rest] [--json FILE] [--resume]

BUILD is a folder with `algo_matrix` and, for soaks, `algo_matrix_delayed`. A job is one program, which runs a shard of the ways
on a given number of PEs. It takes one place on each of its GPUs; a GPU has --copies places. One place is best: kernels of several
programs take turns of milliseconds, and a PE that has its turn then waits for a PE that does not. With --pes-per-gpu, up to N PEs
of a program share a GPU, for runs on more PEs than there are GPUs. Soaks run first, then the core of the ways, then the rest.
Prints a line per algorithm and number of PEs, and `N right, N wrong, N not run` at the end; --json writes the same for
scripts/results_table.py. --resume continues an earlier call that ran out of time: results of programs that finished are in OUT,
and count. Of the arguments, only --seconds, --pes and --ways may then differ. Exit status 1 unless all ways were run and right.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ALGORITHMS = ("bfs", "sssp", "components", "pagerank", "kcore")


@dataclasses.dataclass
class Job:
    """One program. `what` is core or rest (parts of the ways), or soak."""

    what: str
    pes: int
    shard: int
    shards: int
    runs: int = 0
    turn: int = 0
    only: str = ""
    gpus: tuple[int, ...] = ()
    process: subprocess.Popen | None = None

    def name(self) -> str:
        return f"{self.what}{self.only}-{self.pes}-{self.shard}of{self.shards}"

    def command(self, args: argparse.Namespace, seconds: float) -> list[str]:
        program = "algo_matrix_delayed" if self.what == "soak" else "algo_matrix"
        command = [str(args.build / program), "--device", "gpu"]
        command += [word for name in ([self.only] if self.only else args.algorithms) for word in ("--algorithm", name)]
        command += ["--pes", str(self.pes), "--pes-per-gpu", str(args.pes_per_gpu)]
        command += ["--way-seconds", str(args.way_seconds), "--seconds", f"{seconds:.1f}"]
        command += ["--json", str(args.out / f"{self.name()}.json")]
        if self.what == "soak":
            return [*command, "--only-soak", "--soak", str(self.runs), "--seed", str(args.seed * 1000 + self.shard)]
        command += [
            "--ways",
            self.what,
            "--fewest-pes",
            str(self.pes),
            "--shard",
            f"{self.shard}/{self.shards}",
            "--seed",
            str(args.seed),
        ]
        return [*command, "--data", str(args.data)] if args.data else command


class Counts(dict):
    """(what, PEs, algorithm) -> right, wrong, not run, seconds; and a description of each failure."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[str] = []
        self.machine = ""

    def add(self, job: Job, out: pathlib.Path, status: int) -> None:
        file = out / f"{job.name()}.json"
        if file.exists():
            data = json.loads(file.read_text(encoding="utf-8"))
            self.machine = data.get("gpu", data.get("cpu"))
            for counts in data["counts"]:
                row = self.setdefault((job.what, job.pes, counts["algorithm"]), [0, 0, 0, 0.0])
                for i, key in enumerate(("right", "wrong", "not_run", "seconds")):
                    row[i] += counts[key]
            self.failures += [f"{job.name()}: {failure}" for failure in data["failures"]]
        if status not in (0, 1) and not (file.exists() and status == 3):
            # A program that could not start, or crashed, counts as one wrong way. (Status 3: a way did not end. It is among the
            # failures, and the ways after it are not counted.)
            self.setdefault((job.what, job.pes, "program"), [0, 0, 0, 0.0])[1] += 1
            said = (out / f"{job.name()}.log").read_text(errors="replace").split("\n")
            self.failures.append(
                f"{job.name()}: status {status}: {([line for line in said if line] or ['no word'])[-1]}"
            )


def jobs_of(args: argparse.Namespace, gpus: list[int]) -> list[Job]:
    """Soaks, then the core, then the rest. Of core and rest: the first shard for every number of PEs, beginning with those that
    take the most GPUs, because they are hardest to place; then the second shard, and so on. So if time is short, a part of
    everything was run."""
    everywhere = len(gpus) * args.pes_per_gpu
    each = [args.soak // args.shards + (i < args.soak % args.shards) for i in range(args.shards)]
    jobs = [
        Job("soak", everywhere, i, args.shards, runs, only=name)
        for i, runs in enumerate(each)
        for name in args.algorithms
        if runs > 0
    ]
    for what in args.ways:
        for turn in range(args.shards):
            for pes in sorted({pes for pes in args.pes if pes <= everywhere}, reverse=True):
                # On one PE there are few ways: one program runs them, beside a program of three PEs.
                sets = len(gpus) // gpus_for(pes, args) if pes > 1 else 1
                shards = args.shards if pes > 1 else 1
                if turn < shards:
                    mine = range(turn * sets, (turn + 1) * sets)
                    jobs += [Job(what, pes, i, shards * sets, turn=turn) for i in mine]
    return jobs


def gpus_for(pes: int, args: argparse.Namespace) -> int:
    """How many GPUs `pes` PEs take."""
    return -(-pes // args.pes_per_gpu)


def is_finished(job: Job, out: pathlib.Path) -> bool:
    """True if an earlier call ran all ways of `job`."""
    file = out / f"{job.name()}.json"
    counts = json.loads(file.read_text(encoding="utf-8"))["counts"] if file.exists() else []
    return len(counts) > 0 and all(row["not_run"] == 0 for row in counts)


def share(job: Job, jobs: list[Job]) -> float:
    """The fraction of the remaining time that `job` may take, so that the other jobs have their turn."""
    if job.what == "soak":
        return 1 / (1 + sum(other.what == "soak" for other in jobs if other is not job))
    walls = {1: 0.0, 2: 0.5}
    pending = {other.pes for other in jobs if (other.what, other.turn) == (job.what, job.turn)} | {job.pes}
    mine = walls.get(job.pes, 1.0)
    return mine / sum(walls.get(pes, 1.0) for pes in pending) if mine > 0 else 1.0


def run_all(jobs: list[Job], args: argparse.Namespace, gpus: list[int]) -> Counts:
    """Starts jobs when places are free, until all have ended. No way begins after --seconds; those left are only counted."""
    begin = time.monotonic()
    places = dict.fromkeys(gpus, args.copies)
    counts, running = Counts(), []
    for job in [job for job in jobs if is_finished(job, args.out)]:
        jobs.remove(job)
        counts.add(job, args.out, 0)
    while jobs or running:
        left = max(args.seconds - (time.monotonic() - begin), 0)
        for job in list(jobs):
            free = sorted((gpu for gpu in gpus if places[gpu] > 0 or left == 0), key=lambda gpu: -places[gpu])
            wanted = gpus_for(job.pes, args)
            if len(free) < wanted:
                continue
            job.gpus = tuple(sorted(free[:wanted]))
            for gpu in job.gpus:
                places[gpu] -= 1
            environment = dict(os.environ, CUDA_VISIBLE_DEVICES=",".join(map(str, job.gpus)))
            with (args.out / f"{job.name()}.log").open("w") as log:
                job.process = subprocess.Popen(
                    job.command(args, left * share(job, jobs)), stdout=log, stderr=subprocess.STDOUT, env=environment
                )
            jobs.remove(job)
            running.append(job)
        time.sleep(0.02)
        for job in list(running):
            status = job.process.poll()
            if status is None and time.monotonic() - begin > args.seconds + args.grace:
                job.process.kill()
                status = job.process.wait()
            if status is None:
                continue
            running.remove(job)
            for gpu in job.gpus:
                places[gpu] += 1
            counts.add(job, args.out, status)
    return counts


def check_folders(parser: argparse.ArgumentParser, args: argparse.Namespace, programs: list[str]) -> None:
    """Ends with an error if args.build lacks a program, or args.out cannot be a folder."""
    for program in programs:
        if not (args.build / program).is_file():
            parser.error(f"{args.build}: has no {program}; name the folder where it was built")
    if args.out.exists() and not args.out.is_dir():
        parser.error(f"{args.out}: is a file; name a folder for results")


def visible_gpus() -> list[int]:
    """The numbers of the GPUs that programs see: those in CUDA_VISIBLE_DEVICES, or else all of this machine."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible:
        return [int(gpu) for gpu in visible.split(",")]
    if not shutil.which("nvidia-smi"):
        return []
    listed = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, check=False).stdout
    return list(range(len(listed.splitlines())))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, help="a folder with edge lists *.el.gz")
    parser.add_argument("--seconds", type=float, default=400, help="no way begins later; those left are counted")
    parser.add_argument("--copies", type=int, default=1, help="programs side by side on one GPU")
    parser.add_argument("--shards", type=int, default=1, help="parts of the ways, each on every number of PEs")
    parser.add_argument("--soak", type=int, default=0, help="runs with delays and tiny capacities, per algorithm")
    parser.add_argument("--ways", type=lambda text: text.split(",") if text else [], default=["core", "rest"])
    parser.add_argument("--algorithms", type=lambda text: text.split(","), default=list(ALGORITHMS))
    parser.add_argument("--pes", type=lambda text: [int(pes) for pes in text.split(",")], default=[1, 2, 3, 4])
    parser.add_argument("--pes-per-gpu", type=int, default=1, help="PEs of a program that may share a GPU, 1 to 4")
    parser.add_argument("--seed", type=int, default=1, help="of partitions, sources and soaks")
    parser.add_argument("--way-seconds", type=float, default=30, help="a way that takes longer ends its program")
    parser.add_argument("--grace", type=float, default=40, help="seconds after --seconds when programs are killed")
    parser.add_argument("--json", type=pathlib.Path, help="file for the sums")
    parser.add_argument("--resume", action="store_true", help="keep what an earlier call finished in OUT")
    args = parser.parse_args()
    unknown = [part for part in args.ways if part not in ("core", "rest")]
    if unknown:
        parser.error(f"--ways {','.join(unknown)}: legal: core, rest, both, or '' for soaks alone")
    unknown = [name for name in args.algorithms if name not in ALGORITHMS]
    if unknown:
        parser.error(f"--algorithms {','.join(unknown)}: legal: {', '.join(ALGORITHMS)}")
    if not 1 <= args.pes_per_gpu <= 4:
        parser.error(f"--pes-per-gpu {args.pes_per_gpu}: legal: 1 to 4")
    if args.data and not args.data.is_dir():
        parser.error(f"--data {args.data}: no such folder")
    check_folders(parser, args, ["algo_matrix"] + ["algo_matrix_delayed"] * (args.soak > 0))
    args.out.mkdir(parents=True, exist_ok=True)
    record = args.out / "arguments.json"
    decide = {key: str(getattr(args, key)) for key in ("data", "shards", "soak", "algorithms", "seed", "pes_per_gpu")}
    if not args.resume:
        for old in args.out.glob("*of*.json"):
            old.unlink()
        record.write_text(json.dumps(decide), encoding="utf-8")
    elif not record.exists() or json.loads(record.read_text(encoding="utf-8")) != decide:
        parser.error(f"--resume: {record} names no call, or one with other --{', --'.join(decide)}")
    gpus = visible_gpus()
    if not gpus:
        print("no GPU is visible", file=sys.stderr)
        return 2
    begin = time.monotonic()
    counts = run_all(jobs_of(args, gpus), args, gpus)
    rows = []
    for (what, pes, algorithm), (right, wrong, not_run, seconds) in sorted(counts.items()):
        rows.append(dict(what=what, algorithm=algorithm, pes=pes, right=right, wrong=wrong, not_run=not_run))
        took = f"{seconds:.0f} s of programs"
        print(f"{what:<4} {pes} PEs {algorithm:<11} {right} right, {wrong} wrong, {not_run} not run; {took}")
    for failure in counts.failures[:20]:
        print(f"FAILED {failure}"[:400])
    sums = {key: sum(row[key] for row in rows) for key in ("right", "wrong", "not_run")}
    if args.json:
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        head = {"bench": "gpu_matrix", "arguments": sys.argv[1:], "gpu": counts.machine, "gpus": len(gpus), "date": now}
        head |= {"seconds": round(time.monotonic() - begin), "copies": args.copies, "pes_per_gpu": args.pes_per_gpu}
        args.json.write_text(json.dumps(head | {"rows": rows, "failures": counts.failures}, indent=1) + "\n")
    print(f"{sums['right']} right, {sums['wrong']} wrong, {sums['not_run']} not run")
    return 0 if sums["wrong"] == sums["not_run"] == 0 and sums["right"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
