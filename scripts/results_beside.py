"""Sections of docs/results.md: shoal beside the programs of baselines/ (searches, PageRank), and the figures of two papers."""

from results_sections import hardware

# Why a way is not in a table of one GPU or one process: reasons that go without saying, and are not shown.
OF_COURSE = ("sends nothing by way of the host", "one PE is one process")


def baselines_section(data: dict) -> str:
    """A bench/beside_baselines.py file: a row for each graph and program."""
    says = f"## {data['algorithm']} beside MPI, NCCL and CUDASTF on {hardware(data)}"
    step = "sweep" if data["algorithm"] == "pagerank" else "level"
    checked = "Each program's first answer was checked." if data["checked"] else "Answers were checked in other runs."
    lines = [
        says,
        "",
        f"`bench/beside_baselines.py`, {data['date']}, revision {data['revision']}: medians in ms. All programs "
        f"of a graph ran in one call, with the same sources. `shoal_mpi`, `shoal_nccl` and `shoal_stf` are the baselines; "
        f"`shoal` is this library, by strategy. {checked} Shares of a baseline's time: communication includes waiting for "
        f"other ranks, and the rest is launches and waits of the host."
        f"{' ' + data['note'] if 'note' in data else ''}",
        "",
        f"| graph | program | ms | {step}s | ms per {step} | computation | communication |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    failed = []
    for result in data["results"]:
        for row in result["rows"]:
            if "failed" in row:
                failed.append(f"- {result['graph']}, {row['name']}: {row['failed']}")
                continue
            level = f"{row['seconds_by_step'] * 1e3:.4f}" if "seconds_by_step" in row else ""
            shares = [
                f"{row[what] / row['median_seconds']:.0%}" if what in row else ""
                for what in ("compute_seconds", "communicate_seconds")
            ]
            lines.append(
                f"| {result['graph']} | {row['name']} | {row['median_seconds'] * 1e3:.3f} | {row['steps']:.0f} | {level} | "
                + " | ".join(shares)
                + " |"
            )
        if "gapbs_seconds" in result:
            lines.append(f"| {result['graph']} | GAPBS | {result['gapbs_seconds'] * 1e3:.3f} |  |  |  |  |")
    if failed:
        lines += ["", "Failed:", "", *failed]
    return "\n".join(lines) + "\n"


def ratios(data: dict) -> dict[tuple, float]:
    """For each graph, how many times as fast as the best baseline shoal's best way is. The key: what was compared, in words, and
    the programs that ran."""
    where = hardware(data)
    return {
        (f"{data['algorithm']}, {result['graph']}, {where}", *(row["name"] for row in result["rows"])): ratio
        for result in data["results"]
        if (ratio := result.get("best_baseline_over_shoal"))
    }


def figure_checked(data: dict) -> dict:
    """Returns the figure unchanged. ValueError: an answer was wrong."""
    if any(run.get("wrong") for run in data["runs"]):
        raise ValueError("a way of it gave a wrong answer")
    return data


def figure_section(parts: list[dict]) -> str:
    """A figure of a paper, from `shoal bench`: its tables as they were printed, the largest number of GPUs last."""
    first = parts[0]
    common = min((part["note"] for part in parts), key=len)
    if not all(part["note"].startswith(common) for part in parts):
        common = ""
    lines = [
        f"## {first['experiment']}: {first['title'] or 'a figure'}",
        "",
        f"{first['source']}; {first['papers_machine']}. The paper finds: {first['sees']}.{' ' if common else ''}{common}",
    ]
    for part in sorted(parts, key=lambda part: (part["device"], len(part["devices"]))):
        large = any("verified" in run and not run["verified"] for run in part["runs"])
        checked = " Grids as large as these were not compared with the serial reference." if large else ""
        where = f"{len(part['devices'])} x {hardware(part)}" if part["device"] == "gpu" else hardware(part)
        lines += [
            "",
            f"**{where}**, {part['date']}, revision {part['revision']}.{part['note'].removeprefix(common)}{checked}",
            "",
            "```",
            *"\n".join(part["table"]).strip("\n").splitlines(),
            *(reason for reason in part["left_out"] if not reason.endswith(OF_COURSE)),
            "```",
        ]
    return "\n".join(lines) + "\n"
