"""The section of docs/results.md on goals: each goal, how often it is reached, and every miss by name."""

import dataclasses

from results_auto import Tuned
from results_runs import Peers, Run, on_one, rounded_up
from results_sections import workers_of

END_MICROSECONDS = {1: 20, 4: 100}  # by number of GPUs: the limit until the end of a run is found
BASELINE_RATIO = 3
LAG_PUSHES = 10  # from an item's push to its run, 99th percentile, in units of the time of a push


@dataclasses.dataclass
class Goal:
    says: str
    misses: list[str]
    of: int


@dataclasses.dataclass
class Goals:
    """What the files hold besides runs and tunings, and the section made of all of it."""

    times: list[dict] = dataclasses.field(
        default_factory=list
    )  # goals.json: algorithm, graph, device, pes, milliseconds
    ends: list[dict] = dataclasses.field(default_factory=list)
    lags: list[dict] = dataclasses.field(default_factory=list)
    # Algorithm, graph and machine; and how many times as fast as the best baseline shoal is.
    baselines: list[tuple[str, float]] = dataclasses.field(default_factory=list)

    def section(self, runs: list[Run], peers: Peers | None, tuned: list[Tuned], left_out: list[str]) -> str:
        counted = [row for row in tuned if row.counts]
        goals = [
            Goal(
                "`auto` within 10 % of the best way that was tried",
                [f"{row.what}: {row.gap:.1%} above" for row in counted if row.missed],
                len(counted),
            ),
            against_peers(runs, peers),
            against_gapbs(runs),
            several_gpus(runs),
            self.beside_baselines(),
            *([self.stated(runs)] if self.times else []),
            self.end_found(),
            self.run_soon(),
        ]
        lines = ["## Goals", "", "| goal | reached | missed |", "|---|---:|---|"]
        for goal in goals:
            if goal.of > 0:
                missed = "; ".join(goal.misses)
                lines.append(f"| {goal.says} | {goal.of - len(goal.misses)} of {goal.of} | {missed} |")
        if left_out:
            lines += ["", "Files that are not shown:", "", *[f"- {line}" for line in left_out]]
        return "\n".join(lines) + "\n" if len(lines) > 4 else ""

    def stated(self, runs: list[Run]) -> Goal:
        """Times of goals.json. One that was not measured counts as missed."""
        misses = []
        for row in self.times:
            wanted, key = row["milliseconds"], (row["algorithm"], row["graph"], row["device"], row["pes"])
            best = min((r.seconds * 1e3 for r in runs if (r.what, r.graph, r.device, r.pes) == key), default=None)
            if best is None or best > wanted:
                name = f"{row['algorithm']}, {row['graph']}, {row['pes']} x {row['device']}"
                measured = "not measured" if best is None else f"{best:.3f} ms"
                misses.append(f"{name}: {measured}, {wanted:g} wanted")
        return Goal("target times that were set beforehand (`bench/results/goals.json`)", misses, len(self.times))

    def beside_baselines(self) -> Goal:
        misses = [f"{what}: {ratio:.2f}" for what, ratio in self.baselines if ratio < BASELINE_RATIO]
        says = f"{BASELINE_RATIO} times as fast as the best of the baselines with MPI, NCCL and CUDASTF in one run"
        return Goal(says, misses, len(self.baselines))

    def end_found(self) -> Goal:
        judged = [data for data in self.ends if data["device"] == "gpu" and data["pes"] in END_MICROSECONDS]
        late = [data for data in judged if data["end_found_us"]["median"] > END_MICROSECONDS[data["pes"]]]
        misses = [f"{workers_of(data)}: {data['end_found_us']['median']:.1f} us" for data in late]
        return Goal("the end of a run found within 20 us on one GPU, 100 us on four", misses, len(judged))

    def run_soon(self) -> Goal:
        judged = [
            (f"{workers_of(data)}, {says}", data[where]["lag_ns"]["p99"] / data[where]["push_ns"]["median"])
            for data in self.lags
            for where, says in (("local", "on its PE"), ("round", "round all PEs"))
            if where in data
        ]
        misses = [f"{what}: {pushes:.1f}" for what, pushes in judged if pushes > LAG_PUSHES]
        return Goal(f"an item run within {LAG_PUSHES} pushes, 99th percentile", misses, len(judged))


def fastest(runs: list[Run]) -> list[Run]:
    """The fastest recorded way of each algorithm, graph and number of GPUs."""
    best: dict[tuple, Run] = {}
    for run in runs:
        key = (run.what, run.graph, run.device, run.pes)
        if run.on_gpu and (key not in best or run.seconds < best[key].seconds):
            best[key] = run
    return list(best.values())


def against_peers(runs: list[Run], peers: Peers | None) -> Goal:
    beside = [(run, peers.best(run)) for run in fastest(runs)] if peers else []
    known = [(run, peer) for run, peer in beside if peer]
    misses = [
        f"{run.what}, {run.graph}, {run.machine}: {run.seconds * 1e3:.2f} ms, {peer['program']} {peer['milliseconds']:g}"
        for run, peer in known
        if run.seconds * 1e3 > peer["milliseconds"]
    ]
    return Goal("our fastest recorded way no slower than any other program on the same GPUs", misses, len(known))


def against_gapbs(runs: list[Run]) -> Goal:
    beside = [run for run in runs if run.ratio]
    misses = [
        f"{run.what}, {run.graph}"
        + (f", true error below {rounded_up(run.true_error)}" if run.true_error else "")
        + f": {run.ratio:.2f} of its time"
        for run in beside
        if run.ratio > 1
    ]
    return Goal("no slower than GAPBS on CPU threads", misses, len(beside))


def several_gpus(runs: list[Run]) -> Goal:
    pairs = [(run, on_one(run, runs)) for run in fastest(runs)]
    known = [(run, one) for run, one in pairs if one]
    misses = [
        f"{run.what}, {run.graph}, {run.machine}: {run.seconds * 1e3:.2f} ms, {one.seconds * 1e3:.2f} on one"
        for run, one in known
        if run.seconds > one.seconds
    ]
    return Goal("several GPUs no slower than one, the fastest recorded way of each", misses, len(known))
