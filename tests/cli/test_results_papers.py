"""scripts/results_table.py: sections on baselines, on figures and experiments of papers, and on tuning."""

import json
import unittest

from results_folder import ResultsFolder


class ResultsOfPapers(ResultsFolder):
    def test_tune_and_bench_become_sections(self) -> None:
        tune = {
            "command": "tune",
            "algorithm": "sssp",
            "graph": {"name": "road:9"},
            "devices": [],
            "machine": {"cpu": "C"},
            "auto_chose": {"pes": "1: x", "device": "cpu: x", "threads": "2: x"},
            "ways": [{"flags": ["--fetch", "4"], "seconds": 0.002}],
            "best": ["--fetch", "4"],
            "auto_seconds": 0.0021,
            "best_seconds": 0.002,
            "auto_above_best": 0.05,
        }
        pair = {**tune, "graph": "star:9", "ways": 7, "best": [], "left_out": 8}
        auto = {"command": "auto_against_tuner", "devices": [], "machine": {"cpu": "C"}, "rows": [pair]}
        run = {"graph": "usa", "graph_line": "usa; here road:9", "way": "auto", "pes": 1}
        bench = {
            "command": "bench",
            "devices": [],
            "machine": {"cpu": "C"},
            **{k: k for k in ("experiment", "title", "source", "paper_machine", "note", "sees")},
            "unit": "ms",
            "trials": 3,
            "columns": [1, 2, 3],
            "runs": [run, {**run, "pes": 2, "failed": "no room"}, {**run, "pes": 3, "over_seconds": 2}],
            "series": [
                {"graph": "usa", "system": "Atos", "ours": False, "values": [46.5, None, None]},
                {"graph": "usa", "system": "shoal auto", "ours": True, "values": [1.5, None, None]},
            ],
        }
        (self.folder / "tune.json").write_text(json.dumps(tune))
        (self.folder / "bench.json").write_text(json.dumps(bench))
        (self.folder / "auto.json").write_text(json.dumps(auto))
        (self.folder / "notes").mkdir()
        (self.folder / "notes" / "experiment.md").write_text("As the paper says.")
        text = self.document()[0]
        self.assertIn("| sssp | road:9 | C, 1 x 2 threads | 2.100 | 2.000 | 5.0 % | `--fetch 4` | 1 |", text)
        self.assertIn("| sssp | star:9 | C, 1 x 2 threads | 2.100 | 2.000 | 5.0 % | auto | 7 of 15 |", text)
        self.assertIn("1 of 1\nare within 10 %", text)
        self.assert_goal(text, "`auto` within 10 % of the best way that was tried", "1 of 1")
        (self.folder / "auto.json").write_text(json.dumps({**auto, "rows": [{**pair, "auto_above_best": 0.643}]}))
        text = self.document()[0]  # ways that were not tried cannot improve the result
        self.assertIn("1 of 2\nare within 10 %", text)
        self.assert_goal(text, "best way that was tried", "1 of 2", "sssp, star:9, C, 1 x 2 threads: 64.3% above")
        (self.folder / "auto.json").write_text(json.dumps(auto))
        self.assertIn("| Atos (paper) | 46.5 | - | - |\n| shoal auto | 1.5 | failed | > 2000 |", text)
        self.assertIn("- usa, auto, 2 PEs: no room\n- usa, auto, 3 PEs: ended after 2 s\n", text)
        self.assertIn("\nAs the paper says.\n", text)
        for name in ("a", "b"):  # notes are shown once, for the kind of machine with most files
            other = {**bench, "devices": [{"name": "other"}]}
            (self.folder / f"bench_of_others_{name}.json").write_text(json.dumps(other))
        text = self.document()[0]
        self.assertEqual(text.count("As the paper says."), 1)
        self.assertRegex(text, r"Ours: other, [^\n]*\n\nAs the paper says\.")
        for name in ("a", "b"):
            (self.folder / f"bench_of_others_{name}.json").unlink()
        more = {
            **bench,
            "runs": [{**run, "pes": 2}],
            "columns": [1, 2],
            "date": "2026-11-22T08:20:12Z",
            "revision": "abc",
        }
        more["series"] = [{"graph": "usa", "system": "shoal auto", "ours": True, "values": [None, 0.75]}]
        del bench["runs"][1]
        (self.folder / "bench.json").write_text(json.dumps(bench))
        (self.folder / "bench_more.json").write_text(json.dumps(more))
        text = self.document()[0]
        self.assertIn("| shoal auto | 1.5 | 0.75 | > 2000 |", text)
        self.assertNotIn("\n*: PEs shared GPUs", text)
        self.assertIn("\nMeasured: 1 PE not written down; 2 PEs 2026-11-22 abc; 3 PEs not written down\n", text)
        self.assertEqual(text.count("**usa; here road:9**"), 1)
        self.assertNotIn("Shapes", text)
        for series, way in ((bench["series"], "a"), (more["series"], "b")):
            series += [
                {"graph": "usa", "system": f"Atos {way}", "ours": False, "values": [6 if way == "a" else 2, 3]},
                {"graph": "usa", "system": f"shoal {way}", "ours": True, "values": [4, 8], "follows": f"Atos {way}"},
            ]
        bench["columns"], bench["series"] = [1, 2], [{**s, "values": s["values"][:2]} for s in bench["series"]]
        (self.folder / "bench.json").write_text(json.dumps(bench))
        (self.folder / "bench_more.json").write_text(json.dumps(more))
        text = self.document()[0]
        self.assertIn("| usa | a / b, 2 PEs | 1 | 1 |\n| usa | a, 1 / 2 PEs | 2 | 0.5 |\n", text)
        self.assertIn("| usa | b, 1 / 2 PEs | 0.667 | 0.5 |\n", text)
        shared = {**run, "way": "b", "pes": 2, "pes_per_gpu": 2}  # its times are not compared, but its counts are
        bench["runs"].append(shared)
        (self.folder / "bench.json").write_text(json.dumps(bench))
        text = self.document()[0]
        self.assertIn("| shoal b | not run | 8* |", text)
        self.assertIn("\n*: PEs shared GPUs", text)
        self.assertNotIn("| usa | b, 1 / 2 PEs |", text)
        for part, file in ((bench, "bench.json"), (more, "bench_more.json")):
            (self.folder / file).write_text(json.dumps({**part, "unit": "million items run"}))
        self.assertIn("| usa | b, 1 / 2 PEs | 0.667 | 0.5 |\n", self.document()[0])
        bench["runs"].remove(shared)
        (self.folder / "bench_more.json").unlink()
        tune["ways"][0]["wrong"] = bench["runs"][0]["wrong"] = "vertex 3"
        (self.folder / "tune.json").write_text(json.dumps(tune))
        (self.folder / "bench.json").write_text(json.dumps(bench))
        text, left_out = self.document()
        self.assertNotIn("road:9", text)
        self.assertEqual(len(left_out), 2)

    def test_baselines_and_figures_become_sections(self) -> None:
        mine = {"name": "shoal levels, 1 PEs", "median_seconds": 0.001, "steps": 7, "seconds_by_step": 0.001 / 7}
        other = {"name": "shoal_nccl, 1 GPUs", "median_seconds": 0.0025, "steps": 7, "seconds_by_step": 0.0025 / 7}
        other |= {"compute_seconds": 0.001, "communicate_seconds": 0.0005}
        broken = {"name": "shoal_stf, 1 GPUs", "failed": "ended by SIGSEGV: "}
        data = {"bench": "beside_baselines", "algorithm": "bfs", "date": "D", "revision": "R", "device": "gpu"}
        data |= {"devices": [{"name": "H"}], "machine": {"cpu": "C"}, "checked": True}
        rows = {"graph": "kron:9", "rows": [mine, other, broken], "best_baseline_over_shoal": 2.5}
        data["results"] = [rows, {"graph": "kron:8", "rows": [mine], "best_baseline_over_shoal": 3.5}]
        (self.folder / "b.json").write_text(json.dumps(data))
        text, left_out = self.document()
        self.assertIn("## bfs beside MPI, NCCL and CUDASTF on H\n", text)
        self.assertIn("| kron:9 | shoal_nccl, 1 GPUs | 2.500 | 7 | 0.3571 | 40% | 20% |", text)
        self.assertIn("- kron:9, shoal_stf, 1 GPUs: ended by SIGSEGV", text)
        self.assert_goal(text, "CUDASTF in one run", "1 of 2", "bfs, kron:9, H: 2.50")
        again = {**rows, "best_baseline_over_shoal": 3.25}
        (self.folder / "a.json").write_text(json.dumps({**data, "date": "E", "results": [again]}))
        self.assert_goal(self.document()[0], "CUDASTF in one run", "2 of 2")  # the later date counts
        fewer = {**again, "rows": [mine, other], "best_baseline_over_shoal": 2.75}
        (self.folder / "a.json").write_text(json.dumps({**data, "date": "E", "results": [fewer]}))
        misses = ("bfs, kron:9, H: 2.75", "bfs, kron:9, H: 2.50")
        self.assert_goal(self.document()[0], "CUDASTF in one run", "1 of 3", *misses)  # not the same programs
        (self.folder / "a.json").unlink()
        (self.folder / "b.json").unlink()
        figure = {
            "bench": "paper_figures",
            "experiment": "charm-fig8",
            "title": "T",
            "source": "S",
            "papers_machine": "M",
        }
        figure |= {
            "note": "N",
            "sees": "E",
            "table": ["  a  1"],
            "left_out": ["skipped: x"],
            "date": "D",
            "revision": "R",
        }
        figure |= {"device": "cpu", "devices": [], "machine": {"cpu": "C"}, "runs": [{"value": 1}]}
        (self.folder / "f.json").write_text(json.dumps(figure))
        text = self.document()[0]
        self.assertIn("## charm-fig8: T\n\nS; M. The paper finds: E. N\n\n**C**, D, revision R.\n", text)
        self.assertIn("```\n  a  1\nskipped: x\n```", text)
        gpus = {**figure, "device": "gpu", "devices": [{"name": "H"}] * 2, "note": "N Broken off.", "table": ["  b  2"]}
        gpus |= {"runs": [{"verified": None}], "left_out": ["a, PE 1: one PE is one process"]}
        (self.folder / "e.json").write_text(json.dumps(gpus))
        text = self.document()[0]
        self.assertEqual(text.count("## charm-fig8"), 1)
        self.assertRegex(
            text,
            r"(?s)E\. N\n\n\*\*C\*\*.*\*\*2 x H\*\*, D, revision R\. Broken off\. Grids as large as these were not",
        )
        self.assertIn("```\n  b  2\n```", text)
        (self.folder / "e.json").unlink()
        (self.folder / "f.json").write_text(json.dumps({**figure, "runs": [{"wrong": True, "failed": "x"}]}))
        self.assertEqual(self.document()[1], ["f.json: a way of it gave a wrong answer"])
        self.assertEqual(left_out, [])


if __name__ == "__main__":
    unittest.main()
