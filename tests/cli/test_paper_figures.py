"""shoal bench bfs-* and charm-*: figures compared with the baselines, and reports of what cannot run here."""

import json
import os
import pathlib
import sys
import unittest
from unittest import mock

from command import ROOT, CommandTest, find_shoal

USAGE = 2
SCRIPTED = ("bfs-fig41", "bfs-fig42", "bfs-fig43", "charm-fig6", "charm-fig7a", "charm-fig7b", "charm-fig7c", "charm-fig8",
            "charm-fig9", "charm-odf")  # fmt: skip
# Ranks yield when idle, as there may be more ranks than cores.
YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}


def load(name: str):
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        return __import__(name)
    finally:
        sys.path.pop(0)


class Figures(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.has_mpi = (pathlib.Path(find_shoal()).parent / "shoal_mpi").exists()
        os.environ.update(YIELD)

    def figure(self, name: str, *args: object) -> tuple[dict, str]:
        out = self.good("bench", name, "--quick", "--device", "cpu", "--json=figure.json", *args).out
        return json.loads((self.folder / "figure.json").read_text()), out

    def test_the_list_is_of_what_can_be_measured(self) -> None:
        listed = [x.split()[0] for x in self.good("bench", "--list").out.splitlines() if not x.startswith(" ")]
        self.assertEqual([x for x in listed if x.startswith(("bfs-", "charm-"))], list(SCRIPTED))
        self.assertEqual(list(load("paper_figures").EXPERIMENTS), list(SCRIPTED))

    def test_searches(self) -> None:
        for name in "bfs-fig41", "bfs-fig42", "bfs-fig43":
            with self.subTest(name=name):
                got, out = self.figure(name, "--graphs", "scale18", "--pes", 2, "--ranks", 2, "--trials", 1)
                want = ["shoal_mpi, 2 ranks"] * self.has_mpi + ["shoal levels, 2 PEs", "shoal async, 2 PEs"]
                self.assertEqual([r["way"] for r in got["runs"]], want)
                for run in got["runs"]:
                    self.assertGreater(run["seconds_by_step"], 0, run)
                self.assertIn("scale18; here kron:8", out)
                self.assertIn("skipped: shoal_nccl and shoal_stf: they need GPUs", out)
                self.assertIn("skipped: GAPBS", out)
                self.assertEqual("shoal_mpi was not built" in out, not self.has_mpi)
                if self.has_mpi:
                    self.assertRegex(out, r"shoal_mpi, 2 ranks|frontier +shoal_mpi")
                    self.assertGreater(got["runs"][0]["communicate_seconds"], 0)

    def test_gapbs_where_it_is(self) -> None:
        program = self.folder / "gapbs" / "bfs"
        program.parent.mkdir()
        reached = self.good("bfs", "kron:8", "--device", "cpu", "--json", "--quiet").json()["trials"][0]["reached"]

        def figure(name: str, vertices: int = reached) -> tuple[dict, str]:
            said = f"BFS Tree has {vertices} nodes and 9 edges\\n" + "Trial Time: 0.00250\\n" * 3
            program.write_text(f"#!/bin/sh\necho $OMP_NUM_THREADS >> {self.folder}/threads\nprintf '{said}'\n")
            program.chmod(0o755)
            with mock.patch.dict(os.environ, {"GAPBS": str(program.parent)}):
                return self.figure(name, "--graphs", "scale18", "--pes", 2, "--ranks", 1, "--trials", 1)

        for name in "bfs-fig41", "bfs-fig42", "bfs-fig43":
            got, out = figure(name)
            self.assertAlmostEqual(got["runs"][-1]["median_seconds"], 0.0025)
            self.assertEqual(got["runs"][-1]["way"], "GAPBS, 2 threads")  # as many threads as the other programs have
            self.assertNotIn("skipped: GAPBS", out)
        self.assertEqual(set((self.folder / "threads").read_text().split()), {"2"})
        _, out = figure("bfs-fig41", reached + 1)
        self.assertIn(f"scale18, GAPBS, 2 threads: a wrong answer: {reached + 1} vertices from", out)

    def test_gapbs_that_is_not_built_is_said(self) -> None:
        with mock.patch.dict(os.environ, {"GAPBS": "/no/such"}):
            _, out = self.figure("bfs-fig41", "--graphs", "scale18", "--pes", 1, "--ranks", 1, "--trials", 1)
        self.assertIn("skipped: GAPBS: /no/such/bfs is not a program; the variable GAPBS names that folder", out)

    def test_grids(self) -> None:
        engines = self.shoal("doctor", "--json").json()["engines"]
        apart = any(engine["name"] == "openshmem" and engine["found"] for engine in engines)
        hows = ["shoal", "shoal, a process each"] if apart else ["shoal"]
        for name, side, ways in (
            ("charm-fig7b", 8, [f"{how}, ODF {odf}" for how in hows for odf in (1, 2, 4)]),
            ("charm-fig8", 32, ["shoal threads, ODF 1", "shoal threads, ODF 8"]),
        ):
            with self.subTest(name=name):
                got, out = self.figure(name, "--pes", "1,2", "--trials", 1, "--shrink", 24)
                self.assertEqual([r["way"] for r in got["runs"] if r["pes"] == 2 and "shoal_mpi" not in r["way"]], ways)
                for run in got["runs"]:
                    self.assertGreater(run["value"], 0, run)
                    self.assertTrue(run["verified"], run)
                    self.assertEqual(
                        run["size"], [side * (2 if name == "charm-fig7b" and run["pes"] == 2 else 1), side, side]
                    )
                beside_mpi = self.has_mpi and name == "charm-fig7b"
                self.assertEqual(any("shoal_mpi" in r["way"] for r in got["runs"]), beside_mpi)
                self.assertIn("ms an iteration", out)
                self.assertEqual("no engine for several processes" in out, name == "charm-fig7b" and not apart)
        self.assertIn("skipped: fusion and graphs are of kernels on GPUs", out)

    def test_a_spent_budget_is_said(self) -> None:
        got, out = self.figure("charm-odf", "--pes", 1, "--budget", "1e-9")
        self.assertEqual(got["runs"], [])
        self.assertIn("shoal, ODF 16, PE 1: the budget is spent", out)

    def test_only_json_on_standard_output(self) -> None:
        got = self.good("bench", "charm-fig8", "--quick", "--device", "cpu", "--pes", 1, "--json").json()
        self.assertEqual((got["experiment"], len(got["runs"])), ("charm-fig8", 2))
        self.assertEqual(self.good("bench", "charm-fig8", "--quick", "--device", "cpu", "--pes", 1, "--quiet").out, "")

    def test_errors(self) -> None:
        for words, *args in (
            ("web-uk-2002", "bfs-fig41", "--graphs", "road_usa"),
            ("no graphs", "charm-fig8", "--graphs", "scale18"),
            ("--shrink: use numbers from 1 to 1,000", "charm-fig8", "--shrink", -1),
            ("--pes 0 is out of range", "charm-fig8", "--device", "cpu", "--pes", 0),
            ("no/such", "charm-fig8", "--json=no/such/t.json"),
            ("leave out --markdown", "charm-fig8", "--markdown", "t.md"),
            ("for bfs-* and charm-*", "atos-table2", "--shrink", 2),
        ):
            with self.subTest(args=args):
                self.bad(USAGE, words, "bench", *args)


class Parts(unittest.TestCase):
    def test_weak_sizes_have_as_many_cells_for_each(self) -> None:
        weak = load("grid_figures").weak
        self.assertEqual(
            [weak(10, p) for p in (1, 2, 4, 8, 3)],
            [(10, 10, 10), (20, 10, 10), (20, 20, 10), (20, 20, 20), (30, 10, 10)],
        )

    def test_how_programs_end(self) -> None:
        beside = load("beside_baselines")
        for script, words in (
            ("kill -SEGV $$", "ended by SIGSEGV"),
            ("echo shoal: error: no GPU >&2; exit 4", "exit status 4: shoal: error: no GPU"),
            ("sleep 5", "too slow"),
            ("echo NCCL version 2", "no JSON, but 'NCCL version 2"),
            ("echo '{'; echo 1", "is not JSON"),
        ):
            with self.assertRaisesRegex(beside.BenchError, words, msg=script):
                beside.ask(["sh", "-c", script], 1)
        self.assertEqual(beside.ask(["sh", "-c", "echo NCCL version 2; echo '{'; echo '\"a\": 1}'"], 9), {"a": 1})
        with self.assertRaisesRegex(beside.BenchError, "no time"):
            beside.ask(["true"], -1)


if __name__ == "__main__":
    unittest.main()
