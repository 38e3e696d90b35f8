#!/usr/bin/env python3
"""Breadth-first search on CPU threads: shoal beside GAPBS, NetworKit and igraph.

    bench/cpu_bfs.py --shoal build/shoal --gapbs ~/gapbs/bfs

Check, then time. Each graph is written once as .sg and read by both programs. For every source both programs run the
same number of trials with the same number of threads, one program after the other, the order changing from source to
source; a program's time for a source is its median trial. What is printed is the median over the sources, and the median
of the per-source ratios (shoal / GAPBS: below 1, shoal is faster).

What is timed. GAPBS: its own "Trial Time" (the parent array is allocated, filled and searched). shoal: `seconds` of the
report (the levels are cleared and searched, in memory kept from search to search). GAPBS finds parents, shoal levels.
Reading the graph is in neither. The answers are checked: shoal verifies each source's levels, and both must reach the
same number of vertices and arcs.

NetworKit and igraph are timed inside this process where they are installed (pip install numpy networkit igraph).
"""

import argparse
import datetime
import json
import mmap
import os
import platform
import random
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FREE = 0.9  # of all cores' time: below it, others are at work and times are not to be trusted
SG_HEADER = struct.Struct("<?qq")  # directed, arcs, vertices; then offsets (int64) and targets (int32)


class BenchError(Exception):
    """Something to tell the user in one line."""


def run(command, **environment):
    """Standard output of a command, or a BenchError with what it said."""
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **environment},
        text=True,
        capture_output=True,
        timeout=600,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
        raise BenchError(f"{' '.join(map(str, command))}: exit status {done.returncode}: {said[0]}")
    return done.stdout


def idle_fraction(seconds=0.5):
    """The share of all cores' time that nobody uses, over some time; None where the system does not tell."""

    def read():
        fields = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        return fields[3] + fields[4], sum(fields)

    try:
        before = read()
        time.sleep(seconds)
        after = read()
    except OSError:
        return None
    return (after[0] - before[0]) / max(1, after[1] - before[1])


class Quiet:
    """Waits for cores to be free before each source, while patience lasts."""

    def __init__(self, patience):
        self.patience = patience

    def wait(self):
        """What was idle when the waiting ended."""
        while True:
            begin = time.monotonic()
            idle = idle_fraction()
            if idle is None or idle >= FREE or self.patience <= 0:
                return idle
            time.sleep(1)
            self.patience -= time.monotonic() - begin


