#!/usr/bin/env python3
"""Makes docs/results.md, and the tables of results in README.md, from bench/results.

Reads the files that `shoal NAME --json=FILE`, `shoal tune`, `shoal bench NAME`, scripts/auto_against_tuner.py,
scripts/own_tasks.py, bench/beside_gapbs.py, bench/scaling.py, bench/partitions.py and bench/cuts.py write, and the
observations on experiments in notes/NAME.md. Prints docs/results.md; `--write` writes it, and puts the short tables
between the `<!-- results -->` marks of README.md. A result whose answers were not verified, or were wrong, is left out
and named. peers_*.json: times of other programs on the same machine; goals.json: target times.
"""

import argparse
import json
import pathlib
import re
import sys

import results_auto as auto
import results_beside as beside
import results_goals as goals
import results_matrix as matrix
import results_runs as runs
import results_sections as sections

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKS = re.compile(r"(<!-- results -->\n).*?(<!-- end -->)", re.DOTALL)
TOP = """# Results

`scripts/results_table.py` generates this page from `bench/results`; do not edit it by hand. Times are medians of the
computation alone, with the graph already in the memory of the PEs. Answers were checked, except where a section says
otherwise. The papers' numbers come from other machines, so compare ratios, not milliseconds.

- What it comes to: [In short](#in-short). Which goals are reached, and by how much others are missed: [Goals](#goals).
- How fast shoal is, how far that is from what the hardware allows, and how other programs compare: [Runs](#runs). More
  times of other programs are in the sections "Other programs" and "beside MPI, NCCL and CUDASTF".
- How it scales: the column `against the best on one GPU`, the figures below the runs, and the section "Several PEs and
  one", which has smaller graphs.
- Whether `auto`, which chooses all options that are not given, chooses well:
  [How far `auto` is from the best](#how-far-auto-is-from-the-best).
- What the worklist costs: [Finding the end](#finding-the-end), [From push to run](#from-push-to-run).
- What the papers found, and what shoal does in the same experiments: the sections named after the papers. The papers'
  skewed graphs have two stand-ins each, one without communities and one with them (NAME-local):
  [What parts cut](#what-parts-cut). Atos's experiments with the second kind were measured on H100 only.

Terms:

- A *PE* is one GPU, or one group of CPU threads. Few tables have PEs that share a GPU, and they say so.
- Graphs whose names have a colon are generated: [Runs](#runs) and [README.md](../README.md). The others are real. In the
  papers' tables these are the papers' graphs, and each row says which generated graph stands in.
- A *way* is one combination of options to run an algorithm.
- `async` is the worklist. On GPUs its kernel is persistent, or runs in rounds (`discrete`), and its workers are
  single threads, warps or blocks. The other strategies are bulk-synchronous: `levels` (breadth-first search), `delta`
  (shortest paths by delta-stepping), `pull` (PageRank in sweeps) and `hook` (components by hooking trees).

On GPUs, rounds and single threads as workers were measured with optimised kernels, except where a section says
otherwise. A build has those only with `SHOAL_OPTIMISE_ALL_KERNELS`
([decision 0047](decisions/0047-kernels-compiled-quickly.md)).

"""
FIGURES = {
    "scaling.svg": "Strong scaling of `auto`, on the largest Kronecker graph and the smallest road of the tables above.",
    "queues.svg": "Rates of rings and other queues on one H200, items of 8 bytes (Atos, Fig. 1; `bench/queue/gpu_queue.cu`).",
    "atos_fig5.svg": "Speed-ups over one GPU, computed from Atos's Tables II and IV (Fig. 5): the paper's dashed, ours solid.",
}


