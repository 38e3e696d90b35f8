"""The section of docs/results.md on goals: each goal, how often it is reached, and every miss by name."""

import dataclasses
import statistics

from results_auto import Tuned
from results_runs import Peers, Run, on_one, rounded_up, since
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
    # Keys as from results_beside.ratios; the date, and how many times as fast as the best baseline shoal is.
    baselines: dict[tuple, tuple[str, float]] = dataclasses.field(default_factory=dict)

    def add_baselines(self, date: str, ratios: dict[tuple, float]) -> None:
        """Where the same programs were compared on a graph more than once, the last date counts."""
        for key, ratio in ratios.items():
            if date >= self.baselines.get(key, ("", 0.0))[0]:
                self.baselines[key] = (date, ratio)

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
        goals = [goal for goal in goals if goal.of > 0]
        if not goals and not left_out:
            return ""
        lines = ["## Goals", "", "| goal | reached |", "|---|---:|"]
        lines += [f"| {goal.says} | {goal.of - len(goal.misses)} of {goal.of} |" for goal in goals]
        for goal in goals:
            if goal.misses:
                lines += ["", f"Missed: {goal.says}", "", *[f"- {miss}" for miss in goal.misses]]
        if left_out:
            lines += ["", "Files that are not shown:", "", *[f"- {line}" for line in left_out]]
        return "\n".join(lines) + "\n"

    def in_short(self, runs: list[Run], peers: Peers | None, tuned: list[Tuned]) -> str:
        """The section that says in a few lines what the tables come to: ranges and medians of ratios, from the same files."""
        lines = []
        for what in dict.fromkeys(run.what for run in runs):
            beside = [
                run.seconds * 1e3 / peer["milliseconds"]
                for run in fastest(runs)
                if run.what == what and peers and (peer := peers.best(run))
            ]
            if beside:
                lines.append(
                    f"- {what} beside the best other program on as many GPUs of the same kind: {spread(beside)} of its time."
                )
        gapbs = [run.ratio for run in runs if run.ratio]
        if gapbs:
            lines.append(f"- On CPU threads beside GAPBS: {spread(gapbs)} of its time.")
        if self.baselines:
            faster = [ratio for _, ratio in self.baselines.values()]
            lines.append(
                f"- Beside the best of the baselines with MPI, NCCL and CUDASTF, in one run: {spread(faster)} times as fast."
            )
        for what in dict.fromkeys(run.what for run in runs):
            pairs = [(run, on_one(run, runs)) for run in fastest(runs) if run.what == what and run.pes == 4]
            gains = [one.seconds / run.seconds for run, one in pairs if one]
            if gains:
                lines.append(
                    f"- {what} on four GPUs against one, the fastest way of each: {spread(gains)} times as fast."
                )
        counted = [row for row in tuned if row.counts]
        if counted:
            within = sum(not row.missed for row in counted)
            lines.append(
                f"- `auto` is within 10 % of the best way that a tuner found for {within} of {len(counted)} inputs."
            )
        if not lines:
            return ""
        head = ["## In short", "", "Ranges and medians over the graphs below, not weighted:", ""]
        return "\n".join([*head, *lines]) + "\n\n"

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
        misses = [f"{key[0]}: {ratio:.2f}" for key, (_, ratio) in self.baselines.items() if ratio < BASELINE_RATIO]
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


def spread(ratios: list[float]) -> str:
    """As in: 0.04 to 0.57 (median 0.19, 8 rows)."""
    of = f"median {statistics.median(ratios):.2f}, {len(ratios)} rows"
    return f"{min(ratios):.2f} to {max(ratios):.2f} ({of})" if len(ratios) > 1 else f"{ratios[0]:.2f} (one row)"


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
        f"{run.what}, {run.graph}, {run.machine}: {run.seconds * 1e3:.2f} ms{since(run, one)}, {one.seconds * 1e3:.2f} on one"
        for run, one in known
        if run.seconds > one.seconds
    ]
    return Goal("several GPUs no slower than one, the fastest recorded way of each", misses, len(known))
