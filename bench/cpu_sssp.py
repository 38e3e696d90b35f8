#!/usr/bin/env python3
"""Shortest paths on CPU threads: shoal beside GAPBS.

    bench/cpu_sssp.py --shoal build/shoal --gapbs ~/gapbs/sssp

Check, then time. Each graph is written once as .wsg, with weights 1 to 255 from the ends of each arc, and read by both
programs. For every source both run the same number of trials with the same number of threads, one program after the
other, the order changing from source to source; a program's time for a source is its median trial. What is printed is the
median over the sources, and the median of the per-source ratios (shoal / GAPBS: below 1, shoal is faster).

What is timed. GAPBS: its own "Trial Time" (the distance array is allocated, filled and searched). shoal: `seconds` of the
report (the distances are cleared and searched, in memory kept from search to search). Before its first search shoal puts
weights beside targets and sorts each row by weight where that helps; that is not in `seconds`, but is printed and written
as `prepare_seconds`. Reading the graph is in neither. GAPBS is given several widths of buckets and the fastest of them,
on the first source, is used; shoal chooses by itself. The answers are checked: shoal verifies each source's distances, and
both must reach the same number of vertices.
"""

import argparse
import datetime
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cpu_bfs import FREE, ROOT, BenchError, Quiet, machine, pick_sources, revision, run


