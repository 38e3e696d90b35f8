#!/usr/bin/env python3
"""Measures partitions: the share of arcs whose ends have different owners, and the arcs of the largest part over the mean.

    bench/cuts.py --shoal build/cpu/shoal --graphs kron:18 community:18 --pes 2 4 8 --json bench/results/cuts.json

Cuts are the same on every machine, and nothing is timed. Each number comes from a verified search with that partition.
"""

import argparse
import json
import pathlib

import partitions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", type=pathlib.Path, required=True, help="the shoal command")
    parser.add_argument("--graphs", nargs="+", required=True, help="generators, or undirected files")
    parser.add_argument("--pes", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--partitions", nargs="+", default=["block", "edges", "metis"])
    parser.add_argument("--limit", type=float, default=600, help="seconds of one run")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    if not args.shoal.is_file():
        parser.error(f"{args.shoal} is not there; build shoal (./run build), and name it")
    rows, head = [], {}
    for graph in args.graphs:
        for partition in args.partitions:
            for pes in args.pes:
                one = argparse.Namespace(shoal=args.shoal, device="cpu", pes=pes, trials=1, limit=args.limit)
                row = {"graph": graph, "partition": partition, "pes": pes}
                try:
                    said = partitions.run(one, "bfs levels", graph, partition)
                    head = said["head"]
                    row |= {key: said[key] for key in ("num_vertices", "num_arcs", "cut_arcs", "imbalance", "verified")}
                    cut = row["cut_arcs"] / max(row["num_arcs"], 1)
                    print(f"{graph} {partition} {pes}: cut {cut:.2%} imbalance {row['imbalance']:.3f}", flush=True)
                except RuntimeError as error:
                    row["failed"] = str(error)
                    print(f"{graph} {partition} {pes}: {error}", flush=True)
                rows.append(row)
                if args.json and head:
                    data = {"bench": "cuts", **partitions.when(), **head, "rows": rows}
                    args.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
