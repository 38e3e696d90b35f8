#!/usr/bin/env python3
"""Checks whether `auto` is within 10 % of the best options that `shoal tune` finds, for many graphs and algorithms.

    scripts/auto_against_tuner.py --shoal build/shoal --device cpu --json bench/results/auto_cpu.json
    scripts/auto_against_tuner.py --shoal build/gpu/shoal --device gpu --gpus 4 --budget 20 --json auto_1xh200.json

Every way that is tried is verified. --gpus N tunes on N GPUs side by side, each pair on one GPU; --pes N gives each pair N PEs.
Graph files (*.el.gz) are used if they are in the folder of --data. Exit status 1 if an answer was wrong, or a pair failed.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile

# Graphs of each shape: skewed, directed, even, deep and narrow, one hub, real roads, webs, social graphs, meshes.
CPU_PAIRS = [
    ("bfs", "kron:16"), ("bfs", "kron:16,directed"), ("bfs", "uniform:16"), ("bfs", "road:300"), ("bfs", "chain:5000"),
    ("bfs", "star:200000"), ("bfs", "complete:1000"), ("bfs", "luxembourg_osm"), ("bfs", "cnr-2000"),
    ("sssp", "kron:15"), ("sssp", "road:200"), ("sssp", "uniform:15"), ("sssp", "seattle-roads"), ("sssp", "wave"),
    ("pagerank", "kron:15"), ("pagerank", "kron:15,directed"), ("pagerank", "road:200"), ("pagerank", "email-enron"),
    ("components", "kron:16"), ("components", "road:300"), ("components", "uniform:16,degree=1"),
    ("components", "dblp-2010"),
]  # fmt: skip
GPU_PAIRS = [
    ("bfs", "kron:22"), ("bfs", "kron:21,directed"), ("bfs", "uniform:20"), ("bfs", "road:2048"),
    ("bfs", "chain:5000"), ("bfs", "star:1000000"), ("bfs", "moscow-roads"), ("bfs", "cnr-2000"),
    ("sssp", "kron:20"), ("sssp", "road:1024"), ("sssp", "uniform:18"), ("sssp", "dblp-2010"), ("sssp", "moscow-roads"),
    ("pagerank", "kron:20"), ("pagerank", "kron:20,directed"), ("pagerank", "road:1024"), ("pagerank", "cnr-2000"),
    ("components", "kron:22"), ("components", "road:2048"), ("components", "dblp-2010"),
]  # fmt: skip
WEIGHTED = {"bremen-time"}
UNDIRECTED = {"luxembourg_osm", "moscow-roads", "seattle-roads", "wave", "email-enron", "dblp-2010"}


def choose_pairs(args: argparse.Namespace) -> list[tuple[str, str, list[str]]]:
    """(algorithm, name, arguments for the graph) of each pair that can run here. Prints the names of the others."""
    pairs = []
    named = [tuple(p.split("/", 1)) for p in args.pairs]
    for algorithm, graph in named or (GPU_PAIRS if args.device == "gpu" else CPU_PAIRS):
        if ":" in graph:
            pairs.append((algorithm, graph, [graph]))
            continue
        files = [f for f in (args.data.rglob(f"{graph}.el.gz") if args.data else [])]
        if files:
            words = [str(files[0]), *(["--undirected"] if graph in UNDIRECTED else [])]
            words += ["--option", "weights=hash255"] if algorithm == "sssp" and graph not in WEIGHTED else []
            pairs.append((algorithm, graph, words))
        else:
            print(f"skipped: {algorithm} {graph}: no {graph}.el.gz (--data FOLDER)", flush=True)
    return pairs


def tune(args: argparse.Namespace, algorithm: str, graph: list[str], gpu: str | None) -> dict:
    """The JSON of one `shoal tune`. Raises RuntimeError if it failed."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "tuned.json"
        command = [args.shoal, "tune", *graph, "--algorithm", algorithm, "--device", args.device]
        command += ["--budget", args.budget, "--trials", args.trials, "--profile", "none", "--quiet", f"--json={out}"]
        command += ["--pes", args.pes]
        command += ["--threads", args.threads] if args.threads else []
        environment = {**os.environ, **({"CUDA_VISIBLE_DEVICES": gpu} if gpu else {})}
        try:
            done = subprocess.run(
                [str(word) for word in command], capture_output=True, text=True, env=environment, timeout=args.timeout
            )
        except subprocess.TimeoutExpired as late:
            raise RuntimeError(f"took longer than {args.timeout} s") from late
        if done.returncode != 0:
            raise RuntimeError(f"status {done.returncode}: {done.stderr.strip()[-200:]}")
        return json.loads(out.read_text(encoding="utf-8"))


