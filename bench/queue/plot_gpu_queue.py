#!/usr/bin/env python3
"""Draws the results of bench/queue/gpu_queue.cu as Fig. 1 of the Atos paper: items per second over threads, by queue.

    plot_gpu_queue.py RESULT.json [--bytes 8] [--output FIGURE.svg]

One panel for each operation and worker. Points whose results were wrong or that stalled are left out, with a message. Without
matplotlib (Debian: python3-matplotlib) it prints the numbers as text instead, and says so.
"""

import argparse
import json
import sys

OPERATIONS = ("push", "pop", "both")
QUEUES = ("bare", "slot hold", "slot claim", "segment hold", "segment claim", "broker", "cas")


def read(path, size):
    """For each (operation, worker, queue) a sorted list of (threads, items per second)."""
    try:
        with open(path) as file:
            result = json.load(file)
        rows = [row for row in result["rows"] if row["op"] in OPERATIONS and row["bytes"] == size]
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"plot_gpu_queue: {path} is not a result of gpu_queue: {error}")
    if not rows:
        sys.exit(f"plot_gpu_queue: {path} has no push, pop or both with items of {size} bytes")
    series = {}
    for row in rows:
        if row["verdict"] != "ok":
            print(f"left out: {row['op']} {row['worker']} {row['ring']} {row['threads']} threads: {row['verdict']}")
        elif row["items_per_second"] > 0:
            key = row["op"], row["worker"], row["ring"]
            series.setdefault(key, []).append((row["threads"], row["items_per_second"]))
    return result["gpu"], {key: sorted(points) for key, points in series.items()}


def panels(series):
    workers = [w for w in ("thread", "warp", "block") if any(key[1] == w for key in series)]
    return [(op, w) for op in OPERATIONS for w in workers if any(key[:2] == (op, w) for key in series)], workers


def print_text(series):
    for op, worker in panels(series)[0]:
        print(f"\n{op}, {worker} workers, G items/s")
        shown = [q for q in QUEUES if (op, worker, q) in series]
        print(f"{'threads':>9} " + " ".join(f"{q:>14}" for q in shown))
        columns = [dict(series[op, worker, q]) for q in shown]
        for threads in sorted({t for column in columns for t in column}):
            cells = (f"{column[threads] / 1e9:14.3f}" if threads in column else f"{'-':>14}" for column in columns)
            print(f"{threads:>9} " + " ".join(cells))


def draw(pyplot, gpu, series, size, output):
    all_panels, workers = panels(series)
    operations = [op for op in OPERATIONS if any(p[0] == op for p in all_panels)]
    figure, axes = pyplot.subplots(
        len(operations), len(workers), figsize=(4.2 * len(workers), 3 * len(operations)), squeeze=False, sharex=True
    )
    for i, op in enumerate(operations):
        for j, worker in enumerate(workers):
            axis = axes[i][j]
            for queue in QUEUES:
                points = series.get((op, worker, queue))
                if points:
                    style = {"color": "black", "linestyle": "--"} if queue == "bare" else {"marker": "."}
                    axis.plot(*zip(*points), label=queue, **style)
            axis.set(xscale="log", yscale="log", title=f"{op}, {worker} workers")
            axis.set_xscale("log", base=2)
            axis.grid(True, alpha=0.3)
        axes[i][0].set_ylabel("items/s")
    for axis in axes[-1]:
        axis.set_xlabel("threads")
    axes[0][0].legend(fontsize="small")
    figure.suptitle(f"{gpu}, items of {size} bytes")
    figure.tight_layout()
    figure.savefig(output)
    print(f"wrote {output}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("--bytes", type=int, default=8)
    parser.add_argument("--output", default="gpu_queue.svg", help="any format that matplotlib writes")
    a = parser.parse_args()
    gpu, series = read(a.result, a.bytes)
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        print(f"no figure: {error}")
        print_text(series)
        return
    draw(pyplot, gpu, series, a.bytes, a.output)


if __name__ == "__main__":
    main()
