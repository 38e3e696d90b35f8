"""The sections of docs/results.md on `auto`: how far it is from the best way that the tuner finds, and on other tasks."""

import dataclasses

from results_runs import machine_of, measured

AUTO_HEAD = """
## How far `auto` is from the best

`shoal tune` searches for the best way by successive halving, and compares it with `auto`: a run with no option given.
Both run alternately; times are medians, and `auto above best` is the median over the pairs of runs. `auto` in the
column `best way` means that no way that was tried is more than 2 % faster. A search that had time for less than half of
the ways (`3 of 23`) cannot show a success, but it can show a miss, so its row counts only if `auto` is more than 10 %
above the best. Of the rows that count, {within} of {all}
are within 10 %.

{note}
| what | graph | machine | auto ms | best ms | auto above best | best way | ways tried |
|---|---|---|---:|---:|---:|---|---:|
"""


@dataclasses.dataclass
class Tuned:
    """A row of AUTO_HEAD, and what is counted of it."""

    text: str
    what: str  # "sssp, kron:20, 1 x NVIDIA H200"
    gap: float  # by how much auto is slower
    whole: bool  # the search had time for half of the ways or more

    @property
    def counts(self) -> bool:
        """A miss counts in any case: ways that were not tried can only make the gap larger."""
        return self.whole or self.missed

    @property
    def missed(self) -> bool:
        return self.gap > 0.1


def auto_row(data: dict, row: dict, graph: str, ways: int) -> Tuned:
    device, pes, threads = machine_of(data, row["auto_chose"])
    machine = f"{device}, {pes} x {threads} threads" if threads else f"{pes} x {device}"
    best = f"`{' '.join(row['best'])}`" if row["best"] else "auto"
    left_out = row.get("left_out", 0)
    tried = f"{ways} of {ways + left_out}" if left_out else str(ways)
    text = (
        f"| {row['algorithm']} | {graph} | {machine} | {row['auto_seconds'] * 1e3:.3f} | {row['best_seconds'] * 1e3:.3f} "
        f"| {row['auto_above_best'] * 100:.1f} % | {best} | {tried} |"
    )
    return Tuned(text, f"{row['algorithm']}, {graph}, {machine}", row["auto_above_best"], ways >= left_out)


def tune_rows(data: dict) -> list[Tuned]:
    """One row of a `shoal tune --json` file."""
    if any("wrong" in way for way in data["ways"]):
        raise ValueError("a way of it gave a wrong answer")
    return [auto_row(data, data, data["graph"]["name"], len(data["ways"]))]


def auto_rows(files: list[dict]) -> list[Tuned]:
    """The rows of scripts/auto_against_tuner.py files, which hold no pair with a wrong answer. Of the same pair on the same
    machine, the latest row."""
    latest: dict[tuple, tuple[dict, dict]] = {}
    for data in sorted(files, key=lambda file: file.get("date", "")):
        for row in data["rows"]:
            key = (*machine_of(data, row["auto_chose"]), row["algorithm"], row["graph"])
            latest.pop(key, None)
            latest[key] = (data, row)
    order = ("bfs", "sssp", "pagerank", "components")
    rows = sorted(latest.items(), key=lambda one: (one[0][2] > 0, one[0][1], order.index(one[0][3])))
    return [auto_row(data, row, row["graph"], row["ways"]) for _, (data, row) in rows]


OWN_HEAD = """## The defaults on other tasks

`scripts/own_tasks.py`: the rules of `auto` come from bfs, sssp, pagerank and components; these are other tasks. After
a search over the options, the defaults and the best way that it found run in turns, {trials} times each. Times are
medians, and every answer was checked. Ways for which a program has no kernel were not tried. In this table the defaults
are within 10 % of the best on
{within} of {all}.

| task | input | machine | defaults ms | best ms | defaults over best | best way | ways tried | measured |
|---|---|---|---:|---:|---:|---|---:|---|
"""


def own_machine(data: dict) -> str:
    if data["device"] == "gpu":
        return f"{data['pes']} x {data['devices'][0]['name']}, driver {data['driver']}"
    return f"{data['machine']['cpu']}, {data['pes']} PE on {data['machine']['usable_threads']} threads"


def own_section(files: list[dict]) -> str:
    """The section of scripts/own_tasks.py files."""
    lines, ratios = [], []
    for data in files:
        for row in data["rows"]:
            ratios.append(row["default_over_best"])
            best = f"`{' '.join(row['best'])}`" if row["best"] else "defaults"
            lines.append(
                f"| {row['task']} | {row['input']} | {own_machine(data)} | {row['default_seconds'] * 1e3:.3f} "
                f"| {row['best_seconds'] * 1e3:.3f} | {ratios[-1]:.2f} | {best} | {row['ways']} | {measured(data)} |"
            )
    trials = " or ".join(str(n) for n in sorted({data["trials"] for data in files}))
    within = sum(ratio <= 1.1 for ratio in ratios)
    return OWN_HEAD.format(trials=trials, within=within, all=len(ratios)) + "\n".join(lines) + "\n"
