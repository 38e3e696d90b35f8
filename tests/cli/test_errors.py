"""Errors give one line that names the input and the remedy, the right exit status, and no file."""

import os
import subprocess
import unittest

from command import CommandTest, find_shoal

USAGE, CAPACITY, DEVICE = 2, 3, 4


class Flags(CommandTest):
    def test_unknown_words(self) -> None:
        self.bad(USAGE, ["--nope", "shoal bfs --help"], "bfs", "kron:8", "--nope")
        self.bad(USAGE, "shoal --help", "bsf", "kron:8")
        self.bad(USAGE, "no command", *[])
        self.bad(USAGE, "graph is required", "bfs")
        self.bad(USAGE, "kron:4", "bfs", "kron:8", "kron:4")
        self.bad(USAGE, "'bsf' is not a command; did you mean bfs?", "bsf", "kron:8")
        self.bad(USAGE, ["'search' is not a command", "bfs, sssp", "doctor"], "search", "kron:8")
        self.bad(
            USAGE, ["--verfy is not an option; did you mean --verify?", "shoal bfs --help"], "bfs", "kron:8", "--verfy"
        )
        self.bad(USAGE, "did you mean --trials?", "bfs", "kron:8", "-trials", 3)
        self.bad(USAGE, ["'x.json' is one word too many", "--json=FILE"], "bfs", "kron:8", "--json", "x.json")
        self.bad(USAGE, ["--verify is not an option", "run -n 2 -- bfs"], "run", "-n", 2, "bfs", "kron:8", "--verify")
        self.bad(USAGE, ["ten", "not a number"], "bfs", "kron:8", "--trials", "ten")
        self.bad(USAGE, ["korn:8: there is no such file, and no such generator", "kron:S"], "bfs", "korn:8")

    def test_values_out_of_range(self) -> None:
        for flag, value, word in [
            ("--pes", 65, "0 to 64"),
            ("--pes", -1, "0 to 64"),
            ("--pes", "many", "--pes"),
            ("--pes", "99999999999999999999", "--pes: 99999999999999999999 is out of range"),
            ("--pes", "1.5", "'1.5' is not a whole number"),
            ("--pes-per-gpu", 0, "--pes-per-gpu 0 is out of range: 1 to 4"),
            ("--pes-per-gpu", 5, "1 to 4"),
            ("--threads", -1, "--threads -1 is out of range"),
            ("--capacity", 1, ["--capacity 1 is too small", "at least 2"]),
            ("--capacity", -4, "--capacity -4 is out of range"),
            ("--capacity", "99999999999999999999", "--capacity: 99999999999999999999 is out of range"),
            ("--spill", -2, ["--spill -2 is out of range", "-1 chooses"]),
            ("--fetch", -1, "--fetch -1 is out of range"),
            ("--workers", -1, "--workers -1 is out of range"),
            ("--stall-timeout", 0, "above 0"),
            ("--stall-timeout", "nan", "--stall-timeout nan is out of range: above 0"),
            ("--trials", -1, "--trials"),
            ("--trials", 0, "--trials 0 is out of range: 1 to 1,000,000"),
            ("--seed", -1, "--seed: -1 is negative"),
            (
                "--seed",
                "18446744073709551616",
                "--seed: 18446744073709551616 is out of range: 0 to 18446744073709551615",
            ),
            ("--worker", "block:100", "multiple of 32"),
            ("--worker", "block:", "block:THREADS"),
            ("--worker", "warp:64", "block:THREADS"),
            ("--worker", "gang", "thread, warp, block"),
            ("--worker", "block:512", "64 to 384 threads"),
            ("--kernel", "eternal", "persistent, discrete"),
            ("--strategy", "fast", "async, levels"),
            ("--device", "tpu", "cpu, gpu"),
            ("--engine", "pigeon", "threads, peer"),
            ("--queue", "lifo", "fifo, priority"),
            ("--threshold", -2, "-2 is out of range: 0 to 1e18 (-1 chooses); all priorities below 0 are in the first"),
            ("--threshold", -0.5, ["--threshold -0.5 is out of range", "adds a constant to them"]),
            ("--threshold", "nan", "--threshold nan is out of range: 0 to 1e18"),
            ("--threshold", 1e19, "--threshold 1e+19 is out of range: 0 to 1e18"),
            ("--threshold-delta", -1, "--threshold-delta -1 is out of range"),
            ("--buckets", 65, "--buckets 65 is out of range"),
            ("--overlap", -2, "--overlap -2 is out of range"),
            ("--keep", 33, ["--keep 33 is out of range: -1 to 32", "-1 chooses, 0 switches it off"]),
            ("--judge", "jury", "owner, remote"),
            ("--combine", "maybe", "off, on"),
            ("--batch-bytes", -2, "--batch-bytes -2 is out of range"),
            ("--batch-bytes", 2**21, "-1 chooses, 0: channels"),
            ("--batch-wait", -1, "--batch-wait -1 is out of range"),
            ("--batch-wait", "20u", "such as 20us"),
            ("--batch-wait", "us", "such as 20us"),
            ("--batch-wait", "20 us", "such as 20us"),
            ("--batch-wait", "2.5us", "such as 20us"),
            ("--batch-wait", "-1us", "--batch-wait -1us is out of range"),
            ("--batch-wait", "1e9us", "such as 20us"),
            ("--batch-wait", "1000000000us", "0us to 100000us"),
            ("--batch-wait", "99999999999999999999", "--batch-wait 99999999999999999999 is out of range"),
            ("--partition", "fair", "block, edges"),
            ("--partition", "file:", "file:PATH"),
            ("--partition", "block:x", "file:PATH"),
        ]:
            with self.subTest(flag=flag, value=value):
                self.bad(USAGE, word, "bfs", "kron:6", flag, value)

    def test_fetch_is_reported_as_it_is(self) -> None:
        for given, want in ((64, "64: asked for"), (100000, "64: the most that such a worker takes; asked for 100000")):
            got = self.good(
                "bfs", "kron:6", "--device", "cpu", "--strategy", "async", "--fetch", given, "--json"
            ).json()
            self.assertEqual(got["trials"][0]["report"]["chosen"]["fetch"], want)

    def test_options_that_do_not_fit(self) -> None:
        self.bad(USAGE, ["peer", "cpu"], "bfs", "kron:6", "--engine", "peer", "--device", "cpu")
        self.bad(USAGE, ["self", "2"], "bfs", "kron:6", "--engine", "self", "--pes", 2)
        self.bad(USAGE, ["pes per GPU 2", "'cpu'"], "bfs", "kron:6", "--device", "cpu", "--pes-per-gpu", 2)
        self.bad(USAGE, ["pes per GPU 2", "engine threads"], "bfs", "kron:6", "--engine", "threads", "--pes-per-gpu", 2)
        self.bad(USAGE, "--undirected", "bfs", "kron:6", "--undirected")
        for wait in (3, "20us"):
            said = [f"batch wait {wait}", "batch bytes is 0", "--batch-bytes 4096"]
            self.bad(USAGE, said, "bfs", "kron:6", "--batch-wait", wait, "--batch-bytes", 0)
        said = ["batch wait 100000us", "stall timeout of 0.1 s", "--stall-timeout 0.4"]
        self.bad(USAGE, said, "bfs", "kron:6", "--batch-wait", "100000us", "--stall-timeout", 0.1)
        self.bad(USAGE, ["priority", "fifo"], "bfs", "kron:6", "--queue", "fifo", "--buckets", 4)
        self.bad(USAGE, ["keep", "fifo"], "bfs", "kron:6", "--queue", "fifo", "--keep", 4)
        unused = self.good("sssp", "kron:6", "--device", "cpu", "--queue", "priority", "--keep", 4)
        self.assertIn("not used: --keep: only warps of GPUs keep items, in the persistent kernel", unused.out)
        self.bad(USAGE, ["overlap", "fifo"], "bfs", "kron:6", "--queue", "fifo", "--overlap", 4)
        rounds = ("sssp", "kron:6", "--device", "cpu", "--queue", "priority", "--kernel", "discrete")
        said = "not used: --overlap: in rounds the threshold moves between two rounds"
        self.assertIn(said, self.good(*rounds, "--overlap", 4).out)
        self.bad(USAGE, "priority", "components", "kron:6", "--strategy", "async", "--queue", "priority")
        for words, args in (
            ("--trials 2 takes a random one each", ("--trials", 2)),
            ("--source random:3 is several", ("--source", "random:3")),
        ):
            self.bad(USAGE, [words, "add --source N"], "bfs", "kron:6", *args, "--output", "x.npy")

    def test_what_is_for_one_process(self) -> None:
        env = {**os.environ, "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}
        for args in (
            ("convert", "chain:4", "a.el"),
            ("generate", "chain:4", "a.el"),
            ("tune", "chain:4", "--budget", 1),
            ("bench", "atos-table2", "--quick"),
        ):
            with self.subTest(args=args):
                said = [f"{args[0]} runs in one process, but mpirun started 2", "without a launcher"]
                self.bad(USAGE, said, *args, env=env)
                other = self.shoal(*args, env={**env, "OMPI_COMM_WORLD_RANK": "1"})  # only process 0 prints the error
                self.assertEqual((other.status, other.out, other.err), (USAGE, "", ""))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_all_processes_would_say(self) -> None:
        env = {**os.environ, "OMPI_COMM_WORLD_SIZE": "2"}
        for args in (("info", "chain:4"), ("doctor",)):
            with self.subTest(args=args):
                alone = self.good(*args).out.split()[0]
                one, other = (self.shoal(*args, env={**env, "OMPI_COMM_WORLD_RANK": i}) for i in "01")
                self.assertEqual((one.status, one.out.split()[0], one.err), (0, alone, ""))
                self.assertEqual((other.status, other.out, other.err), (0, "", ""))

    def test_more_pes_than_devices(self) -> None:
        devices = self.shoal("doctor", "--json").json()["devices"]
        if devices:
            said = [f"{len(devices)} GPU", "--pes-per-gpu 2 to let PEs share a GPU"]
            self.bad(USAGE, said, "bfs", "kron:6", "--device", "gpu", "--pes", len(devices) + 1)
        else:
            self.bad(DEVICE, "no GPU", "bfs", "kron:6", "--device", "gpu")


class Graphs(CommandTest):
    def test_generators(self) -> None:
        for text, word in [
            ("kron:99", "kron:99"),
            ("kron:", "kron:"),
            ("kron:8,colour=red", "colour"),
            ("kron:8,seed=x", "seed"),
            ("road:10,deleted=2", "deleted"),
            ("complete:-1", "complete"),
        ]:
            with self.subTest(text=text):
                self.bad(USAGE, word, "bfs", text, "--source", 0)

    def test_generated_graph_too_large(self) -> None:
        self.bad(CAPACITY, ["kron:30"], "bfs", "kron:30,degree=64", "--device", "cpu")

    def test_files(self) -> None:
        self.bad(USAGE, "nothing.mtx", "bfs", "nothing.mtx")
        for name in ("missing.foo", "./missing", "missing.gml"):
            self.bad(USAGE, [name + ": there is no such file, and "], "bfs", name)
        self.bad(USAGE, ["a\\x1b.gml: there is no such file, and .gml files are not read"], "bfs", "a\x1b.gml")
        self.bad(USAGE, "graph.xyz", "bfs", self.write("graph.xyz", "0 1\n"))
        self.bad(USAGE, "bad.el:2", "bfs", self.write("bad.el", "0 1\n1 x\n"))
        self.bad(USAGE, "bad.mtx:", "info", self.write("bad.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n"))
        self.bad(USAGE, str(self.folder), "info", self.folder)

    def test_sources(self) -> None:
        self.bad(USAGE, "0 to 4", "bfs", "chain:5", "--source", 5)
        self.bad(USAGE, "0 to 4", "bfs", "chain:5", "--source", -1)
        self.bad(USAGE, "0 to 4", "bfs", "chain:5", "--source", 2**40)
        self.bad(USAGE, "max-degree", "bfs", "chain:5", "--source", "middle")
        self.bad(USAGE, "random:K", "bfs", "chain:5", "--source", "random:0")
        self.bad(USAGE, "no arcs", "bfs", "chain:1")

    def test_partition_file(self) -> None:
        short = self.write("short.txt", "0\n1\n")
        self.bad(USAGE, "short.txt", "bfs", "chain:5", "--pes", 2, "--partition", f"file:{short}")
        wrong = self.write("wrong.txt", "0\n1\n0\n7\n0\n")
        self.bad(USAGE, "wrong.txt:4", "bfs", "chain:5", "--pes", 2, "--partition", f"file:{wrong}")
        self.bad(USAGE, "none.txt", "bfs", "chain:5", "--pes", 2, "--partition", "file:none.txt")


class Outputs(CommandTest):
    def test_places_that_cannot_be_written(self) -> None:
        for flag in ("--output=", "--json="):
            self.bad(USAGE, "no/such/place", "bfs", "chain:5", "--source", 0, flag + "no/such/place")
            self.bad(USAGE, "it is a directory", "bfs", "chain:5", "--source", 0, flag + str(self.folder))
        self.bad(USAGE, "no/such/place.el", "generate", "chain:5", "no/such/place.el")
        self.bad(USAGE, "out.docx", "generate", "chain:5", "out.docx")
        self.assertEqual(self.files(), [])

    def test_full_disk(self) -> None:
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        self.bad(USAGE, ["/dev/full", "space"], "bfs", "chain:500", "--source", 0, "--output", "/dev/full")
        self.bad(USAGE, ["/dev/full", "space"], "bfs", "chain:500", "--source", 0, "--json=/dev/full")
        for tail in (["--json"], ["--stats"], []):
            with open("/dev/full", "w", encoding="utf-8") as full:
                command = [find_shoal(), "bfs", "chain:5", "--source", "0", *tail]
                done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, USAGE, tail)
            self.assertIn("standard output", done.stderr)

    def test_a_failed_run_leaves_an_old_file_alone(self) -> None:
        old = self.write("levels.npy", "old")
        self.bad(USAGE, "0 to 4", "bfs", "chain:5", "--source", 7, "--output", old)
        self.assertEqual((old.read_text(), self.files()), ("old", ["levels.npy"]))

    def test_an_answer_replaces_an_old_file(self) -> None:
        old = self.write("levels.txt", "old")
        self.good("bfs", "chain:3", "--source", 2, "--output", old)
        self.assertEqual((old.read_text(), self.files()), ("2\n1\n0\n", ["levels.txt"]))


if __name__ == "__main__":
    unittest.main()
