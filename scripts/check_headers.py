#!/usr/bin/env python3
"""Compiles each header by itself: .hpp with the host compiler, public .cuh with nvcc if it is found.

A header fails if it needs another one to be included before it. Headers in include/ are compiled with that folder alone,
headers in src/ with both folders. Private .cuh are left out, because nvcc takes seconds for each. Prints the first lines of the
compiler's message for each header that fails; the exit status is then 1.

Most of the time would go into the standard library. So some sets of its headers are precompiled. A header is compiled with such a
set if it includes, itself or through others, every header of the set. So it sees nothing that it did not ask for.
"""

import concurrent.futures
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Headers that must not be included by themselves, with the reason.
ALONE_NOT: dict[str, str] = {
    "shoal/core/sim_atomic.hpp": "only under SHOAL_SIMULATE, through core/atomic.hpp",
    "shoal/blocks/array_store.hpp": "members of a class of blocks/array.hpp, which includes it",
}
INCLUDE = re.compile(r'\s*#\s*include\s+(?:<([^">]+)>|"([^">]+)")')
# The cost of compiling a standard header; small ones cost 0.1, all others 1.
WEIGHT = {"functional": 5, "algorithm": 5, "memory": 5, "thread": 5, "chrono": 5, "mutex": 4, "string": 4, "map": 3}
SMALL = {"cstdint", "cstddef", "new", "cstdlib", "cstring", "type_traits", "iosfwd", "limits", "typeinfo", "exception"}


def cost(headers: frozenset[str]) -> float:
    return sum(WEIGHT.get(h, 0.1 if h in SMALL else 1) for h in headers)


@functools.cache
def standard_headers(root: pathlib.Path, file: pathlib.Path) -> frozenset[str]:
    """The standard headers that `file` includes, itself or through other headers, outside of all #if blocks."""
    found: set[str] = set()
    depth = 0
    for line in file.read_text(encoding="utf-8").splitlines():
        directive = line.strip().replace(" ", "")
        depth += directive.startswith("#if") - directive.startswith("#endif")
        include = INCLUDE.match(line) if depth == 0 else None
        if include and include[1] and re.fullmatch(r"[a-z_]+", include[1]):
            found.add(include[1])
        elif include and include[2]:
            for folder in (file.parent, root / "include", root / "src"):
                if (folder / include[2]).is_file():
                    found |= standard_headers(root, folder / include[2])
                    break
    return frozenset(found)


def choose_starts(wanted: list[frozenset[str]]) -> list[frozenset[str]]:
    """The sets to precompile. Each is all that some header includes. Sets are added as long as they save more than they cost."""
    starts: list[frozenset[str]] = []
    while True:
        now = [max((cost(s) for s in starts if s <= w), default=0.0) for w in wanted]

        def gain(start: frozenset[str], now: list[float] = now) -> float:
            saved = sum(max(0.0, cost(start) - have) for w, have in zip(wanted, now, strict=True) if start <= w)
            return saved - 3 * cost(start) - 5

        best = max(sorted(set(wanted), key=sorted), key=gain, default=frozenset())
        if gain(best) <= 0:
            return starts
        starts.append(best)


def find_nvcc() -> str | None:
    usual = "/usr/local/cuda/bin/nvcc"
    return shutil.which("nvcc") or os.environ.get("CUDACXX") or (usual if os.path.exists(usual) else None)


def compile_starts(command: list[str], starts: list[frozenset[str]], scratch: str) -> dict[frozenset[str], str]:
    """For each set in `starts`, a file that includes it. The compiler takes the precompiled file beside it on its own."""
    files = {start: f"{scratch}/start_{i}.hpp" for i, start in enumerate(starts)}

    def precompile(start: frozenset[str], file: str) -> None:
        pathlib.Path(file).write_text("".join(f"#include <{h}>\n" for h in sorted(start)), encoding="utf-8")
        subprocess.run([*command, "-x", "c++-header", file, "-o", f"{file}.gch"], check=True, timeout=300)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(precompile, files, files.values()))
    return files


def compile_alone(command: list[str], header: str, scratch: str) -> str | None:
    """None if `header` compiles alone (included twice, to test its include guard), else the compiler's message."""
    suffix = ".cu" if header.endswith(".cuh") else ".cpp"
    source = pathlib.Path(scratch) / (header.replace("/", "_") + suffix)
    source.write_text(f'#include "{header}"\n#include "{header}"\n', encoding="utf-8")
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, timeout=300)
    return None if done.returncode == 0 else "\n".join((done.stderr or done.stdout).splitlines()[:12])


def check(root: pathlib.Path) -> tuple[list[str], int, int]:
    """A text for each header under `root` that does not compile alone; how many compile; how many were not tried."""
    include = ["-I", str(root / "include")]
    deps = os.environ.get("SHOAL_DEPS") or (str(ROOT / ".deps") if (ROOT / ".deps").is_dir() else None)
    if deps:
        include += ["-I", f"{deps}/include"]
    host = [os.environ.get("CXX", "g++"), "-std=c++20", "-Wall", "-Wextra", "-Werror"]
    nvcc = find_nvcc()
    # To PTX only: nvcc then reads a source once, for the GPU, and does not read it again for the host. It still sees code for
    # the host. Code that differs between the two is in .hpp.
    device = [
        nvcc or "",
        "-std=c++20",
        "-arch=sm_90",
        "--expt-relaxed-constexpr",
        "--extended-lambda",
        "-ptx",
        *include,
    ]
    public = sorted(p.relative_to(root / "include").as_posix() for p in (root / "include").rglob("*.?[pu][ph]"))
    public = [h for h in public if h not in ALONE_NOT]
    private = sorted(p.relative_to(root / "src").as_posix() for p in (root / "src").rglob("*.hpp"))
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tries = {}
        if nvcc is not None:
            for header in (h for h in public if h.endswith(".cuh")):
                tries[header] = pool.submit(compile_alone, [*device, "-o", os.devnull], header, scratch)
        standard = {h: standard_headers(root, root / "include" / h) for h in public if h.endswith(".hpp")}
        standard |= {f"src/{h}": standard_headers(root, root / "src" / h) for h in private}
        starts = choose_starts(list(standard.values()))
        files = compile_starts(host, starts, scratch)
        for header, own in standard.items():
            start = max((s for s in starts if s <= own), key=cost, default=None)
            command = [*host, "-fsyntax-only", *include, *(["-include", files[start]] if start else [])]
            if header.startswith("src/"):
                command += ["-I", str(root / "src")]
            tries[header] = pool.submit(compile_alone, command, header.removeprefix("src/"), scratch)
        for header, attempt in tries.items():
            complaint = attempt.result()
            if complaint is not None:
                problems.append(f"{header} does not compile alone:\n{complaint}\n")
    return problems, len(tries) - len(problems), sum(h.endswith(".cuh") for h in public) if nvcc is None else 0


def main() -> int:
    problems, compiled, skipped = check(ROOT)
    for problem in problems:
        print(problem)
    note = f", {skipped} .cuh skipped (no nvcc)" if skipped else ""
    print(f"headers alone: {compiled} compile, {len(problems)} do not{note}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
