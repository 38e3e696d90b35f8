"""Runs the tests of one module of this folder: `run.py test_bfs`. Exits with 77 if all of them were skipped."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True


def main() -> int:
    suite = unittest.defaultTestLoader.loadTestsFromName(sys.argv[1])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.wasSuccessful() or suite.countTestCases() == 0:
        return 1
    whole = [test for test, _ in result.skipped if not hasattr(test, "test_case")]  # not skipped subtests
    return 77 if len(whole) == suite.countTestCases() else 0


if __name__ == "__main__":
    sys.exit(main())
