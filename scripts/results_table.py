#!/usr/bin/env python3
"""Makes the table of results in README.md from bench/results/*.json.

Reads what `shoal bfs --json=FILE` and `bench/cpu_bfs.py --json FILE` write. Prints the table; `--write` puts it
between the `<!-- results -->` marks of README.md. A result whose answers were not verified, or were
wrong, is left out and named.
"""

import json
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKS = re.compile(r"(<!-- results -->\n).*?(<!-- end -->)", re.DOTALL)
HEAD = "| graph | arcs | machine | how | median ms | Garcs/s | beside it |\n|---|---:|---|---|---:|---:|---|\n"


def row(graph: str, arcs: int, machine: str, how: str, seconds: float, rate: float, beside: str = "") -> str:
    return f"| {graph} | {arcs:,} | {machine} | {how} | {seconds * 1e3:.2f} | {rate / 1e9:.2f} | {beside} |"


def bfs_rows(data: dict) -> list[str]:
    """One row of a `shoal bfs --json` file. ValueError: not a result that may be shown."""
    trials = data["trials"]
    if not trials or not all(t["verified"] is True for t in trials):
        raise ValueError("not every trial is verified and right (run with --verify)")
    chosen = {k: v.split(":")[0] for k, v in trials[-1]["report"]["chosen"].items()}
    devices, pes = data["devices"], int(chosen.get("pes", 1))
    if chosen.get("device") == "gpu":
        machine = f"{pes} x {devices[0]['name']}"
    else:
        machine = f"{data['machine']['cpu']}, {pes} x {chosen.get('threads', '?')} threads"
    how = ", ".join(chosen[k] for k in ("strategy", "kernel", "worker") if k in chosen)
    return [
        row(
            data["graph"]["name"],
            data["graph"]["num_arcs"],
            machine,
            f"{how}; {len(trials)} trials",
            statistics.median(t["seconds"] for t in trials),
            statistics.median(t["arcs_per_second"] for t in trials),
        )
    ]


def cpu_bench_rows(data: dict) -> list[str]:
    """A row for each graph of a bench/cpu_bfs.py file; that program checks every answer before it times."""
    rows = []
    for result in data["results"]:
        ours, beside = result["shoal"], result["gapbs"]
        rows.append(
            row(
                result["graph"],
                result["num_arcs"],
                f"{data['machine']['processor']}, {data['pes']} x {data['threads'] // data['pes']} threads",
                f"levels; {len(result['sources'])} sources",
                ours["median_seconds"],
                ours["median_arcs_per_second"],
                f"GAPBS {beside['median_seconds'] * 1e3:.2f} ms (ratio {result['median_ratio']:.2f})",
            )
        )
    return rows


def table(folder: pathlib.Path) -> tuple[str, list[str]]:
    """The table, and a line for each file that is not in it."""
    rows, left_out = [], []
    for file in sorted(folder.glob("*.json")):
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            if isinstance(data, dict) and data.get("command") == "bfs":
                rows += bfs_rows(data)
            elif isinstance(data, dict) and data.get("bench") == "cpu_bfs":
                rows += cpu_bench_rows(data)
            else:
                left_out.append(f"{file.name}: not of a kind that this table shows")
        except (ValueError, KeyError, IndexError, TypeError) as error:
            left_out.append(f"{file.name}: {error or type(error).__name__}")
    text = HEAD + "\n".join(rows) + "\n" if rows else "No results are recorded yet.\n"
    return text, left_out


def main() -> int:
    text, left_out = table(ROOT / "bench" / "results")
    for line in left_out:
        print(f"results_table: left out {line}", file=sys.stderr)
    if "--write" not in sys.argv[1:]:
        print(text, end="")
        return 0
    readme = ROOT / "README.md"
    before = readme.read_text(encoding="utf-8")
    after, count = MARKS.subn(lambda m: m.group(1) + text + m.group(2), before)
    if count != 1:
        print("results_table: README.md needs one pair of <!-- results --> and <!-- end --> marks", file=sys.stderr)
        return 1
    readme.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
