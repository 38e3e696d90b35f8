"""Two hosts: network namespaces of this machine, which see each other over a slow and lossy wire. Needs root and iproute2."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from baseline import ENVIRONMENT
from command import Answer, CommandTest, find_shoal

LAUNCHER = os.environ.get("SHOAL_OSHRUN", "")
WORKLIST = os.environ.get("SHOAL_OPENSHMEM_WORKLIST", "")
SLOW_WIRE = pathlib.Path(__file__).with_name("slow_wire.py")
DELAY_MS, LOSS = 1, 0.005
STALL_SECONDS = 3

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


REASON = why_no_hosts()  # the skipped test says it


@unittest.skipIf(REASON, REASON)
class HostsTest(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.name = f"shoal{os.getpid()}n"
        first, second, between = f"{self.name}1", f"{self.name}2", f"{self.name}0"
        for name in (first, second, between):
            self.tool("ip", "netns", "add", name)
            self.addCleanup(subprocess.run, ["ip", "netns", "del", name], check=False)
        for number, (host, end) in enumerate(((first, "left"), (second, "right")), 1):
            self.tool("ip", "-n", host, "link", "add", "wire", "type", "veth", "peer", "name", end, "netns", between)
            self.tool("ip", "-n", host, "addr", "add", f"10.77.0.{number}/24", "dev", "wire")
            self.tool("ip", "-n", between, "link", "set", end, "up")
            self.tool("ip", "-n", host, "link", "set", "wire", "up")
            self.tool("ip", "-n", host, "link", "set", "lo", "up")
        for host in (first, second):  # the kernel takes up to a second until both ends run
            end = time.monotonic() + 10
            while "state UP" not in self.tool("ip", "-n", host, "link", "show", "wire"):
                self.assertLess(time.monotonic(), end, "the wire does not come up")
                time.sleep(0.05)
        words = [sys.executable, SLOW_WIRE, "left", "right", "--delay-ms", str(DELAY_MS), "--loss", str(LOSS)]
        self.wire = subprocess.Popen(["ip", "netns", "exec", between, *words], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.wire.wait)
        self.addCleanup(self.wire.kill)
        self.addCleanup(self.wire.stdout.close)
        self.assertEqual(self.wire.stdout.readline(), "ready\n")
        self.agent = pathlib.Path(self.write("agent.sh", AGENT.replace("NAME", self.name)))
        self.agent.chmod(0o755)

    def tool(self, *words: str) -> str:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{' '.join(words)}: {done.stderr}")
        return done.stdout

    def line_on_both(self, processes: int, *words: object) -> tuple[list[str], dict[str, str]]:
        """A command line, which starts on the first host, and its environment."""
        settings = {
            "OMPI_MCA_plm_rsh_agent": str(self.agent),
            "OMPI_MCA_oob_tcp_if_include": "10.77.0.0/24",
            "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24",
            "UCX_TLS": "tcp,self",
            "UCX_NET_DEVICES": "wire",
        }
        line = [find_shoal(), "run", "-n", processes, "--hosts", "10.77.0.1,10.77.0.2", "--", *words]
        inside = ["unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"', f"{self.name}1", *line]
        return ["ip", "netns", "exec", f"{self.name}1", *map(str, inside)], {**ENVIRONMENT, **settings}

    def run_on_both(self, processes: int, *words: object) -> Answer:
        return self.run_line(*self.line_on_both(processes, *words), timeout=90)

    def processes_on(self, host: int, words: str) -> list[int]:
        """Those that run a command line which has `words`."""
        found = []
        for pid in self.tool("ip", "netns", "pids", f"{self.name}{host}").split():
            with contextlib.suppress(OSError):
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if line[0] == find_shoal().encode() and line[1] == words.encode():
                    found.append(int(pid))
        return found

    def test_answers_are_those_of_one_process(self) -> None:
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

    @unittest.skipUnless(WORKLIST, "no OpenSHMEM was found, so the engine is not built")
    def test_items_arrive_once(self) -> None:
        # A put takes a time here, so a worker carries more at once than what its last two batches made, which is 15.
        for pes, kernel, batch_bytes, together in ((1, "persistent", 4096, 40), (2, "discrete", 64, 1)):
            with self.subTest(pes=pes, kernel=kernel):
                answer = self.run_on_both(2, WORKLIST, pes, 1, 400000, 65536, batch_bytes, 20, "none", kernel)
                self.assertEqual(answer.status, 0, answer.out + answer.err)
                items = re.match(r"right: .* travelled, ([0-9.]+) in a message", answer.out)
                self.assertTrue(items, answer.out)
                self.assertGreaterEqual(float(items[1]), together)

    def test_harm_is_named_with_its_host(self) -> None:
        words = ("bfs", "road:100", "--source", 5, "--strategy", "async", "--threads", 1, "--trials", 1000000)
        still = rf"process 1 \(PE 1, {self.name}2, .*\) has .*done nothing for {STALL_SECONDS} s"
        for harm, said in (
            ("kill", rf"rank 1 with PID|process 1 \(PE 1, {self.name}2, "),
            ("stop", still),
            ("cut", still),  # the last: nothing passes afterwards
        ):
            with self.subTest(harm=harm):
                self.harm(harm, said, *words, "--stall-timeout", STALL_SECONDS)

    def harm(self, harm: str, said: str, *words: object) -> None:
        """Process 1 comes to harm: both end in time, a line names it, and the job ends too."""
        line, environment = self.line_on_both(2, *words)
        says = self.folder / f"{harm}.txt"
        with says.open("w", encoding="utf-8") as err:
            job = subprocess.Popen(
                line, cwd=self.folder, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=err
            )
        try:
            soon = time.monotonic() + 30
            while not self.processes_on(1, "bfs") or not (there := self.processes_on(2, "bfs")):
                self.assertLess(time.monotonic(), soon, "the processes do not start")
                time.sleep(0.05)
            time.sleep(4)  # they search by now
            begin = time.monotonic()
            if harm == "cut":
                self.wire.send_signal(signal.SIGUSR1)
            else:
                os.kill(there[0], signal.SIGKILL if harm == "kill" else signal.SIGSTOP)
            while self.processes_on(1, "bfs") or self.processes_on(2, "bfs"):
                self.assertLess(time.monotonic() - begin, STALL_SECONDS + 10, says.read_text(encoding="utf-8"))
                time.sleep(0.05)
            if harm == "cut":  # Open MPI's launcher waits for what it has started there, until somebody ends it
                job.terminate()
            job.wait(timeout=30)
            self.assertNotEqual(job.returncode, 0)
        finally:
            for host in (1, 2):  # beyond a wire that is cut nobody ends what Open MPI has started, or it failed
                for pid in self.tool("ip", "netns", "pids", f"{self.name}{host}").split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
            job.wait()
        text = says.read_text(encoding="utf-8")
        self.assertRegex(text, said)
        self.assertNotRegex(text, r"process 0 \(process id \d+\) was gone")


if __name__ == "__main__":
    unittest.main()
