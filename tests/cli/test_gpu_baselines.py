"""The baselines with NCCL and with CUDASTF on one and two GPUs, compared with `shoal`; without GPUs, their errors.

Three ranks also share one GPU, with a replacement of NCCL, which itself refuses that. So one GPU is enough to test
what ranks send to each other.
"""

import os
import unittest

from baseline import LAUNCHER, BaselineTest

PROGRAMS = {name: os.environ.get(f"SHOAL_{name.upper()}_BIN", "") for name in ("nccl", "stf")}
FAKE = os.environ.get("SHOAL_FAKE_NCCL", "")


class GpuBaselineTest(BaselineTest):
    def setUp(self) -> None:
        super().setUp()
        self.programs = {name: binary for name, binary in PROGRAMS.items() if binary}
        if not self.programs:
            self.skipTest("no NCCL was found, so baselines/nccl is not built")
        self.gpus = len(self.good("doctor", "--json").json()["devices"])

    def right(self, name: str, *args: object, gpus: int = 1, processes: int = 1, shared: bool = False) -> dict:
        stand_in = {"LD_PRELOAD": FAKE, "SHOAL_TEST_RANKS_PER_GPU": "64"} if shared else {}
        ranks = ["--gpus", gpus, "--verify", "--json"]
        answer = self.run_baseline(PROGRAMS[name], processes, *args, *ranks, **stand_in)
        what = f"{name}, {processes} x {gpus} GPUs{' that are one' if shared else ''}, {args}"
        return self.all_right(answer, gpus * processes, what)

    def ways(self) -> list[dict]:
        """One GPU; three ranks that share it; two GPUs of one process; two GPUs of two processes."""
        if self.gpus == 0:
            self.skipTest("no GPU")
        several = [{"gpus": 2}] + ([{"processes": 2}] if LAUNCHER else [])
        sharing = [{"gpus": 3, "shared": True}] if FAKE else []
        return [{}, *sharing, *(several if self.gpus > 1 else [])]


class Searches(GpuBaselineTest):
    def test_same_as_shoal(self) -> None:
        for graph in ["kron:12"], ["kron:9,directed"], ["road:20"], ["chain:3"], ["star:50"]:
            search = ["bfs", *graph, "--trials", 3, "--seed", 5]
            for way in self.ways():
                want = self.good(*search, "--device", "cpu", "--json").json()
                for name in self.programs:
                    have = self.right(name, *search, **way)
                    self.same_searches(have, want, f"{name} {graph} {way}")

    def test_sending_a_vertex_once(self) -> None:
        for way in self.ways()[1:]:
            for name in self.programs:
                search = ["bfs", "kron:10", "--source", "max-degree"]
                all_words, once = (
                    self.words_sent(self.right(name, *search, *more, **way)) for more in ([], ["--send-once"])
                )
                # At most one word for each vertex of another rank.
                most = 1024 - 1024 // way.get("gpus", way.get("processes", 1))
                self.assertLessEqual(max(once), most + 1)
                self.assertGreater(min(all_words), most + 1)


class Ranks(GpuBaselineTest):
    def test_right(self) -> None:
        for graph in "kron:10,directed", "road:20", "star:50":
            for way in self.ways():
                for name in self.programs:
                    self.assertLessEqual(self.right(name, "pagerank", graph, **way)["trials"][0]["error_bound"], 1e-6)


class Grids(GpuBaselineTest):
    def test_bits_of_the_serial_reference(self) -> None:
        ways = self.ways()
        for size in (13, 7, 9), (70, 5, 130):
            for way in ways:
                staged = [["--staged"], ["--staged", "--overlap"]] if way else []
                for more in [], ["--overlap"], *staged:
                    grid = ["jacobi3d", *size, "--iterations", 9, "--warmup", 2, "--trials", 2, *more]
                    self.right("nccl", *grid, **way)


class WrongInput(GpuBaselineTest):
    def refused(self, status: int, words: str, *args: object) -> None:
        self.refuses(self.run_baseline(PROGRAMS["nccl"], 1, *args), status, "shoal_nccl: error: ", words)

    def test_one_line(self) -> None:
        self.refused(2, "--gpus is a number from 1 to 64", "bfs", "kron:8", "--gpus", 0)
        self.refused(2, "alpha 2 is out of range", "pagerank", "kron:8", "--alpha", 2)
        self.refused(2, "--iterations is at least 1", "jacobi3d", 8, 8, 8, "--iterations", 0)
        if self.gpus == 0:
            self.refused(4, "no GPU can be used", "bfs", "kron:8")
            self.refused(4, "no GPU can be used", "jacobi3d", 8, 8, 8)
        elif self.gpus < 64:
            self.refused(2, "ranks need a GPU each, but there are", "bfs", "kron:8", "--gpus", self.gpus + 1)


if __name__ == "__main__":
    unittest.main()
