"""Errors name what was given and a cure, and the cure works as it is written. Options that do nothing are refused, or said to."""

import os
import pathlib
import re
import resource
import shlex
import subprocess
import unittest

from command import Answer, CommandTest, find_shoal

USAGE, CAPACITY = 2, 3
BYTES = 2 << 30  # of addresses, so that the machine does not matter
LAUNCHER = os.environ.get("SHOAL_OSHRUN", "")


class Distances(CommandTest):
    def test_weights_that_add_up_to_infinity(self) -> None:
        file = self.write("big.wel", "0 1 1e308\n1 2 1e308\n")
        run = ("sssp", file, "--source", 0)
        said = self.bad(USAGE, ["largest of which is 1e+308", "infinite in float64"], *run).err
        least = float(re.search(r"below (\S+)\n", said).group(1))
        self.write("big.wel", f"0 1 {0.99 * least}\n1 2 {0.99 * least}\n")
        self.good(*run, "--verify")

    def test_large_weights_that_do_not(self) -> None:
        file = self.write("one.wel", "0 1 1e308\n1 2 0.5\n2 3 0.5\n")
        self.assertEqual(
            self.good("sssp", file, "--source", 0, "--device", "cpu", "--output", "-").out,
            "0\n1e+308\n1e+308\n1e+308\n",
        )

    def test_the_sum_of_all_weights_may_be_infinite(self) -> None:
        lines = [f"{a} {b} 1.5e307\n" for a in range(10) for b in range(10) if a != b]
        file = self.write("dense.wel", "".join(lines))
        for strategy in ("delta", "async"):
            out = self.good("sssp", file, "--source", 0, "--device", "cpu", "--strategy", strategy, "--verify").out
            self.assertNotIn("inf", out)

    def test_files_without_weights(self) -> None:
        file = self.write("a.el", "0 1\n1 2\n")
        run = ("sssp", file, "--source", 0)
        self.bad(USAGE, ["a.el: has no weights, as column 3 is missing", "--weights hash255", "or unit"], *run)
        for _ in range(2):  # the second time, the graph comes from the cache
            self.bad(USAGE, "a.el: has no weights, as column 3 is missing", *run, "--cache")
        for weights in ("hash255", "unit"):
            self.good(*run, "--weights", weights)
        pattern = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"
        answer = self.bad(USAGE, "a.mtx: has no weights; ", "sssp", self.write("a.mtx", pattern))
        self.assertNotIn("column", answer.err)


def limit_addresses() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


class Capacity(CommandTest):
    def limited(self, *args: object) -> Answer:
        return self.shoal(*args, preexec_fn=limit_addresses)

    def test_rings_that_do_not_fit(self) -> None:
        file = self.write("a.el", "0 1\n1 2\n")
        for graph in (file, "kron:10"):
            run = ("bfs", graph, "--device", "cpu", "--threads", 1, "--source", 0, "--capacity")
            said = self.limited(*run, 10**11)
            self.assertEqual(said.status, CAPACITY)
            self.assertRegex(said.err, "^shoal: error: --capacity 100000000000 makes rings that take about")
            cure = re.search(r"use --capacity (\d+) or less, or leave it out\n", said.err)
            self.assertEqual(self.limited(*run, cure.group(1)).status, 0, said.err)

    def test_rings_of_a_program_that_do_not_fit(self) -> None:
        program = pathlib.Path(find_shoal()).parent / "example_01_bfs"
        if not program.exists():
            self.skipTest("example_01_bfs is not built")

        def limited(capacity: object) -> Answer:
            run = [program, "kron:6", "--device", "cpu", "--pes", 2, "--threads", 1, "--capacity", capacity]
            return self.run_line(run, {}, preexec_fn=limit_addresses)

        for capacity in (5 * 10**7, 10**8, 10**11):
            said = limited(capacity)
            self.assertEqual(said.status, CAPACITY, said.out)
            wanted = r"error: rings of [0-9]+ slots take about [0-9,]+ MB of memory, [0-9,]+ MB are available; "
            self.assertRegex(said.err, wanted)
            cure = re.search(r"use --capacity (\d+) or less\n", said.err)
            self.assertEqual(limited(cure.group(1)).status, 0, said.err)

    def test_too_small(self) -> None:
        run = ("bfs", "kron:6", "--device", "cpu", "--capacity")
        self.bad(USAGE, "use --capacity 2 or more", *run, 1)
        self.good(*run, 2)

    def test_spill_that_is_too_small(self) -> None:
        for command in (("bfs",), ("components",), ("sssp", "--weights", "hash255")):
            for spill in (0, 1000):
                run = (*command, "kron:12", "--strategy", "async", "--device", "cpu", "--threads", 2, "--capacity", 2)
                said = self.bad(CAPACITY, "worklist full: ", *run, "--spill", spill).err
                self.assertRegex(said, "[;:] leave --spill out; ")
                self.good(*run)


