"""Messages about files that are too large or have weights beyond 32 bits; folders in place of files; standard
input."""

import os
import struct
import subprocess
import unittest
import zipfile

from command import CommandTest, find_shoal

USAGE, CAPACITY = 2, 3
WIDE = "0 1 2147483648\n1 2 2147483649\n"
REMARK = "the whole weight 2147483648 on line 1 is beyond 32 bits (2147483647)"


class WholeWeights(CommandTest):
    def test_wide_ones_are_exact_and_said(self) -> None:
        file = self.write("w.wel", WIDE)
        got = self.good("info", file, "--json").json()
        self.assertEqual((got["weights"], got["weights_remark"]), ("float64", REMARK))
        self.assertIn(f"float64: {REMARK}", self.good("info", file).out)
        for strategy in ("async", "delta"):
            run = self.good(
                "sssp", file, "--source", 0, "--strategy", strategy, "--device", "cpu", "--verify", "--json"
            )
            trial = run.json()["trials"][0]
            self.assertEqual(trial["farthest"], 4294967297.0)
            self.assertEqual(trial["report"]["chosen"]["weights"], f"float64: {REMARK}")
        # If the weights do not come from the file, there is no remark.
        trial = self.good("sssp", file, "--source", 0, "--weights", "unit", "--json").json()["trials"][0]
        self.assertEqual(trial["farthest"], 2)
        self.assertNotIn("weights", trial["report"]["chosen"])
        self.good("convert", file, "w.shoal")
        self.assertIn("weights_remark", self.good("info", "w.shoal", "--json").json())

    def test_what_is_not_exact_is_refused(self) -> None:
        file = self.write("w.wel", "0 1 2147483648\n1 2 9007199254740993\n")
        self.bad(USAGE, ["w.wel:2", "9007199254740993", "scale"], "info", file)
        self.bad(USAGE, "w.wel:2", "sssp", file, "--source", 0)
        # Each weight fits, but their sum does not.
        file = self.write("sum.wel", "0 1 9007199254740991\n1 2 2\n")
        self.bad(USAGE, ["sum.wel", "2^53", "on line 1"], "sssp", file, "--source", 0, "--device", "cpu")
        self.assertEqual(self.good("sssp", file, "--source", 1, "--json").json()["trials"][0]["farthest"], 2)
        # Weights that are written as real numbers are rounded as such.
        real = self.write("real.wel", "0 1 9007199254740991\n1 2 2.0\n")
        self.good("sssp", real, "--source", 0)

    def test_negative_ones_are_named_with_their_line(self) -> None:
        file = self.write("n.wel", "# weights\n0 1 5\n1 2 -4\n")
        self.bad(
            USAGE,
            ["n.wel:3: the edge from vertex 1 to vertex 2 (numbered from 0) has weight -4", "hash255"],
            *("sssp", file, "--source", 0),
        )
        self.good("bfs", file, "--source", 0)


class Vertices(CommandTest):
    """Vertices without arcs in an edge list."""

    def test_as_many_as_are_asked_for(self) -> None:
        file = self.write("g.el", "0 1\n1 2\n")
        self.assertEqual(self.good("info", file, "--vertices", 5, "--json").json()["num_vertices"], 5)
        for command in (["bfs", file, "--source", 4], ["components", file], ["pagerank", file]):
            self.assertEqual(self.good(*command, "--vertices", 5, "--json").json()["graph"]["num_vertices"], 5)
        self.good("convert", file, "five.mtx", "--vertices", 5)
        self.assertEqual(self.good("info", "five.mtx", "--json").json()["num_vertices"], 5)
        self.bad(USAGE, ["g.el:2: vertex number '2' is outside 0..1", "--vertices"], "bfs", file, "--vertices", 2)
        self.bad(USAGE, ["five.mtx: declares 5 vertices, but --vertices is 6"], "info", "five.mtx", "--vertices", 6)
        self.bad(USAGE, "--vertices is for files", "info", "chain:5", "--vertices", 6)
        self.bad(USAGE, "--vertices", "info", file, "--vertices", "many")

    def test_as_many_as_the_file_says_and_it_is_told(self) -> None:
        file = self.write("snap.txt", "# Nodes: 5 Edges: 2\n0\t1\n1\t2\n")
        remark = "5 vertices, as line 1 says; the largest in an arc is 2"
        got = self.good("info", file, "--json").json()
        self.assertEqual((got["num_vertices"], got["vertices_remark"]), (5, remark))
        self.assertIn(remark, self.good("info", file).out)
        self.assertIn(f"note: {remark}", self.good("bfs", file, "--source", 0).out)
        self.assertIn(f"note: {remark}", self.good("convert", file, "snap.mtx").out)
        run = self.good("components", file, "--json").json()
        self.assertEqual(run["graph"]["vertices_remark"], remark)
        self.assertNotIn("vertices_remark", self.good("info", "snap.mtx", "--json").json())


