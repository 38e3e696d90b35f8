#!/usr/bin/env python3
"""Kills or stops one process of a run of several, at random moments, and reports what happened to the others.

    bench/faults_processes.py --shoal build/cpu/shoal --kill 200 --stop 50 > bench/results/faults_processes.txt

After a kill the job must end within 10 s, after a stop within the stall timeout plus 10 s: with an exit status other than 0, a
line that names the process, no process left, nothing in /dev/shm, and no output. Exit status 1 if a job did not.
"""

import argparse
import contextlib
import datetime
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

STALL_SECONDS = 2
# Allows root, more processes than cores, and containers where a process may not read another's memory.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


def shared_memory() -> set[str]:
    """The entries of /dev/shm that OpenSHMEM may have made. (The engine switches off MPI's vader_segment.*.)"""
    return {name for name in os.listdir("/dev/shm") if name.startswith("ucx_shm")}


def is_mapped(name: str) -> bool:
    """Whether a living process uses it; then it belongs to another job."""
    for maps in pathlib.Path("/proc").glob("[0-9]*/maps"):
        try:
            if f"/dev/shm/{name}" in maps.read_text(encoding="utf-8", errors="replace"):
                return True
        except OSError:
            continue
    return False


def lives(pid: int) -> bool:
    """Whether the process runs. A process that has ended, but was not waited for, does not count."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def children(pid: int) -> list[int]:
    """The processes that `pid` started, oldest first."""
    try:
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(word) for word in text.split()]


def wait_for_ranks(job: subprocess.Popen, processes: int) -> list[int]:
    """The processes of a job. `shoal run` starts the launcher, and the launcher starts them."""
    end = time.monotonic() + 20
    while time.monotonic() < end and job.poll() is None:
        found = [rank for launcher in children(job.pid) for rank in children(launcher)]
        if len(found) == processes:
            return found
        time.sleep(0.01)
    return []


class Fault:
    """One job, and what happened after one of its processes was killed or stopped."""

    def __init__(
        self,
        shoal: str,
        processes: int,
        harm: signal.Signals,
        chance: random.Random,
        moments: tuple[float, float],
        words: list[str],
    ) -> None:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="shoal-faults-"))
        before = shared_memory()
        command = [shoal, "run", "-n", str(processes), "--", *words, "--trials", "1000000"]
        command += ["--threads", "1", "--output", "answer.npy", "--stall-timeout", str(STALL_SECONDS)]
        job = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **ENVIRONMENT},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        ranks = wait_for_ranks(job, processes)
        self.victim = chance.randrange(processes)
        self.after = chance.uniform(*moments)
        time.sleep(self.after)
        self.wrong: list[str] = []
        began = time.monotonic()
        if len(ranks) != processes:
            self.wrong.append("did not start")
        else:
            with contextlib.suppress(ProcessLookupError):  # it has ended already
                os.kill(ranks[self.victim], harm)
        limit = 10 + (STALL_SECONDS if harm == signal.SIGSTOP else 0)
        try:
            _, self.said = job.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            left = [i for i, rank in enumerate(ranks) if lives(rank)]
            self.wrong.append(f"did not end; processes {left} lived")
            for launcher in children(job.pid):
                os.kill(launcher, signal.SIGKILL)
            job.kill()
            for i in left:
                os.kill(ranks[i], signal.SIGKILL)
            _, self.said = job.communicate()
        self.seconds = time.monotonic() - began
        if self.seconds > limit:
            self.wrong.append(f"took {self.seconds:.1f} s")
        if job.returncode == 0:
            self.wrong.append("status 0")
        names = [
            rf"process {self.victim} \(PE",
            rf"rank {self.victim} with PID",
            rf"process {self.victim} (of {processes} )?\(process id",
            r"has waited .* s for the others",
        ]
        if not any(re.search(name, self.said) for name in names):
            self.wrong.append("names nobody")
        soon = time.monotonic() + 2  # the launcher does not wait until the processes that it killed are dead
        while time.monotonic() < soon and any(lives(rank) for rank in ranks):
            time.sleep(0.05)
        if any(lives(rank) for rank in ranks):
            self.wrong.append("a process is left")
        self.wrong += [f"/dev/shm/{name}" for name in shared_memory() - before if not is_mapped(name)]
        self.wrong += [f"file {file.name}" for file in folder.iterdir()]
        shutil.rmtree(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shoal", default="build/cpu/shoal")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--kill", type=int, default=5, help="how often one is killed")
    parser.add_argument("--stop", type=int, default=2, help="how often one is stopped")
    parser.add_argument("--graph", default="road:300")
    parser.add_argument("--command", default="bfs --strategy async", help="what runs on the graph, with its options")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--moments",
        type=float,
        nargs=2,
        default=(0.2, 4),
        metavar=("FIRST", "LAST"),
        help="seconds after the launcher has started all: the default 0.2 4 is also while OpenSHMEM starts, 0 0.3 before it has",
    )
    parser.add_argument("--show", action="store_true", help="what each job said, and how it ended")
    options = parser.parse_args()
    shoal = str(pathlib.Path(options.shoal).resolve())
    chance = random.Random(options.seed)
    algorithm, *rest = options.command.split()
    words = [algorithm, options.graph, *rest, *(["--source", "0"] if algorithm == "bfs" else [])]
    version = subprocess.run([shoal, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"# {' '.join(sys.argv)}\n# {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC, {version}")
    bad = 0
    for harm, times in ((signal.SIGKILL, options.kill), (signal.SIGSTOP, options.stop)):
        took = []
        for i in range(times):
            fault = Fault(shoal, options.processes, harm, chance, options.moments, words)
            took.append(fault.seconds)
            if options.show:
                print(f"{harm.name} {i}: process {fault.victim} after {fault.after:.2f} s; {fault.seconds:.1f} s")
                print("".join(f"    {line}\n" for line in fault.said.splitlines() if line.strip()), end="", flush=True)
            if fault.wrong:
                bad += 1
                where = f"{harm.name} {i}: process {fault.victim} after {fault.after:.2f} s"
                print(f"{where}: {', '.join(fault.wrong)}", flush=True)
                print("".join(f"    {line}\n" for line in fault.said.splitlines() if "rror" in line), end="")
        if took:
            took.sort()
            print(
                f"{harm.name}: {times} times one of {options.processes} processes, seconds until all have ended: "
                f"median {took[len(took) // 2]:.2f}, most {took[-1]:.2f}",
                flush=True,
            )
    print(f"{bad} of {options.kill + options.stop} were not as they must be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
