"""scripts/own_tasks.py finds the best way of a program and fails if a result is wrong; the programs of its list are
right."""

import contextlib
import io
import json
import os
import pathlib
from unittest import mock

from command import CommandTest, find_shoal
from test_checks import load

# Two milliseconds; one with `--fetch 4`; nine with the discrete kernel. It has no kernel for worker thread.
PROGRAM = """#!/bin/sh
case "$*" in
  *"--worker thread"*) echo "x: error: this program has no kernel for worker thread" >&2; exit 2 ;;
  *"--kernel discrete"*) echo "9.000 ms, 5 keys: right" ;;
  *"{wrong}"*) echo "0.500 ms, 6 keys: {says}"; exit {status} ;;
  *"--fetch 4"*) echo "1.000 ms, 5 keys: right" ;;
  *) echo "2.000 ms, 5 keys: right" ;;
esac
"""


class OwnTasks(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.module = load("own_tasks")

    def run_script(self, *args: object, folder: pathlib.Path | None = None) -> tuple[int, str, dict]:
        """Runs the script. Returns its exit status, what it prints, and its JSON file."""
        words = ["own_tasks.py", "--folder", folder or self.folder, "--json", self.folder / "out.json", *args]
        out = io.StringIO()
        with mock.patch("sys.argv", [str(word) for word in words]), contextlib.redirect_stdout(out):
            status = self.module.main()
        return status, out.getvalue(), json.loads((self.folder / "out.json").read_text())

    def write_program(self, wrong: str = "none", says: str = "right", status: int = 0) -> None:
        program = self.write("example_03_hash_table", PROGRAM.format(wrong=wrong, says=says, status=status))
        program.chmod(0o755)
        if not (self.folder / "shoal").exists():
            os.symlink(find_shoal(), self.folder / "shoal")

    def test_best_way_is_found(self) -> None:
        self.write_program()
        status, out, data = self.run_script("--device", "gpu", "--pairs", "hash/9", "--trials", 5)
        self.assertEqual(status, 0, out)
        row = data["rows"][0]
        self.assertEqual(row["default_over_best"], 2)
        self.assertEqual(row["best"][-2:], ["--fetch", "4"])
        self.assertEqual(row["left_out"], 2)  # worker thread, with each kernel
        self.assertEqual([(way["flags"], len(way["seconds"])) for way in row["last"]], [([], 5), (row["best"], 5)])
        self.assertEqual([len(way["seconds"]) for way in row["finals"]], [3] * 4)
        self.assertRegex(out, r"hash      9   .* 2\.000       1\.000   2\.000  .*--fetch 4  \(\d+ ways, 2 left out\)")
        self.assertIn("within 10 % of the best on 0 of 1", out)

    def test_wrong_answers_are_named(self) -> None:
        for how in ({"says": "WRONG", "status": 1}, {}):  # or a result that differs from that of the other ways
            self.write_program("--fetch 16", **how)
            status, out, data = self.run_script("--device", "cpu", "--pairs", "hash/9", "--trials", 2)
            self.assertEqual(status, 1)
            self.assertRegex(out, r"failed: --fetch 16: .*6 keys")
            self.assertEqual(data["rows"][0]["best"], ["--fetch", "4"])  # not the fastest way, whose result is wrong
        self.write_program("--size", "WRONG", 1)  # always
        status, out, data = self.run_script("--device", "cpu", "--pairs", "hash/9", "--trials", 2)
        self.assertEqual(status, 1)
        self.assertIn("failed: defaults: 0.500 ms, 6 keys: WRONG", out)
        self.assertNotIn("best", data["rows"][0])

    def test_tasks_are_right(self) -> None:
        built = pathlib.Path(find_shoal()).parent
        missing = [name for name, *_ in self.module.PROGRAMS.values() if not (built / name).exists()]
        if missing:
            self.skipTest(f"not built: {' '.join(missing)}")
        pairs = ["sandpile/2000", "walk/kron:8", "hash/500", "reach/road:9", "kcore/kron:7"]
        for pes in (1, 2):
            args = ["--device", "cpu", "--pes", pes, "--trials", 1, "--pairs", *pairs]
            status, out, data = self.run_script(*args, folder=built)
            self.assertEqual(status, 0, out)
            self.assertEqual([f"{row['task']}/{row['input']}" for row in data["rows"]], pairs)
