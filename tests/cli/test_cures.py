"""Errors name what was given and a cure, and the cure works as it is written. Options that do nothing are refused, or said to."""

import re
import resource
import unittest

from command import Answer, CommandTest

USAGE, CAPACITY = 2, 3
BYTES = 2 << 30  # of addresses, so that the machine does not matter


class Distances(CommandTest):
    def test_weights_that_add_up_to_infinity(self) -> None:
        file = self.write("big.wel", "0 1 1e308\n1 2 1e308\n")
        run = ("sssp", file, "--source", 0)
        said = self.bad(USAGE, ["largest of which is 1e+308", "infinite in float64"], *run).err
        least = float(re.search(r"below (\S+)\n", said).group(1))
        self.write("big.wel", f"0 1 {0.99 * least}\n1 2 {0.99 * least}\n")
        self.good(*run, "--verify")

    def test_large_weights_that_do_not(self) -> None:
        file = self.write("one.wel", "0 1 1e308\n1 2 0.5\n2 3 0.5\n")
        self.assertEqual(self.good("sssp", file, "--source", 0, "--output", "-").out, "0\n1e+308\n1e+308\n1e+308\n")

    def test_the_sum_of_all_weights_may_be_infinite(self) -> None:
        lines = [f"{a} {b} 1.5e307\n" for a in range(10) for b in range(10) if a != b]
        file = self.write("dense.wel", "".join(lines))
        for strategy in ("delta", "async"):
            out = self.good("sssp", file, "--source", 0, "--device", "cpu", "--strategy", strategy, "--verify").out
            self.assertNotIn("inf", out)


class Capacity(CommandTest):
    def limited(self, *args: object) -> Answer:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))

        return self.shoal(*args, preexec_fn=limit)

    def test_rings_that_do_not_fit(self) -> None:
        file = self.write("a.el", "0 1\n1 2\n")
        for graph in (file, "kron:10"):
            run = ("bfs", graph, "--device", "cpu", "--threads", 1, "--source", 0, "--capacity")
            said = self.limited(*run, 10**11)
            self.assertEqual(said.status, CAPACITY)
            self.assertRegex(said.err, "^shoal: error: --capacity 100000000000 makes rings that take about")
            cure = re.search(r"use --capacity (\d+) or less, or leave it out\n", said.err)
            self.assertEqual(self.limited(*run, cure.group(1)).status, 0, said.err)

    def test_too_small(self) -> None:
        run = ("bfs", "kron:6", "--device", "cpu", "--capacity")
        self.bad(USAGE, "use --capacity 2 or more", *run, 1)
        self.good(*run, 2)


if __name__ == "__main__":
    unittest.main()
