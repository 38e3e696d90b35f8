"""The section of docs/results.md on the matrix of all ways to run each algorithm, from the counts of scripts/gpu_matrix.py."""

from results_runs import ALGORITHMS

HEAD = """## Every way to run each algorithm

`scripts/gpu_matrix.py` on {gpus} x {gpu}, {date}{commit}: every answer is compared with the serial reference
(`bench/matrix/algo_matrix.cpp`).

- Core: all combinations of partition, worker and kernel; for shortest paths, components and PageRank also of queue and
  judge (on large graphs, one random pair of these two).
- Rest: all other ways, such as combining.
- Soak: a new graph for each run, two to eight slots in every ring, and pauses inserted where threads meet.

A cell is the number of right answers. If time was too short for some ways, it is that number and the number of all
ways (`588 of 594`). Small graphs go first.

{note}
"""
SHARED = """### PEs that share GPUs

The same matrix with `--pes-per-gpu`, so that several PEs share a GPU, on {gpus} x {gpu}, {date}{commit}. {note}
"""
COLUMNS = f"| ways | graphs | PEs | {' | '.join(ALGORITHMS)} | all |\n|---|---|---:|{'---:|' * len(ALGORITHMS)}---:|\n"
ORDER = ("core", "rest", "soak")
GRAPHS = {"all": "generated and real", "generators": "generated", "real": "real", "fresh": "fresh"}
COUNTS = ("right", "wrong", "not_run")


def cell(row: dict | None) -> str:
    """The number of right answers, of how many if some were not run, and the number of wrong ones in bold."""
    if row is None:
        return "-"
    text = f"{row['right']:,}"
    if row["not_run"] > 0:
        text += f" of {row['right'] + row['wrong'] + row['not_run']:,}"
    if row["wrong"] > 0:
        text += f", **{row['wrong']} wrong**"
    return text


def graphs_of(row: dict) -> str:
    """On which graphs a row was run: as the row says, or else the default of scripts/gpu_matrix.py."""
    return row.get("graphs", "fresh" if row["what"] == "soak" else "all")


def added(rows: list[dict]) -> dict:
    return {count: sum(row[count] for row in rows) for count in COUNTS}


def matrix_section(data: dict) -> str:
    """@param data  counts: a row for each `what`, `graphs` (may be absent), `pes` and `algorithm`; equal keys are added up.
    `note` says how it was run; `failures` are shown, and `slow` ways: right, but not finished within the time limit."""
    groups: dict[tuple[str, str, int], dict[str, list[dict]]] = {}
    for row in data["rows"]:
        if row["algorithm"] == "program":
            raise ValueError(f"a program of {row['what']} on {row['pes']} PEs broke off")
        of_group = groups.setdefault((row["what"], graphs_of(row), row["pes"]), {})
        of_group.setdefault(row["algorithm"], []).append(row)
    commit, note = data.get("commit"), data.get("note")
    head = SHARED if data.get("pes_per_gpu", 1) > 1 else HEAD
    text = head.format(
        gpus=data["gpus"],
        gpu=data["gpu"],
        date=data["date"][:10],
        commit=f", commit {commit}" if commit else "",
        note=f"{note}\n" if note else "",
    )
    text += COLUMNS
    for what, graphs, pes in sorted(groups, key=lambda key: (ORDER.index(key[0]), list(GRAPHS).index(key[1]), key[2])):
        mine = groups[what, graphs, pes]
        cells = [cell(added(mine[name]) if name in mine else None) for name in ALGORITHMS]
        total = cell(added([row for rows in mine.values() for row in rows]))
        text += f"| {what} | {GRAPHS[graphs]} | {pes} | {' | '.join(cells)} | {total} |\n"
    text += f"\nIn all: {in_words(added(data['rows']))}.\n"
    if data.get("slow"):
        text += "\nRight, but not finished within the time limit:\n\n" + "".join(
            f"- {' '.join(way.split())}\n" for way in data["slow"]
        )
    if data.get("failures"):
        text += "\nWrong:\n\n" + "".join(f"- {' '.join(failure.split())}\n" for failure in data["failures"])
    return text


def in_words(sums: dict) -> str:
    return f"{sums['right']:,} right, {sums['wrong']:,} wrong, {sums['not_run']:,} not run"
