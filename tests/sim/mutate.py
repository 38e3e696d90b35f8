#!/usr/bin/env python3
"""Copies the shipped headers and inserts every mutation of mutants/*.txt into the copies, behind a switch.

    mutate.py INCLUDE_DIR OUT_DIR MUTANTS...

A `.cpp` that mutants name is copied too, from the folder src next to INCLUDE_DIR.

Mutation k is on if the program's variable `shoal_mutant` is k; with 0 the copies behave as the shipped text. So one build
contains all mutations. OUT_DIR/mutants.tsv lists for each: number, name, the programs that must find it, status (`ok`, or
why it does not apply). A text that does not occur exactly once is reported there and fails the test that reads the list,
never the build.

A mutants file is a list of blocks, separated by blank lines; `find`/`with` may repeat (all are switched together):
    name:  short_name
    file:  queue/slot_ring.hpp    below include/shoal; a .cpp below src
    after: text that must come before the place of the next find (optional)
    find:  the text, blanks of any length matching blanks of any length
    with:  the replacement; may be empty. Text that ends in ';' or '}' is statements, other text an expression
    by:    ring scheduler      programs that must find it, the quickest first; `harmless` if no program may find it.
           first=SEED              the seed where the search for a rare mutation begins (optional)
    why:   what goes wrong
"""

import pathlib
import re
import sys


def read_mutants(paths):
    mutants = []
    for path in paths:
        for block in re.split(r"\n\s*\n", pathlib.Path(path).read_text()):
            fields = [line for line in block.splitlines() if line.strip() and not line.startswith("#")]
            if not fields:
                continue
            m = {"edits": [], "after": None, "where": path}
            for line in fields:
                key, _, value = (part.strip() for part in line.partition(":"))
                if key == "find":
                    m["edits"].append({"find": value, "file": m["file"], "after": m["after"]})
                    m["after"] = None
                elif key == "with":
                    m["edits"][-1]["with"] = value
                elif key in ("name", "file", "after", "by", "why"):
                    m[key] = value
                else:
                    sys.exit(f"{path}: unknown key in '{line}'; known: name file after find with by why")
            mutants.append(m)
    names = [m["name"] for m in mutants]
    for name in names:
        if names.count(name) > 1:
            sys.exit(f"mutant '{name}' is defined twice")
    return mutants


def pattern(text):
    return re.compile(r"\s+".join(re.escape(word) for word in text.split()))


def place(edit, text):
    """The span of the edit in `text`, or the reason why there is none."""
    start = 0
    if edit["after"]:
        anchor = pattern(edit["after"]).search(text)
        if not anchor:
            return None, f"'{edit['after']}' is not in {edit['file']}"
        start = anchor.end()
    found = [m.span() for m in pattern(edit["find"]).finditer(text, start)]
    if not found:
        return None, f"'{edit['find']}' is not in {edit['file']}"
    if len(found) > 1 and not edit["after"]:
        return None, f"'{edit['find']}' is {len(found)} times in {edit['file']}: add `after:`"
    return found[0], "ok"


def emit(text, begin, end, edits):
    """text[begin:end] with all edits applied. Two edits are either nested or disjoint."""
    out, at = [], begin
    while True:
        inside = [e for e in edits if begin <= e["span"][0] and e["span"][1] <= end and e["span"][0] >= at]
        if not inside:
            return "".join(out) + text[at:end]
        first = min(inside, key=lambda e: (e["span"][0], -e["span"][1]))
        low, high = first["span"]
        same = [e for e in inside if e["span"] == (low, high)]
        rest = [e for e in edits if e not in same and low <= e["span"][0] and e["span"][1] <= high]
        body = emit(text, low, high, rest)
        statements = text[low:high].rstrip().endswith((";", "}"))
        for e in same:
            if statements:
                body = f"if (::shoal_mutant == {e['number']}) {{ {e['with']} }} else {{ {body} }}"
            else:
                body = f"(::shoal_mutant == {e['number']} ? ({e['with']}) : ({body}))"
        out.append(text[at:low] + body)
        at = high


def source_of(include, name):
    return include.parent / "src" / name if name.endswith(".cpp") else include / "shoal" / name


def main():
    include, out, *files = sys.argv[1:]
    include, out = pathlib.Path(include), pathlib.Path(out)
    mutants = read_mutants(files)
    by_file, rows = {}, []
    for number, m in enumerate(mutants, 1):
        status, placed = "ok", []
        for edit in m["edits"]:
            path = source_of(include, edit["file"])
            span, problem = place(edit, path.read_text()) if path.exists() else (None, f"no file {edit['file']}")
            if span is None:
                status = problem
                break
            placed.append({"span": span, "with": edit["with"], "number": number, "file": edit["file"]})
        if status == "ok":
            for edit in placed:
                by_file.setdefault(edit["file"], []).append(edit)
        rows.append(f"{number}\t{m['name']}\t{m['by']}\t{status}\t{m['why']}")
    names = [source.relative_to(include / "shoal").as_posix() for source in (include / "shoal").rglob("*.hpp")]
    names += sorted({edit["file"] for m in mutants for edit in m["edits"] if edit["file"].endswith(".cpp")})
    for name in names:
        text = source_of(include, name).read_text()
        edits = by_file.get(name, [])
        for a in edits:
            for b in edits:
                if a["span"][0] < b["span"][0] < a["span"][1] < b["span"][1]:
                    sys.exit(f"{name}: mutations {a['number']} and {b['number']} overlap without one holding the other")
        text = emit(text, 0, len(text), edits)
        if edits and name.endswith(".cpp"):
            text = "extern int shoal_mutant;\n" + text
        elif edits:
            text = text.replace("#pragma once\n", "#pragma once\nextern int shoal_mutant;\n", 1)
        target = source_of(out / "include", name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            target.write_text(text)
    (out / "mutants.tsv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
