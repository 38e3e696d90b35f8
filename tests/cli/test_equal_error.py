"""bench/equal_error.py: the options with which each program's ranks are close enough, but not closer."""

import collections
import importlib
import sys
import unittest

from command import ROOT


class EqualError(unittest.TestCase):
    def setUp(self) -> None:
        sys.path.insert(0, str(ROOT / "bench"))
        self.addCleanup(sys.path.remove, str(ROOT / "bench"))
        self.module = importlib.import_module("equal_error")

    def search(self, of_shoal, of_gapbs) -> tuple:
        class Known(self.module.EqualError):
            def __init__(self) -> None:
                self.file, self.target, self.runs = "file", 1e-4, collections.Counter()

            def error(self, name: str, flags: list[str]) -> float:
                self.runs[tuple(flags)] += 1
                known = of_shoal if name == "shoal" else of_gapbs
                return known(float(flags[1]), self.runs[tuple(flags)])

        return Known().flags_and_errors()

    def test_no_closer_than_needed(self) -> None:
        flags, errors = self.search(lambda tolerance, _: 0.03 * tolerance, lambda sweeps, _: 0.6**sweeps)
        self.assertEqual(flags, {"shoal": ["--tolerance", "0.003285"], "gapbs": ["-i", "19", "-t", "0"]})
        self.assertEqual(errors, {"shoal": 0.03 * 0.003285, "gapbs": 0.6**19})

    def test_a_rare_larger_error_counts(self) -> None:
        flags, errors = self.search(
            lambda tolerance, run: 0.03 * tolerance * (1.1 if run == 6 else 1),
            lambda sweeps, run: 0.6**sweeps * (1.7 if run == 6 else 1),
        )
        self.assertEqual(flags, {"shoal": ["--tolerance", "0.002762"], "gapbs": ["-i", "20", "-t", "0"]})
        self.assertEqual(errors, {"shoal": 0.03 * 0.002762 * 1.1, "gapbs": 0.6**20 * 1.7})

    def test_an_error_that_stays_is_said(self) -> None:
        for known in ((lambda *_: 1.0, lambda *_: 0.0), (lambda *_: 0.0, lambda *_: 1.0)):
            with self.assertRaisesRegex(self.module.BenchError, "has a true error of 0.0001"):
                self.search(*known)


if __name__ == "__main__":
    unittest.main()
