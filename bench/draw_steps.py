#!/usr/bin/env python3
"""The tasks of a baseline's run as a graph for Graphviz: what each rank computed in each level or sweep, what ranks exchanged,
and how long each took, as colours from white to red.

    mpirun -n 2 build/cpu/shoal_mpi bfs kron:12 --stats --json=run.json
    bench/draw_steps.py run.json run.dot && dot -Tsvg run.dot -o run.svg

The last trial is drawn. shoal_stf can also have CUDASTF draw its own tasks: CUDASTF_DOT_FILE=tasks.dot shoal_stf bfs kron:8.
"""

import argparse
import json
import sys
from pathlib import Path


def node(name, lines, seconds, slowest, shape):
    color = f"0.0 {seconds / slowest if slowest > 0 else 0:.3f} 1.0"
    label = "\\n".join([*lines, f"{seconds * 1e3:.3f} ms"])
    return f'  {name} [label="{label}", shape={shape}, fillcolor="{color}"];'


def draw(run):
    """Lines of a .dot file. ValueError: the run has no steps."""
    steps = run["trials"][-1].get("by_step")
    if not steps:
        raise ValueError("has no steps: run it with --stats")
    step_name = "level" if run["command"] == "bfs" else "sweep"
    slowest = max(max(r["compute_seconds"], r["communicate_seconds"]) for ranks in steps for r in ranks)
    lines = ["digraph steps {", '  node [style=filled, fontname="sans-serif"];', '  edge [fontname="sans-serif"];']
    for i, ranks in enumerate(steps):
        names = [f"c{i}_{r}" for r in range(len(ranks))]
        for r, (name, step) in enumerate(zip(names, ranks)):
            what = [f"{step_name} {i}, rank {r}", f"{step['vertices']} vertices"]
            lines.append(node(name, what, step["compute_seconds"], slowest, "box"))
            if i > 0:
                lines.append(f"  x{i - 1} -> {name};")
            lines.append(f'  {name} -> x{i} [label="{step["words_sent"]} words"];')
        lines.append(f"  {{ rank=same; {'; '.join(names)}; }}")
        longest = max(step["communicate_seconds"] for step in ranks)
        lines.append(node(f"x{i}", ["exchange", "slowest rank"], longest, slowest, "ellipse"))
    return [*lines, "}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="what a baseline's bfs or pagerank wrote by --stats --json")
    parser.add_argument("dot", type=Path, help="the graph")
    args = parser.parse_args()
    try:
        args.dot.write_text("\n".join(draw(json.loads(args.run.read_text()))) + "\n")
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        print(f"draw_steps: {args.run}: {error if str(error) else type(error).__name__}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
