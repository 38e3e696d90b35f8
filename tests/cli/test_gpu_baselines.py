"""The baselines with NCCL and with CUDASTF, with one and two GPUs, beside `shoal` itself; without GPUs what they say.

Three ranks also share a GPU, with a stand-in of NCCL, which refuses that: one GPU shows that what ranks send each other is right.
"""

import json
import os
import subprocess
import unittest

from command import TIMEOUT_SECONDS, Answer, CommandTest

PROGRAMS = {name: os.environ.get(f"SHOAL_{name.upper()}_BIN", "") for name in ("nccl", "stf")}
FAKE = os.environ.get("SHOAL_FAKE_NCCL", "")
LAUNCHER = os.environ.get("SHOAL_MPIEXEC", "")
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}
FACTS = ("source", "depth", "reached", "reached_arcs")


class GpuBaselineTest(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.programs = {name: binary for name, binary in PROGRAMS.items() if binary}
        if not self.programs:
            self.skipTest("no NCCL was found, so baselines/nccl is not built")
        self.gpus = len(self.good("doctor", "--json").json()["devices"])

    def run_baseline(self, name: str, *args: object, processes: int = 1, shared: bool = False) -> Answer:
        command = [PROGRAMS[name], *(str(a) for a in args)]
        if processes > 1:
            command = [LAUNCHER, "-n", str(processes), *command]
        environment = {**os.environ, **ENVIRONMENT}
        if shared:
            environment |= {"LD_PRELOAD": FAKE, "SHOAL_TEST_RANKS_PER_GPU": "64"}
        return Answer(
            subprocess.run(
                command,
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        )

    def right(self, name: str, *args: object, gpus: int = 1, processes: int = 1, shared: bool = False) -> dict:
        ranks = ["--gpus", gpus, "--verify", "--json"]
        answer = self.run_baseline(name, *args, *ranks, processes=processes, shared=shared)
        what = f"{name}, {processes} x {gpus} GPUs{' that are one' if shared else ''}, {args}"
        self.assertEqual(answer.status, 0, f"{what}: {answer.out}{answer.err}")
        result = json.loads(answer.out)
        self.assertEqual(result["ranks"], gpus * processes)
        for trial in result["trials"][-1:] if args[0] == "jacobi3d" else result["trials"]:
            self.assertIs(trial["verified"], True, what)
        return result

    def ways(self) -> list[dict]:
        """One GPU; three ranks that share it; two GPUs by threads; by processes."""
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
                    for a, b in zip(have["trials"], want["trials"], strict=True):
                        self.assertEqual([a[f] for f in FACTS], [b[f] for f in FACTS], f"{name} {graph} {way}")
                        self.assertEqual(sum(r["vertices"] for r in a["by_rank"]), b["reached"])
                        self.assertEqual(a["steps"], b["depth"] + 1)

    def test_sending_a_vertex_once(self) -> None:
        for way in self.ways()[1:]:
            for name in self.programs:
                words = []
                for more in [], ["--send-once"]:
                    trial = self.right(name, "bfs", "kron:10", "--source", "max-degree", *more, **way)["trials"][0]
                    words.append([r["words_sent"] for r in trial["by_rank"]])
                # At most one for each vertex of another rank.
                most = 1024 - 1024 // way.get("gpus", way.get("processes", 1))
                self.assertLessEqual(max(words[1]), most + 1)
                self.assertGreater(min(words[0]), most + 1)


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
        answer = self.run_baseline("nccl", *args)
        self.assertEqual(answer.status, status, f"{args}: {answer.out}{answer.err}")
        self.assertEqual(len(answer.err.splitlines()), 1, answer.err)
        self.assertTrue(answer.err.startswith("shoal_nccl: error: "), answer.err)
        self.assertIn(words, answer.err)

    def test_one_line(self) -> None:
        self.refused(2, "--gpus is a number from 1 to 64", "bfs", "kron:8", "--gpus", 0)
        self.refused(2, "alpha 2 is out of range", "pagerank", "kron:8", "--alpha", 2)
        self.refused(2, "--iterations is at least 1", "jacobi3d", 8, 8, 8, "--iterations", 0)
        if self.gpus == 0:
            self.refused(4, "no GPU can be used", "bfs", "kron:8")
            self.refused(4, "no GPU can be used", "jacobi3d", 8, 8, 8)
        elif self.gpus < 64:
            self.refused(2, "ranks want a GPU each, and there are", "bfs", "kron:8", "--gpus", self.gpus + 1)


if __name__ == "__main__":
    unittest.main()
