"""Finds the settings with which two programs compute PageRank at the same true error: just small enough, and no smaller.

The true error is the sum over all vertices of |rank - exact rank|. Exact ranks are shoal's with a tolerance of 1e-11.

GAPBS's ranks are those of a walk that ends at a vertex without out-arcs; shoal's walk jumps from there to any vertex. Both
solve the same linear equations, except for a constant factor on the right side. So on every graph the ranks of one are a multiple
of those of the other, and GAPBS's scores are divided by their sum before they are compared. If every vertex has an out-arc, the
sum is 1 in the end, but not after a few sweeps. There the division made the scores closer on all graphs that were tried, which is
in GAPBS's favour.
"""

import json
import os
import tempfile
from pathlib import Path

from host import BenchError, run

EXACT = ["--tolerance", "1e-11", "--precision", "float64"]
STEP = 2 ** (1 / 4)  # ratio of the tolerances tried: worth about one sweep, as sweeps of GAPBS are tried singly
TIGHTEST = 1e-9  # the smallest tolerance of shoal that is tried
MOST_SWEEPS = 512
TRIES = 3  # threads race, so during the search the largest error of this many runs counts
CONFIRMED = 8  # and at the end that of this many further runs


def sweeps_flags(sweeps):
    """Makes GAPBS do exactly this many sweeps, because no change is below a tolerance of 0."""
    return ["-i", str(sweeps), "-t", "0"]


class EqualError:
    """True errors of both programs on one graph file, and the flags that bring each just below `target`."""

    def __init__(self, args, file):
        try:
            import numpy
        except ImportError:
            raise BenchError("pagerank: NumPy compares the ranks (pip install numpy)") from None
        self.np, self.args, self.file, self.target = numpy, args, file, args.error
        self.exact = self.ranks_of_shoal(EXACT)

    def ranks_of_shoal(self, flags):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "ranks.npy"
            command = [self.args.shoal, "pagerank", self.file, "--device", "cpu", "--pes", self.args.pes, "--json"]
            command += ["--threads", self.args.threads // self.args.pes, "--output", out, *flags]
            said = json.loads(run(command))
            bound = said["trials"][-1]["error_bound"]
            if flags is EXACT and not bound <= 1e-11:
                raise BenchError(f"{self.file}: the exact ranks are {bound} off")
            return self.np.load(out)

    def scores_of_gapbs(self, flags):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "scores"
            command = [self.args.scores.resolve(), "-f", self.file, "-n", 1, *flags]
            run(command, OMP_NUM_THREADS=str(self.args.threads), SCORES=os.fspath(out))
            scores = self.np.fromfile(out, self.np.float32).astype(float)
        if len(scores) != len(self.exact) or not scores.sum() > 0:
            raise BenchError(f"{self.args.scores}: wrote {len(scores)} scores of {len(self.exact)} vertices")
        return scores

    def error(self, name, flags):
        """The true error of one run."""
        if name == "shoal":
            ranks = self.ranks_of_shoal(flags)
        else:
            scores = self.scores_of_gapbs(flags)
            ranks = scores / scores.sum()
        return float(self.np.abs(ranks - self.exact).sum())

    def close(self, name, flags):
        return all(self.error(name, flags) <= self.target for _ in range(TRIES))

    def loosest_for_shoal(self):
        """Halves the tolerance until the error is small enough; then returns the loosest of the steps just before."""
        tolerance = 1.0
        while not self.close("shoal", ["--tolerance", repr(tolerance)]):
            tolerance /= 2
            if tolerance < TIGHTEST:
                raise BenchError(f"shoal on {self.file}: no tolerance has a true error of {self.target}")
        between = [tolerance * STEP**i for i in (3, 2, 1) if tolerance * STEP**i <= 1]
        tries = (["--tolerance", f"{x:.4g}"] for x in between)
        return next((flags for flags in tries if self.close("shoal", flags)), ["--tolerance", repr(tolerance)])

    def fewest_sweeps_for_gapbs(self):
        """GAPBS stops after a whole sweep at every tolerance, so no tolerance is looser than the fewest sweeps."""
        low, high = 0, 1
        while not self.error("gapbs", sweeps_flags(high)) <= self.target:
            low, high = high, 2 * high
            if high > MOST_SWEEPS:
                raise BenchError(f"GAPBS on {self.file}: no number of sweeps has a true error of {self.target}")
        while high - low > 1:
            middle = (low + high) // 2
            if self.error("gapbs", sweeps_flags(middle)) <= self.target:
                high = middle
            else:
                low = middle
        while not self.close("gapbs", sweeps_flags(high)):
            high += 1
        return sweeps_flags(high)

    def check_scores(self, flags, printed):
        """Checks that the --scores program computes the same as GAPBS's own, whose best vertices and scores are `printed`."""
        scores = self.scores_of_gapbs(flags)
        wrong = [(v, s) for v, s in printed if not abs(scores[v] - s) <= 2e-3 * s]
        if not printed or wrong:
            raise BenchError(f"{self.args.scores}: other scores than those that GAPBS prints: {wrong or 'none'}")

    def confirmed(self, name, flags):
        """The flags, made stricter until none of many runs is off by more, and the largest error of those."""
        while True:
            worst = max(self.error(name, flags) for _ in range(CONFIRMED))
            if worst <= self.target:
                return flags, worst
            tighter = ["--tolerance", f"{float(flags[1]) / STEP:.4g}"]
            flags = tighter if name == "shoal" else sweeps_flags(int(flags[1]) + 1)

    def flags_and_errors(self):
        """Of each program, by name: the flags to time it with, and the true errors that they give."""
        found = {
            "shoal": self.confirmed("shoal", self.loosest_for_shoal()),
            "gapbs": self.confirmed("gapbs", self.fewest_sweeps_for_gapbs()),
        }
        return {name: flags for name, (flags, _) in found.items()}, {name: worst for name, (_, worst) in found.items()}