class Unused(CommandTest):
    def test_options_of_a_priority_queue(self) -> None:
        for options in (
            ("--threshold", 5),
            ("--threshold-delta", 5),
            ("--buckets", 4),
            ("--keep", 4),
            ("--overlap", 100),
            ("--threshold", 5, "--buckets", 4),
        ):
            run = ("kron:6", "--device", "cpu", *options)
            said = [", ".join(options[::2]) + ": only queue priority uses this"]
            with self.subTest(options=options):
                self.bad(USAGE, [*said, "add --queue priority"], "bfs", *run)
                self.good("bfs", *run, "--queue", "priority")
                self.good("sssp", *run)  # auto takes a priority queue
                any_order = ("kcore",) if "--keep" in options else ()  # its items may run in any order, and be kept
                for command in any_order:
                    self.good(command, *run)
                for command in {"components", "pagerank", "kcore"} - set(any_order):
                    answer = self.bad(USAGE, [*said, "cannot have; leave it out"], command, *run)
                    self.assertNotIn("add", answer.err)
        said = "not used: --threshold: these options are for the worklist"
        self.assertIn(said, self.good("bfs", "kron:6", "--device", "cpu", "--strategy", "levels", "--threshold", 5).out)

    def test_options_of_a_priority_queue_for_a_program(self) -> None:
        program = pathlib.Path(find_shoal()).parent / "example_01_bfs"
        if not program.exists():
            self.skipTest("example_01_bfs is not built")
        answer = self.run_line([program, "kron:6", "--device", "cpu", "--threshold", 5], {})
        self.assertEqual(answer.status, USAGE, answer.out)
        self.assertIn("error: --threshold: only queue priority uses this, which these tasks cannot have", answer.err)

    def test_options_of_sending_on_one_pe(self) -> None:
        options = ("--judge", "remote", "--combine", "off", "--batch-bytes", 64, "--batch-wait", 3)
        run = ("bfs", "kron:6", "--device", "cpu", *options)
        alone = self.good(*run).out
        self.assertIn("not used: --judge, --combine, --batch-bytes, --batch-wait: one PE has no other", alone)
        self.assertNotIn("judge: remote", alone)
        two = self.good(*run, "--pes", 2).out
        self.assertNotIn("not used", two)
        self.assertIn("judge: remote: asked for", two)

    def test_segments_without_room_for_an_item(self) -> None:
        run = ("bfs", "kron:6", "--device", "cpu", "--strategy", "async", "--batch-bytes")
        said = ["--batch-bytes 7 is less than one item, which has 8 bytes", "use --batch-bytes 8 or more"]
        self.bad(USAGE, said, *run, 7, "--pes", 2)
        self.good(*run, 8, "--pes", 2, "--verify")
        self.assertIn("not used: --batch-bytes", self.good(*run, 7).out)

    def test_blocks_on_one_pe_are_not_moved(self) -> None:
        run = ("jacobi3d", 4, 4, 4, "--device", "cpu", "--iterations", 10, "--balance", 5)
        self.assertIn("not used: --balance: one PE", self.good(*run).out)
        self.assertNotIn("not used", self.good(*run, "--pes", 2, "--odf", 4).out)

    def test_undirected_for_files_that_say_it_themselves(self) -> None:
        file = self.write("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n")
        self.good("convert", file, "a.shoal")
        for name in (file, "a.shoal"):
            self.bad(USAGE, ["--undirected is for edge lists", "convert the file to .el"], "info", name, "--undirected")
        self.good("convert", file, "a.el")
        self.assertIn("arcs           4 (symmetric", self.good("info", "a.el", "--undirected").out)
        self.good("info", self.write("a.graph", "3 2\n2\n1 3\n2\n"), "--undirected")  # is undirected anyway
        for _ in range(2):
            self.good("info", "a.el", "--undirected", "--cache")


