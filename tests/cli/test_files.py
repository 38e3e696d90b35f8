"""shoal generate, convert, info, doctor, help."""

import pathlib
import re
import unittest

from command import ROOT, CommandTest

RUNS = ("bfs", "sssp", "pagerank", "components", "kcore")


class Files(CommandTest):
    def test_every_format_gives_the_same_graph(self) -> None:
        self.good("generate", "uniform:6,seed=5,degree=4", "g.el")
        want = self.good("info", "g.el", "--undirected", "--json").json()
        want.pop("name")
        self.assertGreater(want["num_arcs"], 0)
        self.assertTrue(want["symmetric"])
        for name in ("g.mtx", "g.graph", "g.sg", "g.shoal"):
            with self.subTest(name=name):
                self.good("convert", "g.el", name, "--undirected")
                got = self.good("info", name, "--json").json()
                got.pop("name")
                self.assertEqual(got, want)

    def test_generate_is_the_same_for_the_same_seed(self) -> None:
        for name, spec in (("a.el", "kron:7,seed=2"), ("b.el", "kron:7,seed=2"), ("c.el", "kron:7,seed=3")):
            self.good("generate", spec, name)
        a, b, c = ((self.folder / x).read_bytes() for x in ("a.el", "b.el", "c.el"))
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)

    def test_convert_transposes(self) -> None:
        self.write("g.el", "0 1\n0 2\n2 1\n")
        answer = self.good("convert", "g.el", "t.el", "--transpose")
        self.assertIn("3 vertices, 3 arcs", answer.out)
        lines = [x for x in (self.folder / "t.el").read_text().splitlines() if not x.startswith("#")]
        self.assertEqual(sorted(tuple(map(int, x.split()[:2])) for x in lines), [(1, 0), (1, 2), (2, 0)])

    def test_info_counts(self) -> None:
        self.write("g.el", "0 1\n0 1\n1 1\n1 0\n4 0\n")
        got = self.good("info", "g.el", "--json").json()
        self.assertEqual((got["num_vertices"], got["num_arcs"]), (5, 5))
        self.assertEqual((got["loops"], got["parallel_arcs"], got["symmetric"]), (1, 1, False))
        self.assertEqual((got["max_degree"], got["max_degree_vertex"], got["without_arcs"]), (2, 0, 2))
        self.assertEqual(got["degree_histogram"], [2, 1, 2])
        self.assertEqual(self.good("info", "g.el", "--dedup", "--json").json()["num_arcs"], 4)
        text = self.good("info", "g.el").out
        self.assertIn("5 (directed)", text)
        self.assertIn("--dedup", text)


class Words(CommandTest):
    def test_help_teaches(self) -> None:
        self.assertIn("examples:", self.good("--help").out)
        for command in (*RUNS, "tune", "bench", "generate", "convert", "info", "doctor"):
            text = self.good(command, "--help").out
            self.assertIn(f"  shoal {command}", text)

    def test_every_exit_status_is_said(self) -> None:
        text = " ".join(self.good("--help").out.split())
        for words in ("0 right", "1 wrong", "2 usage", "3 capacity", "4 transport", "5 a fault", "75 a task"):
            self.assertIn(words, text)

    def test_version(self) -> None:
        said = self.good("--version").out.split()[1]
        cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        self.assertEqual(said, re.search(r"project\(shoal VERSION (\S+)", cmake).group(1))

    def test_doctor(self) -> None:
        got = self.good("doctor", "--json").json()
        engines = {e["name"]: e for e in got["engines"]}
        self.assertTrue(engines["self"]["found"] and engines["threads"]["found"])
        self.assertEqual(engines["peer"]["found"], bool(got["devices"]))
        for feature in got["engines"] + got["libraries"]:
            self.assertEqual(bool(feature["cure"]), not feature["found"], feature)
        with pathlib.Path("/proc/meminfo").open(encoding="ascii") as info:
            kib = int(next(x for x in info if x.startswith("MemTotal")).split()[1])
        self.assertEqual(got["machine"]["memory_bytes"], kib * 1024)
        text = self.good("doctor").out
        for engine in engines.values():
            self.assertRegex(text, f"{'found' if engine['found'] else 'missing'} +{engine['name']}")


if __name__ == "__main__":
    unittest.main()
