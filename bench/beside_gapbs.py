#!/usr/bin/env python3
"""Compares shoal on CPU threads with GAPBS, and for breadth-first search also with NetworKit and igraph.

    bench/beside_gapbs.py --algorithm bfs --shoal build/shoal --gapbs ~/gapbs --json bench/results/cpu_bfs.json

Answers are checked first, then times are measured. Each graph is written once as .sg (.wsg for sssp, with weights 1 to 255 made
from the ends of each arc), and both programs read it. In every round both run the same number of trials with the same number of
threads, one program after the other; the order changes from round to round. A program's time for a round is its median trial.
Printed are the median over the rounds, and the median of the rounds' ratios (shoal / GAPBS: below 1, shoal is faster). For bfs
and sssp each round has a source of its own.

What is timed: GAPBS's own "Trial Time" (arrays are allocated, filled and computed), and `seconds` of shoal's report (the same, in
memory that is kept from trial to trial). Neither includes reading the graph. The work that shoal does once before its first trial
(for sssp: weights beside targets, rows sorted by weight) is not in `seconds`, but is written as `prepare_seconds`. GAPBS finds
parents where shoal finds levels. For sssp GAPBS is tried with several bucket widths, and the one that is fastest on the first
source is used; shoal chooses by itself.

PageRank is compared at the same true error, the sum over all vertices of |rank - exact rank|, and not at the same tolerance,
because the two programs differ in how far their true error is below the error that they guarantee. On each graph shoal gets the
loosest tolerance, and GAPBS the fewest sweeps, whose true error is at most --error in each of eight runs. If vertices have no
out-arcs, GAPBS defines ranks differently, and its ranks are scaled to a sum of 1; equal_error.py says why that is enough. GAPBS's
own program prints only five scores. So --scores names a program that takes the flags -f, -n, -i and -t of GAPBS's `pr`, computes
ranks as `pr` does, and writes all scores (float32, in the order of vertices) to the file that the variable SCORES names. Its
scores are compared with the five, and it is never timed.

Answers are checked as follows: shoal verifies its answer in each round, and both programs must reach the same number of vertices
(bfs: and arcs), or find the same number of components. NetworKit and igraph are timed inside this process if they are installed
(pip install numpy networkit igraph).
"""

import argparse
import datetime
import json
import mmap
import os
import random
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from equal_error import EqualError
from host import FREE, ROOT, BenchError, Quiet, machine, revision, run
from libraries_bfs import LIBRARIES, SG_HEADER, measure_library

# program: GAPBS's program; gapbs, shoal: flags; said: a pattern for GAPBS's answer, and shoal's names for its groups; searches:
# whether it searches from a source
ALGORITHMS = {
    "bfs": {
        "program": "bfs",
        "gapbs": ["-a"],
        "shoal": ["--strategy", "levels"],
        "said": (r"BFS Tree has (\d+) nodes and (\d+) edges", ["reached", "reached_arcs"]),
        "searches": True,
    },
    "sssp": {
        "program": "sssp",
        "gapbs": ["-a"],
        "shoal": ["--weights", "file", "--strategy", "delta"],
        "said": (r"reaches (\d+) nodes", ["reached"]),
        "searches": True,
    },
    "components": {
        "program": "cc",
        "gapbs": ["-a"],
        "shoal": [],
        "said": (r"There are (\d+) components", ["components"]),
        "searches": False,
    },
    "pagerank": {
        "program": "pr",
        "gapbs": [],
        "shoal": [],
        "said": ("", []),
        "searches": False,
    },
}