class Pipes(CommandTest):
    def test_graphs_are_not_written_to_standard_output(self) -> None:
        file = self.write("a.el", "0 1\n1 2\n")
        said = ["a graph is not written to standard output", "mkfifo graph.el", ".mtx .gr"]
        for name in ("-", "/dev/stdout"):
            for command in (("convert", file), ("convert", "-"), ("generate", "chain:3")):
                answer = self.bad(USAGE, [f"error: {name}: ", *said], *command, name, input="")
                self.assertNotIn("--format", answer.err)
        os.mkfifo(self.folder / "graph.el")
        with subprocess.Popen(["cat", "graph.el"], cwd=self.folder, stdout=subprocess.PIPE, text=True) as reader:
            self.good("convert", file, "graph.el")
            self.assertEqual(reader.communicate(timeout=60)[0], "0 1\n1 2\n")

    def test_nothing_else_is_written_to_standard_output(self) -> None:
        (self.folder / "out.el").symlink_to("/dev/stdout")
        self.assertEqual(self.good("convert", self.write("a.el", "0 1\n1 2\n"), "out.el").out, "0 1\n1 2\n")

    def test_an_ending_is_checked_before_the_input_is_read(self) -> None:
        for name in ("out.gml", "out"):
            said = f"{name}: the name of a graph to write needs an ending"
            answer = self.bad(USAGE, said, "convert", self.write("bad.el", "x\n"), name)
            self.assertNotIn("read", answer.err)
        self.bad(USAGE, "output: is empty", "convert", "bad.el", "")
        self.bad(USAGE, "graph: is empty", "convert", "", "a.el")

    def test_standard_input_that_is_no_pipe(self) -> None:
        run = ("info", "-", "--format", "el")
        said = ["standard input is a terminal, device or socket", "< FILE"]
        self.bad(USAGE, said, *run, stdin=subprocess.DEVNULL)
        self.bad(USAGE, "standard input is closed", *run, preexec_fn=lambda: os.close(0))

    def test_formats_of_standard_input(self) -> None:
        self.write("a.el", "0 1\n1 2\n")
        for name, words in (("a.el.gz", "--format el.gz"), ("a.npz", "--format npz")):
            self.good("convert", "a.el", name)
            with open(self.folder / name, "rb") as pipe:
                self.bad(USAGE, words, "info", "-", "--format", "el", stdin=pipe)
            with open(self.folder / name, "rb") as pipe:
                self.assertEqual(self.shoal("info", "-", *words.split(), stdin=pipe).status, 0)