def time_shoal(args, file, source, trials, verify=False):
    command = [
        args.shoal,
        "sssp",
        file,
        "--weights",
        "file",
        "--device",
        "cpu",
        "--strategy",
        "delta",
        "--pes",
        args.pes,
    ]
    command += ["--threads", args.threads // args.pes, "--source", source, "--trials", trials, "--json"]
    result = json.loads(run(command + (["--verify"] if verify else [])))
    last = result["trials"][-1]
    if verify and last["verified"] is not True:
        raise BenchError(f"shoal: wrong distances from source {source}: {last}")
    return {
        "seconds": [t["seconds"] for t in result["trials"]],
        "reached": last["reached"],
        "prepare_seconds": last["report"]["phase_seconds"].get("place"),
        "delta": last["report"]["chosen"].get("delta"),
    }


def time_gapbs(args, file, source, trials, delta):
    command = [args.gapbs, "-f", file, "-r", source, "-n", trials, "-d", delta, "-a"]
    said = run(command, OMP_NUM_THREADS=str(args.threads))
    seconds = [float(x) for x in re.findall(r"^Trial Time:\s+([0-9.]+)", said, re.MULTILINE)]
    reached = re.search(r"reaches (\d+) nodes", said)
    if len(seconds) != trials or reached is None:
        raise BenchError(f"{args.gapbs}: its output is not that of GAPBS sssp: {said[-200:]!r}")
    return {"seconds": seconds, "reached": int(reached[1]), "delta": delta}


def best_delta(args, file, source):
    """GAPBS's fastest width on one source, and its time with each."""
    tried = {d: min(time_gapbs(args, file, source, 2, d)["seconds"]) for d in args.deltas}
    return min(tried, key=tried.get), tried


def measure(args, graph, folder, quiet):
    file = folder / (re.sub(r"[^A-Za-z0-9.]+", "-", graph) + ".wsg")
    if not file.exists():
        print(f"writing {file}", file=sys.stderr)
        verb = "generate" if re.match(r"^[a-z]+:\d", graph) else "convert"
        run([args.shoal, verb, graph, file, "--weights", "hash255", "--quiet"])
    sources, num_vertices, num_arcs = pick_sources(file, args.sources, args.seed)
    delta, tried = best_delta(args, file, sources[0])
    rows = []
    for i, source in enumerate(sources):
        checked = time_shoal(args, file, source, 1, verify=True)
        row = {"source": source, "idle_before": quiet.wait()}
        timed = {
            "shoal": lambda s=source: time_shoal(args, file, s, args.trials),
            "gapbs": lambda s=source: time_gapbs(args, file, s, args.trials, delta),
        }
        for name in timed if i % 2 == 0 else reversed(timed):
            row[name] = timed[name]()
            if row[name]["reached"] != checked["reached"]:
                raise BenchError(f"{name} from {source} on {graph}: reaches {row[name]}, verified: {checked}")
        row["ratio"] = statistics.median(row["shoal"]["seconds"]) / statistics.median(row["gapbs"]["seconds"])
        rows.append(row)
    idle = [row["idle_before"] for row in rows if row["idle_before"] is not None]
    result = {
        "graph": graph,
        "num_vertices": num_vertices,
        "num_arcs": num_arcs,
        "gapbs_seconds_by_delta": tried,
        "sources": rows,
        "idle_before": min(idle, default=None),
        "median_ratio": statistics.median(row["ratio"] for row in rows),
    }
    for name in ("shoal", "gapbs"):
        medians = [statistics.median(row[name]["seconds"]) for row in rows]
        result[name] = {
            "median_seconds": statistics.median(medians),
            "fastest_seconds": min(min(row[name]["seconds"]) for row in rows),
            "slowest_source_seconds": max(medians),
        }
    return result


def show(result):
    print(f"\n{result['graph']}: {result['num_vertices']:,} vertices, {result['num_arcs']:,} arcs")
    print(f"  {'':10} {'median ms':>10} {'fastest':>9} {'slowest':>9}  bucket's width")
    for name in ("shoal", "gapbs"):
        r = result[name]
        print(
            f"  {name:10} {r['median_seconds'] * 1e3:10.1f} {r['fastest_seconds'] * 1e3:9.1f} "
            f"{r['slowest_source_seconds'] * 1e3:9.1f}  {result['sources'][0][name]['delta']}"
        )
    ratios = [row["ratio"] for row in result["sources"]]
    print(
        f"  shoal / gapbs: {result['median_ratio']:.2f} (median of {len(ratios)} sources' ratios; "
        f"{min(ratios):.2f} to {max(ratios):.2f}); shoal prepares for "
        f"{result['sources'][0]['shoal']['prepare_seconds']:.2f} s, once"
    )
    if result["idle_before"] is not None and result["idle_before"] < FREE:
        print(
            "  Others were at work on this machine: quote the ratio, not the times (--patience waits for free cores)."
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", default=ROOT / "build" / "shoal", help="the shoal command (default: %(default)s)")
    parser.add_argument("--gapbs", required=True, help="sssp of github.com/sbeamer/gapbs, built with its Makefile")
    parser.add_argument("--graphs", nargs="+", default=["kron:20", "road:2048"], help="generators or files")
    parser.add_argument("--deltas", nargs="+", type=int, default=[8, 16, 32, 256, 1024], help="widths for GAPBS")
    parser.add_argument("--threads", type=int, default=2, help="in all (default: %(default)s)")
    parser.add_argument("--pes", type=int, default=1, help="shoal's PEs; they share the threads")
    parser.add_argument("--sources", type=int, default=8)
    parser.add_argument("--trials", type=int, default=3, help="of each source")
    parser.add_argument("--seed", type=int, default=1, help="of the sources")
    parser.add_argument("--patience", type=float, default=60, metavar="SECONDS", help="to wait for free cores, in all")
    parser.add_argument("--folder", type=Path, help="keep the .wsg files here (default: a temporary folder)")
    parser.add_argument("--json", type=Path, help="write everything here, e.g. bench/results/cpu_sssp.json")
    args = parser.parse_args()
    if args.threads % args.pes:
        parser.error("--threads must be a multiple of --pes")
    results = []
    try:
        with tempfile.TemporaryDirectory() as temporary:
            folder = args.folder or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            quiet = Quiet(args.patience)
            for graph in args.graphs:
                results.append(measure(args, graph, folder, quiet))
                show(results[-1])
    except (BenchError, OSError, subprocess.TimeoutExpired) as error:
        print(f"cpu_sssp: {error}", file=sys.stderr)
        return 1
    if args.json:
        whole = {
            "bench": "cpu_sssp",
            "date": datetime.date.today().isoformat(),
            "machine": machine(),
            "threads": args.threads,
            "pes": args.pes,
            "trials": args.trials,
            "seed": args.seed,
            "revisions": {"shoal": revision(ROOT), "gapbs": revision(Path(args.gapbs).resolve().parent)},
            "results": results,
        }
        args.json.write_text(json.dumps(whole, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
