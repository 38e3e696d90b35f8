"""--trace: its output is a timeline that Perfetto can draw, and it agrees with the run's report."""

import collections
import itertools
import json
import re
import subprocess
import sys
import unittest

from command import ROOT, CommandTest

USAGE = 2


class Timeline:
    """A trace with the names of groups and tracks in place of their numbers. Checks what must hold for any trace."""

    def __init__(self, test: unittest.TestCase, text: str) -> None:
        data = json.loads(text)
        self.other = data["otherData"]
        events = data["traceEvents"]
        named = [e for e in events if e["ph"] == "M" and e["name"].endswith("_name")]
        groups = {e["pid"]: e["args"]["name"] for e in named if e["name"] == "process_name"}
        tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in named if e["name"] == "thread_name"}
        self.spans = collections.defaultdict(list)
        self.counts = collections.defaultdict(list)
        self.flows = collections.defaultdict(dict)
        for e in events:
            if e["ph"] == "X":
                self.spans[groups[e["pid"]], tracks[e["pid"], e["tid"]]].append(e)
            elif e["ph"] == "C":
                self.counts[groups[e["pid"]], e["name"]].append((e["ts"], e["args"]["value"]))
            elif e["ph"] in "sf":
                test.assertNotIn(e["ph"], self.flows[e["id"]])
                self.flows[e["id"]][e["ph"]] = (groups[e["pid"]], tracks[e["pid"], e["tid"]], e)
        for spans in self.spans.values():  # each span is after the previous one or inside it
            within = []
            for e in spans:
                begin, end = e["ts"], e["ts"] + e["dur"]
                test.assertGreaterEqual(e["dur"], 0)
                while within and begin >= within[-1] - 2e-3:
                    within.pop()
                test.assertTrue(all(end <= outer + 2e-3 for outer in within), e)
                within.append(end)

    def span_at(self, flow_end: tuple) -> dict:
        group, track, e = flow_end
        return next(s for s in self.spans[group, track] if s["ts"] - 2e-3 <= e["ts"] <= s["ts"] + s["dur"] + 2e-3)


