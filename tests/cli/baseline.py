"""Common parts of the tests of baselines: runs in processes of a launcher, and comparison with shoal's results."""

import os

from command import Answer, CommandTest

# Lets tests run as root, with more ranks than cores, and in containers where no process can read another's memory.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
LAUNCHER = os.environ.get("SHOAL_MPIEXEC", "")
FACTS = ("source", "depth", "reached", "reached_arcs")


class BaselineTest(CommandTest):
    def run_baseline(self, program: str, processes: int, *args: object, **environment: str) -> Answer:
        launcher = [LAUNCHER, "-n", processes] if processes > 1 else []  # one process needs no launcher
        return self.run_line([*launcher, program, *args], {**ENVIRONMENT, **environment})

    def all_right(self, answer: Answer, ranks: int, what: str) -> dict:
        """Checks a run with --verify: all trials that it verifies are right. Returns its JSON."""
        self.assertEqual(answer.status, 0, f"{what}: {answer.out}{answer.err}")
        result = answer.json()
        self.assertEqual(result["ranks"], ranks, what)
        for key in ("arguments", "date", "revision", "machine"):
            self.assertTrue(result[key], key)
        verified = [trial["verified"] for trial in result["trials"]]
        if result["command"] == "jacobi3d":  # it verifies only the last trial
            self.assertEqual(verified, [None] * (len(verified) - 1) + [True], what)
            return result
        self.assertEqual(verified, [True] * len(verified), what)
        for trial in result["trials"]:
            self.assertEqual(len(trial["by_rank"]), ranks, what)
        return result

    def same_searches(self, have: dict, want: dict, what: str) -> None:
        for a, b in zip(have["trials"], want["trials"], strict=True):
            self.assertEqual([a[f] for f in FACTS], [b[f] for f in FACTS], what)
            self.assertEqual(sum(r["vertices"] for r in a["by_rank"]), b["reached"], what)
            self.assertEqual(a["steps"], b["depth"] + 1, what)

    def words_sent(self, result: dict) -> list[int]:
        """The number of words that each rank sent in the first trial."""
        return [rank["words_sent"] for rank in result["trials"][0]["by_rank"]]

    def refuses(self, answer: Answer, status: int, begins: str, words: str) -> None:
        self.assertEqual(answer.status, status, answer.out + answer.err)
        ours = [line for line in answer.err.splitlines() if "shoal" in line]  # the launcher may add lines of its own
        self.assertEqual(len(ours), 1, answer.err)
        self.assertTrue(ours[0].startswith(begins), answer.err)
        self.assertIn(words, ours[0])
        self.assertNotIn("trial", answer.out)
