#!/usr/bin/env python3
"""Measures strong scaling: each algorithm with `auto` on 1, 2, ... PEs, answers verified, medians of the computation alone.

    bench/scaling.py --shoal build/gpu/shoal --device gpu --pes 1,2,3,4 --json bench/results/scaling_4xh200.json

Sources are the same for every number of PEs. A command that fails or takes longer than --timeout is named and left out.
"""

import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys

FLAGS = {"sssp": ["--weights", "hash255"], "pagerank": ["--tolerance", "5e-6"]}


def measure(args: argparse.Namespace, algorithm: str, graph: str, pes: int) -> dict:
    """The JSON of one command. Raises RuntimeError if it failed."""
    command = [args.shoal, algorithm, graph, "--device", args.device, "--pes", pes, "--trials", args.trials]
    command += ["--verify", "--json", *FLAGS.get(algorithm, [])]
    try:
        done = subprocess.run([str(w) for w in command], capture_output=True, text=True, timeout=args.timeout)
    except subprocess.TimeoutExpired as late:
        raise RuntimeError(f"took longer than {args.timeout} s") from late
    if done.returncode != 0:
        raise RuntimeError(f"status {done.returncode}: {done.stderr.strip()[-200:]}")
    return json.loads(done.stdout)


def keep(args: argparse.Namespace, machine: dict, rows: list[dict]) -> None:
    """Writes the rows so far. Called after every row, so that a run that is cut off leaves what it has."""
    if not args.json:
        return
    devices = [{k: v for k, v in device.items() if k != "free_bytes"} for device in machine["devices"]]
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    out = {"bench": "scaling", "arguments": sys.argv[1:], "date": now, **machine, "devices": devices}
    out |= {"device": args.device, "flags": FLAGS, "table": args.table, "rows": rows}
    args.json.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", type=pathlib.Path, required=True, help="the shoal command")
    parser.add_argument("--device", choices=["cpu", "gpu"], required=True)
    parser.add_argument("--pes", default="1,2,3,4", help="numbers of PEs (default 1,2,3,4)")
    parser.add_argument("--graphs", nargs="+", default=["kron:26", "road:4096"])
    parser.add_argument("--algorithms", nargs="+", default=["bfs", "sssp", "pagerank", "components"])
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=60, help="seconds of a command (default 60)")
    parser.add_argument("--json", type=pathlib.Path, help="where the rows are kept")
    parser.add_argument(
        "--table", action="store_true", help="docs/results.md shows graphs by PEs, not a line for each row"
    )
    args = parser.parse_args()
    if not args.shoal.is_file():
        parser.error(f"{args.shoal} is not there; build shoal (./run build), and name it")
    rows, failed = [], 0
    for graph in args.graphs:
        for algorithm in args.algorithms:
            for pes in (int(n) for n in args.pes.split(",")):
                name = f"{algorithm} {graph} {pes} PEs"
                try:
                    got = measure(args, algorithm, graph, pes)
                except RuntimeError as error:
                    failed += 1
                    print(f"{name}: failed: {error}", flush=True)
                    continue
                chosen = got["trials"][-1]["report"]["chosen"]
                rows.append(
                    {
                        "algorithm": algorithm,
                        "graph": graph,
                        "num_vertices": got["graph"]["num_vertices"],
                        "num_arcs": got["graph"]["num_arcs"],
                        "pes": pes,
                        "strategy": chosen["strategy"].split(":")[0],
                        "arcs_per_second": got["median_arcs_per_second"],
                        "seconds": [t["seconds"] for t in got["trials"]],
                        "verified": all(t["verified"] is True for t in got["trials"]),
                    }
                )
                if algorithm == "bfs":
                    rows[-1]["depth"] = statistics.median(t["depth"] for t in got["trials"])
                if algorithm == "pagerank":
                    rows[-1]["error_bound"] = max(t["error_bound"] for t in got["trials"])
                    rows[-1]["sweeps"] = got["trials"][-1]["sweeps"]
                keep(args, {k: got[k] for k in ("version", "revision", "machine", "devices")}, rows)
                print(
                    f"{name}: {statistics.median(rows[-1]['seconds']) * 1e3:.3f} ms ({rows[-1]['strategy']})",
                    flush=True,
                )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
