"""shoal tune, and --profile of the commands that run."""

import json
import os
import unittest
from unittest import mock

from command import CommandTest

USAGE = 2


class Tune(CommandTest):
    def test_the_best_is_kept_and_used(self) -> None:
        args = ["kron:8", "--device", "cpu", "--strategy", "async"]
        out = self.good(
            "tune", *args[:3], "--option", "strategy=async", "--budget", 1, "--trials", 2, "--profile", "p.json"
        ).out
        self.assertRegex(out, r"best: .*; auto is [0-9.]+ % above the best")
        self.assertIn("stored in p.json", out)
        entry = json.loads((self.folder / "p.json").read_text())["entries"][0]
        self.assertEqual(entry["algorithm"], "bfs")
        self.assertEqual(entry["graph"], "kron, 2^8 vertices, degree 2^5, undirected")
        self.assertIn("profile: p.json", self.good("bfs", *args, "--profile", "p.json", "--verify").out)

    def test_graphs_that_parts_cut_differently_are_of_different_kinds(self) -> None:
        args = ["--device", "cpu", "--budget", 0.1, "--trials", 1, "--profile", "p.json"]
        kinds = []
        for options in ("", ",mixing=.5", ",shuffled,directed"):
            self.good("tune", f"community:8{options}", *args)
            kinds = [x["graph"] for x in json.loads((self.folder / "p.json").read_text())["entries"]]
        kind = "community, 2^8 vertices, degree 2^{}, mixing {}, {}"
        wanted = [
            kind.format(5, "0.2", "undirected"),
            kind.format(5, "0.5", "undirected"),
            kind.format(4, "1.0", "directed"),
        ]
        self.assertEqual(sorted(kinds), sorted(wanted))

    def test_flags_given_win_over_the_profile(self) -> None:
        self.good("tune", "chain:50", "--device", "cpu", "--budget", 1, "--trials", 1, "--profile", "p.json")
        file = self.folder / "p.json"
        profile = json.loads(file.read_text())
        profile["entries"][0]["flags"] = ["--strategy", "async", "--fetch", "7"]
        file.write_text(json.dumps(profile))
        base = ["bfs", "chain:50", "--device", "cpu", "--profile", "p.json", "--json"]
        got = self.good(*base).json()["options"]
        self.assertEqual((got["strategy"], got["fetch"]), ("async", 7))
        got = self.good(*base, "--fetch", 3).json()["options"]
        self.assertEqual((got["strategy"], got["fetch"]), ("async", 3))
        # Nothing is found for another kind of graph, another algorithm or another number of PEs.
        for other in (["bfs", "star:50"], ["components", "chain:50"], ["bfs", "chain:50", "--pes", "2"]):
            self.assertIn("profile: nothing in", self.good(*other, "--device", "cpu", "--profile", "p.json").out)

    def test_the_users_profile(self) -> None:
        with mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": str(self.folder / "config")}):
            self.assertIn("nothing in", self.good("bfs", "chain:9", "--profile", "auto").out)
            self.good("tune", "chain:9", "--budget", 0.5, "--trials", 1)
            self.assertTrue((self.folder / "config" / "shoal" / "profile.json").exists())
            self.assertNotIn("nothing in", self.good("bfs", "chain:9", "--profile", "auto").out)

    def test_a_second_tuning_replaces_the_first(self) -> None:
        for graph in ("chain:9", "chain:9", "star:9"):
            self.good("tune", graph, "--budget", 0.5, "--trials", 1, "--profile", "p.json", "--quiet")
        self.assertEqual(len(json.loads((self.folder / "p.json").read_text())["entries"]), 2)

    def test_json_holds_every_measurement(self) -> None:
        for algorithm in ("bfs", "sssp", "pagerank", "components"):
            with self.subTest(algorithm=algorithm):
                args = ["kron:7", "--algorithm", algorithm, "--device", "cpu", "--budget", 1, "--trials", 2]
                got = self.good("tune", *args, "--profile", "none", "--json").json()
                self.assertEqual(got["algorithm"], algorithm)
                measured = [w for w in got["ways"] if w["seconds"]]
                self.assertGreaterEqual(len(measured), 2)
                self.assertFalse([w for w in got["ways"] if "wrong" in w])
                self.assertGreaterEqual(got["auto_above_best"], 0)
                self.assertIn("strategy", got["auto_chose"])
        self.assertEqual(self.files(), [])

    def test_errors(self) -> None:
        for words, args in [
            ("bfs, sssp", ["--algorithm", "sort"]),
            ("--budget", ["--budget", 0]),
            ("--trials", ["--trials", 0]),
            ("NAME=VALUE", ["--option", "strategy"]),
            ("--colour is not an option", ["--option", "colour=red"]),
            (["--foo is not an option", "see shoal bfs --help"], ["--option", "foo=1"]),
            ("did you mean --strategy?", ["--option", "stratgy=async"]),
            ("async, levels", ["--option", "strategy=fast"]),
        ]:
            with self.subTest(args=args):
                self.bad(USAGE, words, "tune", "chain:9", "--profile", "none", *args)
        self.bad(USAGE, "no/such/p.json", "bfs", "chain:9", "--profile", "no/such/p.json")
        self.bad(USAGE, "p.json", "bfs", "chain:9", "--profile", self.write("p.json", "{}"))
        self.bad(USAGE, "not a file of format", "tune", "chain:9", "--budget", 0.2, "--profile", self.folder / "p.json")
        damaged = '{"format": "shoal profile 1", "entries": [3]}'
        self.bad(USAGE, "damaged", "bfs", "chain:9", "--profile", self.write("d.json", damaged))

    def test_profiles_that_are_no_files(self) -> None:
        self.bad(USAGE, [f"profile {self.folder}: is a directory"], "bfs", "chain:9", "--profile", self.folder)
        self.bad(USAGE, "profile /proc/self/mem: cannot be read", "bfs", "chain:9", "--profile", "/proc/self/mem")
        # These errors are found before the tuning, which would take longer than a test may.
        hour = ["tune", "chain:9", "--budget", 3600, "--profile"]
        self.bad(USAGE, "is not a file", *hour, self.folder)
        self.bad(USAGE, "is not a file", *hour, "/dev/null")
        self.bad(USAGE, "/proc/x: cannot be written", *hour, "/proc/x")
        self.bad(USAGE, "not a file of format", *hour, self.write("p.json", "{}"))
        self.bad(USAGE, "the folder must exist", *hour, "none/p.json")
        self.assertEqual(self.files(), ["p.json"])
        with mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": str(self.folder / "p.json")}):
            self.bad(USAGE, "its folder cannot be made", *hour, "auto")


if __name__ == "__main__":
    unittest.main()
