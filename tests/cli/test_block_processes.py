"""Blocks in several processes: equal bits, files, errors, and a process that is killed."""

import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import time
import unittest

from baseline import ENVIRONMENT
from command import Answer, CommandTest, find_shoal

LAUNCHER = os.environ.get("SHOAL_OSHRUN", "")
USAGE, NO_GPU = 2, 4
LIBRARY = {"SHOAL_OPENSHMEM_PUTS": "library"}  # as between hosts


@unittest.skipUnless(LAUNCHER, "no OpenSHMEM was found, so the engine is not built")
class BlockProcessesTest(CommandTest):
    def run_on(self, processes: int, *words: object, status: int = 0, **variables: str) -> Answer:
        environment = {**ENVIRONMENT, **variables}
        answer = self.run_line([find_shoal(), "run", "-n", processes, "--", *words], environment)
        self.assertEqual(answer.status, status, answer.out + answer.err)
        return answer

    def jacobi(self, processes: int, *words: object, **variables: str) -> Answer:
        return self.run_on(processes, "jacobi3d", *words, "--threads", 1, "--verify", "--quiet", **variables)

    def test_grids_are_those_of_one_process(self) -> None:
        for processes, words, variables in (
            (2, (20, 21, 22, "--odf", 4), {}),
            (3, (17, 5, 40, "--odf", 8, "--dtype", "float32", "--mapping", "round-robin", "--pes", 2), {}),
            (4, (3, 2, 4, "--blocks", "3x2x4", "--boundary", "0,x1=2"), LIBRARY),
        ):
            with self.subTest(processes=processes, words=words):
                self.jacobi(processes, *words, "--output", "many.npy", "--iterations", 30, **variables)
                self.good("jacobi3d", *words, "--output", "one.npy", "--iterations", 30, "--quiet", "--device", "cpu")
                self.assertEqual(*((self.folder / name).read_bytes() for name in ("many.npy", "one.npy")))

    def test_tolerance_table_and_trace(self) -> None:
        words = (8, 8, 8, "--tolerance", "1e-3", "--check", 5, "--odf", 2)
        answer = self.run_on(
            2, "jacobi3d", *words, "--trace", "t.json", "--slice", "z=3", "--output", "s.npy", "--copy"
        )
        self.assertEqual(answer.out.count("median"), 1, "several processes speak")
        self.assertIn("processes: 2: 2 PEs in all", answer.out)
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        self.assertGreater(sum(event.get("name", "").startswith("step ") for event in events), 20)
        many = json.loads(self.run_on(3, "jacobi3d", *words, "--json").out)["trials"][0]
        one = self.good("jacobi3d", *words, "--json", "--device", "cpu").json()["trials"][0]
        for fact in ("iterations", "last_change", "within_tolerance"):
            self.assertEqual(many[fact], one[fact])

    def test_restart_on_other_processes(self) -> None:
        grid = (20, 21, 22, "--boundary", "0,x1=2", "--iterations")
        self.jacobi(2, *grid, 13, "--odf", 5, "--checkpoint", "c", "--checkpoint-every", 5)
        self.jacobi(3, *grid, 30, "--restart", "c", "--checkpoint", "c", **LIBRARY)
        self.good("jacobi3d", *grid, 40, "--restart", "c", "--pes", 2, "--device", "cpu", "--verify", "--quiet")

    def steps_stored(self) -> int:
        file = self.folder / "c"
        return struct.unpack_from("<q", file.read_bytes(), 40)[0] if file.exists() else 0

    def job_that_has_stored(self, steps: int, *words: object) -> subprocess.Popen:
        """Starts a long job of two processes, and returns it once its checkpoint has `steps` steps."""
        line = [find_shoal(), "run", "-n", 2, "--", *words, "--iterations", 10**8]
        line += ["--checkpoint", "c", "--checkpoint-every", 5]
        job = subprocess.Popen(
            [str(word) for word in line],
            cwd=self.folder,
            env={**os.environ, **ENVIRONMENT},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 40
        while self.steps_stored() < steps and time.monotonic() < deadline:
            time.sleep(0.02)
        return job

    def test_restart_after_a_process_was_killed(self) -> None:
        grid = ("jacobi3d", 30, 31, 32, "--odf", 4, "--threads", 1, "--quiet")
        job = self.job_that_has_stored(10, *grid)
        victim = self.process(job.pid, 1)
        os.kill(victim, signal.SIGKILL)
        _, said = job.communicate(timeout=30)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(said, rf"rank 1 with PID|process 1 \(|process id {victim}")
        last = self.steps_stored()
        self.assertEqual((last >= 10, last % 5), (True, 0))
        self.run_on(3, *grid, "--iterations", last + 7, "--restart", "c", "--verify")

    def process(self, job: int, number: int) -> int:
        """The process id of process `number` of a job."""
        for environment in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                its = environment.read_bytes().split(b"\0")
                stat = (environment.parent / "stat").read_text().rsplit(")", 1)[1].split()
                parent = pathlib.Path("/proc", stat[1], "stat").read_text().rsplit(")", 1)[1].split()
            except (OSError, IndexError):
                continue
            if f"PMIX_RANK={number}".encode() in its and int(parent[1]) == job:
                return int(environment.parent.name)
        self.fail("the process was not found")

    def test_one_that_stands_still_is_named(self) -> None:
        job = self.job_that_has_stored(5, "jacobi3d", 30, 31, 32, "--threads", 1, "--stall-timeout", 1, "--quiet")
        os.kill(self.process(job.pid, 1), signal.SIGSTOP)
        begin = time.monotonic()
        _, said = job.communicate(timeout=40)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertTrue(re.search(r"process 1 \(PE 1, .*\) has .*done nothing for 1 s", said), said)

    def test_what_is_refused_is_said_once(self) -> None:
        for words, said in (
            (("jacobi3d", 8, 8, 8, "--balance", 3), "--balance moves blocks only within one process"),
            (("jacobi3d", 8, 8, 8, "--restart", "nothing"), "No such file"),
        ):
            with self.subTest(words=words):
                self.refused(USAGE, said, *words)
        if not self.shoal("doctor", "--json").json()["devices"]:
            program = pathlib.Path(find_shoal()).parent / "example_05_power_iteration"
            for words in (("jacobi3d", 8, 8, 8), (program,)):
                with self.subTest(words=words):
                    self.refused(NO_GPU, "use --device cpu to run on CPU threads", *words, "--device", "gpu")

    def refused(self, status: int, said: str, *words: object) -> None:
        answer = self.run_on(2, *words, status=status)
        errors = [line for line in answer.err.splitlines() if "error: " in line]
        self.assertEqual(len(errors), 1, answer.err)
        self.assertIn(said, errors[0])

    def test_programs(self) -> None:
        for processes, name, words, variables in (
            (2, "example_04_jacobi3d", (20, 21, 22, "--odf", 4), {}),
            (3, "example_05_power_iteration", ("--odf", 4, "--iterations", 20, "--mapping", "round-robin"), LIBRARY),
            (2, "example_06_lattice", ("--odf", 3, "--iterations", 20, "--mapping", "parts"), LIBRARY),
        ):
            program = pathlib.Path(find_shoal()).parent / name
            with self.subTest(program=name):
                out = self.run_on(processes, program, *words, **variables).out
                self.assertRegex(out, rf"blocks on {processes} PEs.*: right\n$")
                self.assertEqual(out.count("right"), 1, out)


if __name__ == "__main__":
    unittest.main()
