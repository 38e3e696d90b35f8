#!/usr/bin/env python3
"""Compiles each header by itself: .hpp with the host compiler, public .cuh with nvcc where there is one.

A header that needs another one to be included first fails here. Those in include/ are compiled with that folder alone;
those in src/ with both. Private .cuh are left out: nvcc takes seconds for each. Exit status 1 and the compiler's first
lines for each.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Not for inclusion by itself, with the reason.
ALONE_NOT: dict[str, str] = {
    "shoal/core/sim_atomic.hpp": "only under SHOAL_SIMULATE, through core/atomic.hpp",
}


def find_nvcc() -> str | None:
    usual = "/usr/local/cuda/bin/nvcc"
    return shutil.which("nvcc") or os.environ.get("CUDACXX") or (usual if os.path.exists(usual) else None)


def compile_alone(command: list[str], header: str, scratch: str) -> str | None:
    """None if `header` compiles alone (twice included, so that its guard is tried too), else what the compiler said."""
    suffix = ".cu" if header.endswith(".cuh") else ".cpp"
    source = pathlib.Path(scratch) / (header.replace("/", "_") + suffix)
    source.write_text(f'#include "{header}"\n#include "{header}"\n', encoding="utf-8")
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, timeout=300)
    return None if done.returncode == 0 else "\n".join((done.stderr or done.stdout).splitlines()[:12])


def main() -> int:
    include = ["-I", str(ROOT / "include")]
    deps = os.environ.get("SHOAL_DEPS") or (str(ROOT / ".deps") if (ROOT / ".deps").is_dir() else None)
    if deps:
        include += ["-I", f"{deps}/include"]
    host = [os.environ.get("CXX", "g++"), "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *include]
    nvcc = find_nvcc()
    device = [
        nvcc or "",
        "-std=c++20",
        "-arch=sm_90",
        "--expt-relaxed-constexpr",
        "--extended-lambda",
        "-cuda",
        *include,
    ]
    headers = sorted(p.relative_to(ROOT / "include").as_posix() for p in (ROOT / "include").rglob("*.?[pu][ph]"))
    headers = [h for h in headers if h not in ALONE_NOT]
    private = sorted(p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src").rglob("*.hpp"))
    failed = compiled = skipped = 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tries = {}
        for header in headers:
            if header.endswith(".cuh") and nvcc is None:
                skipped += 1
                continue
            command = [*device, "-o", os.devnull] if header.endswith(".cuh") else host
            tries[header] = pool.submit(compile_alone, command, header, scratch)
        for header in private:
            tries[f"src/{header}"] = pool.submit(compile_alone, [*host, "-I", str(ROOT / "src")], header, scratch)
        for header, attempt in tries.items():
            complaint = attempt.result()
            compiled += complaint is None
            failed += complaint is not None
            if complaint is not None:
                print(f"{header} does not compile alone:\n{complaint}\n")
    note = f", {skipped} .cuh skipped (no nvcc)" if skipped else ""
    print(f"headers alone: {compiled} compile, {failed} do not{note}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