def pick_sources(graph_file, count, seed):
    """`count` vertices with out-arcs of a .sg file, and the file's numbers of vertices and arcs."""
    with open(graph_file, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        _, num_arcs, num_vertices = SG_HEADER.unpack_from(data)
        if num_arcs == 0:
            raise BenchError(f"{graph_file}: a graph without arcs has no source to search from")
        chosen, rng = [], random.Random(seed)
        while len(chosen) < count:
            v = rng.randrange(num_vertices)
            begin, end = struct.unpack_from("<qq", data, SG_HEADER.size + 8 * v)
            if end > begin:
                chosen.append(v)
    return chosen, num_vertices, num_arcs


def time_shoal(args, graph_file, source, trials, verify=False):
    command = [
        args.shoal,
        "bfs",
        graph_file,
        "--device",
        "cpu",
        "--strategy",
        "levels",
        "--pes",
        args.pes,
        "--threads",
        args.threads // args.pes,
        "--source",
        source,
        "--trials",
        trials,
        "--json",
    ]
    result = json.loads(run(command + (["--verify"] if verify else [])))
    last = result["trials"][-1]
    if verify and last["verified"] is not True:
        raise BenchError(f"shoal: wrong levels from source {source}: {last}")
    return {
        "seconds": [t["seconds"] for t in result["trials"]],
        "reached": last["reached"],
        "reached_arcs": last["reached_arcs"],
        "depth": last["depth"],
    }


def time_gapbs(args, graph_file, source, trials):
    said = run([args.gapbs, "-f", graph_file, "-r", source, "-n", trials, "-a"], OMP_NUM_THREADS=str(args.threads))
    seconds = [float(x) for x in re.findall(r"^Trial Time:\s+([0-9.]+)", said, re.MULTILINE)]
    tree = re.search(r"BFS Tree has (\d+) nodes and (\d+) edges", said)
    if len(seconds) != trials or tree is None:
        raise BenchError(f"{args.gapbs}: its output is not that of GAPBS bfs: {said[-200:]!r}")
    return {"seconds": seconds, "reached": int(tree[1]), "reached_arcs": int(tree[2])}


def load_arrays(graph_file):
    import numpy as np

    directed, num_arcs, num_vertices = SG_HEADER.unpack(open(graph_file, "rb").read(SG_HEADER.size))
    offsets = np.fromfile(graph_file, np.int64, num_vertices + 1, offset=SG_HEADER.size)
    targets = np.fromfile(graph_file, np.int32, num_arcs, offset=SG_HEADER.size + offsets.nbytes)
    sources = np.repeat(np.arange(num_vertices, dtype=np.int32), np.diff(offsets))
    if not directed:
        keep = sources <= targets
        sources, targets = sources[keep], targets[keep]
    return directed, num_vertices, sources, targets


def networkit_searcher(graph_file, threads):
    import networkit as nk
    import numpy as np

    nk.setNumberOfThreads(threads)
    directed, n, sources, targets = load_arrays(graph_file)
    graph = nk.GraphFromCoo((sources.astype(np.uint64), targets.astype(np.uint64)), n=n, directed=directed)

    def search(source):
        bfs = nk.distance.BFS(graph, source, storePaths=False)
        begin = time.perf_counter()
        bfs.run()
        seconds = time.perf_counter() - begin
        return seconds, sum(1 for d in bfs.getDistances() if d < n)

    return search, nk.__version__


def igraph_searcher(graph_file, _threads):
    import igraph
    import numpy as np

    directed, n, sources, targets = load_arrays(graph_file)
    graph = igraph.Graph(n=n, edges=np.stack([sources, targets], 1), directed=bool(directed))

    def search(source):
        begin = time.perf_counter()
        order, layers, _ = graph.bfs(source)
        seconds = time.perf_counter() - begin
        return seconds, len(order)

    return search, igraph.__version__


LIBRARIES = {"networkit": networkit_searcher, "igraph": igraph_searcher}


def measure_library(name, args, graph_file, sources, reached):
    """Times of one library, or why it was skipped."""
    try:
        search, version = LIBRARIES[name](graph_file, args.threads)
    except ImportError as error:
        return {"skipped": f"{error}; pip install numpy {name}"}
    seconds = []
    for source, expected in zip(sources, reached):
        took, found = search(source)
        if found != expected:
            raise BenchError(f"{name} reaches {found} vertices from {source}, shoal {expected}")
        seconds.append(took)
    return {"version": version, "sources": len(seconds), "median_seconds": statistics.median(seconds)}


def graph_file_of(args, graph, folder):
    """The .sg file of a graph argument, converted by shoal unless it is one already."""
    if graph.endswith(".sg"):
        return Path(graph)
    file = folder / (re.sub(r"[^A-Za-z0-9.]+", "-", graph) + ".sg")
    if not file.exists():
        print(f"writing {file}", file=sys.stderr)
        verb = "generate" if re.match(r"^[a-z]+:\d", graph) else "convert"
        run([args.shoal, verb, graph, file, "--quiet"])
    return file


def measure(args, graph, folder, quiet):
    file = graph_file_of(args, graph, folder)
    sources, num_vertices, num_arcs = pick_sources(file, args.sources, args.seed)
    rows = []
    for i, source in enumerate(sources):
        checked = time_shoal(args, file, source, 1, verify=True)
        order = [("shoal", time_shoal), ("gapbs", time_gapbs)]
        row = {"source": source, "idle_before": quiet.wait()}
        for name, timed in order if i % 2 == 0 else reversed(order):
            row[name] = timed(args, file, source, args.trials)
        for name in ("shoal", "gapbs"):
            if (row[name]["reached"], row[name]["reached_arcs"]) != (checked["reached"], checked["reached_arcs"]):
                raise BenchError(f"{name} from {source} on {graph}: reaches {row[name]}, the verified answer {checked}")
        row["ratio"] = statistics.median(row["shoal"]["seconds"]) / statistics.median(row["gapbs"]["seconds"])
        rows.append(row)
    result = {
        "graph": graph,
        "num_vertices": num_vertices,
        "num_arcs": num_arcs,
        "sources": rows,
        "idle_before": min((row["idle_before"] for row in rows if row["idle_before"] is not None), default=None),
        "median_ratio": statistics.median(row["ratio"] for row in rows),
    }
    for name in ("shoal", "gapbs"):
        medians = [statistics.median(row[name]["seconds"]) for row in rows]
        result[name] = {
            "median_seconds": statistics.median(medians),
            "fastest_seconds": min(min(row[name]["seconds"]) for row in rows),
            "slowest_source_seconds": max(medians),
            "median_arcs_per_second": statistics.median(
                row[name]["reached_arcs"] / seconds for row, seconds in zip(rows, medians)
            ),
        }
    few = sources[: args.library_sources]
    for name in LIBRARIES:
        result[name] = (
            {"skipped": "not asked for (--library-sources)"}
            if not few
            else measure_library(name, args, file, few, [row["shoal"]["reached"] for row in rows])
        )
    return result


def show(result):
    print(
        f"\n{result['graph']}: {result['num_vertices']:,} vertices, {result['num_arcs']:,} arcs, "
        f"{len(result['sources'])} sources"
    )
    print(f"  {'':10} {'median ms':>10} {'fastest':>9} {'slowest':>9} {'Garcs/s':>8}")
    for name in ("shoal", "gapbs"):
        r = result[name]
        print(
            f"  {name:10} {r['median_seconds'] * 1e3:10.2f} {r['fastest_seconds'] * 1e3:9.2f} "
            f"{r['slowest_source_seconds'] * 1e3:9.2f} {r['median_arcs_per_second'] / 1e9:8.2f}"
        )
    for name in LIBRARIES:
        r = result[name]
        if "skipped" in r:
            print(f"  {name:10} skipped: {r['skipped']}")
        else:
            print(f"  {name:10} {r['median_seconds'] * 1e3:10.2f}   ({r['sources']} sources, one trial each)")
    print(
        f"  shoal / gapbs: {result['median_ratio']:.2f} (median of the sources' ratios; "
        f"{min(r['ratio'] for r in result['sources']):.2f} to {max(r['ratio'] for r in result['sources']):.2f})"
    )
    busy = [row for row in result["sources"] if row["idle_before"] is not None and row["idle_before"] < FREE]
    if busy:
        print(
            f"  Others were at work on this machine before {len(busy)} of the sources: do not quote these times "
            "(--patience waits for free cores)."
        )


def machine():
    model = (
        re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text()) if platform.system() == "Linux" else None
    )
    return {
        "processor": model[1] if model else platform.processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
    }


