"""A temporary folder of results, for tests of the tables that scripts/results_table.py makes of them."""

import pathlib
import shutil
import tempfile
import unittest

from test_checks import load


class ResultsFolder(unittest.TestCase):
    def setUp(self) -> None:
        self.module = load("results_table")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="shoal-results-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def document(self) -> tuple[str, list[str]]:
        results = self.module.Results(self.folder)
        return self.module.document(results, self.folder), results.left_out

    def assert_goal(self, text: str, goal: str, reached: str, *misses: str) -> None:
        """The page has this row, and below the table exactly these misses."""
        self.assertIn(f"{goal} | {reached} |\n", text)
        heading = f"{goal}\n\n"
        self.assertEqual(heading in text, bool(misses), text)
        if misses:
            items = text[text.index(heading) + len(heading) :].split("\n\n")[0].splitlines()
            self.assertEqual([item.removeprefix("- ") for item in items], list(misses))
