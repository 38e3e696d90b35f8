"""The section of docs/results.md on the matrix of all ways to run each algorithm: what scripts/gpu_matrix.py counted."""

HEAD = """## Every way to run each algorithm

`scripts/gpu_matrix.py` on {gpus} x {gpu}, {date}: every answer against the serial reference, on generated and real graphs
(`bench/algo_matrix.cpp`). Core: all partitions, workers and kernels, for shortest paths, components and PageRank with all
queues and judges (on large graphs with one drawn pair of those). Rest: the others, combining among them. Soak: fresh graphs,
two to eight slots in every ring, pauses where threads meet. Right, or right of all where some were not run for want of time;
small graphs go first.

| ways | PEs | bfs | sssp | components | pagerank |
|---|---:|---:|---:|---:|---:|
"""
ORDER = ("core", "rest", "soak")


def cell(row: dict | None) -> str:
    """Right ones, of how many, and wrong ones in bold."""
    if row is None:
        return "-"
    text = f"{row['right']:,}"
    if row["not_run"] > 0:
        text += f" of {row['right'] + row['wrong'] + row['not_run']:,}"
    if row["wrong"] > 0:
        text += f", **{row['wrong']} wrong**"
    return text


def matrix_section(data: dict) -> str:
    rows = {(row["what"], row["pes"], row["algorithm"]): row for row in data["rows"]}
    broken = [key for key in rows if key[2] == "program"]
    if broken:
        raise ValueError(f"a program of {broken[0][0]} on {broken[0][1]} PEs broke off")
    text = HEAD.format(gpus=data["gpus"], gpu=data["gpu"], date=data["date"][:10])
    for what, pes in sorted({key[:2] for key in rows}, key=lambda pair: (ORDER.index(pair[0]), pair[1])):
        cells = [cell(rows.get((what, pes, name))) for name in ("bfs", "sssp", "components", "pagerank")]
        text += f"| {what} | {pes} | {' | '.join(cells)} |\n"
    return text
