"""Two hosts: network namespaces of this machine, which see each other over a slow and lossy wire. Needs root and iproute2."""

import os
import pathlib
import shutil
import subprocess
import time
import unittest

from baseline import ENVIRONMENT
from command import Answer, CommandTest, find_shoal

LAUNCHER = os.environ.get("SHOAL_OSHRUN", "")
DELAY, LOSS = "1ms", "0.5%"

AGENT = """#!/bin/sh
# What Open MPI calls in place of ssh: AGENT [options] HOST COMMAND...
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec ip netns exec "NAME${host##*.}" unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' "NAME${host##*.}" "$*"
"""


def why_no_hosts() -> str:
    """Why this machine cannot have them, or nothing."""
    if not LAUNCHER:
        return "no OpenSHMEM was found, so the engine is not built"
    for tool in ("ip", "tc", "unshare"):
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


REASON = why_no_hosts()  # the skipped test says it


@unittest.skipIf(REASON, REASON)
class HostsTest(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.name = f"shoal{os.getpid()}n"
        first, second = f"{self.name}1", f"{self.name}2"
        for host in (first, second):
            self.tool("ip", "netns", "add", host)
            self.addCleanup(subprocess.run, ["ip", "netns", "del", host], check=False)
        self.tool("ip", "-n", first, "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", second)
        for number, host in enumerate((first, second), 1):
            self.tool("ip", "-n", host, "addr", "add", f"10.77.0.{number}/24", "dev", "wire")
            self.tool("ip", "-n", host, "link", "set", "wire", "up")
            self.tool("ip", "-n", host, "link", "set", "lo", "up")
        for host in (first, second):  # the kernel takes up to a second until both ends run
            end = time.monotonic() + 10
            while "state UP" not in self.tool("ip", "-n", host, "link", "show", "wire"):
                self.assertLess(time.monotonic(), end, "the wire does not come up")
                time.sleep(0.05)
        self.agent = pathlib.Path(self.write("agent.sh", AGENT.replace("NAME", self.name)))
        self.agent.chmod(0o755)

    def tool(self, *words: str) -> str:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{' '.join(words)}: {done.stderr}")
        return done.stdout

    def disturb(self) -> bool:
        """Makes the wire slow and lossy. Not every kernel can."""
        words = ["tc", "qdisc", "add", "dev", "wire", "root", "netem", "delay", DELAY, "loss", LOSS]
        done = [
            subprocess.run(["ip", "netns", "exec", f"{self.name}{i}", *words], capture_output=True, check=False)
            for i in (1, 2)
        ]
        return all(one.returncode == 0 for one in done)

    def run_on_both(self, processes: int, *words: object) -> Answer:
        settings = {
            "OMPI_MCA_plm_rsh_agent": str(self.agent),
            "OMPI_MCA_oob_tcp_if_include": "10.77.0.0/24",
            "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24",
            "UCX_TLS": "tcp,self",
            "UCX_NET_DEVICES": "wire",
        }
        line = [find_shoal(), "run", "-n", processes, "--hosts", "10.77.0.1,10.77.0.2", "--", *words]
        inside = ["unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"', f"{self.name}1", *line]
        return self.run_line(["ip", "netns", "exec", f"{self.name}1", *inside], {**ENVIRONMENT, **settings}, timeout=90)

    def test_answers_are_those_of_one_process(self) -> None:
        if not self.disturb():
            print("the wire is neither slow nor lossy: this kernel has no netem")
        for processes, words in (
            (2, ("bfs", "road:30", "--source", 5, "--strategy", "async")),
            (4, ("components", "uniform:10,degree=1")),
        ):
            with self.subTest(words=words):
                answer = self.run_on_both(processes, *words, "--threads", 1, "--verify", "--stats")
                self.assertEqual(answer.status, 0, answer.out + answer.err)
                self.assertIn("all answers are right", answer.out)
                self.assertRegex(answer.out, r"PE 0 to PE 1 .* messages")

    def test_a_process_that_fails_is_named_with_its_host(self) -> None:
        answer = self.run_on_both(2, "bfs", "nowhere.el")
        self.assertNotEqual(answer.status, 0)
        self.assertEqual(answer.err.count("shoal: error: "), 1, answer.err)


if __name__ == "__main__":
    unittest.main()
