"""Two hosts for tests and benches: network namespaces of this machine, connected by a slow and lossy wire.

Needs root and iproute2. The wire is the program slow_wire.cpp, because few kernels have netem.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

ADDRESSES = "10.77.0.1,10.77.0.2"
AGENT = """#!/bin/sh
# What Open MPI calls in place of ssh: AGENT [options] HOST COMMAND...
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec ip netns exec "NAME${host##*.}" unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' "NAME${host##*.}" "$*"
"""


class HostsError(Exception):
    """An error for the user, in one line."""


def why_none() -> str:
    """Why this machine cannot have two hosts, or an empty text."""
    for tool in ("ip", "unshare"):
        if shutil.which(tool) is None:
            return f"{tool} is not in PATH"
    name = f"shoal{os.getpid()}x"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"ip netns add: {made.stderr.strip()}"
    inside = subprocess.run(
        ["ip", "netns", "exec", name, "unshare", "--uts", "hostname", name], capture_output=True, text=True, check=False
    )
    subprocess.run(["ip", "netns", "del", name], check=False)
    return "" if inside.returncode == 0 else f"ip netns exec: {inside.stderr.strip()}"


def tool(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HostsError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class TwoHosts:
    """Both hosts. They exist within a `with` block.

    `folder` gets the agent script that Open MPI calls in place of ssh. Without delay and losses, the wire is only a pair of
    virtual devices, as fast as the kernel; otherwise it is the program `slow_wire`.
    """

    def __init__(self, folder: pathlib.Path, slow_wire: str, delay_ms: float, loss: float) -> None:
        self.slow_wire = slow_wire
        self.name = f"shoal{os.getpid()}n"
        self.agent, self.delay_ms, self.loss = folder / "agent.sh", delay_ms, loss
        self.wire: subprocess.Popen | None = None
        self.undo = contextlib.ExitStack()

    def __enter__(self) -> "TwoHosts":
        with contextlib.ExitStack() as undo:
            self.set_up(undo)
            self.undo = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.undo.close()

    def set_up(self, undo: contextlib.ExitStack) -> None:
        hosts = first, second = self.namespace(1), self.namespace(2)
        between = self.namespace(0)
        for name in (*hosts, between):
            tool("ip", "netns", "add", name)
            undo.callback(subprocess.run, ["ip", "netns", "del", name], check=False)
        slow = self.delay_ms > 0 or self.loss > 0
        if slow and not os.access(self.slow_wire, os.X_OK):
            raise HostsError(f"{self.slow_wire}: there is none; cmake --build makes it with --target slow_wire")
        if slow:
            for host, end in ((first, "left"), (second, "right")):
                tool("ip", "-n", host, "link", "add", "wire", "type", "veth", "peer", "name", end, "netns", between)
                tool("ip", "-n", between, "link", "set", end, "up")
        else:
            tool("ip", "-n", first, "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", second)
        for number, host in enumerate(hosts, 1):
            tool("ip", "-n", host, "addr", "add", f"10.77.0.{number}/24", "dev", "wire")
            tool("ip", "-n", host, "link", "set", "wire", "up")
            tool("ip", "-n", host, "link", "set", "lo", "up")
        for host in hosts:  # the kernel takes up to a second until both ends are up
            end = time.monotonic() + 10
            while "state UP" not in tool("ip", "-n", host, "link", "show", "wire"):
                if time.monotonic() > end:
                    raise HostsError("the wire does not come up")
                time.sleep(0.05)
        if slow:
            words = f"left right {self.delay_ms} {self.loss}".split()
            line = ["ip", "netns", "exec", between, self.slow_wire, *words]
            self.wire = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
            undo.enter_context(self.wire)
            undo.callback(self.wire.kill)
            if self.wire.stdout.readline() != "ready\n":
                raise HostsError("the wire does not start")
        self.agent.write_text(AGENT.replace("NAME", self.name), encoding="utf-8")
        self.agent.chmod(0o755)

    def namespace(self, host: int) -> str:
        return f"{self.name}{host}"

    def cut(self) -> None:
        """Cuts the wire: from now on no packet passes."""
        self.wire.send_signal(signal.SIGUSR1)

    def line_on_both(self, shoal: str, processes: int, *words: object) -> tuple[list[str], dict[str, str]]:
        """A command line that starts a job of both hosts, to be run on this machine, and its environment."""
        settings = {
            "OMPI_MCA_plm_rsh_agent": str(self.agent),
            "OMPI_MCA_oob_tcp_if_include": "10.77.0.0/24",
            "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24",
            "UCX_TLS": "tcp,self",
            "UCX_NET_DEVICES": "wire",
        }
        first = self.namespace(1)
        line = [shoal, "run", "-n", processes, "--hosts", ADDRESSES, "--", *words]
        inside = ["unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"', first, *line]
        return ["ip", "netns", "exec", first, *map(str, inside)], settings

    def pids(self, host: int) -> list[int]:
        """The process ids of all processes on that host."""
        return [int(pid) for pid in tool("ip", "netns", "pids", self.namespace(host)).split()]
