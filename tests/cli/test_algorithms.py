"""shoal sssp, pagerank, components, kcore: results, files and JSON, checked against simple code in this file."""

import array
import heapq
import math
import unittest

from command import CommandTest, int32s, read_npy

USAGE = 2
# Several components; no path from 0 to 5; 3 -> 0 closes a cycle; two arcs 0 -> 1.
ARCS = [(0, 1, 7), (0, 1, 9), (0, 2, 1), (2, 3, 1), (3, 1, 2), (3, 0, 5), (4, 5, 0), (6, 6, 3)]
DISTANCES_FROM_0 = [0, 4, 1, 2, -1, -1, -1]
PREDECESSORS_FROM_0 = [0, 3, 0, 2, -1, -1, -1]


def dijkstra(arcs: list[tuple], n: int, source: int) -> list[float]:
    distance = [math.inf] * n
    distance[source] = 0
    heap = [(0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        for a, b, w in arcs:
            if a == u and d + w < distance[b] and d == distance[u]:
                distance[b] = d + w
                heapq.heappush(heap, (d + w, b))
    return distance


def power_iteration(arcs: list[tuple], n: int, alpha: float, jumps: list[float]) -> list[float]:
    degree = [sum(a == v for a, _, _ in arcs) for v in range(n)]
    x = [1 / n] * n
    for _ in range(1000):
        free = sum(x[v] * (1 - alpha if degree[v] else 1) for v in range(n))
        y = [free * jumps[v] / sum(jumps) for v in range(n)]
        for a, b, _ in arcs:
            y[b] += alpha * x[a] / degree[a]
        x = y
    return x


class WithGraph(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.write("g.wel", "".join(f"{u} {v} {w}\n" for u, v, w in ARCS))
        self.write("real.wel", "".join(f"{u} {v} {w / 4}\n" for u, v, w in ARCS))

    def lines(self, name: str) -> list[list[str]]:
        return [x.split() for x in (self.folder / name).read_text().splitlines()]


class Sssp(WithGraph):
    def test_text_and_npy(self) -> None:
        self.good("sssp", "g.wel", "--source", 0, "--verify", "--output", "d.txt")
        self.assertEqual([int(x[0]) for x in self.lines("d.txt")], DISTANCES_FROM_0)
        self.good("sssp", "g.wel", "--source", 0, "--output", "d.npy")
        shape, data = read_npy(self.folder / "d.npy", "<i8")
        self.assertEqual((shape, array.array("q", data).tolist()), ((7,), DISTANCES_FROM_0))

    def test_predecessors(self) -> None:
        self.good("sssp", "g.wel", "--source", 0, "--predecessors", "--verify", "--output", "d.txt")
        want = [[str(d), str(p)] for d, p in zip(DISTANCES_FROM_0, PREDECESSORS_FROM_0, strict=True)]
        self.assertEqual(self.lines("d.txt"), want)
        self.good("sssp", "g.wel", "--source", 0, "--predecessors", "--output", "d.npy")
        shape, data = read_npy(self.folder / "d.npy", "<i8")
        self.assertEqual((shape, array.array("q", data).tolist()), ((2, 7), DISTANCES_FROM_0 + PREDECESSORS_FROM_0))

    def test_real_weights(self) -> None:
        want = [d / 4 if d >= 0 else math.inf for d in DISTANCES_FROM_0]
        self.good("sssp", "real.wel", "--source", 0, "--verify", "--output", "d.npy")
        _, data = read_npy(self.folder / "d.npy", "<f8")
        self.assertEqual(array.array("d", data).tolist(), want)
        self.good("sssp", "real.wel", "--source", 0, "--verify", "--predecessors", "--output", "d.txt")
        self.assertEqual([float(x[0]) for x in self.lines("d.txt")], want)
        self.assertEqual([int(x[1]) for x in self.lines("d.txt")], PREDECESSORS_FROM_0)
        self.assertEqual(self.lines("d.txt")[4], ["inf", "-1"])

    def test_every_way_gives_the_same(self) -> None:
        n = 60
        arcs = [(i, (i * i + 1) % 50, (i * 37) % 11) for i in range(50)] + [
            (i, (3 * i + 2) % 50, i % 7) for i in range(50)
        ]
        self.write("h.wel", "".join(f"{u} {v} {w}\n" for u, v, w in [*arcs, (59, 59, 1)]))
        want = [-1 if math.isinf(d) else d for d in dijkstra(arcs, n, 7)]
        ways = [["--strategy", "delta", "--pes", pes, "--delta", delta] for pes in (1, 2) for delta in (0, 1, 100)]
        ways += [["--strategy", "async", "--pes", 3, "--queue", queue] for queue in ("fifo", "priority")]
        ways += [["--strategy", "async", "--partition", "random", "--pes", 2, "--capacity", 2]]
        for way in ways:
            with self.subTest(way=way):
                self.good("sssp", "h.wel", "--device", "cpu", "--source", 7, "--verify", "--output", "d.npy", *way)
                _, data = read_npy(self.folder / "d.npy", "<i8")
                self.assertEqual(array.array("q", data).tolist(), want)

    def test_weights_of_choice(self) -> None:
        self.good("sssp", "g.wel", "--weights", "unit", "--source", 0, "--output", "unit.txt")
        self.good("bfs", "g.wel", "--source", 0, "--output", "levels.txt")
        self.assertEqual(self.lines("unit.txt"), self.lines("levels.txt"))
        hashed = [(u, v, 1 + (((u * 2654435761) ^ (v * 40503)) & 0xFFFFFFFF) % 255) for u, v, _ in ARCS]
        self.good("sssp", "g.wel", "--weights", "hash255", "--source", 0, "--output", "hash.txt")
        want = [-1 if math.isinf(d) else d for d in dijkstra(hashed, 7, 0)]
        self.assertEqual([int(x[0]) for x in self.lines("hash.txt")], want)

    def test_json(self) -> None:
        args = ["sssp", "kron:8", "--trials", 2, "--strategy", "delta", "--delta", 64, "--verify", "--device", "cpu"]
        got = self.good(*args, "--json").json()
        self.assertEqual(got["command"], "sssp")
        self.assertEqual((got["options"]["delta"], got["options"]["strategy"]), (64, "delta"))
        for trial in got["trials"]:
            self.assertTrue(trial["verified"])
            self.assertGreater(trial["farthest"], 0)
            self.assertGreater(trial["reached"], 0)

    def test_errors(self) -> None:
        self.write("bad.wel", "0 1 5\n1 0 -3\n")
        self.bad(USAGE, ["-3", "1"], "sssp", "bad.wel", "--source", 0)
        self.write("plain.el", "0 1\n1 2\n")
        self.bad(USAGE, "weights", "sssp", "plain.el", "--source", 0)
        self.good("sssp", "plain.el", "--source", 0, "--weights", "hash255", "--verify")
        for flag, value, word in [
            ("--weights", "heavy", "hash255"),
            ("--strategy", "fast", "delta"),
            ("--delta", -1, "delta"),
            ("--delta", "nan", "delta"),
            ("--source", 99, "0 to 6"),
        ]:
            with self.subTest(flag=flag):
                self.bad(USAGE, word, "sssp", "g.wel", flag, value)


class PageRank(WithGraph):
    def ranks(self, *args: object) -> list[float]:
        self.good("pagerank", "g.wel", "--device", "cpu", "--verify", "--output", "r.npy", *args)
        shape, data = read_npy(self.folder / "r.npy", "<f8")
        self.assertEqual(shape, (7,))
        return array.array("d", data).tolist()

    def close(self, got: list[float], want: list[float], tolerance: float) -> None:
        self.assertAlmostEqual(sum(got), 1, places=9)
        self.assertLessEqual(sum(abs(a - b) for a, b in zip(got, want, strict=True)), tolerance)

    def test_every_way_is_within_the_tolerance(self) -> None:
        want = power_iteration(ARCS, 7, 0.85, [1] * 7)
        for way in (
            ["--strategy", "pull"],
            ["--strategy", "async", "--pes", 2],
            ["--pes", 2],
            ["--precision", "float64"],
        ):
            for tolerance in (1e-3, 1e-9):
                with self.subTest(way=way, tolerance=tolerance):
                    self.close(self.ranks("--tolerance", tolerance, *way), want, tolerance)

    def test_alpha_and_personalization(self) -> None:
        self.write("jumps.txt", "# vertex weight\n4 3\n0\n")
        got = self.ranks("--alpha", 0.5, "--tolerance", 1e-9, "--personalization", "jumps.txt")
        self.close(got, power_iteration(ARCS, 7, 0.5, [1, 0, 0, 0, 3, 0, 0]), 1e-9)

    def test_text_gives_the_same_numbers(self) -> None:
        self.good("pagerank", "g.wel", "--output", "r.txt")
        self.assertEqual(len(self.lines("r.txt")), 7)
        self.assertAlmostEqual(sum(float(x[0]) for x in self.lines("r.txt")), 1, places=9)

    def test_json(self) -> None:
        got = self.good("pagerank", "kron:8", "--trials", 2, "--verify", "--json", "--strategy", "pull").json()
        self.assertEqual(len(got["trials"]), 2)
        for trial in got["trials"]:
            self.assertTrue(trial["verified"])
            self.assertLessEqual(trial["error_bound"], 1e-6)
            self.assertGreater(trial["sweeps"], 0)
        self.assertNotIn("source", got["options"])

    def test_errors(self) -> None:
        self.write("jumps.txt", "9 1\n")
        self.bad(USAGE, "9", "pagerank", "g.wel", "--personalization", "jumps.txt")
        self.write("bad.txt", "1 1\n2 much\n")
        self.bad(USAGE, "bad.txt:2", "pagerank", "g.wel", "--personalization", "bad.txt")
        self.bad(USAGE, "none.txt", "pagerank", "g.wel", "--personalization", "none.txt")
        self.bad(USAGE, "--source", "pagerank", "g.wel", "--source", 0)
        for flag, value in [("--alpha", 1), ("--tolerance", 0), ("--precision", "half"), ("--strategy", "delta")]:
            with self.subTest(flag=flag):
                self.bad(USAGE, flag[2:], "pagerank", "g.wel", flag, value)


class NotUsed(WithGraph):
    def test_options_of_the_worklist_are_said_to_be_unused_in_bulk(self) -> None:
        for command, bulk in [("bfs", "levels"), ("sssp", "delta"), ("pagerank", "pull"), ("components", "hook")]:
            for strategy, unused in [(bulk, True), ("async", False)]:
                with self.subTest(command=command, strategy=strategy):
                    way = ["--device", "cpu", "--strategy", strategy, "--fetch", 4, "--capacity", 64, "--json"]
                    chosen = self.good(command, "g.wel", *way).json()["trials"][0]["report"]["chosen"]
                    self.assertEqual("not used" in chosen, unused)
                    if unused:
                        self.assertTrue(chosen["not used"].startswith("--fetch, --capacity: "))


class Components(WithGraph):
    def test_labels(self) -> None:
        for way in (["--strategy", "hook"], ["--strategy", "async", "--pes", 2], ["--pes", 3, "--partition", "random"]):
            with self.subTest(way=way):
                self.good("components", "g.wel", "--device", "cpu", "--verify", "--output", "c.npy", *way)
                shape, data = read_npy(self.folder / "c.npy")
                self.assertEqual((shape, int32s(data)), ((7,), [0, 0, 0, 0, 4, 4, 6]))

    def test_json(self) -> None:
        trial = self.good("components", "g.wel", "--verify", "--json").json()["trials"][0]
        self.assertEqual((trial["components"], trial["largest"], trial["verified"]), (3, 4, True))

    def test_what_arcs_are_is_said_of_directed_graphs(self) -> None:
        for command in ("components", "kcore"):
            note = "note: the graph is directed; an arc "
            self.assertIn(note, self.good(command, "g.wel").out)
            self.assertNotIn(note, self.good(command, "g.wel", "--undirected").out)

    def test_errors(self) -> None:
        self.bad(USAGE, "hook", "components", "g.wel", "--strategy", "levels")
        self.bad(USAGE, "--parents", "components", "g.wel", "--parents")


class KCore(WithGraph):
    def test_core_numbers_of_the_undirected_graph(self) -> None:
        # ARCS are the triangle 0 2 3, vertex 1 with edges to 0 and 3, the edge 4 5, and the loop at 6.
        segments = ["--batch-bytes", 64, "--batch-wait", 2]
        for way in (
            [],
            ["--pes", 2],
            ["--pes", 3, "--partition", "random", "--combine", "on", "--capacity", 2],
            ["--pes", 3, "--partition", "random", "--capacity", 2, *segments],
        ):
            with self.subTest(way=way):
                done = self.good("kcore", "g.wel", "--device", "cpu", "--verify", "--output", "k.npy", "--json", *way)
                shape, data = read_npy(self.folder / "k.npy")
                self.assertEqual((shape, int32s(data)), ((7,), [2, 2, 2, 2, 1, 1, 0]))
                trial = done.json()["trials"][0]
                self.assertEqual((trial["highest"], trial["innermost"], trial["verified"]), (2, 4, True))
                self.assertEqual(done.json()["graph"]["num_arcs"], 12)

    def test_errors(self) -> None:
        self.bad(USAGE, "legal: auto, async", "kcore", "g.wel", "--strategy", "levels")
        self.bad(USAGE, "priority", "kcore", "g.wel", "--queue", "priority")


if __name__ == "__main__":
    unittest.main()
