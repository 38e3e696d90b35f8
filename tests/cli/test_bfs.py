"""shoal bfs: results, files and JSON, checked against a search in this file."""

import collections
import datetime
import json
import os
import shutil
import unittest

from command import ROOT, CommandTest, int32s, read_npy

# Several components; 5 is not reached from 0; 3 -> 0 closes a cycle.
EDGES = "0 1\n0 2\n1 3\n2 3\n3 0\n4 5\n6 6\n"
LEVELS_FROM_0 = [0, 1, 1, 2, -1, -1, -1]
PARENTS_FROM_0 = [0, 0, 0, 1, -1, -1, -1]


def reference(edges: list[tuple[int, int]], n: int, source: int) -> list[int]:
    neighbors = collections.defaultdict(list)
    for u, v in edges:
        neighbors[u].append(v)
    level = [-1] * n
    level[source] = 0
    queue = collections.deque([source])
    while queue:
        u = queue.popleft()
        for v in neighbors[u]:
            if level[v] < 0:
                level[v] = level[u] + 1
                queue.append(v)
    return level


class Answers(CommandTest):
    def test_text_output(self) -> None:
        self.write("g.el", EDGES)
        self.good("bfs", "g.el", "--source", 0, "--output", "levels.txt")
        self.assertEqual((self.folder / "levels.txt").read_text(), "".join(f"{x}\n" for x in LEVELS_FROM_0))

    def test_text_output_with_parents(self) -> None:
        self.write("g.el", EDGES)
        self.good("bfs", "g.el", "--source", 0, "--parents", "--verify", "--output", "tree.txt")
        lines = [tuple(map(int, x.split())) for x in (self.folder / "tree.txt").read_text().splitlines()]
        self.assertEqual(lines, list(zip(LEVELS_FROM_0, PARENTS_FROM_0, strict=True)))

    def test_npy_output(self) -> None:
        self.write("g.el", EDGES)
        self.good("bfs", "g.el", "--source", 0, "--output", "levels.npy")
        shape, data = read_npy(self.folder / "levels.npy")
        self.assertEqual((shape, int32s(data)), ((7,), LEVELS_FROM_0))
        self.good("bfs", "g.el", "--source", 0, "--parents", "--output", "both.npy")
        shape, data = read_npy(self.folder / "both.npy")
        self.assertEqual((shape, int32s(data)), ((2, 7), LEVELS_FROM_0 + PARENTS_FROM_0))

    def test_undirected(self) -> None:
        self.write("g.el", EDGES)
        self.good("bfs", "g.el", "--undirected", "--source", 5, "--verify", "--output", "levels.txt")
        self.assertEqual((self.folder / "levels.txt").read_text().split(), ["-1", "-1", "-1", "-1", "1", "0", "-1"])

    def test_every_way_to_run_gives_the_same(self) -> None:
        # Several components, a directed part and vertices without arcs, which partitions and strategies may get wrong.
        n = 97
        edges = [(i, (i * i + 1) % 61) for i in range(61)] + [(i, (3 * i) % 61) for i in range(61)]
        edges += [(61 + i, 61 + (i + 1) % 30) for i in range(30)] + [(96, 96)]
        self.write("g.el", "".join(f"{u} {v}\n" for u, v in edges))
        self.write("parts.txt", "".join(f"{v % 3}\n" for v in range(n)))
        ways = [
            ["--strategy", strategy, "--pes", pes, "--partition", partition]
            for strategy in ("levels", "async")
            for pes in (1, 2, 3)
            for partition in ("block", "edges", "random")
        ]
        ways += [["--strategy", "async", "--pes", 3, "--partition", "file:parts.txt", "--capacity", 2, "--fetch", 1]]
        ways += [["--threads", 3], ["--engine", "self"], ["--strategy", "async", "--engine", "threads", "--pes", 2]]
        for source in (7, 75):
            want = reference(edges, n, source)
            for way in ways:
                with self.subTest(source=source, way=way):
                    self.good(
                        "bfs", "g.el", "--device", "cpu", "--source", source, "--output", "l.npy", "--verify", *way
                    )
                    shape, data = read_npy(self.folder / "l.npy")
                    self.assertEqual((shape, int32s(data)), ((n,), want))

    def test_table(self) -> None:
        answer = self.good("bfs", "kron:8", "--trials", 3, "--verify", "--device", "cpu")
        rows = [x for x in answer.out.splitlines() if x.endswith("right") and x.split()[0].isdigit()]
        self.assertEqual([x.split()[0] for x in rows], ["1", "2", "3"])
        self.assertIn("all answers are right", answer.out)
        self.assertRegex(answer.out, r"median .* GTEPS")
        self.write("one_way.el", "0 1\n")
        self.assertNotIn("GTEPS", self.good("bfs", "one_way.el").out)
        self.assertEqual(self.good("bfs", "kron:8", "--quiet").out, "")
        self.assertIn("last search:", self.good("bfs", "kron:8", "--stats").out)