class Files(CommandTest):
    def test_formats_that_need_weights(self) -> None:
        file = self.write("a.el", "0 1\n1 2\n")
        for name, other in (("out.gr", ".mtx or .el"), ("out.wel", ".el"), ("out.wsg", ".sg")):
            said = f"write {other}, or make some with --weights hash255 or unit"
            self.bad(USAGE, [f"{name}: ", said], "convert", file, name)
            for weights in ("hash255", "unit"):
                self.good("convert", file, name, "--weights", weights)
            for ending in other.split(" or "):
                self.good("convert", file, "out" + ending)

    def test_files_of_another_format(self) -> None:
        self.write("a.wel", "0 1\n")
        self.bad(USAGE, "add --format el", "info", "a.wel")
        self.good("info", "a.wel", "--format", "el")
        self.write("b.el", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
        self.bad(USAGE, "add --format mtx", "info", "b.el")
        self.good("info", "b.el", "--format", "mtx")
        for wrong in ("mtx", "gr"):
            self.bad(USAGE, "add --format el", "info", self.write("c.el", "0 1\n"), "--format", wrong)

    def test_files_that_are_not_packed(self) -> None:
        for ending in (".gz", ".zst"):
            file = self.write("a.el" + ending, "0 1\n1 2\n")
            self.bad(USAGE, [f"a.el{ending}: does not begin as", f"leave {ending} out"], "info", file)
            file.rename(self.folder / "a.el")
            self.good("info", "a.el")

    def test_mappings(self) -> None:
        run = ("jacobi3d", 4, 4, 4, "--device", "cpu", "--mapping")
        self.bad(USAGE, ["none.txt: cannot be opened: No such file", "one PE number per line"], *run, "file:none.txt")
        long = f"file:{self.write('long.txt', '0 0 0')}"
        self.bad(USAGE, ["more than the 1 block of this run", "or change --odf or --blocks"], *run, long)
        self.good(*run, long, "--blocks", "3x1x1")

    def test_mappings_of_programs_whose_blocks_form_no_grid(self) -> None:
        program = pathlib.Path(find_shoal()).parent / "example_05_power_iteration"
        if not program.exists():
            self.skipTest("example_05_power_iteration is not built")
        run = [program, "--device", "cpu", "--iterations", 5, "--mapping", f"file:{self.write('long.txt', '0 0 0')}"]
        answer = self.run_line(run, {})
        self.assertEqual(answer.status, USAGE, answer.out)
        said = r"more than the 1 block of this run, beginning with '0'; leave out the others, or change --odf\n"
        self.assertRegex(answer.err, said)
        answer = self.run_line([*run, "--odf", 3], {})
        self.assertEqual((answer.status, answer.err), (0, ""), answer.out)


class Launcher(CommandTest):
    @unittest.skipUnless(LAUNCHER, "no OpenSHMEM was found, so the engine is not built")
    def test_its_line_can_be_pasted(self) -> None:
        words = ["bfs", "my graph.el", "it's", "$HOME", "", "*", "a\\b", "x;y", "--output=a b"]
        line = self.good("run", "-n", 2, "--show", "--", *words).out
        self.assertEqual(shlex.split(line)[-len(words) :], words)
        printed = subprocess.run(["sh", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True)
        self.assertEqual(printed.stdout.splitlines()[-len(words) :], words)
        self.assertIn(" --bind-to none ", line)

    @unittest.skipUnless(LAUNCHER, "no OpenSHMEM was found, so the engine is not built")
    def test_folders_are_not_started(self) -> None:
        (self.folder / "program").mkdir()
        self.bad(USAGE, "./program: cannot be started: Is a directory", "run", "-n", 2, "--", "./program")


class Flags(CommandTest):
    def test_what_is_wrong_is_said(self) -> None:
        for words, args in (
            ("--helpp is not an option; did you mean --help?", ("bfs", "--helpp")),
            ("--json takes no value", ("info", "kron:4", "--json=x.json")),
            ("--vertices: '1e3' is not a whole number", ("info", "a.el", "--vertices", "1e3")),
            ("--pes is given more than once; leave out all but one", ("bfs", "kron:4", "--pes", 1, "--pes", 2)),
            ("--source needs a value: --source WHERE", ("bfs", "kron:4", "--source")),
            ("--alpha 0.99999 is out of range", ("pagerank", "kron:4", "--alpha", 0.99999)),
            ("graph is required", ("bfs",)),
            ("--processes is required", ("run", "--show", "--", "bfs", "kron:4")),
            ("--processes: '1.5' is not a whole number (see", ("run", "-n", 1.5, "--", "bfs", "kron:4")),
        ):
            with self.subTest(words=words):
                self.bad(USAGE, words, *args)

    def test_spill_that_does_not_fit(self) -> None:
        run = ("bfs", "kron:6", "--device", "cpu", "--strategy", "async", "--spill")
        self.assertIn("use a smaller --spill", self.bad(CAPACITY, "spill: ", *run, 10**12).err)
        self.good(*run, 10**6)


class Bench(CommandTest):
    def test_ranges(self) -> None:
        self.bad(USAGE, "--shrink: use numbers from 1", "bench", "charm-fig6", "--shrink", 0)
        self.bad(USAGE, "--ranks: use numbers from 1", "bench", "bfs-fig41", "--ranks", "1,0")


if __name__ == "__main__":
    unittest.main()
