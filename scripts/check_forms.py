#!/usr/bin/env python3
"""Checks that the sources contain no forms that hide faults: unbounded spins, lone fences, assertions on a user's input.

Prints one line for each place; the exit status is 1 if there is one. ALLOWED lists exceptions, by file, each with its reason.
"""

import pathlib
import re
import sys

SUFFIXES = {".hpp", ".cuh", ".cpp", ".cu"}
# name, pattern, folders in which it is forbidden, what to write in its place
FORMS = [
    (
        "unbounded spin",
        re.compile(r"\bwhile\s*\([^;{}]*\b(?:load\w*|test_and_set)\s*\([^;{}]*\)\s*(?:;|\{\s*\})"),
        ("include", "src"),
        "wait with spin_wait (core/spin.hpp), which ends when the run ends",
    ),
    (
        "lone fence",
        re.compile(r"\batomic_thread_fence\b|\batomic_signal_fence\b"),
        ("include", "src", "tests", "bench", "baselines", "examples", "cli"),
        "release and acquire on the Word that publishes the data (core/atomic.hpp): ThreadSanitizer cannot see fences",
    ),
    (
        "lone fence on the GPU",
        re.compile(r"\b__threadfence(?:_block|_system)?\s*\("),
        ("include", "src", "bench", "examples"),
        "release and acquire on the Word that publishes the data (core/atomic.hpp)",
    ),
    (
        "assertion",
        re.compile(r"(?<![\w_])assert\s*\("),
        ("include", "src", "cli", "python", "baselines"),
        "throw UsageError for a caller's mistake; use static_assert for what the compiler can check",
    ),
    (
        "end of the process",
        re.compile(
            r"(?<![\w_.:>])(?:std::)?(?:abort|exit|_Exit|quick_exit)\s*\(|\b__trap\s*\(|\basm\s*(?:volatile)?\s*\(\s*\"trap"
        ),
        ("include", "src", "python"),
        "throw one of the errors of core/error.hpp",
    ),
    (
        "old-style volatile",
        re.compile(r"(?<!asm )\bvolatile\b(?!\s*\()"),
        ("include", "src"),
        "use a Word of core/atomic.hpp",
    ),
]
# (form, file): reason
ALLOWED = {
    (
        "lone fence on the GPU",
        "src/algo/components/hook_peers.cuh",
    ): "barrier of all PEs between two kernels: orders what earlier kernels wrote before later reads",
    (
        "old-style volatile",
        "src/algo/components/trees.cuh",
    ): "shared memory of one block, where values only decrease; a Word there costs a conversion at each step",
    (
        "end of the process",
        "src/data/stuck_process.cpp",
    ): "a user's task or step that never returns cannot be stopped in any other way",
}


def code_only(text: str) -> str:
    """The text with comments and string literals blanked. Line breaks are kept, so that line numbers stay right."""

    def blank(match: re.Match) -> str:
        return re.sub(r"[^\n]", " ", match.group(0))

    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.DOTALL)


def check(root: pathlib.Path) -> list[str]:
    """Returns one line for each forbidden form in the tree under `root`, and for each exception that a file does not need."""
    problems = []
    for name, pattern, folders, cure in FORMS:
        for folder in folders:
            for file in sorted((root / folder).rglob("*")):
                path = file.relative_to(root).as_posix()
                if file.suffix not in SUFFIXES:
                    continue
                text = code_only(file.read_text(encoding="utf-8"))
                matches = list(pattern.finditer(text))
                if (name, path) in ALLOWED:
                    if not matches:
                        problems.append(f"{path}: no {name} any more: remove its exception from ALLOWED")
                    continue
                for match in matches:
                    line = text.count("\n", 0, match.start()) + 1
                    problems.append(f"{path}:{line}: {name} `{' '.join(match.group(0).split())[:60]}`: {cure}")
    return problems


def main() -> int:
    problems = check(pathlib.Path(__file__).resolve().parent.parent)
    for problem in problems:
        print(problem)
    print(f"forbidden forms: {len(problems)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
