#!/usr/bin/env python3
"""Draws docs/figures/*.svg from bench/results: `figures.py [--results FOLDER] [--to FOLDER]`. Needs matplotlib.

queues.svg: items per second of the rings and of other queues over the number of threads (Atos, Fig. 1). scaling.svg: each
algorithm on 1 to 4 GPUs. atos_fig5.svg: speed-ups in Tables II and IV of Atos, the paper's and those of shoal. A figure whose
results are missing is left out, and a message names it. The same results give the same bytes.
"""

import argparse
import json
import math
import pathlib
import sys

import results_runs
import results_sections
import results_table

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUEUES = {
    "bare": ("atomics alone", "black"),
    "slot hold": ("slots, held tickets (default)", "tab:blue"),
    "slot claim": ("slots, claimed tickets", "tab:cyan"),
    "broker": ("broker queue", "tab:red"),
    "cas": ("compare and swap", "tab:orange"),
}
COLOURS = {"bfs": "tab:blue", "sssp": "tab:orange", "pagerank": "tab:green", "components": "tab:red"}


def load(folder: pathlib.Path, pattern: str) -> dict | None:
    """The results in files that match a pattern; several files of one experiment, or of queues, are merged. None if none."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob(pattern))]
    if found and found[0].get("benchmark") == "gpu_queue":
        return {"rows": [row for part in found for row in part["rows"]]}
    return results_sections.merge(found) if len(found) > 1 else found[0] if found else None


def save(plt, figure, out: pathlib.Path) -> None:
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def panels(plt, n: int, across: int, size: tuple[float, float]):
    across = min(across, n)
    down = math.ceil(n / across)
    figure, axes = plt.subplots(down, across, figsize=(size[0] * across, size[1] * down), squeeze=False)
    for axis in list(axes.flat)[n:]:
        axis.axis("off")
    return figure, list(axes.flat)[:n]


def queues(plt, data: dict, out: pathlib.Path) -> None:
    """A panel for each of push, pop, and both, for warps and for blocks. Only points whose results were right are drawn."""
    kinds = [(worker, op) for worker in ("warp", "block") for op in ("push", "pop", "both")]
    figure, axes = panels(plt, len(kinds), 3, (3.6, 2.6))
    for axis, (worker, op) in zip(axes, kinds):
        for ring, (label, colour) in QUEUES.items():
            points = sorted(
                (row["threads"], row["items_per_second"] / 1e9)
                for row in data["rows"]
                if (row["op"], row["worker"], row["ring"], row["bytes"], row["verdict"]) == (op, worker, ring, 8, "ok")
            )
            if points:
                style = {"linestyle": "--"} if ring == "bare" else {"marker": "."}
                axis.plot(*zip(*points), label=label, color=colour, **style)
        axis.set_title(f"{'push and pop' if op == 'both' else op}, {worker}s", fontsize=9)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.minorticks_off()
        axis.grid(True, alpha=0.3)
        axis.tick_params(labelsize=7)
        axis.set_xlabel("threads", fontsize=8)
        axis.set_ylabel("10⁹ items/s", fontsize=8)
    axes[0].legend(fontsize=6)
    save(plt, figure, out)


def scaling(plt, runs: list[results_runs.Run], out: pathlib.Path) -> None:
    """A panel for skewed graphs and one for roads: the time on one GPU divided by the time on several."""
    figure, axes = panels(plt, 2, 2, (4, 3))
    for axis, kind in zip(axes, ("kron", "road")):
        most = 1
        for what, colour in COLOURS.items():
            several = [r for r in runs if r.what == what and r.graph.startswith(kind) and results_runs.on_one(r, runs)]
            if not several:
                continue
            graph = (max if kind == "kron" else min)(several, key=lambda r: r.arcs).graph
            mine = sorted((r for r in several if r.graph == graph), key=lambda r: r.pes)
            one = results_runs.on_one(mine[0], runs).seconds
            points = [(1, 1.0)] + [(r.pes, one / r.seconds) for r in mine]
            axis.plot(*zip(*points), "o-", label=f"{what}, {graph} ({one * 1e3:.3g} ms on one)", color=colour)
            most = max(most, mine[-1].pes)
        counts = range(1, most + 1)
        axis.plot(counts, counts, color="grey", linestyle=":", label="linear")
        axis.set_xticks(counts)
        axis.set_xlabel("GPUs", fontsize=8)
        axis.set_ylabel("times faster than on one", fontsize=8)
        axis.grid(True, alpha=0.3)
        axis.legend(fontsize=7)
    save(plt, figure, out)


def speedups(values: list[float | None]) -> list[float | None]:
    return [values[0] / v if values[0] and v else None for v in values]


def fig5(plt, bfs: dict, pagerank: dict, out: pathlib.Path) -> None:
    """A panel for each graph of each table. The strategies of Atos are dashed; the same ones of shoal are solid."""
    shown, explained = [], set()
    for data in (bfs, pagerank):
        for graph in dict.fromkeys(s["graph"] for s in data["series"]):
            mine = [s for s in data["series"] if s["graph"] == graph and (s["ours"] or "Atos" in s["system"])]
            if any(len([y for y in s["values"] if y is not None]) > 1 for s in mine if s["ours"]):
                shown.append((data, graph, mine))
    figure, axes = panels(plt, len(shown), 4, (3, 2.5))
    for axis, (data, graph, lines) in zip(axes, shown):
        ours = theirs = 0
        for line in lines:
            colour = f"C{ours if line['ours'] else theirs}"
            ours, theirs = ours + line["ours"], theirs + (not line["ours"])
            points = [(x, y) for x, y in zip(data["columns"], speedups(line["values"])) if y is not None]
            if len(points) < 2:
                continue
            style = {"marker": "o"} if line["ours"] else {"linestyle": "--", "marker": "x", "alpha": 0.7}
            axis.plot(*zip(*points), label=line["system"], color=colour, markersize=4, **style)
        axis.set_title(f"{'BFS' if 'table2' in data['experiment'] else 'PageRank'}, {graph}", fontsize=8)
        axis.set_xticks(data["columns"])
        axis.tick_params(labelsize=7)
        axis.grid(True, alpha=0.3)
        if data["experiment"] not in explained:  # all panels of an experiment have the same colours
            axis.legend(fontsize=5)
            explained.add(data["experiment"])
    save(plt, figure, out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    parser.add_argument("--to", type=pathlib.Path, default=ROOT / "docs" / "figures")
    args = parser.parse_args()
    try:
        import matplotlib
    except ImportError as error:
        print(f"figures: {error} (Debian: apt install python3-matplotlib)", file=sys.stderr)
        return 1
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "shoal", "svg.fonttype": "none", "font.size": 8})
    from matplotlib import pyplot as plt

    args.to.mkdir(parents=True, exist_ok=True)
    wanted = {
        "queues.svg": (queues, ["gpu_queue_*.json"]),
        "atos_fig5.svg": (fig5, ["bench_atos_table2_*xh200*.json", "bench_atos_table4_*xh200*.json"]),
    }
    for name, (draw, patterns) in wanted.items():
        inputs = [load(args.results, pattern) for pattern in patterns]
        if None in inputs:
            print(f"figures: left out {name}: no {patterns[inputs.index(None)]} in {args.results}", file=sys.stderr)
            continue
        draw(plt, *inputs, args.to / name)
    runs = results_table.Results(args.results).runs
    if any(results_runs.on_one(run, runs) for run in runs):
        scaling(plt, runs, args.to / "scaling.svg")
    else:
        print(f"figures: left out scaling.svg: no run on one and on several GPUs in {args.results}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
