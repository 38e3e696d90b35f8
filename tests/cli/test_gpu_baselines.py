"""The baselines with NCCL and with CUDASTF, with one and two GPUs, beside `shoal` itself; without GPUs what they say."""

import json
import os
import subprocess
import unittest

from command import TIMEOUT_SECONDS, Answer, CommandTest

PROGRAMS = {name: os.environ.get(f"SHOAL_{name.upper()}_BIN", "") for name in ("nccl", "stf")}
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

    def run_baseline(self, name: str, *args: object, processes: int = 1) -> Answer:
        command = [PROGRAMS[name], *(str(a) for a in args)]
        if processes > 1:
            command = [LAUNCHER, "-n", str(processes), *command]
        environment = {**os.environ, **ENVIRONMENT}
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

    def right(self, name: str, *args: object, gpus: int = 1, processes: int = 1) -> dict:
        answer = self.run_baseline(name, *args, "--gpus", gpus, "--verify", "--json", processes=processes)
        what = f"{name}, {processes} x {gpus} GPUs, {args}"
        self.assertEqual(answer.status, 0, f"{what}: {answer.out}{answer.err}")
        result = json.loads(answer.out)
        self.assertEqual(result["ranks"], gpus * processes)
        for trial in result["trials"]:
            self.assertIs(trial["verified"], True, what)
        return result

    def ways(self) -> list[dict]:
        """One GPU; two by threads; two by processes."""
        if self.gpus == 0:
            self.skipTest("no GPU")
        several = [{"gpus": 2}] + ([{"processes": 2}] if LAUNCHER else [])
        return [{}] + (several if self.gpus > 1 else [])


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
                self.assertLessEqual(max(words[1]), 512)
                self.assertGreater(min(words[0]), 512)


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
                    gpus, processes = way.get("gpus", 1), way.get("processes", 1)
                    answer = self.run_baseline("nccl", *grid, "--gpus", gpus, "--verify", "--json", processes=processes)
                    self.assertEqual(answer.status, 0, f"{way}, {grid}: {answer.out}{answer.err}")
                    self.assertIs(answer.json()["trials"][1]["verified"], True)


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
