#!/usr/bin/env python3
"""Checks that a room (a folder of the library) includes only itself and rooms above it, that no .hpp includes a .cuh, and that no
public header includes a private one.

The order of rooms is in docs/decisions/0001-rooms.md. Prints one line for each wrong include; the exit status is 1 if there is
one.
"""

import pathlib
import re
import sys

# From the top: a room may include itself and the rooms before it.
ROOMS = [
    "core",
    "device",
    "worker",
    "graph",
    "data",
    "placement",
    "world",
    "transport",
    "queue",
    "worklist",
    "lockstep",
    "flow",
    "blocks",
    "program",
    "algo",
]
# Folders that are built on the whole library; no room may include them.
DOORS = ["cli", "python", "examples", "bench", "baselines", "tests"]
# Files that belong to another room than their folder suggests.
EXCEPTIONS = {  # these include all that a user's program needs; no room includes them
    "include/shoal/shoal.hpp": "algo",
    "include/shoal/blocks.hpp": "algo",
}

SUFFIXES = {".hpp", ".cuh", ".cpp", ".cu", ".h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def room_of(path: pathlib.PurePath) -> str | None:
    """The room of a file under include/shoal/ROOM or src/ROOM; None for other files."""
    parts = path.parts
    if parts[:2] == ("include", "shoal") and len(parts) > 3:
        return parts[2]
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return None


def check(root: pathlib.Path) -> list[str]:
    """Returns one line for each violation in the tree under `root`."""
    problems = []
    files = sorted(p for top in ("include", "src") for p in (root / top).rglob("*") if p.suffix in SUFFIXES)
    for file in files:
        path = file.relative_to(root)
        room = EXCEPTIONS.get(path.as_posix()) or room_of(path)
        if room is None:
            problems.append(f"{path}: not in a room; move it to one of {', '.join(ROOMS)}")
            continue
        if room not in ROOMS:
            problems.append(f"{path}: unknown room '{room}'; known are {', '.join(ROOMS)}")
            continue
        conditions: list[str] = []
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            directive = line.strip()
            if directive.startswith("#if"):
                conditions.append(directive)
            elif directive.startswith("#endif") and conditions:
                conditions.pop()
            match = INCLUDE.match(line)
            if match is None:
                continue
            target = match.group(1)
            where = f"{path}:{number}"
            # A source may test SHOAL_HAVE_CUDA. A header may not: it may be included without nvcc in a build with CUDA.
            guards = ("__CUDACC__", "SHOAL_HAVE_CUDA") if path.suffix == ".cpp" else ("__CUDACC__",)
            guarded = any(guard in condition for condition in conditions for guard in guards)
            if path.suffix in (".hpp", ".cpp") and target.endswith(".cuh") and not guarded:
                problems.append(f"{where}: must compile without nvcc, but includes {target} outside #ifdef {guards[0]}")
            if target.split("/")[0] in DOORS:
                problems.append(f"{where}: the library must not include {target}")
            private = target.split("/")[0] in ROOMS and (root / "src" / target).exists()
            if not target.startswith("shoal/") and not private:
                continue
            other = target.split("/")[0 if private else 1]
            if private and path.parts[0] == "include":
                problems.append(f"{where}: a public header must not include {target}, which is private to the library")
            if other not in ROOMS:
                problems.append(f"{where}: includes {target} of unknown room '{other}'")
            elif ROOMS.index(other) > ROOMS.index(room):
                problems.append(f"{where}: room '{room}' includes {target}, but '{other}' is below it")
            if not private and not (root / "include" / target).exists():
                problems.append(f"{where}: includes {target}, which is not there")
    return problems


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    problems = check(root)
    for problem in problems:
        print(problem)
    print(f"rooms: {len(problems)} problem{'s' if len(problems) != 1 else ''}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