class Json(CommandTest):
    def test_json_holds_what_was_asked_and_what_happened(self) -> None:
        args = ["bfs", "kron:9,seed=3", "--trials", 2, "--device", "cpu", "--pes", 2, "--strategy", "async", "--verify"]
        got = self.good(*args, "--json").json()
        self.assertEqual(got["command"], "bfs")
        self.assertEqual(got["graph"]["num_vertices"], 512)
        self.assertEqual(got["options"]["pes"], 2)
        self.assertEqual(got["options"]["strategy"], "async")
        self.assertGreater(got["machine"]["usable_threads"], 0)
        self.assertRegex(got["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(got["arguments"], [*map(str, args), "--json"])
        began = datetime.datetime.strptime(got["date"], "%Y-%m-%dT%H:%M:%S%z")
        self.assertLess(abs(datetime.datetime.now(datetime.timezone.utc) - began), datetime.timedelta(minutes=5))
        here = (ROOT / ".git").exists() and "SHOAL_REVISION" not in os.environ and shutil.which("git")
        self.assertRegex(got["revision"], r"([0-9a-f]{7,}|-g[0-9a-f]+)(-dirty)?$|^v\d" if here else ".")
        self.assertEqual([t["verified"] for t in got["trials"]], [True, True])
        for trial in got["trials"]:
            report = trial["report"]
            self.assertGreater(trial["seconds"], 0)
            self.assertEqual(report["accepted"], report["run"] + report["stale"])
            self.assertEqual(report["pushed"], report["withheld"] + report["accepted"] + report["dropped"])
            self.assertGreaterEqual(report["accepted"], trial["reached"])
            self.assertEqual({(t["from"], t["to"]) for t in report["traffic"]} - {(0, 1), (1, 0)}, set())
        self.assertGreater(got["median_arcs_per_second"], 0)

    def test_json_to_a_file(self) -> None:
        answer = self.good("bfs", "kron:6", "--json=out.json")
        self.assertIn("median", answer.out)
        self.assertIsNone(json.loads((self.folder / "out.json").read_text())["trials"][0]["verified"])
        self.assertEqual(self.files(), ["out.json"])


class Sources(CommandTest):
    def sources(self, *args: object) -> list[int]:
        return [t["source"] for t in self.good("bfs", *args, "--json").json()["trials"]]

    def test_random_sources_are_the_same_for_the_same_seed(self) -> None:
        first = self.sources("kron:10", "--source", "random:5")
        self.assertEqual(len(set(first)), 5)
        self.assertEqual(first, self.sources("kron:10", "--trials", 5, "--pes", 2, "--strategy", "async"))
        self.assertNotEqual(first, self.sources("kron:10", "--source", "random:5", "--seed", 2))

    def test_random_sources_have_out_arcs(self) -> None:
        self.write("g.el", "3 1\n5 2\n0 900\n")
        self.assertLessEqual(set(self.sources("g.el", "--source", "random:20")), {3, 5, 0})

    def test_sources_repeat_over_trials(self) -> None:
        self.assertEqual(self.sources("chain:9", "--source", 4, "--trials", 3), [4, 4, 4])
        got = self.sources("kron:9", "--source", "random:2", "--trials", 5)
        self.assertEqual((got[0::2], got[1::2]), ([got[0]] * 3, [got[1]] * 2))

    def test_max_degree(self) -> None:
        self.write("g.el", EDGES)
        self.assertEqual(self.sources("g.el", "--source", "max-degree"), [0])
        self.assertEqual(self.sources("star:50", "--source", "max-degree"), [0])


if __name__ == "__main__":
    unittest.main()
