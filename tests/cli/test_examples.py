"""Every example of every --help runs: on small graphs of the same kinds, without GPUs, in little time."""

import gzip
import os
import re
import shutil
import subprocess
import unittest
from unittest import mock

from command import CommandTest

COMMANDS = (
    *("bfs", "sssp", "pagerank", "components", "kcore", "jacobi3d", "tune", "bench"),
    *("generate", "convert", "info", "doctor", "run"),
)
EXAMPLE = re.compile(r"^  (shoal \S.*?)(?:   .*)?$", re.MULTILINE)
# Options that replace those of an example or are added to it, so that it ends soon on any machine.
INSTEAD = {
    "tune": {"--device": "cpu", "--budget": "0.2", "--trials": "1"},
    "bench": {"--device": "cpu", "--pes": "1", "--graphs": "road_usa", "--trials": "1", "--quick": None},
    "bench bfs-": {
        "--device": "cpu",
        "--pes": "1",
        "--graphs": "scale18",
        "--ranks": "1",
        "--trials": "1",
        "--quick": None,
    },
    "bench charm-": {"--device": "cpu", "--pes": "1", "--shrink": "24", "--trials": "1", "--quick": None},
}


class Examples(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.drawn = subprocess.run(["python3", "-c", "import matplotlib"], capture_output=True, check=False)
        engines = {e["name"]: e["found"] for e in self.shoal("doctor", "--json").json()["engines"]}
        self.launches = engines["openshmem"]

    def make_files(self) -> None:
        """Writes the files that examples read, each in the format of its name."""
        lines = "".join(f"{v}\t{(7 * v + k) % 40}\n" for v in range(40) for k in (1, 2))
        self.write("cites.tsv", lines)
        for name in ("soc.txt.gz", "soc.el.gz"):
            (self.folder / name).write_bytes(gzip.compress(lines.encode()))
        self.write("friends.txt", "3\n5\n")
        for name, *args in (
            ("web.mtx", "kron:6,directed"),
            ("net.wel", "road:6", "--weights", "hash255"),
            ("roads.gr.gz", "road:6", "--weights", "hash255"),
        ):
            self.good("generate", args[0], name, *args[1:])

    def small(self, line: str) -> list[str]:
        """The words of an example's command line, with small graphs and without what needs GPUs."""
        words = [re.sub(r"^(kron|uniform|road):\d+", r"\1:6", word) for word in line.split()[1:]]
        if words[0] == "run":  # tests/cli/test_processes.py starts processes
            return ["run", "--show", *words[1:]]
        words = [re.sub(r"^\d{3}$", "40", word) for word in words] if words[0] == "jacobi3d" else words
        start = " ".join(words[:2])
        beside = next((INSTEAD[x] for x in sorted(INSTEAD, reverse=True) if start.startswith(x)), {"--device": "cpu"})
        for flag, value in beside.items():
            if flag in words and value is not None:
                words[words.index(flag) + 1] = value
            elif flag not in words and (flag != "--device" or words[0] in COMMANDS[:7]) and "--list" not in words:
                words += [flag] if value is None else [flag, value]
        for flag in ("--worker",) + (() if self.drawn.returncode == 0 else ("--plot",)):
            if flag in words:
                del words[words.index(flag) : words.index(flag) + 2]
        return words

    def test_every_example_runs(self) -> None:
        helps = [self.good("--help").out, *(self.good(c, "--help").out for c in COMMANDS)]
        examples = [line for text in helps for line in EXAMPLE.findall(text.split("examples:")[1])]
        self.assertGreater(len(examples), 40)
        self.assertEqual({line.split()[1] for line in examples}, set(COMMANDS))
        self.make_files()
        given = set(self.files())
        config = self.folder / "config"
        with mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": str(config)}):
            for line in dict.fromkeys(examples):
                with self.subTest(line=line):
                    if line.startswith("shoal run ") and not self.launches:
                        self.skipTest("no engine for several processes is built")
                    answer = self.shoal(*self.small(line))
                    self.assertEqual((answer.status, answer.err), (0, ""), answer.out[-500:])
                    for name in re.findall(r"--(?:output|json|markdown)[ =](\S+)", line):
                        self.assertIn(name, self.files())
                for name in set(self.files()) - given - {"config"}:
                    (self.folder / name).unlink()
        shutil.rmtree(config)


if __name__ == "__main__":
    unittest.main()