class NoArcs(CommandTest):
    def test_shortest_paths_of_weighted_graphs(self) -> None:
        header = "%%MatrixMarket matrix coordinate real general\n3 3 0\n"
        self.write("none.mtx", header)
        self.write("none.gr", "p sp 3 0\n")
        self.write("none.wel", "# shoal vertices=3\n")
        for target in ("none.npz", "none.shoal"):
            self.good("convert", "none.mtx", target)
        self.good("convert", "none.gr", "none.wsg")
        for name in ("none.mtx", "none.gr", "none.wel", "none.npz", "none.shoal", "none.wsg"):
            for strategy in ("async", "delta"):
                with self.subTest(name=name, strategy=strategy):
                    real = self.good("info", name, "--json").json()["weights"] == "float64"
                    run = ("sssp", name, "--source", 1, "--strategy", strategy, "--device", "cpu", "--verify")
                    self.good(*run, "--output", "distances.txt")
                    lines = (self.folder / "distances.txt").read_text().splitlines()
                    answer = {line.split()[-1] for line in lines if line[0] != "#"}
                    self.assertEqual(answer, {"0", "inf" if real else "-1"})
        self.write("bare.mtx", header.replace("real", "pattern"))
        self.bad(USAGE, "has no weights", "sssp", "bare.mtx", "--source", 0)


class Memory(CommandTest):
    def test_one_large_number(self) -> None:
        """Needs far more memory than the limit of the process, so that the result does not depend on the machine."""
        file = self.write("huge.el", "0 1\n0 2000000000\n")
        for name, text, line in (
            ("huge.el", "0 1\n0 2000000000\n", 2),
            ("huge.mtx", "%%MatrixMarket matrix coordinate pattern general\n2000000000 2000000000 1\n1 2\n", 2),
            ("huge.gr", "c\np sp 2000000000 1\na 1 2 3\n", 2),
        ):
            with self.subTest(name=name):
                file = self.write(name, text)
                command = f'ulimit -v 4000000 && exec "{find_shoal()}" info "{file}"'
                run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(run.returncode, CAPACITY, run.stderr)
                self.assertIn(f"{name}:{line}:", run.stderr)
                self.assertIn("MB are available; renumber the vertices", run.stderr)