def pick_rounds(args, graph_file):
    """A source with out-arcs for each round (None for algorithms without a source), and the numbers of vertices and arcs."""
    with open(graph_file, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        _, num_arcs, num_vertices = SG_HEADER.unpack_from(data)
        if num_arcs == 0:
            raise BenchError(f"{graph_file}: a graph without arcs has nothing to search")
        if not ALGORITHMS[args.algorithm]["searches"]:
            return [None] * args.rounds, num_vertices, num_arcs
        chosen, rng = [], random.Random(args.seed)
        while len(chosen) < args.rounds:
            v = rng.randrange(num_vertices)
            begin, end = struct.unpack_from("<qq", data, SG_HEADER.size + 8 * v)
            if end > begin:
                chosen.append(v)
    return chosen, num_vertices, num_arcs


def time_shoal(args, file, source, trials, flags=(), verify=False):
    command = [args.shoal, args.algorithm, file, "--device", "cpu", "--pes", args.pes, "--json", "--trials", trials]
    command += ["--threads", args.threads // args.pes, *ALGORITHMS[args.algorithm]["shoal"], *flags]
    command += [] if source is None else ["--source", source]
    result = json.loads(run(command + (["--verify"] if verify else [])))
    last = result["trials"][-1]
    if verify and last["verified"] is not True:
        raise BenchError(f"shoal {args.algorithm}: a wrong answer, source {source}: {last}")
    timed = {"seconds": [t["seconds"] for t in result["trials"]]}
    timed |= {name: last[name] for name in ALGORITHMS[args.algorithm]["said"][1]}
    timed |= {name: last[name] for name in ("sweeps", "error_bound") if name in last}
    chosen = last["report"]["chosen"]
    return timed | {
        "prepare_seconds": last["report"]["phase_seconds"].get("place"),
        "chosen": {name: chosen[name] for name in ("strategy", "delta") if name in chosen},
    }


def time_gapbs(args, file, source, trials, flags=()):
    how = ALGORITHMS[args.algorithm]
    command = [args.gapbs / how["program"], "-f", file, "-n", trials, *how["gapbs"], *flags]
    command += [] if source is None else ["-r", source]
    said = run(command, OMP_NUM_THREADS=str(args.threads))
    seconds = [float(x) for x in re.findall(r"^Trial Time:\s+([0-9.]+)", said, re.MULTILINE)]
    pattern, names = how["said"]
    answer = re.search(pattern, said)
    if len(seconds) != trials or answer is None:
        raise BenchError(f"{command[0]}: its output is not that of GAPBS {how['program']}: {said[-200:]!r}")
    return {"seconds": seconds} | dict(zip(names, map(int, answer.groups())))


def scores_that_gapbs_prints(args, file, flags):
    """The scores of the best vertices, from the lines `vertex:score` that GAPBS prints."""
    said = run([args.gapbs / "pr", "-f", file, "-n", 1, "-a", *flags], OMP_NUM_THREADS=str(args.threads))
    return [(int(v), float(s)) for v, s in re.findall(r"^(\d+):([0-9.e+-]+)$", said, re.MULTILINE)]


def name_of(graph):
    """The name of a file without folder and endings; a generator unchanged."""
    return Path(graph).name.split(".")[0] if Path(graph).exists() else graph


def graph_file_of(args, graph, folder):
    """The file that both programs read. shoal writes it, unless the graph is such a file already."""
    suffix = ".wsg" if args.algorithm == "sssp" else ".sg"
    if graph.endswith(suffix):
        return Path(graph)
    file = folder / (re.sub(r"[^A-Za-z0-9.]+", "-", graph) + suffix)
    if not file.exists():
        print(f"writing {file}", file=sys.stderr)
        verb = "generate" if re.match(r"^[a-z]+:\d", graph) else "convert"
        weights = ["--weights", "hash255"] if args.algorithm == "sssp" else []
        run([args.shoal, verb, graph, file, "--quiet", *weights])
    return file


def measure(args, graph, folder, quiet):
    file = graph_file_of(args, graph, folder)
    sources, num_vertices, num_arcs = pick_rounds(args, file)
    flags, tried, true_error = {"shoal": [], "gapbs": []}, {}, {}
    if args.algorithm == "sssp":
        tried = {d: min(time_gapbs(args, file, sources[0], 2, ["-d", d])["seconds"]) for d in args.deltas}
        flags["gapbs"] = ["-d", str(min(tried, key=tried.get))]
    elif args.algorithm == "pagerank":
        errors = EqualError(args, file)
        flags, true_error = errors.flags_and_errors()
        errors.check_scores(flags["gapbs"], scores_that_gapbs_prints(args, file, flags["gapbs"]))
        print(f"{graph}: shoal {' '.join(flags['shoal'])}, GAPBS {' '.join(flags['gapbs'])}", file=sys.stderr)
    rows = []
    for i, source in enumerate(sources):
        checked = time_shoal(args, file, source, 1, flags["shoal"], verify=True)
        row = {"source": source, "idle_before": quiet.wait()}
        for name in ("shoal", "gapbs") if i % 2 == 0 else ("gapbs", "shoal"):
            run_one = time_shoal if name == "shoal" else time_gapbs
            row[name] = run_one(args, file, source, args.trials, flags[name])
            for what in ALGORITHMS[args.algorithm]["said"][1]:
                if row[name][what] != checked[what]:
                    raise BenchError(
                        f"{name} on {graph}, source {source}: {what} {row[name][what]}, not {checked[what]}"
                    )
        row["ratio"] = statistics.median(row["shoal"]["seconds"]) / statistics.median(row["gapbs"]["seconds"])
        rows.append(row)
    result = {
        "graph": name_of(graph),
        "flags": flags,
        "num_vertices": num_vertices,
        "num_arcs": num_arcs,
        "sources": rows,
        "idle_before": min((row["idle_before"] for row in rows if row["idle_before"] is not None), default=None),
        "median_ratio": statistics.median(row["ratio"] for row in rows),
    }
    if true_error:
        result["true_error"] = true_error
    if tried:
        result["gapbs_seconds_by_delta"] = tried
    for name in ("shoal", "gapbs"):
        medians = [statistics.median(row[name]["seconds"]) for row in rows]
        arcs = [row[name].get("reached_arcs", num_arcs) for row in rows]
        result[name] = {
            "median_seconds": statistics.median(medians),
            "fastest_seconds": min(min(row[name]["seconds"]) for row in rows),
            "slowest_source_seconds": max(medians),
            "median_arcs_per_second": statistics.median(a / seconds for a, seconds in zip(arcs, medians)),
        }
    if args.algorithm == "bfs":
        few = sources[: args.library_sources]
        for name in LIBRARIES:
            result[name] = measure_library(name, args.threads, file, few, [row["shoal"]["reached"] for row in rows])
    return result


def show(result):
    print(
        f"\n{result['graph']}: {result['num_vertices']:,} vertices, {result['num_arcs']:,} arcs, "
        f"{len(result['sources'])} rounds"
    )
    print(f"  {'':10} {'median ms':>10} {'fastest':>9} {'slowest':>9} {'Garcs/s':>8}")
    for name in ("shoal", "gapbs"):
        r = result[name]
        print(
            f"  {name:10} {r['median_seconds'] * 1e3:10.2f} {r['fastest_seconds'] * 1e3:9.2f} "
            f"{r['slowest_source_seconds'] * 1e3:9.2f} {r['median_arcs_per_second'] / 1e9:8.2f}"
        )
    for name, error in result.get("true_error", {}).items():
        print(f"  {name:10} {' '.join(result['flags'][name])}: a true error of at most {error:.2e}")
    for name in LIBRARIES:
        r = result.get(name, {})
        if "skipped" in r:
            print(f"  {name:10} skipped: {r['skipped']}")
        elif r:
            print(f"  {name:10} {r['median_seconds'] * 1e3:10.2f}   ({r['sources']} sources, one trial each)")
    print(
        f"  shoal / gapbs: {result['median_ratio']:.2f} (median of the rounds' ratios; "
        f"{min(r['ratio'] for r in result['sources']):.2f} to {max(r['ratio'] for r in result['sources']):.2f}); "
        f"shoal prepares for {result['sources'][0]['shoal']['prepare_seconds']:.2f} s, once"
    )
    if result["idle_before"] is not None and result["idle_before"] < FREE:
        print(
            "  Others were at work on this machine: quote the ratio, not the times (--patience waits for free cores)."
        )


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithm", choices=ALGORITHMS, required=True)
    parser.add_argument("--shoal", default=ROOT / "build" / "shoal", help="the shoal command (default: %(default)s)")
    parser.add_argument(
        "--gapbs", type=Path, required=True, help="folder of github.com/sbeamer/gapbs, built by its make"
    )
    parser.add_argument("--graphs", nargs="+", default=["kron:20", "road:2048"], help="generators or files")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="in all (default: %(default)s)")
    parser.add_argument("--pes", type=int, default=1, help="shoal's PEs; they share the threads")
    parser.add_argument("--rounds", type=int, default=8, help="for bfs and sssp: sources (default: %(default)s)")
    parser.add_argument("--trials", type=int, default=3, help="of each round")
    parser.add_argument("--seed", type=int, default=1, help="of the sources")
    parser.add_argument("--deltas", nargs="+", type=int, default=[8, 16, 32, 256, 1024], help="sssp: widths for GAPBS")
    parser.add_argument("--scores", type=Path, help="pagerank: a program that writes GAPBS's scores; see above")
    parser.add_argument("--error", type=float, default=1e-4, help="pagerank: true error of both (default: %(default)s)")
    parser.add_argument("--library-sources", type=int, default=4, help="bfs: sources for NetworKit and igraph; 0: none")
    parser.add_argument("--patience", type=float, default=60, metavar="SECONDS", help="to wait for free cores, in all")
    parser.add_argument("--folder", type=Path, help="keep the graph files here (default: a temporary folder)")
    parser.add_argument("--remark", help="what a reader has to know about the numbers; the tables show it")
    parser.add_argument("--json", type=Path, help="write everything here, e.g. bench/results/cpu_bfs.json")
    args = parser.parse_args()
    if args.threads % args.pes:
        parser.error("--threads must be a multiple of --pes")
    if min(args.rounds, args.trials) < 1:
        parser.error("--rounds and --trials must be at least 1")
    program = args.gapbs / ALGORITHMS[args.algorithm]["program"]
    if not os.access(program, os.X_OK) or program.is_dir():
        parser.error(f"--gapbs: {program} is not a program; clone github.com/sbeamer/gapbs and run make in it")
    if args.algorithm == "pagerank" and not (args.scores and args.scores.is_file() and os.access(args.scores, os.X_OK)):
        parser.error("--scores: pagerank needs a program that writes GAPBS's scores; --help says what it has to do")
    if shutil.which(args.shoal) is None:
        parser.error(f"--shoal: {args.shoal} is not a program; ./run build makes it")
    return args


def main():
    args = arguments()
    results = []
    try:
        with tempfile.TemporaryDirectory() as temporary:
            folder = args.folder or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            quiet = Quiet(args.patience)
            for graph in args.graphs:
                results.append(measure(args, graph, folder, quiet))
                show(results[-1])
    except (BenchError, OSError, ValueError, subprocess.TimeoutExpired) as error:
        print(f"beside_gapbs: {error}", file=sys.stderr)
        return 1
    if args.json:
        whole = {
            "bench": "beside_gapbs",
            "algorithm": args.algorithm,
            "date": datetime.date.today().isoformat(),
            "machine": machine(),
            "threads": args.threads,
            "pes": args.pes,
            "trials": args.trials,
            "seed": args.seed,
            **({"error": args.error} if args.algorithm == "pagerank" else {}),
            **({"remark": args.remark} if args.remark else {}),
            "revisions": {"shoal": revision(ROOT), "gapbs": revision(args.gapbs.resolve())},
            "results": results,
        }
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(whole, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
