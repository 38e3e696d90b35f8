#!/usr/bin/env python3
"""Writes the tasks of a run as a graph for Graphviz: what was computed, which data went from one task to another, and how long
each took, as colours from white to red.

    build/cpu/shoal jacobi3d 48 48 48 --iterations 4 --odf 2 --pes 2 --trace run.json
    build/cpu/shoal bfs kron:12 --pes 2 --trace run.json
    mpirun -n 2 build/cpu/shoal_mpi bfs kron:12 --stats --json=run.json
    bench/draw_steps.py run.json run.dot && dot -Tsvg run.dot -o run.svg

The tasks of a trace (docs/traces.md) are steps of blocks, levels and sweeps of PEs, and runs of a worklist; those of a baseline
are levels or sweeps of ranks. The last trial is drawn. shoal_stf can also make CUDASTF draw its own tasks:
CUDASTF_DOT_FILE=tasks.dot shoal_stf bfs kron:8.
"""

import argparse
import json
import sys
from pathlib import Path


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def node(name, lines, seconds, slowest, shape):
    color = f"0.0 {seconds / slowest if slowest > 0 else 0:.3f} 1.0"
    label = quoted("\n".join([*lines, f"{seconds * 1e3:.3f} ms"]))
    return f'  {name} [label={label}, shape={shape}, fillcolor="{color}"];'


def graph(lines):
    head = ["digraph steps {", '  node [style=filled, fontname="sans-serif"];', '  edge [fontname="sans-serif"];']
    return [*head, *lines, "}"]


def draw_baseline(run):
    """Lines of a .dot file. Raises ValueError if the run has no steps."""
    steps = run["trials"][-1].get("by_step")
    if not steps:
        raise ValueError("has no steps: run it with --stats")
    step_name = "level" if run["command"] == "bfs" else "sweep"
    slowest = max(max(r["compute_seconds"], r["communicate_seconds"]) for ranks in steps for r in ranks)
    lines = []
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
    return graph(lines)


def last_trial(events):
    """When the last trial began and ended, in microseconds."""
    trials = [e for e in events if e["ph"] == "X" and e["name"].startswith("trial ") and not e["args"]]
    if not trials:
        return float("-inf"), float("inf")
    return trials[-1]["ts"], trials[-1]["ts"] + trials[-1]["dur"]


def draw_trace(trace, most):
    """Lines of a .dot file, and how many tasks are left out. Raises ValueError if the trace has no tasks."""
    events = trace["traceEvents"]
    first, last = last_trial(events)
    events = [e for e in events if first <= e.get("ts", first) <= last]
    # A tile is only a part of a task. If a task has several spans, the first is taken.
    tasks = {}
    for e in events:
        if e["ph"] == "X" and "task" in e["args"] and "tile" not in e["args"]:
            tasks.setdefault(e["args"]["task"], e)
    if not tasks:
        raise ValueError("has no tasks: of GPUs, steps in graphs and kernels that stay have none (docs/traces.md)")
    by_begin = sorted(tasks, key=lambda task: tasks[task]["ts"])
    drawn = {task: i for i, task in enumerate(by_begin[:most])}
    arrives = {e["id"]: e["ts"] for e in events if e["ph"] == "f"}
    data = [e for e in events if e["ph"] == "s" and e["args"].get("from") in drawn and e["args"].get("to") in drawn]
    on_its_way = {e["id"]: max(0, arrives.get(e["id"], e["ts"]) - e["ts"]) for e in data}
    slowest = max([tasks[task]["dur"] for task in drawn] + list(on_its_way.values())) * 1e-6
    lines, before = [], {}
    for task, i in drawn.items():
        facts = [f"{name} {value}" for name, value in tasks[task]["args"].items() if name in ("kind", "tiles", "items")]
        lines.append(node(f"t{i}", [task, *facts], tasks[task]["dur"] * 1e-6, slowest, "box"))
        whose = task.split(" of ", 1)[-1]  # the block or PE of the task; its next task follows from this one
        if whose in before:
            lines.append(f"  t{before[whose]} -> t{i} [style=dashed];")
        before[whose] = i
    for e in data:
        facts, seconds = e["args"], on_its_way[e["id"]] * 1e-6
        lines.append(node(f"d{e['id']}", [facts["data"], f"{facts['bytes']} bytes"], seconds, slowest, "ellipse"))
        lines.append(f"  t{drawn[facts['from']]} -> d{e['id']} -> t{drawn[facts['to']]};")
    return graph(lines), len(tasks) - len(drawn)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="what --trace wrote, or a baseline's bfs or pagerank by --stats --json")
    parser.add_argument("dot", type=Path, help="the graph")
    parser.add_argument("--most", type=int, default=400, help="tasks of a trace; later ones are left out (default 400)")
    args = parser.parse_args()
    try:
        run = json.loads(args.run.read_text())
        lines, left_out = draw_trace(run, args.most) if "traceEvents" in run else (draw_baseline(run), 0)
        args.dot.write_text("\n".join(lines) + "\n")
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        print(f"draw_steps: {args.run}: {error if str(error) else type(error).__name__}", file=sys.stderr)
        return 2
    if left_out > 0:
        print(f"draw_steps: {left_out} later tasks are left out; see --most", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
