"""shoal bench: every experiment runs on small graphs, and describes itself."""

import json
import os
import pathlib
import subprocess
import sys
import unittest
from unittest import mock

from command import ROOT, CommandTest, find_shoal

USAGE = 2


class Bench(CommandTest):
    def names(self) -> list[str]:
        """The experiments that shoal itself measures; test_paper_figures.py tests the others."""
        names = [x.split()[0] for x in self.good("bench", "--list").out.splitlines() if not x.startswith(" ")]
        return [x for x in names if not x.startswith(("bfs-", "charm-"))]

    def test_every_experiment(self) -> None:
        names = self.names()
        self.assertIn("atos-table2", names)
        self.assertIn("groute-table4", names)
        names.remove("atos-fig1")
        for name in names:
            with self.subTest(name=name):
                args = ["bench", name, "--quick", "--device", "cpu", "--pes", "1,2", "--trials", 1]
                graphs = ["road_usa"]
                if not name.startswith("groute-items"):
                    graphs = ["soc-LiveJournal1", "soc-LiveJournal1-local"]
                args += ["--graphs", ",".join(graphs)]
                got = self.good(*args, "--json", "--markdown", "t.md").json()
                self.assertEqual(got["experiment"], name)
                self.assertEqual([run["graph"] for run in got["runs"][:: len(got["runs"]) // len(graphs)]], graphs)
                papers = [[s["values"] for s in got["series"] if s["graph"] == g and not s["ours"]] for g in graphs]
                self.assertEqual(papers, papers[:1] * len(graphs))
                for run in got["runs"]:
                    self.assertTrue(run["verified"], run)
                    self.assertGreater(run["value"], 0, run)
                self.assertEqual({s["ours"] for s in got["series"]}, {True, False})
                for series in got["series"]:
                    self.assertEqual(len(series["values"]), len(got["columns"]), series)
                table = [x for x in (self.folder / "t.md").read_text().splitlines() if x.startswith("|")]
                self.assertEqual({x.count("|") for x in table}, {len(got["columns"]) + 2})

    def test_every_graph(self) -> None:
        got = self.good(
            "bench", "atos-table2", "--quick", "--device", "cpu", "--pes", 1, "--trials", 1, "--json"
        ).json()
        self.assertEqual(len(got["runs"]), 10 * 3)
        for run in got["runs"]:
            self.assertTrue(run["verified"], run)
            kind = "road" if run["graph"] in ("road_usa", "osm_eur") else "kron"
            self.assertEqual(run["generator"].split(":")[0], "community" if run["graph"].endswith("-local") else kind)

    def test_a_run_over_the_limit_is_said_and_the_rest_goes_on(self) -> None:
        # Every run takes longer than a microsecond, but the parent process may get notice of its beginning and end together.
        args = ["bench", "groute-table4", "--quick", "--graphs", "road_usa", "--device", "cpu", "--pes", "1", "--limit"]
        out = self.good(*args, "1e-6", "--json=t.json").out
        runs = json.loads((self.folder / "t.json").read_text())["runs"]
        self.assertEqual(len(runs), 4)
        slow = [r for r in runs if "over_seconds" in r]
        self.assertTrue(slow)
        for run in slow:
            self.assertEqual(
                (run["over_seconds"], run["value"], run["seconds"], run["verified"]), (1e-6, None, [], False)
            )
            self.assertRegex(out, rf"shoal {run['way']} +> 0\.001 ")
            self.assertIn(f"too slow: road_usa, {run['way']}, 1 PE: ended after", out)
        self.bad(USAGE, "--limit", *args, "0")

    def test_what_the_budget_does_not_last_for_is_counted(self) -> None:
        args = ["bench", "groute-table4", "--quick", "--graphs", "road_usa", "--device", "cpu", "--pes", "1"]
        answer = self.good(*args, "--budget", "1e-9", "--json=t.json")
        got = json.loads((self.folder / "t.json").read_text())
        self.assertEqual((got["runs"], got["left_out"]), ([], 4))
        self.assertIn("4 runs were left out", answer.out)
        self.assertEqual(self.good(*args, "--json").json()["left_out"], 0)
        self.bad(USAGE, "--budget", *args, "--budget", "-1")

    def test_queues_need_their_own_program(self) -> None:
        if (pathlib.Path(find_shoal()).parent / "gpu_queue").exists():
            self.skipTest("gpu_queue is there; it needs a GPU for itself")
        self.bad(USAGE, "gpu_queue", "bench", "atos-fig1")

    def test_table_shows_the_papers_numbers_beside_ours(self) -> None:
        out = self.good("bench", "atos-table2", "--quick", "--graphs", "road_usa", "--device", "cpu", "--pes", "1").out
        self.assertRegex(out, r"Atos persistent, FIFO \(paper\) +46\.50 +57\.50 +63\.60 +62\.00")
        self.assertRegex(out, r"shoal auto +[0-9.]+ +- +- +-")
        self.assertIn("road_usa (23.9 M, 57 M); here road:100,deleted=0.4", out)
        self.assertNotIn("osm_eur", out)

    def test_stand_ins_with_communities_show_the_same_numbers_of_the_paper(self) -> None:
        args = ["bench", "atos-table2", "--quick", "--device", "cpu", "--pes", "1", "--graphs"]
        out = self.good(*args, "twitter50-local").out
        self.assertRegex(out, r"Gunrock \(paper\) +906\.0 +477\.0 +330\.0 +258\.0")
        self.assertIn("twitter50-local (51 M, 1.9 G); here community:13,", out)
        self.assertNotIn("kron:", out)
        self.bad(USAGE, ["road_usa-local", "twitter50-local"], *args, "road_usa-local")

    def test_all_parts_of_an_experiment(self) -> None:
        args = [
            "bench",
            "atos-fig5",
            "--quick",
            "--graphs",
            "road_usa",
            "--device",
            "cpu",
            "--trials",
            "1",
            "--pes",
            "1",
        ]
        out = self.good(*args).out
        self.assertIn("Strong scaling of breadth-first search", out)
        self.assertIn("Strong scaling of PageRank", out)
        self.bad(USAGE, "atos-fig5-bfs", *args, "--markdown", "both.md")
        self.assertEqual(self.files(), [])

    def test_plot(self) -> None:
        args = ["bench", "atos-fig5-bfs", "--quick", "--graphs", "road_usa", "--device", "cpu", "--trials", "1"]
        has_matplotlib = subprocess.run(["python3", "-c", "import matplotlib"], capture_output=True, check=False)
        if has_matplotlib.returncode == 0:
            self.good(*args, "--plot", "p.png")
            self.assertEqual((self.folder / "p.png").read_bytes()[:4], b"\x89PNG")
            self.assertEqual(self.files(), ["p.png"])
        else:
            self.bad(USAGE, ["--plot", "matplotlib"], *args, "--plot", "p.png")
            self.assertEqual(self.files(), [])

    def test_a_plot_that_cannot_be_drawn_costs_no_run(self) -> None:
        # A python3 without matplotlib, and one that fails to draw.
        args = ["bench", "atos-fig5-bfs", "--quick", "--graphs", "road_usa", "--device", "cpu", "--trials", "1"]
        python = self.folder / "bin" / "python3"
        python.parent.mkdir()
        for script, words in (("exit 1", "needs python3 with matplotlib"), ('test "$1" = -c', "could not be drawn")):
            python.write_text(f"#!/bin/sh\n{script}\n")
            python.chmod(0o755)
            with mock.patch.dict(os.environ, {"PATH": f"{python.parent}:{os.environ['PATH']}"}):
                answer = self.shoal(*args, "--plot", "p.png")
            self.assertEqual((answer.status, len(answer.err.splitlines())), (USAGE, 1), answer.err)
            self.assertIn(words, answer.err)
            self.assertEqual("Strong scaling" in answer.out, words == "could not be drawn")
            self.assertEqual(self.files(), ["bin"])
        self.bad(USAGE, ".png, .svg or .pdf", *args, "--plot", "p.jpeg2")

    def test_plot_refuses_other_files(self) -> None:
        self.write("other.json", "{}")
        self.write("words.json", "0 1\n")
        for name in ("other.json", "words.json", "none.json"):
            command = [sys.executable, ROOT / "scripts" / "plot_bench.py", self.folder / name, self.folder / "p.png"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2, name)
            self.assertIn(name, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, name)

    def test_errors(self) -> None:
        for words, args in [
            ("--list", []),
            ("atos-table2", ["atos-table9"]),
            ("road_usa", ["atos-table2", "--graphs", "road_mars"]),
            ("1 to 64", ["atos-table2", "--pes", "0"]),
            ("1 to 4", ["atos-table2", "--pes-per-gpu", "5"]),
            ("has no GPUs", ["atos-table2", "--device", "cpu", "--pes-per-gpu", "2"]),
            ("--trials", ["atos-table2", "--trials", "-1"]),
            ("--trials", ["atos-table2", "--trials", "0"]),
            ("18446744073709551616 is out of range", ["atos-table2", "--seed", "18446744073709551616"]),
            ("no/such", ["atos-table2", "--markdown", "no/such/t.md"]),
            ("no/such", ["atos-table2", "--plot", "no/such/p.png"]),
        ]:
            with self.subTest(args=args):
                self.bad(USAGE, words, "bench", *args)


if __name__ == "__main__":
    unittest.main()