class Traces(CommandTest):
    def trace(self, *args: object) -> tuple[Timeline, dict]:
        answer = self.good(*args, "--device", "cpu", "--trace", "t.json", "--json", "--verify").json()
        return Timeline(self, (self.folder / "t.json").read_text()), answer

    def test_blocks(self) -> None:
        size = ("jacobi3d", 20, 21, 22, "--iterations", 7, "--threads", 1)
        timeline, _ = self.trace(*size, "--blocks", "3x2x1", "--pes", 2)
        steps = {
            (s["args"]["block"], s["args"]["step"]): s
            for track, spans in timeline.spans.items()
            if track[0] == "blocks"
            for s in spans
        }
        self.assertEqual(set(steps), {(b, s) for b in range(6) for s in range(7)})
        tiles = [s["args"] for (group, _), spans in timeline.spans.items() if group[:2] == "PE" for s in spans]
        tiles = [t for t in tiles if "tile" in t]
        self.assertEqual(len(tiles), sum(s["args"]["tiles"] for s in steps.values()))
        self.assertEqual(len(timeline.flows), 2 * 7 * 6)  # channels in both directions, all steps but the last
        for ends in timeline.flows.values():
            left, arrived = (timeline.span_at(ends[kind])["args"]["task"] for kind in "sf")
            facts = ends["s"][2]["args"]
            self.assertEqual((facts["from"], facts["to"]), (left, arrived))
            self.assertLessEqual(ends["s"][2]["ts"], ends["f"][2]["ts"])
            side = int(re.match(r"side (\d) of block", facts["data"]).group(1))
            # Numbers of cells of a face: x is cut into three parts, and y into two.
            self.assertIn(facts["bytes"] // 8, {0: (220, 242), 1: (220, 242), 2: (132, 154), 3: (132, 154)}[side])

    def test_times_of_tiles_are_those_of_the_clock(self) -> None:
        timeline, answer = self.trace(
            "jacobi3d", 64, 64, 64, "--iterations", 40, "--threads", 1, "--odf", 4, "--pes", 1
        )
        trial, tiles = timeline.spans["shoal", "command"][0], timeline.spans["PE 0", "worker 0"]
        begin, end = min(s["ts"] for s in tiles), max(s["ts"] + s["dur"] for s in tiles)
        self.assertGreaterEqual(begin, trial["ts"])
        self.assertLessEqual(end, trial["ts"] + trial["dur"])
        seconds = answer["trials"][0]["seconds"]
        self.assertTrue(0.7 * seconds < (end - begin) / 1e6 < 1.3 * seconds, (begin, end, seconds))

    def test_blocks_over_time(self) -> None:
        """A run in several parts, between which blocks move, is on one timeline."""
        args = ("jacobi3d", 20, 21, 22, "--iterations", 9, "--threads", 1, "--trials", 2, "--balance", 4)
        timeline, answer = self.trace(*args, "--odf", 3, "--pes", 2)
        steps = [s["args"]["task"] for (group, _), spans in timeline.spans.items() if group == "blocks" for s in spans]
        self.assertEqual(collections.Counter(steps), {f"step {s} of block {b}": 2 for s in range(9) for b in range(6)})
        self.assertEqual([s["name"] for s in timeline.spans["shoal", "command"]], ["trial 1", "trial 2"])
        self.assertEqual(answer["trials"][0]["runs"], 3)

    def test_worklists(self) -> None:
        for kernel, pes in (("persistent", 1), ("persistent", 2), ("discrete", 2)):
            with self.subTest(kernel=kernel, pes=pes):
                args = ("bfs", "kron:12", "--strategy", "async", "--source", "max-degree", "--kernel", kernel)
                timeline, answer = self.trace(*args, "--pes", pes, "--threads", 2)
                trial = next(s for s in timeline.spans["shoal", "command"] if s["name"] == "trial 1")
                busy = 0
                for pe in range(pes):
                    for worker in range(2):
                        spans = timeline.spans.get((f"PE {pe}", f"worker {worker}"), [])
                        self.assertLessEqual({s["name"] for s in spans}, {"busy", "polling", "idle"})
                        self.assertTrue(
                            all(a["name"] != b["name"] for a, b in itertools.pairwise(spans)) or kernel[0] == "d"
                        )
                        self.assertTrue(all(s["ts"] >= trial["ts"] for s in spans))
                        busy += sum(s["dur"] for s in spans if s["name"] == "busy")
                self.assertGreater(busy, 0)
                self.assertLess(busy, 2 * pes * trial["dur"])
                completed = sum(timeline.counts[f"PE {pe}", "items completed"][-1][1] for pe in range(pes))
                report = answer["trials"][0]["report"]
                self.assertGreaterEqual(completed, report["run"] + report["stale"])
                self.assertEqual(timeline.counts["PE 0", "items not completed, of all PEs"][-1][1], 0)

    def test_whatever_has_no_tracks_of_its_own(self) -> None:
        timeline, _ = self.trace("components", "kron:8", "--strategy", "hook", "--trials", 2)
        names = [s["name"] for s in timeline.spans["shoal", "command"]]
        self.assertEqual([n for n in names if n[:5] == "trial"], ["trial 1", "trial 2"])

    def test_levels_and_sweeps(self) -> None:
        for words, step, data in (
            (
                ("bfs", "kron:10", "--strategy", "levels", "--source", "max-degree"),
                "level",
                r"(vertices|frontier) of PE \d",
            ),
            (("pagerank", "road:20", "--strategy", "pull"), "sweep", r"shares of PE \d"),
        ):
            with self.subTest(step=step):
                timeline, answer = self.trace(*words, "--pes", 2, "--threads", 2)
                rounds = answer["trials"][0]["report"]["rounds"]
                trial = next(s for s in timeline.spans["shoal", "command"] if s["name"] == "trial 1")
                for pe in range(2):
                    spans = timeline.spans[f"PE {pe}", f"{step}s"]
                    self.assertEqual(
                        [s["args"]["task"] for s in spans], [f"{step} {i} of PE {pe}" for i in range(rounds)]
                    )
                    self.assertTrue(all(s["ts"] >= trial["ts"] for s in spans))
                self.assertGreater(len(timeline.flows), 0)
                for ends in timeline.flows.values():
                    facts = ends["s"][2]["args"]
                    left, arrived = (timeline.span_at(ends[kind])["args"]["task"] for kind in "sf")
                    self.assertEqual((facts["from"], facts["to"]), (left, arrived))
                    self.assertRegex(facts["data"], data)

    def test_a_level_by_one_thread(self) -> None:
        timeline, answer = self.trace("bfs", "chain:9", "--strategy", "levels", "--source", 0, "--threads", 1)
        levels = timeline.spans["PE 0", "levels"]
        self.assertEqual(len(levels), answer["trials"][0]["report"]["rounds"])
        self.assertIn("by one thread", {s["args"]["kind"] for s in levels})

    def test_places(self) -> None:
        answer = self.good("jacobi3d", 4, 4, 4, "--device", "cpu", "--trace", "-")
        Timeline(self, answer.out)
        for command in (("jacobi3d", 4, 4, 4), ("bfs", "kron:6")):
            self.bad(USAGE, "are the same file", *command, "--trace", "a.json", "--json=a.json")
            self.bad(USAGE, "nowhere", *command, "--trace", "nowhere/a.json")
            self.assertIn("ui.perfetto.dev", " ".join(self.good(command[0], "--help").out.split()))
        self.assertEqual(self.files(), [])


class TaskGraphs(CommandTest):
    def draw(self, *args: object, status: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [sys.executable, ROOT / "bench" / "draw_steps.py", "t.json", "t.dot", *(str(a) for a in args)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def counts(self) -> tuple[int, int, int]:
        """The numbers of tasks, of data, and of edges from a task to the task that continues it."""
        dot = (self.folder / "t.dot").read_text()
        self.assertEqual(dot.count(" -> "), 2 * dot.count("shape=ellipse") + dot.count("style=dashed"))
        return dot.count("shape=box"), dot.count("shape=ellipse"), dot.count("style=dashed")

    def test_of_blocks(self) -> None:
        grid = (
            "jacobi3d",
            12,
            12,
            12,
            "--iterations",
            5,
            "--blocks",
            "3x1x1",
            "--pes",
            2,
            "--threads",
            1,
            "--trials",
            2,
        )
        self.good(*grid, "--device", "cpu", "--trace", "t.json")
        self.draw()
        self.assertEqual(self.counts(), (15, 16, 12))  # three blocks in a row, data of four steps
        self.assertIn("1 later tasks are left out", self.draw("--most", 14).stderr)
        self.assertEqual(self.counts()[0], 14)

    def test_of_algorithms(self) -> None:
        search = ("bfs", "kron:10", "--source", "max-degree", "--partition", "random", "--device", "cpu", "--pes", 2)
        for strategy in ("levels", "async"):
            with self.subTest(strategy=strategy):
                answer = self.good(*search, "--strategy", strategy, "--trials", 2, "--json", "--trace", "t.json").json()
                self.draw()
                tasks, data, _ = self.counts()
                report = answer["trials"][1]["report"]
                self.assertEqual(tasks, 2 * report["rounds"] if strategy == "levels" else 2)
                self.assertGreaterEqual(data, len(report["traffic"]))
                self.assertGreater(data, 0)
        self.assertIn('fillcolor="0.0 1.000 1.0"', (self.folder / "t.dot").read_text())

    def test_what_has_none(self) -> None:
        self.good("components", "kron:8", "--strategy", "hook", "--device", "cpu", "--trace", "t.json")
        self.assertIn("t.json: has no tasks", self.draw(status=2).stderr)
        self.write("t.json", "{}")
        self.draw(status=2)


if __name__ == "__main__":
    unittest.main()
