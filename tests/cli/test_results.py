"""scripts/results_table.py shows the files of bench/results, and names files that it does not show and goals that are
missed."""

import json
import subprocess
import sys
import unittest

from command import ROOT
from results_folder import ResultsFolder


class Results(ResultsFolder):
    def write(self, verified: list) -> None:
        chosen = {
            "pes": "2: asked for",
            "device": "cpu: asked for",
            "threads": "4: the machine's",
            "strategy": "levels: x",
        }
        trials = [
            {"seconds": s, "arcs_per_second": 2e9, "depth": 3, "verified": v, "report": {"chosen": chosen}}
            for s, v in zip((0.001, 0.003, 0.002), verified, strict=True)
        ]
        data = {
            "command": "bfs",
            "graph": {"name": "kron:9", "num_vertices": 512, "num_arcs": 12345},
            "devices": [],
            "machine": {"cpu": "C"},
        }
        (self.folder / "a.json").write_text(json.dumps({**data, "trials": trials}))

    def test_row(self) -> None:
        self.write([True] * 3)
        text, left_out = self.document()
        self.assertIn("### bfs\n\n| graph", text)
        self.assertIn("| kron:9 | 12,345 | C, 2 x 4 threads | levels; 3 trials | 2.00 | 2.00 |", text)
        self.assertEqual(left_out, [])

    def test_several_gpus_against_one(self) -> None:
        row = {"algorithm": "bfs", "graph": "kron:26", "num_arcs": 1000, "strategy": "levels", "verified": True}
        data = {
            "bench": "scaling",
            "date": "2026-11-21",
            "devices": [{"name": "H"}],
            "device": "gpu",
            "machine": {"cpu": "C"},
        }
        row |= {"num_vertices": 4_000_000_000, "depth": 1000}  # 8 bytes of each at 4 TB/s: 8 ms
        data["rows"] = [{**row, "pes": n, "seconds": [0.016 / n] * 3, "arcs_per_second": 5e9 * n} for n in (1, 4)]
        (self.folder / "s.json").write_text(json.dumps(data))
        text, left_out = self.document()
        self.assertIn(
            "| kron:26 | 1,000 | 4 x H | levels; 3 trials | 4.00 | 20.00 | 2.01 (2.0 x) | 4.00 x |  | 2026-11-21 |",
            text,
        )
        self.assertIn(
            "| kron:26 | 1,000 | 1 x H | levels; 3 trials | 16.00 | 5.00 | 8.01 (2.0 x) |  |  | 2026-11-21 |", text
        )
        self.assertEqual(left_out, [])
        results = self.module.Results(self.folder)
        short = self.module.runs.short_tables(results.runs, results.peers)
        self.assertIn("| bfs | kron:26 | 1,000 | 16.00 | 5.0 | 8.01 (2.0 x) |  | 4.00 | 4.00 x |", short)
        # A larger graph on GPUs of another kind, with no further runs, does not appear in that table.
        other = {**data, "devices": [{"name": "G"}]}
        other["rows"] = [{**one, "graph": "kron:27", "num_arcs": 2000} for one in data["rows"]]
        (self.folder / "t.json").write_text(json.dumps(other))
        results = self.module.Results(self.folder)
        short = self.module.runs.short_tables(results.runs, results.peers)
        self.assertIn("ms on one H |", short)
        self.assertNotIn("kron:27", short)
        (self.folder / "t.json").unlink()
        for one in data["rows"]:
            one["depth"] = 100_000  # so deep that the number of levels determines the bound: 49.5 ms
        (self.folder / "s.json").write_text(json.dumps(data))
        self.assertIn("| 49.50 (0.1 x) |", self.document()[0])
        goal = "several GPUs no slower than one, the fastest recorded way of each"
        self.assert_goal(self.document()[0], goal, "1 of 1")
        self.assertIn(
            "bfs on four GPUs against one, the fastest way of each: 4.00 (one row) times as fast", self.document()[0]
        )
        # Several GPUs are compared with the fastest run on one GPU, even if that is in a file with a table of its own.
        table = {**data, "table": True, "flags": {}, "rows": [{**data["rows"][0], "seconds": [0.008] * 3}]}
        (self.folder / "t.json").write_text(json.dumps(table))
        self.assertIn(
            "| kron:26 | 1,000 | 4 x H | levels; 3 trials | 4.00 | 20.00 | 49.50 (0.1 x) | 2.00 x |", self.document()[0]
        )
        self.assertIn("against one, the fastest way of each: 2.00 (one row) times as fast", self.document()[0])
        (self.folder / "t.json").unlink()
        slower = {**data, "rows": [data["rows"][0], {**data["rows"][1], "seconds": [0.017] * 3}]}
        (self.folder / "s.json").write_text(json.dumps(slower))
        self.assert_goal(self.document()[0], goal, "0 of 1", "bfs, kron:26, 4 x H: 17.00 ms, 16.00 on one")
        (self.folder / "s.json").write_text(json.dumps(data))
        peer = {"algorithm": "bfs", "graph": "kron:26", "pes": 1, "program": "P", "how": "", "milliseconds": 32}
        more = [peer, {**peer, "milliseconds": 64}, {**peer, "milliseconds": 1, "looser": True}, {**peer, "pes": 2}]
        peers = {"bench": "peers", "device": "H", "note": "Other programs.", "rows": more}
        (self.folder / "p.json").write_text(json.dumps(peers))
        self.assertIn("|  | P 32 (0.5) |", self.document()[0])
        self.assert_goal(self.document()[0], "any other program on the same GPUs", "1 of 1")
        # The short table has the largest graph that another program ran, also on four, and the largest that was run on four.
        larger = {**other, "devices": [{"name": "H"}]}
        (self.folder / "t.json").write_text(json.dumps(larger))
        results = self.module.Results(self.folder)
        short = self.module.runs.short_tables(results.runs, results.peers)
        self.assertIn("| P 32 (0.5) | 4.00 | 4.00 x |\n| bfs | kron:27 |", short)
        (self.folder / "t.json").unlink()
        peers["rows"] = [{**peer, "milliseconds": 15.9}]
        (self.folder / "p.json").write_text(json.dumps(peers))
        wanted = {"algorithm": "bfs", "graph": "kron:26", "device": "H"}
        rows = [{**wanted, "pes": n, "milliseconds": m} for n, m in ((1, 15.99), (4, 4), (2, 8))]
        (self.folder / "goals.json").write_text(json.dumps({"bench": "goals", "rows": rows}))
        text = self.document()[0]
        missed = "bfs, kron:26, 1 x H: 16.00 ms, P 15.9"
        self.assert_goal(text, "any other program on the same GPUs", "0 of 1", missed)
        missed = ["bfs, kron:26, 1 x H: 16.000 ms, 15.99 wanted", "bfs, kron:26, 2 x H: not measured, 8 wanted"]
        self.assert_goal(text, "(`bench/results/goals.json`)", "1 of 3", *missed)
        (self.folder / "p.json").write_text(json.dumps({**peers, "device": "G"}))
        self.assertNotIn("P 32 (0.5)", self.document()[0])
        (self.folder / "p.json").unlink()
        (self.folder / "goals.json").unlink()
        data["rows"][0]["verified"] = False
        (self.folder / "s.json").write_text(json.dumps(data))
        self.assertNotIn("kron", self.document()[0])

    def test_unverified_and_wrong_results_are_not_shown(self) -> None:
        for verdict in (None, False):
            self.write([True, verdict, True])
            text, left_out = self.document()
            self.assertNotIn("kron", text)
            self.assertEqual(len(left_out), 1)
            self.assertIn("Files that are not shown:\n\n- a.json: not every trial is verified and right", text)

    def test_partitions_and_tunings_in_parts(self) -> None:
        row = {"graph": "g/road:9", "partition": "block", "num_arcs": 100, "cut_arcs": 25, "imbalance": 1.5}
        rows = [{**row, "way": "bfs", "median_seconds": 0.004, "verified": True}]
        part = {"bench": "partitions", "device": "cpu", "pes": 4, "trials": 3, "machine": {"cpu": "C"}, "devices": []}
        failed = {"graph": "g/road:9", "partition": "block", "way": "sssp", "failed": "took longer than 2 s"}
        (self.folder / "p1.json").write_text(json.dumps({**part, "rows": rows}))
        (self.folder / "p2.json").write_text(json.dumps({**part, "rows": [failed]}))
        text = self.document()[0]
        self.assertIn("| road:9 | block | 25.00% | 1.500 | 4.00 | failed |", text)
        self.assertIn("- road:9, block, sssp: took longer than 2 s\n", text)
        self.assertEqual(text.count("## Partitions on 4 PEs, C"), 1)
        (self.folder / "p1.json").write_text(json.dumps({**part, "rows": [{**rows[0], "verified": False}]}))
        self.assertEqual(self.document()[1], ["p1.json: not every answer is right"])
        pair = {"algorithm": "bfs", "graph": "star:9", "ways": 7, "best": [], "auto_above_best": 0.0}
        pair["auto_chose"] = {"pes": "1", "device": "cpu", "threads": "2"}
        for name, date, seconds in (("new", "2026-02-02", 0.001), ("old", "2026-02-01", 0.002)):
            auto = {"command": "auto_against_tuner", "date": date, "devices": [], "machine": {"cpu": "C"}}
            auto["rows"] = [{**pair, "auto_seconds": seconds, "best_seconds": seconds}]
            (self.folder / f"{name}.json").write_text(json.dumps(auto))
        text = self.document()[0]
        self.assertIn("| bfs | star:9 | C, 1 x 2 threads | 1.000 | 1.000 | 0.0 % | auto | 7 |", text)
        self.assertNotIn("2.000 | 2.000", text)

    def test_own_tasks(self) -> None:
        row = {"task": "walk", "input": "kron:9", "best": ["--fetch", "4"], "ways": 9, "failed": []}
        row |= {"default_seconds": 0.003, "best_seconds": 0.002, "default_over_best": 1.5}
        near = {**row, "task": "hash", "input": "500", "best": [], "best_seconds": 0.003, "default_over_best": 1.0}
        data = {"bench": "own_tasks", "device": "gpu", "pes": 1, "trials": 9, "rows": [row, near], "driver": "580.1"}
        data |= {"devices": [{"name": "H"}], "machine": {}, "date": "2026-02-02T03:04:05Z", "revision": "abc"}
        (self.folder / "own.json").write_text(json.dumps(data))
        text, left_out = self.document()
        self.assertEqual(left_out, [])
        self.assertIn("\n1 of 2.\n", text)
        machine, when = "1 x H, driver 580.1", "2026-02-02 abc"
        self.assertIn(f"| walk | kron:9 | {machine} | 3.000 | 2.000 | 1.50 | `--fetch 4` | 9 | {when} |\n", text)
        self.assertIn(f"| hash | 500 | {machine} | 3.000 | 3.000 | 1.00 | defaults | 9 | {when} |\n", text)
        row["failed"] = [{"flags": [], "how": "WRONG"}]
        (self.folder / "own.json").write_text(json.dumps(data))
        self.assertEqual(self.document()[1], ["own.json: a run of it failed or was wrong"])

    def test_cuts(self) -> None:
        row = {"graph": "g/web.el.gz", "partition": "block", "num_arcs": 2000, "verified": True}
        rows = [
            {**row, "pes": 2, "cut_arcs": 250, "imbalance": 1.5},
            {**row, "pes": 8, "cut_arcs": 501, "imbalance": 1.0},
        ]
        rows.append({"graph": "g/web.el.gz", "partition": "metis", "pes": 2, "failed": "took longer than 2 s"})
        (self.folder / "c.json").write_text(json.dumps({"bench": "cuts", "rows": rows}))
        (self.folder / "notes").mkdir()
        (self.folder / "notes" / "cuts.md").write_text("Groups are kept.\n")
        text, left_out = self.document()
        self.assertIn("Groups are kept.\n\n| graph | arcs | parts | 2 | 8 |\n", text)
        self.assertIn("| web | 2,000 | block | 12.5% (50%) | 25.1% (0%) |\n", text)
        self.assertIn("| web |  | metis | failed | not run |\n", text)
        self.assertEqual(left_out, [])
        rows[1]["verified"] = False
        (self.folder / "c.json").write_text(json.dumps({"bench": "cuts", "rows": rows}))
        self.assertEqual(self.document()[1], ["c.json: not every answer is right"])

    def test_queues_and_ends(self) -> None:
        row = {"op": "push", "ring": "slot r", "worker": "warp", "bytes": 8, "items_per_second": 2e9, "verdict": "ok"}
        row |= {"threads": 1024, "items": 6e9, "capacity": 4}
        rows = [row, {**row, "items_per_second": 9e9, "verdict": "lost items"}, {**row, "op": "pop"}]
        rows.append({**row, "op": "stress"})
        (self.folder / "rivals.json").write_text(json.dumps({"benchmark": "gpu_queue", "gpu": "H", "rows": rows}))
        end = {"benchmark": "end_detection", "device": "gpu", "pes": 1, "workers_per_pe": 2, "worker": "warp"}
        end |= {"kernel": "discrete", "right": True, "end_found_us": {"median": 6.66, "p99": 9}}
        end |= {"hop_us": {"median": 2}, "run_without_work_us": {"median": 30}}
        for name, right in (("right", True), ("wrong", False)):
            (self.folder / f"{name}.json").write_text(json.dumps({**end, "right": right, "pes": 1 if right else 3}))
        busy = {**end, "items": 1000, "run_us": {"median": 666}}
        (self.folder / "busy.json").write_text(json.dumps(busy))
        lag = {**end, "benchmark": "worklist_lag", "in_flight": 1000}
        times = {"lag_ns": {"median": 5000, "p99": 26000}, "push_ns": {"median": 1000}}
        (self.folder / "lag.json").write_text(json.dumps({**lag, "local": {**times, "right": True}}))
        text, left_out = self.document()
        self.assertIn("| warps | 8 | slot r | 2 | 2 | - | - |", text)
        self.assertIn("- push, slot r, warps, 1,024 threads: lost items\n", text)
        self.assertIn("6e+09 pushes and as many pops, each item once", text)
        self.assertIn("| gpu, 1 x 2 warps, discrete | 6.7 | 9.0 | - | 2.00 | 30.0 |", text)
        self.assertIn("| gpu, 1 x 2 warps, discrete, 1,000 items at once | 6.7 | 9.0 | 1.00% | - | 30.0 |", text)
        self.assertIn("| gpu, 1 x 2 warps, discrete, on its PE | 1,000 | 5.0 | 26.0 | 1.00 | 26.0 |", text)
        self.assertNotIn("3 x 2 warps", text)
        self.assertEqual(left_out, ["wrong.json: not every run was right"])
        self.assert_goal(text, "the end of a run found within 20 us on one GPU, 100 us on four", "2 of 2")
        missed = "gpu, 1 x 2 warps, discrete, on its PE: 26.0"
        self.assert_goal(text, "an item run within 10 pushes, 99th percentile", "0 of 1", missed)
        (self.folder / "right.json").write_text(json.dumps({**end, "end_found_us": {"median": 20.04, "p99": 9}}))
        self.assert_goal(self.document()[0], "100 us on four", "1 of 2", "gpu, 1 x 2 warps, discrete: 20.0 us")

    def test_matrix(self) -> None:
        row = {"what": "core", "pes": 2, "algorithm": "bfs", "right": 1234, "wrong": 0, "not_run": 0}
        rows = [{**row, "what": "soak", "pes": 4, "not_run": 6}, row, {**row, "algorithm": "sssp", "wrong": 2}]
        rows += [{**row, "graphs": "generators", "right": 5}, {**row, "graphs": "generators", "right": 7, "not_run": 1}]
        data = {"bench": "gpu_matrix", "gpu": "H", "gpus": 4, "date": "2026-01-02T03:04:05Z", "rows": rows}
        data |= {"commit": "abc1234", "note": "In two runs.", "failures": ["core-2: sssp:\nvertex 3"]}
        (self.folder / "matrix.json").write_text(json.dumps(data))
        text = self.document()[0]
        self.assertIn("on 4 x H, 2026-01-02, commit abc1234:", text)
        self.assertIn("\n\nIn two runs.\n\n", text)
        self.assertIn(
            "| core | generated and real | 2 | 1,234 | 1,234, **2 wrong** | - | - | - | 2,468, **2 wrong** |\n", text
        )
        self.assertIn("| core | generated | 2 | 12 of 13 | - | - | - | - | 12 of 13 |\n", text)
        self.assertIn("| soak | fresh | 4 | 1,234 of 1,240 | - | - | - | - | 1,234 of 1,240 |\n", text)
        self.assertIn("\nIn all: 3,714 right, 2 wrong, 7 not run.\n\nWrong:\n\n- core-2: sssp: vertex 3\n", text)
        rows.append({**row, "algorithm": "program", "right": 0, "wrong": 1})
        (self.folder / "matrix.json").write_text(json.dumps(data))
        self.assertEqual(self.document()[1], ["matrix.json: a program of core on 2 PEs broke off"])
        rows[-1] = {**row, "graphs": "some"}
        (self.folder / "matrix.json").write_text(json.dumps(data))
        self.assertIn("matrix.json: ", self.document()[1][0])

    def test_libraries_on_cpu_threads(self) -> None:
        times = {"median_seconds": 0.01, "version": "9", "sources": 2}
        result = {"graph": "kron:9", "num_arcs": 100, "sources": [1] * 8, "median_ratio": 0.5, "igraph": times}
        result |= {
            "shoal": {"median_seconds": 0.001, "median_arcs_per_second": 1e9},
            "gapbs": {"median_seconds": 0.002},
        }
        data = {"bench": "beside_gapbs", "algorithm": "bfs", "machine": {"processor": "C"}, "threads": 2, "pes": 1}
        (self.folder / "c.json").write_text(json.dumps({**data, "results": [result]}))
        text, left_out = self.document()
        self.assertEqual(left_out, [])
        self.assertIn("| what | graph | machine | shoal | GAPBS | igraph 9 |\n", text)
        self.assertIn("| bfs | kron:9 | C, 1 x 2 threads | 1.00 | 2.00 (0.50) | 10.0 (0.100) |\n", text)
        self.assert_goal(text, "no slower than GAPBS on CPU threads", "1 of 1")
        results = self.module.Results(self.folder)
        short = self.module.runs.short_tables(results.runs, results.peers)
        self.assertIn("igraph 9 takes 10.0 on kron:9", short)

    def test_pagerank_beside_gapbs_at_the_same_true_error(self) -> None:
        times = {"shoal": {"median_seconds": 0.003}, "gapbs": {"median_seconds": 0.002}, "num_arcs": 100}
        result = {"graph": "kron:9", "sources": [1] * 8, "median_ratio": 1.5, **times}
        data = {"bench": "beside_gapbs", "machine": {"processor": "C"}, "threads": 2, "pes": 1}
        ranked = {**data, "algorithm": "pagerank", "error": 1e-4, "remark": "A loud machine."}
        more = {**result, "graph": "road:9", "true_error": {"shoal": 8e-5, "gapbs": 1e-4}}
        (self.folder / "b.json").write_text(json.dumps({**data, "algorithm": "bfs", "results": [result]}))
        (self.folder / "p.json").write_text(json.dumps({**ranked, "results": [more]}))
        text, left_out = self.document()
        self.assertEqual(left_out, [])
        how = "auto, true error below 1.0e-04; 8 rounds"
        self.assertIn(f"| road:9 | 100 | C, 1 x 2 threads | {how} | 3.00 | 0.00 |  |  | GAPBS 2.00 (1.50) |", text)
        self.assertIn("(1.50) | not written down |\n\nA loud machine.\n", text)
        missed = ["bfs, kron:9: 1.50 of its time", "pagerank, road:9, true error below 1.0e-04: 1.50 of its time"]
        self.assert_goal(text, "no slower than GAPBS on CPU threads", "0 of 2", *missed)
        results = self.module.Results(self.folder)
        short = self.module.runs.short_tables(results.runs, results.peers)
        self.assertIn("| what | kron:9 | road:9 |\n|---|---:|---:|\n| bfs | 3.0 / 2.0 (1.50) |  |\n", short)
        self.assertIn("\n| pagerank, true error below 1.0e-04 |  | 3.0 / 2.0 (1.50) |\n\nA loud machine.\n", short)
        closer = {**ranked, "error": 1e-5, "results": [{**more, "true_error": {"shoal": 8e-6, "gapbs": 1e-5}}]}
        (self.folder / "q.json").write_text(json.dumps(closer))
        results = self.module.Results(self.folder)
        short = self.module.runs.short_tables(results.runs, results.peers)
        self.assertIn("\n| pagerank, true error below 1.0e-04 |  | 3.0 / 2.0 (1.50) |\n| pagerank, true error", short)
        self.assertIn("\n| pagerank, true error below 1.0e-05 |  | 3.0 / 2.0 (1.50) |\n\nA loud machine.\n", short)
        (self.folder / "q.json").unlink()
        for errors in ({"shoal": 8e-5, "gapbs": 2e-4}, {"shoal": 2e-4, "gapbs": 8e-5}, {"shoal": 8e-5}, {}):
            (self.folder / "p.json").write_text(json.dumps({**ranked, "results": [{**more, "true_error": errors}]}))
            self.assertEqual(self.document()[1], ["p.json: road:9: not timed at the same true error"])

    def test_help_and_unknown_flags(self) -> None:
        for flag, status, says in (("--help", 0, "usage: "), ("--wirte", 2, "")):
            command = [sys.executable, str(ROOT / "scripts" / "results_table.py"), flag]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertTrue(done.stdout.startswith(says) and "# Results" not in done.stdout, done.stdout[:200])


if __name__ == "__main__":
    unittest.main()