def row_of(name: str, data: dict) -> dict:
    """What is kept of a tuning."""
    return {
        "algorithm": data["algorithm"],
        "graph": name,
        "pes": data["auto_chose"]["pes"].split(":")[0],
        "auto_seconds": data["auto_seconds"],
        "best_seconds": data["best_seconds"],
        "auto_above_best": data["auto_above_best"],
        "best": data["best"],
        "auto_chose": {k: v.split(":")[0] for k, v in data["auto_chose"].items()},
        "ways": len(data["ways"]),
        "left_out": data["left_out"],
        "turns": data["turns"],
    }


def keep(args: argparse.Namespace, machine: dict, rows: list[dict], failures: list[dict]) -> None:
    """After every row: a run that is ended early leaves what it has."""
    if not args.json:
        return
    devices = [{k: v for k, v in device.items() if k != "free_bytes"} for device in machine["devices"]]
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    out = {"command": "auto_against_tuner", "arguments": sys.argv[1:], "date": now, **machine, "devices": devices}
    out |= {"device": args.device, "pes": args.pes, "budget_seconds": args.budget, "trials": args.trials}
    args.json.write_text(json.dumps(out | {"rows": rows, "failures": failures}, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", type=pathlib.Path, required=True, help="the shoal command")
    parser.add_argument("--device", choices=["cpu", "gpu"], required=True)
    parser.add_argument("--pes", type=int, default=1, help="PEs of every pair (default 1)")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads of a PE (default: the machine's)")
    parser.add_argument("--gpus", type=int, default=1, help="GPUs that tune side by side, a pair on each (default 1)")
    parser.add_argument("--budget", type=float, default=6, help="seconds of each tuning, about (default 6)")
    parser.add_argument("--trials", type=int, default=9, help="of the comparison in turns (default 9)")
    parser.add_argument(
        "--timeout", type=float, default=120, help="seconds after which a pair has failed (default 120)"
    )
    parser.add_argument("--data", type=pathlib.Path, help="folder with real graphs")
    parser.add_argument("--pairs", nargs="*", default=[], metavar="ALGORITHM/GRAPH", help="only these")
    parser.add_argument("--json", type=pathlib.Path, help="where the rows are kept")
    args = parser.parse_args()

    gpus: queue.Queue[str | None] = queue.Queue()
    for gpu in range(args.gpus):
        gpus.put(str(gpu) if args.device == "gpu" and args.gpus > 1 else None)
    rows, failures, machine = [], [], {}

    def one(pair: tuple[str, str, list[str]]) -> tuple[str, str, dict | str]:
        gpu = gpus.get()
        try:
            return pair[0], pair[1], tune(args, pair[0], pair[2], gpu)
        except RuntimeError as error:
            return pair[0], pair[1], str(error)
        finally:
            gpus.put(gpu)

    with concurrent.futures.ThreadPoolExecutor(args.gpus) as pool:
        for algorithm, graph, got in pool.map(one, choose_pairs(args)):
            if isinstance(got, str):
                failures.append({"algorithm": algorithm, "graph": graph, "failed": got})
                print(f"{algorithm:10} {graph:18} failed: {got}", flush=True)
                continue
            row = row_of(graph, got)
            rows.append(row)
            machine = {k: got[k] for k in ("version", "revision", "machine", "devices")}
            keep(args, machine, rows, failures)
            left_out = f", {row['left_out']} left out" if row["left_out"] else ""
            print(
                f"{algorithm:10} {graph:18} auto {row['auto_seconds'] * 1e3:9.3f} ms, best {row['best_seconds'] * 1e3:9.3f}"
                f" ms: {row['auto_above_best'] * 100:5.1f} %  {' '.join(row['best']) or 'auto'}"
                f"  ({row['ways']} ways{left_out})",
                flush=True,
            )
    within = sum(row["auto_above_best"] <= 0.1 for row in rows)
    print(f"{within} of {len(rows)} within 10 %" + (f"; {len(failures)} failed" if failures else ""))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
