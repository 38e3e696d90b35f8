"""The baseline with MPI on 1, 2 and 4 ranks, compared with `shoal`."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from baseline import LAUNCHER, BaselineTest
from command import Answer

MPI = os.environ.get("SHOAL_MPI_BIN", "")
RANKS = (1, 2, 4)


@unittest.skipUnless(MPI and LAUNCHER, "no MPI was found, so baselines/mpi is not built")
class MpiTest(BaselineTest):
    def mpi(self, ranks: int, *args: object, **environment: str) -> Answer:
        return self.run_baseline(MPI, ranks, *args, **environment)

    def right(self, ranks: int, *args: object) -> dict:
        result = self.all_right(self.mpi(ranks, *args, "--verify", "--json"), ranks, f"{ranks} ranks, {args}")
        self.assertTrue(result["mpi"])
        return result

    def with_isolated(self) -> list[str]:
        """Writes a graph in which vertices 0, 3, 7 and 8 to 12 have no arcs. Returns its arguments."""
        self.write("few.el", "1 2\n2 4\n4 5\n5 1\n5 6\n")
        return ["few.el", "--vertices", "13"]


class Searches(MpiTest):
    def test_same_as_shoal(self) -> None:
        graphs = [["kron:10"], ["kron:9,directed"], ["road:20"], ["chain:40"], ["star:50"], self.with_isolated()]
        for graph in graphs:
            search = ["bfs", *graph, "--trials", 3, "--seed", 5]
            want = self.good(*search, "--device", "cpu", "--json").json()
            for ranks in RANKS:
                have = self.right(ranks, *search)
                self.same_searches(have, want, f"{graph} on {ranks} ranks")
                self.assertEqual(sum(r["words_sent"] for t in have["trials"] for r in t["by_rank"]) > 0, ranks > 1)

    def test_more_ranks_than_vertices(self) -> None:
        for graph, reached in (("chain:1", 1), ("chain:3", 3)):
            have = self.right(4, "bfs", graph, "--source", 0)
            self.assertEqual(have["trials"][0]["reached"], reached)

    def test_sending_a_vertex_once(self) -> None:
        search = ["bfs", "kron:10", "--source", "max-degree"]
        all_words, once = (self.words_sent(self.right(2, *search, *more)) for more in ([], ["--send-once"]))
        self.assertLessEqual(max(once), 512)
        self.assertGreater(min(all_words), 512)

    def test_table_of_levels(self) -> None:
        answer = self.mpi(2, "bfs", "chain:9", "--source", 0, "--stats")
        self.assertEqual(answer.status, 0, answer.err)
        lines = answer.out.splitlines()
        rows = [line.split() for line in lines[lines.index(next(x for x in lines if "level" in x)) + 1 :]]
        self.assertEqual([r[:2] for r in rows], [[str(level), str(rank)] for level in range(9) for rank in (0, 1)])
        # The ranks own vertices alternately, and each vertex sends both of its neighbours, which the other rank owns.
        self.assertEqual([r[2] for r in rows], ["1", "0", "0", "1"] * 4 + ["1", "0"])
        self.assertEqual(sum(int(r[3]) for r in rows), 16)

    def test_levels_in_json(self) -> None:
        trial = self.right(2, "bfs", "chain:9", "--source", 0, "--stats")["trials"][0]
        levels = trial["by_step"]
        self.assertEqual([[r["vertices"] for r in ranks] for ranks in levels], [[1, 0], [0, 1]] * 4 + [[1, 0]])
        for rank, whole in enumerate(trial["by_rank"]):
            for what, total in whole.items():
                self.assertAlmostEqual(sum(ranks[rank][what] for ranks in levels), total, places=9, msg=what)
            self.assertLessEqual(whole["compute_seconds"] + whole["communicate_seconds"], trial["seconds"] * 1.001)

    def test_tasks_as_a_graph(self) -> None:
        script = pathlib.Path(__file__).parents[2] / "bench" / "draw_steps.py"
        run = ["bfs", "chain:9", "--source", 0]
        for stats, status in ((["--stats"], 0), ([], 2)):
            self.write("run.json", self.mpi(2, *run, *stats, "--json").out)
            done = subprocess.run(
                [sys.executable, script, "run.json", "run.dot"],
                cwd=self.folder,
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn("has no steps: run it with --stats", done.stderr)
        dot = (pathlib.Path(self.folder) / "run.dot").read_text()
        # Nine levels of two ranks and an exchange; each level follows the previous one.
        self.assertEqual(dot.count("shape=box"), 18)
        self.assertEqual(dot.count("shape=ellipse"), 9)
        self.assertEqual(dot.count(" -> "), 18 + 16)
        self.assertIn('c3_1 -> x3 [label="2 words"]', dot)
        self.assertIn('fillcolor="0.0 1.000 1.0"', dot)

    def test_bench_beside_baselines(self) -> None:
        script = pathlib.Path(__file__).parents[2] / "bench" / "beside_baselines.py"
        command = [sys.executable, script, "--folder", pathlib.Path(MPI).parent, "--graphs", "kron:8", "--pes", "1"]
        command += ["--ranks", "2", "--trials", "2", "--rounds", "1", "--levels", "--json", "result.json"]
        if pathlib.Path(os.environ["SHOAL_BIN"]).parent != pathlib.Path(MPI).parent:
            self.skipTest("shoal and shoal_mpi are not in one folder")
        environment = {**os.environ, "PATH": f"{pathlib.Path(LAUNCHER).parent}:{os.environ['PATH']}"}
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        result = json.loads((pathlib.Path(self.folder) / "result.json").read_text())["results"][0]
        self.assertEqual(
            [r["name"] for r in result["rows"]], ["shoal_mpi, 2 ranks", "shoal levels, 1 PEs", "shoal async, 1 PEs"]
        )
        self.assertEqual([r["trials"] for r in result["rows"]], [2, 2, 2])
        self.assertGreater(result["rows"][0]["communicate_seconds"], 0)
        self.assertIn("best baseline / best of shoal", done.stdout)


class Ranks(MpiTest):
    def test_right(self) -> None:
        for graph, *some in (
            [["kron:9,directed"], 1, 2, 4],
            [["road:20"], 2],
            [["star:50"], 4],
            [["chain:3"], 4],
            [self.with_isolated(), 2],
        ):
            for ranks in some:
                self.assertLessEqual(self.right(ranks, "pagerank", *graph)["trials"][0]["error_bound"], 1e-6)

    def test_rules(self) -> None:
        coarse, fine, still = (
            self.right(2, "pagerank", "kron:9", *rules)["trials"][0]["sweeps"]
            for rules in (["--tolerance", 0.1], ["--tolerance", 1e-11, "--alpha", 0.9999], ["--alpha", 0])
        )
        self.assertLess(coarse, fine)
        self.assertEqual(still, 1)


class Grids(MpiTest):
    def test_bits_of_the_serial_reference(self) -> None:
        for size, *some in (((13, 7, 9), 1, 2, 3, 4), ((1, 1, 4), 4), ((2, 3, 1), 2)):
            for ranks in some:
                for more in ([], ["--overlap"]):
                    grid = ["jacobi3d", *size, "--iterations", 9, "--warmup", 2, "--trials", 2, *more]
                    self.assertEqual(self.right(ranks, *grid)["size"], list(size))

    def test_statistics(self) -> None:
        answer = self.mpi(2, "jacobi3d", 8, 6, 4, "--iterations", 5, "--stats", "--json")
        trial = answer.json()["trials"][0]
        self.assertEqual([r["cells"] for r in trial["by_rank"]], [5 * 96, 5 * 96])
        self.assertEqual([r["words_sent"] for r in trial["by_rank"]], [5 * 24, 5 * 24])
        for rank in trial["by_rank"]:
            self.assertGreater(rank["communicate_seconds"], 0)
            self.assertLessEqual(rank["compute_seconds"] + rank["communicate_seconds"], rank["seconds"] * 1.001)
        self.assertRegex(self.mpi(2, "jacobi3d", 8, 6, 4, "--stats").out, r"(?m)^ +0 +1 +9,600 ")


class WrongInput(MpiTest):
    def refused(self, words: str, ranks: int, *args: object, **environment: str) -> None:
        self.refuses(self.mpi(ranks, *args, **environment), 2, "shoal_mpi: error: ", words)

    def test_one_line_from_all_ranks(self) -> None:
        self.write("bad.el", "0 1\n1 x\n")
        for ranks in (1, 3):
            self.refused("bad.el:2", ranks, "bfs", "bad.el")
            self.refused("nowhere", ranks, "jacobi3d", 4, 4, 4, "--json=nowhere/result.json")
            self.refused("did you mean --trials? (see shoal_mpi bfs --help)", ranks, "bfs", "kron:8", "--trails", 3)

    def test_words_and_numbers(self) -> None:
        for words, *args in (
            ("subcommand", "--verify"),
            ("cannot be read", "bfs", "nope.el"),
            ("--source 300 is not in the graph", "bfs", "kron:8", "--source", 300),
            ("no random source", "bfs", "chain:1"),
            ("from 1 to 1,000,000", "bfs", "kron:8", "--trials", 0),
            ("--alpha 2 is out of range", "pagerank", "kron:8", "--alpha", 2),
            ("--tolerance 1e-12 is out of range", "pagerank", "kron:8", "--tolerance", 1e-12),
            ("Z is required", "jacobi3d", 8, 8),
            ("from 1 to 100,000", "jacobi3d", 8, 0, 8),
            ("--iterations is at least 1", "jacobi3d", 8, 8, 8, "--iterations", 0),
            ("every rank reads", "bfs", "-", "--format", "el"),
        ):
            self.refused(words, 1, *args)

    def test_too_many_ranks(self) -> None:
        self.refused("3 ranks are more than this grid can be cut into", 3, "jacobi3d", 2, 1, 1)

    def test_grids_that_do_not_fit(self) -> None:
        for ranks in (1, 2):
            answer = self.mpi(ranks, "jacobi3d", 20000, 20000, 20000)
            self.refuses(answer, 3, "shoal_mpi: error: two states of a rank's part of the grid take ", "iB of memory")

    def test_what_rank_0_alone_finds(self) -> None:
        self.refused("nowhere", 2, "bfs", "kron:8", "--json=nowhere/result.json")
        self.assertEqual(self.files(), [])

    def test_launcher_of_another_mpi(self) -> None:
        self.refused("MPI has 1 process, but PMI_SIZE says 4", 1, "bfs", "kron:8", PMI_SIZE="4")


if __name__ == "__main__":
    unittest.main()
