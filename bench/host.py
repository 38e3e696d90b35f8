"""Facts that Python benches need about their machine: whether it is idle, what it is, and what commands print."""

import os
import platform
import re
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FREE = 0.9  # the idle share of all cores' time; below it, other programs are running and times cannot be trusted


class BenchError(Exception):
    """An error for the user, in one line."""


def run(command, **environment):
    """The standard output of a command. Raises BenchError with the command's message if it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **environment},
        text=True,
        capture_output=True,
        timeout=600,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
        raise BenchError(f"{' '.join(map(str, command))}: exit status {done.returncode}: {said[0]}")
    return done.stdout


def idle_fraction(seconds=0.5):
    """The share of all cores' time that is idle, measured over some seconds; None if the system does not tell it."""

    def read():
        fields = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        return fields[3] + fields[4], sum(fields)

    try:
        before = read()
        time.sleep(seconds)
        after = read()
    except OSError:
        return None
    return (after[0] - before[0]) / max(1, after[1] - before[1])


class Quiet:
    """Waits before each round until cores are free, for at most `patience` seconds in all."""

    def __init__(self, patience):
        self.patience = patience

    def wait(self):
        """Returns the idle share when the waiting ended."""
        while True:
            begin = time.monotonic()
            idle = idle_fraction()
            if idle is None or idle >= FREE or self.patience <= 0:
                return idle
            time.sleep(1)
            self.patience -= time.monotonic() - begin


def driver():
    """The version of NVIDIA's driver, or None."""
    try:
        said = run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
    except (BenchError, OSError):
        return None
    return said.splitlines()[0].strip()


def machine():
    model = None
    if platform.system() == "Linux":
        model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    version = driver()
    return ({"driver": version} if version else {}) | {
        "processor": model[1] if model else platform.processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
    }


def revision(folder):
    try:
        return run(["git", "-C", folder, "describe", "--always", "--dirty"]).strip()
    except BenchError:
        return "unknown"
