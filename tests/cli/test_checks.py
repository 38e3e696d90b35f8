"""The checks of scripts/ reject source trees that break a rule, and accept trees that do not."""

import importlib.util
import pathlib
import re
import shutil
import sys
import tempfile
import types
import unittest

from command import ROOT

sys.path.insert(0, str(ROOT / "scripts"))  # its modules import each other


def load(name: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TreeTest(unittest.TestCase):
    script = ""

    def setUp(self) -> None:
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="shoal-checks-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        for name in ("core/types.hpp", "graph/csr.hpp", "queue/ring.hpp", "queue/ring.cuh"):
            self.write(f"include/shoal/{name}", "#pragma once\n")
        (self.root / "src").mkdir()
        self.module = load(self.script)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def says(self, *words: str) -> None:
        """The check finds exactly one problem, whose line has all `words`. Without words: it finds none."""
        problems = self.module.check(self.root)
        self.assertEqual(len(problems), 1 if words else 0, problems)
        for word in words:
            self.assertIn(word, problems[0])


class Rooms(TreeTest):
    script = "check_rooms"

    def test_legal(self) -> None:
        self.write("include/shoal/algo/bfs.hpp", '#include "shoal/graph/csr.hpp"\n#include <vector>\n')
        self.write("src/algo/bfs.cpp", '#include "shoal/queue/ring.hpp"\n#include "private.hpp"\n')
        self.says()

    def test_upwards(self) -> None:
        self.write("include/shoal/data/io.hpp", '#pragma once\n#include "shoal/queue/ring.hpp"\n')
        self.says("data/io.hpp:2", "queue", "below")

    def test_source_obeys_too(self) -> None:
        self.write("src/data/io.cpp", '#include "shoal/queue/ring.hpp"\n')
        self.says("src/data/io.cpp:1")

    def test_missing_and_unknown(self) -> None:
        self.write("src/data/io.cpp", '#include "shoal/data/nothing.hpp"\n')
        self.says("nothing.hpp", "not there")
        self.write("src/data/io.cpp", "")
        self.write("include/shoal/cellar/x.hpp", "")
        self.says("cellar")

    def test_doors_are_not_included(self) -> None:
        self.write("src/algo/x.cpp", '#include "cli/command.hpp"\n')
        self.says("cli/command.hpp")

    def test_hpp_without_nvcc(self) -> None:
        self.write("include/shoal/algo/x.hpp", '#include "shoal/queue/ring.cuh"\n')
        self.says("__CUDACC__")
        guarded = '#if defined(__CUDACC__)\n#include "shoal/queue/ring.cuh"\n#endif\n'
        self.write("include/shoal/algo/x.hpp", guarded)
        self.says()
        self.write("include/shoal/algo/x.hpp", guarded + '#include "shoal/queue/ring.cuh"\n')
        self.says("x.hpp:4")


class Forms(TreeTest):
    script = "check_forms"

    def finds(self, form: str, line: str) -> None:
        with self.subTest(line=line):
            self.write("src/algo/x.cpp", f"int before;\n{line}\n")
            self.says("src/algo/x.cpp:2", form)

    def passes(self, line: str) -> None:
        with self.subTest(line=line):
            self.write("src/algo/x.cpp", f"{line}\n")
            self.says()

    def test_spins(self) -> None:
        self.finds("unbounded spin", "while (flag.load() == 0);")
        self.finds("unbounded spin", "while (!ready.load_acquire()) {}")
        self.finds("unbounded spin", "while (lock.test_and_set()) { }")
        self.passes("while (x.load() < n) { work(); }")
        self.passes("// while (flag.load() == 0);")

    def test_fences(self) -> None:
        self.finds("lone fence", "std::atomic_thread_fence(std::memory_order_acquire);")
        self.finds("lone fence on the GPU", "__threadfence();")
        self.finds("lone fence on the GPU", "__threadfence_system();")

    def test_assertions_and_exits(self) -> None:
        self.finds("assertion", "assert(n > 0);")
        self.finds("end of the process", "if (bad) exit(1);")
        self.finds("end of the process", "std::abort();")
        self.passes("static_assert(sizeof(int) == 4);")
        self.passes('throw UsageError("do not assert(x)");')
        self.passes("app.exit(help);")

    def test_volatile(self) -> None:
        self.finds("volatile", "volatile int* p;")

    def test_an_exception_that_its_file_does_not_need(self) -> None:
        self.write("src/data/stuck_process.cpp", "std::_Exit(75);\n")
        self.says()
        self.write("src/data/stuck_process.cpp", "int x;\n")
        self.says("src/data/stuck_process.cpp: no end of the process any more")


class Docs(TreeTest):
    script = "check_docs"
    CODE = "struct A {\n  int x;\n};\n"

    def test_links_and_paths(self) -> None:
        self.write(
            "README.md",
            "[a](docs/a.md) [b](https://x.org/y) `include/shoal/core/types.hpp` `f[i](k)`\n```\n[](Context& c)\n```\n",
        )
        self.says("README.md", "docs/a.md")
        self.write("docs/a.md", "[up](../README.md#top) `src/nothing.cpp`")
        self.says("docs/a.md", "src/nothing.cpp")

    def test_quoted_code(self) -> None:
        self.write("include/shoal/core/a.hpp", f"// before\n{self.CODE}int after;\n")
        mark = "<!-- code: include/shoal/core/a.hpp struct A -->\n```cpp\n"
        self.write("README.md", f"{mark}{self.CODE}```\nrest")
        self.says()
        self.write("README.md", f"{mark}struct A {{}};\n```\nrest")
        self.says("a.hpp", "changed")
        self.module.check(self.root, write=True)
        self.assertEqual((self.root / "README.md").read_text(), f"{mark}{self.CODE}```\nrest")
        self.write("README.md", f"{mark.replace('struct A', 'struct B')}x\n```\n")
        self.says("struct B")

    def test_records_name_no_folder_of_a_machine(self) -> None:
        self.write(
            "bench/results/a.json", '{"arguments": ["--shoal", "build/gpu/shoal"], "unit": "G/s", "part": "a/tmp/b"}'
        )
        self.says()
        self.write("bench/results/b.txt", "run with /tmp/x/shoal --json")
        self.says("bench/results/b.txt", "/tmp/x/shoal")


class ApiPage(unittest.TestCase):
    """docs/api.md names every call and member that the headers have for programs."""

    def names_in(self, header: str, begin: str, end: str, pattern: str) -> list[str]:
        """What `pattern` finds in a header, between the texts `begin` and `end`, without comments."""
        text = (ROOT / "include/shoal" / header).read_text(encoding="utf-8")
        part = text[text.index(begin) :]
        part = re.sub(r"//.*", "", part[: part.index(end)])
        return re.findall(pattern, part, re.MULTILINE)

    def test_nothing_is_missing(self) -> None:
        page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
        named = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`", page))))
        method = r"^  (?!Context|if|for)[\w:<>&*, ]+[ &*](\w+[^\W_])\([^;{]*\) (?:const )?\{"
        field = r"\b(\w+)\s*(?:=[^;=]*)?;"
        # least: how many names there must be, so that a pattern that finds too little is noticed
        for least, header, begin, end, pattern in (
            (20, "program/context.hpp", "class Context {", " private:", method),
            (25, "world/options.hpp", "struct Options {", "bool operator==", field),
            (7, "world/report.hpp", "struct Report ", "Report& operator", field),
            (14, "world/counters.hpp", "#define SHOAL_COUNTERS", "clang-format on", r"(?:LANE|HOST)\((\w+), "),
            (16, "worker/task.hpp", "struct OptionalMembers {", "};", r"(\w+)[,;]"),
            (4, "worker/task.hpp", "// Promises.", "// Order of items", r"T::(k\w+)"),
            (12, "core/atomic.hpp", "// For a task's own data", "/// Plain", r"^SHOAL_FN \w+ (\w+)\("),
        ):
            names = self.names_in(header, begin, end, pattern)
            with self.subTest(header=header, begin=begin):
                self.assertGreaterEqual(len(names), least, names)
                self.assertEqual([name for name in names if name not in named], [])


class Headers(TreeTest):
    script = "check_headers"

    def test_a_start_has_no_more_than_a_header_asked_for(self) -> None:
        # So many that the headers that they include are precompiled.
        for i in range(12):
            self.write(f"include/shoal/core/both{i}.hpp", "#pragma once\n#include <string>\n#include <vector>\n")
        self.write(
            "include/shoal/core/other.hpp",
            '#pragma once\n#include "shoal/core/both0.hpp"\nextern std::vector<int> a;\n',
        )
        self.write("include/shoal/core/some.hpp", "#pragma once\n#include <string>\nextern std::vector<int> a;\n")
        self.write("include/shoal/core/twice.hpp", "#include <vector>\ninline std::vector<int> a;\n")
        self.write(
            "include/shoal/core/maybe.hpp", "#ifdef NOT_SET\n#include <vector>\n#endif\nextern std::vector<int> a;\n"
        )
        problems, compiled, _ = self.module.check(self.root)
        bad = [problem.split(" does not compile alone")[0].removeprefix("shoal/core/") for problem in problems]
        self.assertEqual(sorted(bad), ["maybe.hpp", "some.hpp", "twice.hpp"])
        self.assertGreaterEqual(compiled, 13)
        found = self.module.standard_headers(self.root, self.root / "include/shoal/core/other.hpp")
        self.assertEqual(found, {"string", "vector"})
        self.assertEqual(self.module.choose_starts([found] * 14), [found])

    @unittest.skipIf(load("check_headers").find_nvcc() is None, "no nvcc")
    def test_code_for_the_host_in_what_nvcc_reads(self) -> None:
        self.write("include/shoal/queue/ring.cuh", "#pragma once\ninline void of_the_host() { nowhere(); }\n")
        problems, _, _ = self.module.check(self.root)
        self.assertEqual(len(problems), 1)
        self.assertIn("nowhere", problems[0])


if __name__ == "__main__":
    unittest.main()