def revision(folder):
    try:
        return run(["git", "-C", folder, "describe", "--always", "--dirty"]).strip()
    except BenchError:
        return "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", default=ROOT / "build" / "shoal", help="the shoal command (default: %(default)s)")
    parser.add_argument("--gapbs", required=True, help="bfs of github.com/sbeamer/gapbs, built with its Makefile")
    parser.add_argument("--graphs", nargs="+", default=["kron:20", "road:2048"], help="generators, or .sg files")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="in all (default: %(default)s)")
    parser.add_argument("--pes", type=int, default=1, help="shoal's PEs; they share the threads")
    parser.add_argument("--sources", type=int, default=16)
    parser.add_argument("--trials", type=int, default=5, help="of each source")
    parser.add_argument("--seed", type=int, default=1, help="of the sources")
    parser.add_argument(
        "--library-sources", type=int, default=4, help="sources for NetworKit and igraph; 0: leave them out"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=60,
        metavar="SECONDS",
        help="in all, to wait for free cores (default: %(default)s)",
    )
    parser.add_argument("--folder", type=Path, help="keep the .sg files here (default: a temporary folder)")
    parser.add_argument("--json", type=Path, help="write everything here, e.g. bench/results/cpu_bfs.json")
    args = parser.parse_args()
    if args.threads % args.pes:
        parser.error("--threads must be a multiple of --pes")
    try:
        with tempfile.TemporaryDirectory() as temporary:
            folder = args.folder or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            results, quiet = [], Quiet(args.patience)
            for graph in args.graphs:
                results.append(measure(args, graph, folder, quiet))
                show(results[-1])
    except (BenchError, OSError, subprocess.TimeoutExpired) as error:
        print(f"cpu_bfs: {error}", file=sys.stderr)
        return 1
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(
            json.dumps(
                {
                    "bench": "cpu_bfs",
                    "date": datetime.date.today().isoformat(),
                    "machine": machine(),
                    "threads": args.threads,
                    "pes": args.pes,
                    "trials": args.trials,
                    "seed": args.seed,
                    "revisions": {"shoal": revision(ROOT), "gapbs": revision(Path(args.gapbs).resolve().parent)},
                    "results": results,
                },
                indent=1,
            )
            + "\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
