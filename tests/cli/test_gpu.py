"""What only a machine with GPUs can show of the command: neighbours, grids and capacities too large. Skipped without one."""

import subprocess
import time
import unittest

from command import CommandTest, find_shoal

CAPACITY = 3
SECONDS = 60
RUNS = [
    "bfs road:64 --strategy async --worker warp --trials 10",
    "bfs kron:12 --strategy levels --trials 50",
    "sssp kron:12 --weights hash255 --strategy async --worker thread --trials 5",
    "components kron:12 --strategy hook --partition edges --trials 20",
    "pagerank kron:8 --strategy async --tolerance 0.01 --trials 3",
]


class Gpu(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.gpus = len(self.shoal("doctor", "--json").json()["devices"])
        if self.gpus == 0:
            self.skipTest("no GPU")

    def test_neighbours_on_the_same_gpus(self) -> None:
        """Persistent kernels of several programs take turns: every one ends, and is right."""
        for pes in {1, min(self.gpus, 4)}:
            with self.subTest(pes=pes):
                commands = [
                    [find_shoal(), *run.split(), "--device", "gpu", "--pes", str(pes), "--verify"] for run in RUNS
                ]
                running = [
                    subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for c in commands
                ]
                end = time.monotonic() + SECONDS
                for process, run in zip(running, RUNS):
                    try:
                        out, _ = process.communicate(timeout=max(1, end - time.monotonic()))
                    except subprocess.TimeoutExpired:
                        for other in running:
                            other.kill()
                        self.fail(f"'{run}' was not through after {SECONDS} s beside the others")
                    self.assertEqual(process.returncode, 0, f"{run}: {out}")

    def test_pes_share_gpus(self) -> None:
        share = ("--device", "gpu", "--pes", 4, "--pes-per-gpu", max(2, -(-4 // self.gpus)), "--verify")
        for run in RUNS:
            with self.subTest(run=run):
                self.good(*run.split(), *share)

    def test_grids_in_blocks(self) -> None:
        for pes in (1, 2, 4):
            for form in (
                "resident",
                "kernels --fusion none",
                "kernels --fusion a",
                "kernels --fusion b --graph 4",
                "kernels --fusion d --graph 4",
                "kernels",
            ):
                with self.subTest(pes=pes, form=form):
                    share = ("--device", "gpu", "--pes", pes, "--pes-per-gpu", -(-pes // self.gpus), "--verify")
                    self.good("jacobi3d", 61, 47, 89, "--odf", 4, "--form", *form.split(), *share)
                    self.good("jacobi3d", 3, 4, 5, "--blocks", "3x4x5", "--form", *form.split(), *share)

    def test_the_host_waits_once_in_a_run_of_blocks(self) -> None:
        for form in ("resident", "kernels", "kernels --graph 2"):
            with self.subTest(form=form):
                args = ("jacobi3d", 30, 31, 32, "--odf", 4, "--device", "gpu", "--form", *form.split(), "--json")
                trial = self.good(*args, "--iterations", 50).json()["trials"][0]
                self.assertEqual((trial["runs"], trial["host_waits"]), (1, 1))
                trial = self.good(*args, "--iterations", 50, "--checkpoint", "c", "--checkpoint-every", 20).json()[
                    "trials"
                ][0]
                self.assertEqual((trial["runs"], trial["host_waits"]), (3, 3))

    def test_blocks_go_on_elsewhere(self) -> None:
        size = ("jacobi3d", 30, 31, 32)
        two = ("--pes", 2, "--pes-per-gpu", -(-2 // self.gpus))
        self.good(*size, "--odf", 8, "--device", "gpu", "--pes", 1, "--iterations", 9, "--checkpoint", "c")
        for where in (("--device", "gpu", *two), ("--device", "gpu", *two, "--balance", 3), ("--device", "cpu")):
            with self.subTest(where=where):
                self.good(*size, "--restart", "c", "--iterations", 30, "--verify", *where)

    def test_small_graphs_are_left_to_one_gpu(self) -> None:
        def pes_of(*more) -> tuple[str, str]:
            done = self.good(*more, "kron:10", "--device", "gpu", "--verify", "--json").json()
            chosen = done["trials"][0]["report"]["chosen"]
            return chosen["pes"].split(": ", 1)[0], chosen["partition"].split(":")[0]

        gpus = str(self.gpus)
        for algorithm in ("bfs", "pagerank", "components"):
            with self.subTest(algorithm=algorithm):
                self.assertEqual(pes_of(algorithm)[0], "1")
                self.assertEqual(pes_of(algorithm, "--strategy", "async")[0], gpus)
                self.assertEqual(pes_of(algorithm, "--partition", "edges")[0], gpus)
                asked = "one" if algorithm == "components" else "edges"
                self.assertEqual(pes_of(algorithm, "--pes", gpus), (gpus, asked if self.gpus > 1 else "block"))
        self.assertEqual(pes_of("sssp", "--weights", "hash255")[0], "1")

    def test_more_workers_than_fit_are_not_launched(self) -> None:
        self.good("bfs", "kron:10", "--device", "gpu", "--strategy", "async", "--workers", 2**24, "--verify")

    def test_capacity_beyond_the_memory(self) -> None:
        begin = time.monotonic()
        self.bad(
            CAPACITY,
            ["bytes wanted", "free"],
            *("bfs", "kron:10", "--device", "gpu", "--pes", 1, "--strategy", "async", "--capacity", 2**36),
        )
        self.assertLess(time.monotonic() - begin, 10)
        self.good("bfs", "kron:10", "--device", "gpu", "--pes", 1, "--strategy", "async", "--verify")


if __name__ == "__main__":
    unittest.main()
