#!/usr/bin/env python3
"""Draws the results that `shoal bench NAME --json=FILE` wrote: `plot_bench.py FILE.json OUT.png`.

One panel per graph. The paper's systems are dashed, those of shoal solid. The x axis is the number of PEs (GPUs, or groups of CPU
threads), the y axis is the experiment's value (logarithmic for times). Hollow points: several PEs shared a GPU. Needs matplotlib
(Debian: python3-matplotlib).
"""

import json
import math
import pathlib
import sys


def draw(data: dict, out: pathlib.Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    graphs = list(dict.fromkeys(s["graph"] for s in data["series"]))
    shared = {(r["graph"], "shoal " + r["way"], r["pes"]) for r in data["runs"] if r.get("pes_per_gpu", 1) > 1}
    across = min(3, len(graphs))
    down = math.ceil(len(graphs) / across)
    figure, panels = plt.subplots(down, across, figsize=(4.5 * across, 3.4 * down), squeeze=False)
    for panel, graph in zip(panels.flat, graphs):
        for series in (s for s in data["series"] if s["graph"] == graph):
            points = [(x, y) for x, y in zip(data["columns"], series["values"]) if y is not None]
            if not points:
                continue
            label = series["system"] + ("" if series["ours"] else " (paper)")
            style = (
                {"linestyle": "-", "marker": "o"}
                if series["ours"]
                else {"linestyle": "--", "marker": "x", "alpha": 0.7}
            )
            (line,) = panel.plot(*zip(*points), label=label, **style)
            hollow = [(x, y) for x, y in points if series["ours"] and (graph, series["system"], x) in shared]
            if hollow:
                panel.plot(*zip(*hollow), "o", color=line.get_color(), markerfacecolor="white")
        here = next((r["generator"] for r in data["runs"] if r["graph"] == graph), "")
        panel.set_title(f"{graph}\nhere {here}", fontsize=9)
        panel.set_xticks(data["columns"])
        panel.set_xlabel("PEs")
        panel.set_ylabel(data["unit"])
        if data["unit"] == "ms":
            panel.set_yscale("log")
        panel.legend(fontsize=6)
    for panel in list(panels.flat)[len(graphs) :]:
        panel.axis("off")
    figure.suptitle(f"{data['title']} ({data['experiment']})")
    figure.tight_layout()
    figure.savefig(out, dpi=150)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        data = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    except OSError as error:
        print(f"plot_bench: {sys.argv[1]}: cannot be read: {error.strerror}", file=sys.stderr)
        return 2
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("command") != "bench" or not data.get("series"):
        print(f"plot_bench: {sys.argv[1]} is not what `shoal bench NAME --json=FILE` writes", file=sys.stderr)
        return 2
    try:
        draw(data, pathlib.Path(sys.argv[2]))
    except ImportError as error:
        print(f"plot_bench: {error} (Debian: apt install python3-matplotlib)", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
