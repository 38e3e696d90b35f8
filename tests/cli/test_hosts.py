"""Two hosts: network namespaces of this machine, connected by a slow and lossy wire. Needs root and iproute2."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

from baseline import ENVIRONMENT
from command import ROOT, Answer, CommandTest, find_shoal

sys.path.insert(0, str(ROOT / "bench"))
import two_hosts

LAUNCHER = os.environ.get("SHOAL_OSHRUN", "")
WORKLIST = os.environ.get("SHOAL_OPENSHMEM_WORKLIST", "")
CONTRACT = os.environ.get("SHOAL_OPENSHMEM_CONTRACT", "")
LOSS = 0.005
STALL_SECONDS = 3
NO_ENGINE = "no OpenSHMEM was found, so the engine is not built"
REASON = two_hosts.why_none() if LAUNCHER else NO_ENGINE  # the reason of skipped tests


class OnTwoHosts(CommandTest):
    delay_ms = 1.0

    def setUp(self) -> None:
        super().setUp()
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.hosts = stack.enter_context(
            two_hosts.TwoHosts(self.folder, os.environ["SHOAL_SLOW_WIRE"], self.delay_ms, LOSS)
        )
        self.name = self.hosts.name

    def line_on_both(self, processes: int, *words: object) -> tuple[list[str], dict[str, str]]:
        line, settings = self.hosts.line_on_both(find_shoal(), processes, *words)
        return line, {**ENVIRONMENT, **settings}

    def run_on_both(self, processes: int, *words: object) -> Answer:
        return self.run_line(*self.line_on_both(processes, *words), timeout=90)


@unittest.skipIf(REASON, REASON)
class ContractTest(OnTwoHosts):
    delay_ms = 0.2  # with a longer delay, cases with thousands of successive hops would take half a minute each

    @unittest.skipUnless(CONTRACT, NO_ENGINE)
    def test_the_contract(self) -> None:
        """All cases of tests/contract/wire_cases.hpp."""
        answer = self.run_on_both(2, CONTRACT, 1, 1, "--gtest_color=no")
        self.assertEqual(answer.status, 0, answer.out + answer.err)
        self.assertRegex(answer.out, r"\[  PASSED  \] 15 tests")


@unittest.skipIf(REASON, REASON)
class LoopbackTest(CommandTest):
    def test_a_host_without_networks(self) -> None:
        """Like an offline laptop or a container without a network, where Open MPI by itself finds no path between
        processes."""
        name = f"shoal{os.getpid()}o"
        self.addCleanup(subprocess.run, ["ip", "netns", "del", name], check=False)
        subprocess.run(["ip", "netns", "add", name], check=True)
        inside = ["ip", "netns", "exec", name]
        subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=True)
        line = [*inside, find_shoal(), "run", "-n", 2, "--", "bfs", "kron:8", "--threads", 1, "--verify"]
        answer = self.run_line(line, ENVIRONMENT)
        self.assertEqual(answer.status, 0, answer.out + answer.err)
        self.assertIn("all answers are right", answer.out)


@unittest.skipIf(REASON, REASON)
class HostsTest(OnTwoHosts):
    def processes_on(self, host: int, words: str) -> list[int]:
        """The processes of `shoal` on a host whose first argument is `words`."""
        found = []
        for pid in self.hosts.pids(host):
            with contextlib.suppress(OSError):
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if line[0] == find_shoal().encode() and line[1] == words.encode():
                    found.append(pid)
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

    @unittest.skipUnless(WORKLIST, NO_ENGINE)
    def test_items_arrive_once(self) -> None:
        # A put takes time here, so a worker carries more items at once than its last two batches pushed, which would be 15.
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
            ("cut", still),  # must be the last: nothing passes the wire afterwards
        ):
            with self.subTest(harm=harm):
                self.harm(harm, said, *words, "--stall-timeout", STALL_SECONDS)

    def harm(self, harm: str, said: str, *words: object) -> None:
        """Process 1 is killed, stopped or cut off: both processes end in time, an error names it, and the job ends
        too."""
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
            time.sleep(4)  # now the search is in progress
            begin = time.monotonic()
            if harm == "cut":
                self.hosts.cut()
            else:
                os.kill(there[0], signal.SIGKILL if harm == "kill" else signal.SIGSTOP)
            while self.processes_on(1, "bfs") or self.processes_on(2, "bfs"):
                self.assertLess(time.monotonic() - begin, STALL_SECONDS + 10, says.read_text(encoding="utf-8"))
                time.sleep(0.05)
            if harm == "cut":  # Open MPI's launcher waits for the processes beyond the cut wire until it is ended
                job.terminate()
            job.wait(timeout=30)
            self.assertNotEqual(job.returncode, 0)
        finally:
            for host in (1, 2):  # if the wire is cut or the test failed, nothing else ends Open MPI's processes
                for pid in self.hosts.pids(host):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            job.wait()
        text = says.read_text(encoding="utf-8")
        self.assertRegex(text, said)
        self.assertNotRegex(text, r"process 0 \(process id \d+\) ended")


if __name__ == "__main__":
    unittest.main()