class MemoryOfRuns(CommandTest):
    """The memory of a run is estimated, not only the memory for reading."""

    def limited(self, *args: object) -> tuple[subprocess.CompletedProcess, int]:
        """Runs a command with 3 GB of address space. Returns its result and its peak memory in KiB."""
        command = f'ulimit -v 3000000 && exec "{find_shoal()}" ' + " ".join(f"'{a}'" for a in args)
        process = subprocess.Popen(
            ["sh", "-c", command], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        err = process.stderr.read().decode()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return subprocess.CompletedProcess(command, process.returncode, "", err), usage.ru_maxrss

    def refused(self, words: list[str], *args: object, status: int = CAPACITY) -> None:
        with self.subTest(args=args):
            run, kib = self.limited(*args)
            self.assertEqual((run.returncode, len(run.stderr.splitlines())), (status, 1), run.stderr)
            for word in words:
                self.assertIn(word, run.stderr)
            self.assertLess(kib, 100_000)

    def test_a_graph_that_can_be_read_and_not_be_run(self) -> None:
        self.write("one.el", "0 160000000\n")
        cure = ["one.el:1: vertex 160000000", "160,000,001 vertices and 1 arc", "MB are available; renumber"]
        for args in (
            ("bfs",),
            ("sssp", "--weights", "unit"),
            ("pagerank",),
            ("components",),
            ("bfs", "--strategy", "async"),
        ):
            source = ["--source", 0] if args[0] in ("bfs", "sssp") else []
            self.refused(cure, args[0], "one.el", *source, *args[1:], "--device", "cpu")
        self.refused(["one.el:1: vertex 160000000"], "convert", "one.el", "two.el", "--transpose")
        self.refused(
            ["chain:100000000: 100,000,000 vertices"], "bfs", "chain:100000000", "--device", "cpu", "--source", 0
        )
        asked = ("--strategy", "async", "--capacity", 500_000_000)
        self.refused(
            ["--capacity 500000000 makes rings", "MB of memory"],
            "bfs",
            "chain:9",
            "--source",
            0,
            "--device",
            "cpu",
            *asked,
        )

    def test_checking_the_answer_is_a_part_of_it(self) -> None:
        # The graph is directed, so the check needs in-arcs: 8 more bytes per vertex, which do not fit any more.
        self.write("one.el", "0 100000000\n")
        command = ("bfs", "one.el", "--source", 0, "--device", "cpu")
        self.refused(["one.el:1: vertex 100000000"], *command, "--verify")

    def test_a_mark_at_the_beginning_is_no_part_of_small_texts(self) -> None:
        mark = b"\xef\xbb\xbf"
        (self.folder / "jumps.txt").write_bytes(mark + b"0 1\n2 1\n")
        (self.folder / "parts.txt").write_bytes(mark + b"0\n1\n0\n1\n0\n")
        self.good("pagerank", "chain:5", "--device", "cpu", "--verify", "--personalization", "jumps.txt")
        self.good("bfs", "chain:5", "--device", "cpu", "--verify", "--pes", 2, "--partition", "file:parts.txt")
        (self.folder / "jumps.txt").write_bytes(b"0 1\n" + mark + b"2 1\n")
        self.bad(USAGE, "jumps.txt:2", "pagerank", "chain:5", "--personalization", "jumps.txt")

    def test_files_that_never_end(self) -> None:
        long = ["/dev/zero:1: the line is longer than 4,095 bytes"]
        self.refused(long, "pagerank", "chain:5", "--personalization", "/dev/zero", status=USAGE)
        parts = ("bfs", "chain:5", "--pes", 2, "--device", "cpu", "--partition")
        self.refused(long, *parts, "file:/dev/zero", status=USAGE)
        for command, said in (
            ("pagerank chain:5 --personalization", ":6: more than 5 weights; the graph has only as many vertices"),
            ("bfs chain:5 --pes 2 --device cpu --partition", ":6: more than 5 PE numbers"),
        ):
            pipe = self.folder / f"pipe-{len(command)}"
            os.mkfifo(pipe)
            name = f"file:{pipe}" if "partition" in command else str(pipe)
            endless = subprocess.Popen(["sh", "-c", f"exec yes 0 > '{pipe}'"], stderr=subprocess.DEVNULL)
            self.refused([said], *command.split(), name, status=USAGE)
            endless.wait(timeout=60)  # by SIGPIPE

    def test_a_small_archive_that_expands_far(self) -> None:
        header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }"
        entries = 100_000_000

        def array(text: bytes, data: bytes) -> bytes:
            text += b" " * (64 - (10 + len(text) + 1) % 64) + b"\n"
            return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data

        with zipfile.ZipFile(self.folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("format.npy", array(header.replace(b"|u1", b"|S3").replace(b"(%d,)", b"()"), b"coo"))
            shape = header.replace(b"|u1", b"<i8").replace(b"%d", b"2")
            archive.writestr("shape.npy", array(shape, struct.pack("<qq", 5, 5)))
            for name in ("row", "col", "data"):
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    member.write(array(header % entries, b""))
                    for _ in range(30):
                        member.write(bytes(entries // 30))
        self.refused(["bomb.npz: expands from", "which no matrix of a graph does"], "info", "bomb.npz", status=USAGE)


class Places(CommandTest):
    def test_folders(self) -> None:
        for command in ("info", "bfs"):
            self.bad(USAGE, f"{self.folder}: is a directory; name a graph file in it", command, self.folder)
        for flags in (("bfs", "chain:5", "--pes", 2, "--device", "cpu", "--partition", f"file:{self.folder}"),):
            self.bad(USAGE, [f"{self.folder}: is a directory", "PE number"], *flags)
        flags = ("pagerank", "chain:5", "--personalization")
        self.bad(USAGE, [f"{self.folder}: is a directory", "vertex weight"], *flags, self.folder)

    def test_personalization(self) -> None:
        command = ("pagerank", "chain:5", "--device", "cpu", "--personalization")
        self.bad(
            USAGE, ["p.txt:3: vertex 9 is out of range", "5 vertices"], *command, self.write("p.txt", "1 2\n\n9 1\n")
        )
        self.bad(USAGE, ["p.txt: the weights sum to 0", "above 0"], *command, self.write("p.txt", "1 0\n2 0\n"))
        self.bad(USAGE, ["p.txt: the weights sum to more"], *command, self.write("p.txt", "1 1e308\n2 1e308\n"))

    def test_standard_input(self) -> None:
        def read(*args: str) -> subprocess.CompletedProcess:
            command = [find_shoal(), *args]
            return subprocess.run(
                command, input="0 1 5\n1 2 6\n", capture_output=True, text=True, timeout=60, check=False
            )

        for name in ("-", "/dev/stdin"):
            run = read("info", name)
            self.assertEqual(run.returncode, USAGE)
            self.assertIn("--format el", run.stderr)
            run = read("sssp", name, "--format", "wel", "--source", "0", "--json")
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertIn('"farthest": 11', run.stdout)
        run = read("info", "-", "--format", "mtx")
        self.assertIn("-:1: the first line must begin", run.stderr)
        self.assertIn("cache", read("info", "-", "--format", "el", "--cache").stderr)
        self.bad(USAGE, "format 'xls' is not known", "info", self.write("a.el", "0 1\n"), "--format", "xls")
        self.bad(USAGE, "--format is for files", "info", "kron:4", "--format", "el")
        self.good("info", self.write("a.data", "0 1\n"), "--format", "el")


if __name__ == "__main__":
    unittest.main()
