#!/usr/bin/env python3
"""Measures what a partition costs and gains: the share of arcs that it cuts, the load of the largest PE, and times.

    bench/partitions.py --shoal build/shoal --device cpu --pes 4 --json bench/results/partitions_4xcpu.json

Every way is run on every graph with every partition, and each answer is verified. A way that fails or takes longer than --limit
is named, and the others go on. `cut` is the share of arcs whose ends have different owners, `imbalance` the most arcs of a PE
divided by the mean. Times are medians of the computation alone; the time for computing the partition itself is in
`partition_seconds`, once per graph. If METIS is not installed, --metis-files names a folder with its results: one PE number per
line (also .gz), in files named after the graph and the number of PEs: road-1024.4.gz.
"""

import argparse
import datetime
import gzip
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

WAYS = {
    "bfs levels": ["bfs", "--strategy", "levels"],
    "bfs async": ["bfs", "--strategy", "async"],
    "sssp": ["sssp", "--weights", "hash255"],
    "components": ["components"],
    "pagerank": ["pagerank", "--tolerance", "1e-6"],
}
PARTITIONS = ["block", "edges", "random", "metis"]


def metis_file(args, graph: str, folder: pathlib.Path) -> pathlib.Path:
    """The file with METIS's partition of a graph, unpacked."""
    stem = f"{re.sub(r'[^A-Za-z0-9._-]', '-', pathlib.Path(graph).name)}.{args.pes}"
    packed = args.metis_files / (stem + ".gz")
    if not packed.exists():
        return args.metis_files / stem
    file = folder / stem
    file.write_bytes(gzip.decompress(packed.read_bytes()))
    return file


def run(args, way: str, graph: str, partition: str) -> dict:
    """A row: what `shoal` reported about one way. Raises RuntimeError if it failed or took too long."""
    command = [str(args.shoal), WAYS[way][0], graph, *WAYS[way][1:], "--device", args.device, "--pes", str(args.pes)]
    command += ["--partition", partition, "--trials", str(args.trials), "--verify", "--json"]
    if ":" not in graph:
        command.append("--undirected")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.limit, check=False)
    except subprocess.TimeoutExpired as late:
        raise RuntimeError(f"took longer than {args.limit:g} s") from late
    if done.returncode != 0:
        raise RuntimeError(f"status {done.returncode}: {done.stderr.strip()[-300:]}")
    said = json.loads(done.stdout)
    report = said["trials"][-1]["report"]
    return {
        "num_vertices": said["graph"]["num_vertices"],
        "num_arcs": said["graph"]["num_arcs"],
        "cut_arcs": report["cut_arcs"],
        "imbalance": report["imbalance"],
        "partition_seconds": report["phase_seconds"].get("partition"),
        "median_seconds": statistics.median(t["seconds"] for t in said["trials"]),
        "seconds": [t["seconds"] for t in said["trials"]],
        "verified": all(t["verified"] is True for t in said["trials"]),
        "head": {
            "revision": said["revision"],
            "machine": said["machine"],
            "devices": said["devices"][: args.pes],
        },
    }


def when() -> dict:
    """The arguments and the date, for a file of results."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"arguments": sys.argv[1:], "date": now}


def keep(args, head: dict, rows: list[dict]) -> None:
    """Writes the rows so far. Called after every row, so that a run that is cut off leaves what it has."""
    if not args.json or not head:
        return
    data = {"bench": "partitions", **when(), **head}
    data |= {"device": args.device, "pes": args.pes, "trials": args.trials, "limit_seconds": args.limit, "rows": rows}
    args.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", type=pathlib.Path, required=True, help="the shoal command")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--pes", type=int, default=4)
    parser.add_argument("--graphs", nargs="+", default=["road:1024", "kron:18"], help="generators, or undirected files")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--partitions", nargs="+", default=PARTITIONS)
    parser.add_argument("--metis-files", type=pathlib.Path, help="folder with partitions that METIS made")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--limit", type=float, default=300, help="seconds of one run")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    if not args.shoal.is_file():
        parser.error(f"{args.shoal} is not there; build shoal (./run build), and name it")
    rows, head = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for graph in args.graphs:
            for partition in args.partitions:
                kind = partition
                if partition == "metis" and args.metis_files:
                    kind = f"file:{metis_file(args, graph, pathlib.Path(folder))}"
                shares, times = "", []
                for way in args.ways:
                    row = {"graph": graph, "partition": partition, "way": way}
                    try:
                        row |= run(args, way, graph, kind)
                        head = row.pop("head")
                        cut = row["cut_arcs"] / max(row["num_arcs"], 1)
                        shares = f"cut {cut:.4f} imbalance {row['imbalance']:.3f} "
                        times.append(f"{way} {row['median_seconds'] * 1e3:.3f}")
                    except RuntimeError as error:
                        row["failed"] = str(error)
                        times.append(f"{way} failed: {error}")
                    rows.append(row)
                    keep(args, head, rows)
                print(f"{graph} {partition}: {shares}ms: {', '.join(times)}", flush=True)


if __name__ == "__main__":
    main()
