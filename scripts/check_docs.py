#!/usr/bin/env python3
"""Checks what documents say about files: that links and named paths exist, that quoted code is the code in the named file, and
that records name no folder of the machine on which they were made.

In README.md, a block after `<!-- code: FILE TEXT -->` quotes the declaration in FILE that begins with TEXT. `--write` fills in
such blocks. Prints one line for each problem; the exit status is 1 if there is one.
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)")
PATH = re.compile(
    r"`((?:include|src|tests|scripts|docs|cli|python|examples|bench|baselines|models|cmake|\.ci)/[\w./-]*\w)`"
)
FOLDER = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|var/tmp)/[^\s\"']*")
QUOTE = re.compile(r"<!-- code: (\S+) (.+?) -->\n```cpp\n(.*?)```\n", re.DOTALL)


def quoted(file: pathlib.Path, start: str) -> str:
    """The lines of `file` from the one that begins with `start` to the brace that closes it; the whole file for `all`."""
    text = file.read_text(encoding="utf-8")
    if start == "all":
        return text
    begin = re.search(rf"^{re.escape(start)}\b", text, re.MULTILINE)
    if begin is None:
        raise ValueError(f"{file} has no line that begins with '{start}'")
    end = re.compile(r"^\}.*\n", re.MULTILINE).search(text, begin.start())
    if end is None:
        raise ValueError(f"{file}: '{start}' is not closed by a brace at the margin")
    return text[begin.start() : end.end()]


def check(root: pathlib.Path, write: bool = False) -> list[str]:
    """Returns one line for each wrong statement in the documents and records under `root`."""
    problems = []
    documents = [root / n for n in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
        (root / "docs").rglob("*.md")
    )
    for document in documents:
        if not document.exists():
            continue
        name = document.relative_to(root)
        text = document.read_text(encoding="utf-8")
        prose = re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
        for match in LINK.finditer(prose):
            if not (document.parent / match.group(1)).exists():
                problems.append(f"{name}: links to {match.group(1)}, which is not there")
        for match in PATH.finditer(text):
            if "*" not in match.group(1) and "NAME" not in match.group(1) and not (root / match.group(1)).exists():
                problems.append(f"{name}: names {match.group(1)}, which is not there")
        for match in QUOTE.finditer(text):
            try:
                code = quoted(root / match.group(1), match.group(2))
            except (OSError, ValueError) as error:
                problems.append(f"{name}: {error}")
                continue
            if code != match.group(3) and write:
                text = text.replace(match.group(0), match.group(0)[: -len(match.group(3)) - 4] + code + "```\n")
            elif code != match.group(3):
                problems.append(
                    f"{name}: the code quoted from {match.group(1)} has changed; run scripts/check_docs.py --write"
                )
        if write:
            document.write_text(text, encoding="utf-8")
    for record in sorted((root / "bench" / "results").rglob("*.*")):
        if named := FOLDER.search(record.read_text(encoding="utf-8")):
            problems.append(f"{record.relative_to(root)}: names {named.group(0)}, a folder of one machine")
    return problems


def main() -> int:
    problems = check(pathlib.Path(__file__).resolve().parent.parent, write="--write" in sys.argv[1:])
    for problem in problems:
        print(problem)
    print(f"documents: {len(problems)} problem{'s' if len(problems) != 1 else ''}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