class Results:
    """Everything that is shown. `left_out` has a line for each file that is not."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.runs: list[runs.Run] = []
        self.tuned: list[auto.Tuned] = []
        autos: list[dict] = []
        own: list[dict] = []
        partitions: dict[str, list[dict]] = {}
        several: dict[str, list[dict]] = {}
        on_one_gpu: list[runs.Run] = []
        cuts: list[dict] = []
        self.ends: list[str] = []
        self.lags: list[str] = []
        self.goals = goals.Goals()
        self.sections: list[str] = []
        self.peers: runs.Peers | None = None
        queues: dict[str, list[dict]] = {}
        figures: dict[str, list[dict]] = {}
        self.left_out: list[str] = []
        experiments: dict[tuple[str, str], list[dict]] = {}
        for file in sorted(folder.glob("*.json")):
            try:
                data = json.loads(file.read_text(encoding="utf-8"))
                if not isinstance(data, dict):
                    data = {}
                command, bench = data.get("command"), data.get("bench")
                if command in runs.ALGORITHMS:
                    self.runs += runs.from_command(data)
                elif bench == "scaling" and data.get("table"):
                    several.setdefault(sections.hardware(data), []).append(data)
                    on_one_gpu += [run for run in runs.from_scaling(data) if run.on_gpu and run.pes == 1]
                elif bench == "scaling":
                    self.runs += runs.from_scaling(data)
                elif bench == "beside_gapbs":
                    self.runs += runs.beside_gapbs(data)
                elif command == "tune":
                    self.tuned += auto.tune_rows(data)
                elif command == "auto_against_tuner":
                    autos.append(data)
                elif bench == "own_tasks":
                    if any(row["failed"] for row in data["rows"]):
                        raise ValueError("a run of it failed or was wrong")
                    own.append(data)
                elif command == "bench":
                    if any("wrong" in run for run in data["runs"]):
                        raise ValueError("a way of it gave a wrong answer")
                    where = data["devices"][0]["name"] if data["devices"] else data["machine"]["cpu"]
                    experiments.setdefault((data["experiment"], where), []).append(data)
                elif data.get("benchmark") == "end_detection":
                    self.ends.append(sections.end_row(data))
                    self.goals.ends.append(data)
                elif data.get("benchmark") == "worklist_lag":
                    self.lags += sections.lag_rows(data)
                    self.goals.lags.append(data)
                elif data.get("benchmark") == "gpu_queue":
                    queues.setdefault(data["gpu"], []).append(data)
                elif bench == "peers":
                    self.peers = runs.Peers(data)
                elif bench == "goals":
                    self.goals.times += data["rows"]
                elif bench == "beside_baselines":
                    self.sections.append(beside.baselines_section(data))
                    self.goals.add_baselines(data["date"], beside.ratios(data))
                elif bench == "paper_figures":
                    figure = beside.figure_checked(data)
                    figures.setdefault(figure["experiment"], []).append(figure)
                elif bench == "gpu_matrix":
                    self.sections.append(matrix.matrix_section(data))
                elif bench == "partitions":
                    partitions.setdefault(sections.partition_place(data), []).append(data)
                elif bench == "cuts":
                    if not all(row["verified"] for row in data["rows"] if "failed" not in row):
                        raise ValueError("not every answer is right")
                    cuts.append(data)
                else:
                    self.left_out.append(f"{file.name}: not of a kind that is shown here")
            except (ValueError, KeyError, IndexError, TypeError) as error:
                self.left_out.append(f"{file.name}: {error or type(error).__name__}")
        self.runs += [run for run in on_one_gpu if runs.is_wanted_beside(run, self.runs)]
        self.sections += [beside.figure_section(parts) for parts in figures.values()]
        self.tuned += auto.auto_rows(autos)
        self.sections += [auto.own_section(own)] if own else []
        self.sections += [sections.partition_section(parts) for parts in partitions.values()]
        self.sections += [sections.cuts_section(cuts, self.note("cuts"))] if cuts else []
        self.sections += [
            sections.several_section(place, parts, self.note("several")) for place, parts in several.items()
        ]
        for parts in queues.values():
            self.sections.append(sections.queue_section(parts, self.note("queues")))
        if self.ends:
            self.sections.append(sections.END_HEAD + "\n".join(self.ends) + "\n")
        if self.lags:
            self.sections.append(sections.LAG_HEAD + "\n".join(self.lags) + "\n")
        for (name, where), parts in experiments.items():
            most = max(
                (place for other, place in experiments if other == name),
                key=lambda place: len(experiments[name, place]),
            )
            note = (
                self.note(name)
                if where == most
                else "What we find: see the section of the same name for the other kind of GPU."
            )
            self.sections.append(sections.experiment_section(parts, note))

    def note(self, name: str) -> str:
        """The observations, and what a reader has to know about the numbers; empty if there is no such note."""
        file = self.folder / "notes" / f"{name}.md"
        return file.read_text(encoding="utf-8") if file.exists() else ""


def document(results: Results, figures: pathlib.Path) -> str:
    """docs/results.md."""
    text = TOP + results.goals.in_short(results.runs, results.peers, results.tuned)
    text += results.goals.section(results.runs, results.peers, results.tuned, results.left_out) + "\n## Runs\n\n"
    if results.runs:
        text += runs.FLOOR + "\n" + runs.full_table(results.runs, results.peers)
    else:
        text += "No results are recorded yet.\n"
    for name, says in FIGURES.items():
        if (figures / name).exists():
            text += f"\n![{says}](figures/{name})\n\n{says}\n"
    if results.tuned:
        counted = [row for row in results.tuned if row.counts]
        text += auto.AUTO_HEAD.format(
            within=sum(not row.missed for row in counted), all=len(counted), note=results.note("auto")
        )
        text += "\n".join(row.text for row in results.tuned) + "\n"
    more = [runs.libraries_section(results.runs)] if any(run.libraries for run in results.runs) else []
    more += [results.peers.section()] if results.peers else []
    return text + "".join("\n" + section for section in more + results.sections)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/results.md and the tables of README.md")
    args = parser.parse_args()
    results = Results(ROOT / "bench" / "results")
    for line in results.left_out:
        print(f"results_table: left out {line}", file=sys.stderr)
    text = document(results, ROOT / "docs" / "figures")
    if not args.write:
        print(text, end="")
        return 0
    readme = ROOT / "README.md"
    before = readme.read_text(encoding="utf-8")
    short = runs.short_tables(results.runs, results.peers)
    after, count = MARKS.subn(lambda m: m.group(1) + short + m.group(2), before)
    if count != 1:
        print("results_table: README.md needs one pair of <!-- results --> and <!-- end --> marks", file=sys.stderr)
        return 1
    readme.write_text(after, encoding="utf-8")
    (ROOT / "docs" / "results.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
