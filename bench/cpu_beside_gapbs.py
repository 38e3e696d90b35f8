#!/usr/bin/env python3
"""Components and PageRank on CPU threads: shoal beside GAPBS.

    bench/cpu_beside_gapbs.py --shoal build/shoal --gapbs ~/gapbs --json bench/results/cpu_components_pagerank.json

Each graph is written once as .sg and read by both programs, which run in turns with the same number of threads; a round's
time is the program's median trial. GAPBS: its own "Trial Time". shoal: `median_seconds`, of the computation alone; every
trial is verified. PageRank runs to the same guaranteed L1 error of 1e-6 in both: GAPBS stops when a sweep changes less than
1.76e-7, which is that error times (1 - 0.85) / 0.85.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile

GAPBS = {"components": ["cc"], "pagerank": ["pr", "-i", "200", "-t", "1.76e-7"]}
SHOAL = {"components": [], "pagerank": ["--tolerance", "1e-6"]}


def run(command: list[str], **more) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()[-200:]}")
    return done.stdout


def gapbs_ms(args, what: str, file: pathlib.Path) -> float:
    name, *flags = GAPBS[what]
    command = [str(args.gapbs / name), "-f", str(file), "-n", str(args.trials), *flags]
    text = run(command, env={**os.environ, "OMP_NUM_THREADS": str(args.threads)})
    return statistics.median(float(t) for t in re.findall(r"^Trial Time:\s*([\d.]+)", text, re.MULTILINE)) * 1e3


def shoal_run(args, what: str, file: pathlib.Path) -> dict:
    command = [str(args.shoal), what, str(file), "--device", "cpu", "--threads", str(args.threads)]
    return json.loads(run([*command, "--trials", str(args.trials), "--verify", "--json", *SHOAL[what]]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", type=pathlib.Path, required=True, help="the shoal command")
    parser.add_argument("--gapbs", type=pathlib.Path, required=True, help="folder with cc and pr of GAPBS")
    parser.add_argument("--graphs", nargs="+", default=["kron:20", "road:2048"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--trials", type=int, default=5, help="of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    rows, machine = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for graph in args.graphs:
            file = pathlib.Path(folder) / (re.sub(r"\W", "-", graph) + ".sg")
            run([str(args.shoal), "generate", graph, str(file)])
            for what in GAPBS:
                row = {"what": what, "graph": graph, "gapbs_ms": [], "shoal_ms": []}
                for _ in range(args.rounds):
                    row["gapbs_ms"].append(gapbs_ms(args, what, file))
                    result = shoal_run(args, what, file)
                    row["shoal_ms"].append(result["median_seconds"] * 1e3)
                row["num_arcs"], machine = result["graph"]["num_arcs"], result["machine"]
                ratio = statistics.median(row["shoal_ms"]) / statistics.median(row["gapbs_ms"])
                print(
                    f"{what:12s} {graph:12s} shoal / gapbs {ratio:.2f}  shoal {row['shoal_ms']}  gapbs {row['gapbs_ms']}"
                )
                rows.append(row)
    if args.json:
        options = {
            "threads": args.threads,
            "trials": args.trials,
            "rounds": args.rounds,
            "gapbs": GAPBS,
            "shoal": SHOAL,
        }
        head = {"bench": "cpu_beside_gapbs", "date": datetime.date.today().isoformat(), "system": platform.platform()}
        data = {**head, "machine": {"processor": machine.get("cpu", "?")}, "threads": args.threads, "options": options}
        args.json.write_text(json.dumps({**data, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
