"""Worlds of processes that oshrun starts: they communicate, and if one is killed, stopped or leaves, the others
report it in time."""

import os
import re
import subprocess
import time
import unittest

from baseline import ENVIRONMENT

PROGRAM = os.environ.get("SHOAL_OPENSHMEM_BIN", "")
WORKLIST = os.environ.get("SHOAL_OPENSHMEM_WORKLIST", "")
CONTRACT = os.environ.get("SHOAL_OPENSHMEM_CONTRACT", "")
LAUNCHER = os.environ.get("SHOAL_OSHRUN", "")
PATIENCE_SECONDS = 2


@unittest.skipUnless(PROGRAM and LAUNCHER, "no OpenSHMEM was found, so the engine is not built")
class OpenShmemTest(unittest.TestCase):
    def run_on(self, processes: int, *args: object, program: str = PROGRAM, **environment: str) -> tuple[int, str]:
        command = [program, *(str(a) for a in args)]
        if processes > 1:  # one process needs no launcher
            command = [LAUNCHER, "--bind-to", "none", "-np", str(processes), *command]
        done = subprocess.run(
            command,
            env={**os.environ, **ENVIRONMENT, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout

    def test_what_pes_give_arrives(self) -> None:
        for processes, pes in ((1, 2), (2, 1), (3, 2), (4, 1)):
            with self.subTest(processes=processes, pes=pes):
                status, text = self.run_on(processes, pes, 300, 20)
                self.assertEqual(status, 0, text)
                self.assertRegex(text, rf"{processes * pes} PEs: [0-9.]+ us for a gift")
                self.assertRegex(text, rf"{processes} processes: [0-9.]+ us for two waves")

    def test_harm_is_named_in_time(self) -> None:
        still = r"process 1 \(PEs 2 to 3, .*\) has not come there, and has done nothing for 2 s"
        for harm, expected in (
            ("kill", still),
            ("stop", still),
            ("throw", r"PE [0145]: process 1 \(PEs 2 to 3, .*\) ended the run: PE 2: planted"),
            ("leave", r"PE [0145]: process 1 \(.*\) ended the run: PE 3 waits in gift.*, PE 2 has ended after call 51"),
        ):
            with self.subTest(harm=harm):
                begin = time.monotonic()
                status, text = self.run_on(3, 2, 100, PATIENCE_SECONDS, harm)
                self.assertLess(time.monotonic() - begin, 20)
                self.assertNotEqual(status, 0, text)
                # The launcher ends all processes of a job soon after one was killed, perhaps before they can say why.
                if harm != "kill" or "killed" not in text.lower():
                    self.assertTrue(re.search(expected, text), text)
                self.assert_nothing_is_left(PROGRAM)

    def assert_nothing_is_left(self, program: str) -> None:
        left = subprocess.run(["pgrep", "-f", program], capture_output=True, text=True, check=False).stdout
        self.assertEqual(left, "", "processes are left behind")

    def test_items_arrive_once(self) -> None:
        # With segments of one item, of a few items, and of the default size.
        for processes, pes, threads, capacity, batch_bytes, kernel, puts in (
            (1, 2, 1, 1024, 0, "persistent", ""),
            (2, 1, 1, 16, 16, "persistent", ""),
            (2, 1, 2, 1024, 100, "discrete", ""),
            (3, 2, 1, 4096, 64, "persistent", ""),
            (2, 1, 1, 65536, 4096, "persistent", "library"),
            (3, 1, 1, 1024, 64, "persistent", "library"),
        ):
            with self.subTest(processes=processes, pes=pes, batch_bytes=batch_bytes, kernel=kernel, puts=puts):
                status, text = self.run_on(
                    processes,
                    *(pes, threads, 200000, capacity, batch_bytes, 20, "none", kernel),
                    program=WORKLIST,
                    SHOAL_OPENSHMEM_PUTS=puts,
                )
                self.assertEqual(status, 0, text)
                self.assertIn("right: ", text)

    def test_the_contract(self) -> None:
        """Every case of tests/contract/wire_cases.hpp, each with a deadline."""
        for processes, pes, threads, puts, cases in (
            (1, 2, 1, "", "*"),
            (2, 1, 2, "", "*"),
            (2, 2, 1, "", "*"),
            (3, 1, 1, "", "*"),
            (4, 1, 1, "", "*"),
            (2, 1, 1, "library", "-*StandsStill*:*IsNoStall"),
        ):
            with self.subTest(processes=processes, pes=pes, threads=threads, puts=puts):
                words = (pes, threads, "--gtest_color=no", f"--gtest_filter={cases}")
                status, text = self.run_on(processes, *words, program=CONTRACT, SHOAL_OPENSHMEM_PUTS=puts)
                self.assertEqual(status, 0, text)
                self.assertRegex(text, r"\[  PASSED  \] 1[35] tests")

    def test_harm_during_a_run_is_named_in_time(self) -> None:
        still = r"process 1 \(PE 1, .*\) has done nothing for 2 s during a run"
        for harm, expected in (("kill", still), ("stop", still), ("leave", still), ("throw", "planted")):
            with self.subTest(harm=harm):
                begin = time.monotonic()
                status, text = self.run_on(3, 1, 1, 200000, 4096, 256, PATIENCE_SECONDS, harm, program=WORKLIST)
                self.assertLess(time.monotonic() - begin, 20)
                self.assertNotEqual(status, 0, text)
                # The launcher ends all processes of a job soon after one was killed, perhaps before they can say why.
                if harm not in ("kill", "leave") or not re.search("killed|exited|terminated", text.lower()):
                    self.assertTrue(re.search(expected, text), text)
                self.assert_nothing_is_left(WORKLIST)

    def test_an_engine_that_is_not_there(self) -> None:
        status, text = self.run_on(1, 1, 1, 1, SHOAL_ENGINES="/nowhere")
        self.assertEqual(status, 4)
        self.assertIn("engine openshmem cannot be loaded: /nowhere/shoal_openshmem.so", text)


if __name__ == "__main__":
    unittest.main()
