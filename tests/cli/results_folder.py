"""A folder of results of their own, for tests of what scripts/results_table.py makes of them."""

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
