"""Tests of the command that need GPUs: other programs on the same GPUs, several processes, grids and capacities that
are too large.
Skipped without a GPU."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

from baseline import ENVIRONMENT
from command import Answer, CommandTest, find_shoal

USAGE, CAPACITY = 2, 3
SECONDS = 60
RUNS = [
    "bfs road:64 --strategy async --worker warp --trials 10",
    "bfs kron:12 --strategy levels --trials 50",
    "sssp kron:12 --weights hash255 --strategy async --worker thread --trials 5",
    "components kron:12 --strategy hook --partition edges --trials 20",
    "pagerank kron:8 --strategy async --tolerance 0.01 --trials 3",
]


class Gpu(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.gpus = len(self.shoal("doctor", "--json").json()["devices"])
        if self.gpus == 0:
            self.skipTest("no GPU")

    def test_neighbours_on_the_same_gpus(self) -> None:
        """Persistent kernels of several programs on the same GPUs take turns: all programs end, and are right."""
        for pes in {1, min(self.gpus, 4)}:
            with self.subTest(pes=pes):
                commands = [
                    [find_shoal(), *run.split(), "--device", "gpu", "--pes", str(pes), "--verify"] for run in RUNS
                ]
                running = [
                    subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for c in commands
                ]
                end = time.monotonic() + SECONDS
                for process, run in zip(running, RUNS):
                    try:
                        out, _ = process.communicate(timeout=max(1, end - time.monotonic()))
                    except subprocess.TimeoutExpired:
                        for other in running:
                            other.kill()
                        self.fail(f"'{run}' was not through after {SECONDS} s beside the others")
                    self.assertEqual(process.returncode, 0, f"{run}: {out}")

    def test_records_name_the_driver(self) -> None:
        version = self.shoal("doctor", "--json").json()["machine"]["driver"]
        self.assertRegex(version, r"^(\d+(\.\d+)+|for CUDA \d+\.\d)$")
        self.assertIn(f"driver   NVIDIA {version}\n", self.shoal("doctor").out)

    def test_pes_share_gpus(self) -> None:
        share = ("--device", "gpu", "--pes", 4, "--pes-per-gpu", max(2, -(-4 // self.gpus)), "--verify")
        for run in RUNS:
            with self.subTest(run=run):
                self.good(*run.split(), *share)

    def test_grids_in_blocks(self) -> None:
        for pes in (1, 2, 4):
            for form in (
                "resident",
                "kernels --fusion none",
                "kernels --fusion a",
                "kernels --fusion none --urgent-packs",
                "kernels --fusion b --graph 2 --urgent-packs",
                "kernels --fusion b --graph 4",
                "kernels --fusion d --graph 4",
                "kernels",
            ):
                with self.subTest(pes=pes, form=form):
                    share = ("--device", "gpu", "--pes", pes, "--pes-per-gpu", -(-pes // self.gpus), "--verify")
                    self.good("jacobi3d", 61, 47, 89, "--odf", 4, "--form", *form.split(), *share)
                    self.good("jacobi3d", 3, 4, 5, "--blocks", "3x4x5", "--form", *form.split(), *share)

    def test_an_array_of_four_dimensions(self) -> None:
        """Blocks that are told values and give values for reductions, on GPUs as on CPU threads."""
        program = pathlib.Path(find_shoal()).parent / "example_06_lattice"
        for pes in (1, 2, 4):
            for form in (
                "resident",
                "kernels --fusion none",
                "kernels --fusion b",
                "kernels --fusion d",
                "kernels --graph 4",
            ):
                with self.subTest(pes=pes, form=form):
                    words = ("--pes", pes, "--pes-per-gpu", -(-pes // self.gpus), "--odf", 4, "--mapping", "parts")
                    command = [program, "--device", "gpu", "--iterations", 50, *words, "--form", *form.split()]
                    done = subprocess.run(
                        list(map(str, command)), capture_output=True, text=True, timeout=60, check=False
                    )
                    self.assertEqual((done.returncode, ": right" in done.stdout), (0, True), done.stdout + done.stderr)

    def test_the_host_waits_once_in_a_run_of_blocks(self) -> None:
        for form in ("resident", "kernels", "kernels --graph 2"):
            with self.subTest(form=form):
                args = ("jacobi3d", 30, 31, 32, "--odf", 4, "--device", "gpu", "--form", *form.split(), "--json")
                trial = self.good(*args, "--iterations", 50).json()["trials"][0]
                self.assertEqual((trial["runs"], trial["host_waits"]), (1, 1))
                trial = self.good(*args, "--iterations", 50, "--checkpoint", "c", "--checkpoint-every", 20).json()[
                    "trials"
                ][0]
                self.assertEqual((trial["runs"], trial["host_waits"]), (3, 3))

    def test_halos_are_copied(self) -> None:
        """Copies through the host and from GPU to GPU give the same bits, even if PEs share a GPU, and the host waits
        once."""
        for halos in ("staged", "copied"):
            for pes, blocks in ((2, "2x3x2"), (3, "3x4x5")):
                for form in (
                    "auto",
                    "kernels --fusion none",
                    "kernels --fusion b --urgent-packs",
                    "kernels --fusion c --graph 4",
                    "kernels --fusion d --graph 2",
                ):
                    with self.subTest(halos=halos, pes=pes, blocks=blocks, form=form):
                        share = ("--device", "gpu", "--pes", pes, "--pes-per-gpu", -(-pes // self.gpus))
                        words = ("--blocks", blocks, "--halos", halos, "--form", *form.split(), "--verify", "--json")
                        done = self.good("jacobi3d", 31, 27, 33, *share, *words, "--iterations", 43).json()
                        self.assertEqual(done["chosen"]["halos"]["value"], halos)
                        self.assertEqual((done["trials"][0]["host_waits"], done["trials"][0]["verified"]), (1, True))
        self.bad(
            USAGE,
            "use --form kernels",
            "jacobi3d",
            8,
            8,
            8,
            "--device",
            "gpu",
            "--halos",
            "staged",
            "--form",
            "resident",
        )

    def test_laps_are_told_while_a_run_goes_on(self) -> None:
        """A thread polls events for the laps: still, the host waits only once, and the bits are the same."""
        for pes in (1, 2):
            for form in ("resident", "kernels", "kernels --fusion c --graph 4", "kernels --fusion a --urgent-packs"):
                with self.subTest(pes=pes, form=form):
                    share = ("--device", "gpu", "--pes", pes, "--pes-per-gpu", -(-pes // self.gpus), "--odf", 4)
                    run = ("--iterations", 2000, "--laps", 250, "--verify", "--json", "--form", *form.split())
                    trial = self.good("jacobi3d", 48, 48, 48, *share, *run).json()["trials"][0]
                    self.assertEqual((trial["runs"], trial["host_waits"], trial["verified"]), (1, 1, True))
                    self.assertEqual([lap["iterations"] for lap in trial["laps"]], list(range(250, 2001, 250)))
                    seconds = [lap["seconds"] for lap in trial["laps"]]
                    self.assertEqual(seconds, sorted(seconds))
                    self.assertLess(seconds[0], seconds[-1] / 2, seconds)  # not all of them at the end

    def test_blocks_go_on_elsewhere(self) -> None:
        size = ("jacobi3d", 30, 31, 32)
        two = ("--pes", 2, "--pes-per-gpu", -(-2 // self.gpus))
        self.good(*size, "--odf", 8, "--device", "gpu", "--pes", 1, "--iterations", 9, "--checkpoint", "c")
        for where in (("--device", "gpu", *two), ("--device", "gpu", *two, "--balance", 3), ("--device", "cpu")):
            with self.subTest(where=where):
                self.good(*size, "--restart", "c", "--iterations", 30, "--verify", *where)

    def test_small_graphs_are_left_to_one_gpu(self) -> None:
        def pes_of(*more) -> tuple[str, str]:
            done = self.good(*more, "kron:10", "--device", "gpu", "--verify", "--json").json()
            chosen = done["trials"][0]["report"]["chosen"]
            return chosen["pes"].split(": ", 1)[0], chosen["partition"].split(":")[0]

        gpus = str(self.gpus)
        for algorithm in ("bfs", "pagerank", "components"):
            with self.subTest(algorithm=algorithm):
                self.assertEqual(pes_of(algorithm)[0], "1")
                self.assertEqual(pes_of(algorithm, "--strategy", "async")[0], gpus)
                self.assertEqual(pes_of(algorithm, "--partition", "edges")[0], gpus)
                asked = "one" if algorithm == "components" else "edges"
                self.assertEqual(pes_of(algorithm, "--pes", gpus), (gpus, asked if self.gpus > 1 else "block"))
        self.assertEqual(pes_of("sssp", "--weights", "hash255")[0], "1")

    def test_more_workers_than_fit_are_not_launched(self) -> None:
        self.good("bfs", "kron:10", "--device", "gpu", "--strategy", "async", "--workers", 2**24, "--verify")

    def test_capacity_beyond_the_memory(self) -> None:
        begin = time.monotonic()
        self.bad(
            CAPACITY,
            ["bytes wanted", "free"],
            *("bfs", "kron:10", "--device", "gpu", "--pes", 1, "--strategy", "async", "--capacity", 2**36),
        )
        self.assertLess(time.monotonic() - begin, 10)
        self.good("bfs", "kron:10", "--device", "gpu", "--pes", 1, "--strategy", "async", "--verify")


LAUNCHER = os.environ.get("SHOAL_OSHRUN", "")
STALL = 3


def process_of(test: CommandTest, number: int, mark: str) -> int:
    """The id of process `number` of the job whose command line has the word `mark`."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            said = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words and b"run" not in words and f"OMPI_COMM_WORLD_RANK={number}".encode() in said:
            return int(folder.name)
    test.fail(f"process {number} has not come")


# Commands that run until they are ended. Their last word is a number of trials or iterations, which also identifies their
# processes.
SEARCH = ("bfs", "kron:14", "--trials")
SEARCHES = (((*SEARCH, 900_001), signal.SIGKILL), ((*SEARCH, 900_002), signal.SIGSTOP))
GRID = ("jacobi3d", 64, 64, 64)
GRIDS = (
    ((*GRID, "--form", "kernels", "--graph", 4, "--iterations", 900_000_001), signal.SIGKILL),
    ((*GRID, "--form", "resident", "--iterations", 900_000_002), signal.SIGKILL),
    ((*GRID, "--iterations", 900_000_003), signal.SIGSTOP),
)


def come_to_harm(
    test: CommandTest,
    share: tuple[object, ...],
    variables: dict[str, str],
    cases: tuple[tuple[tuple[object, ...], signal.Signals], ...],
) -> None:
    """One of two running processes is killed or stopped: the job ends in time, and its error names that process."""
    for command, harm in cases:
        with test.subTest(command=command, harm=harm.name):
            words = ["run", "-n", 2, "--", *command, *share, "--quiet"]
            line = [find_shoal(), *(str(word) for word in words), "--stall-timeout", str(STALL)]
            job = subprocess.Popen(
                line, cwd=test.folder, env={**os.environ, **ENVIRONMENT, **variables}, stderr=subprocess.PIPE, text=True
            )
            time.sleep(8)  # until the run is in progress
            harmed = process_of(test, 1, str(command[-1]))
            begin = time.monotonic()
            os.kill(harmed, harm)
            try:
                _, err = job.communicate(timeout=STALL + 20)
            except subprocess.TimeoutExpired:
                os.kill(harmed, signal.SIGKILL)
                job.kill()
                test.fail(f"the others had not ended {STALL + 20} s later")
            test.assertLess(time.monotonic() - begin, STALL + 10)
            test.assertNotEqual(job.returncode, 0)
            test.assertIn("process 1" if harm == signal.SIGKILL else "process 1 (PE 1, ", err)


@unittest.skipUnless(LAUNCHER, "no OpenSHMEM was found, so the engine for several processes is not built")
class GpusOfProcesses(CommandTest):
    """Processes that share a GPU take turns on it, and every barrier waits for a turn, so graphs are small."""

    def setUp(self) -> None:
        super().setUp()
        self.gpus = len(self.shoal("doctor", "--json").json()["devices"])
        if self.gpus == 0:
            self.skipTest("no GPU")

    def share(self, processes: int, pes: int = 1) -> tuple[object, ...]:
        per_gpu = -(-processes * pes // self.gpus)
        return ("--device", "gpu", "--pes", pes, "--pes-per-gpu", per_gpu)

    def run_on(self, processes: int, *words: object) -> Answer:
        answer = self.shoal("run", "-n", processes, "--", *words, env={**os.environ, **ENVIRONMENT})
        self.assertEqual(answer.status, 0, answer.out + answer.err)
        return answer

    def test_answers_are_those_of_one_process(self) -> None:
        self.good("convert", "uniform:11,directed", "graph.shoal", "--quiet")
        edges = self.write("graph.el", "".join(f"{v} {v * 7 % 90}\n{v} {(v * v + 3) % 100}\n" for v in range(100)))
        for processes, pes, strategy, words in (
            (2, 1, "levels", ("bfs", "kron:12", "--source", 1, "--trials", 3)),
            (2, 1, "levels", ("bfs", "kron:11,directed", "--source", 9, "--parents")),
            (2, 1, "levels", ("bfs", "road:40", "--source", 5, "--partition", "random")),
            (2, 1, "levels", ("bfs", "graph.shoal", "--source", 3)),
            (2, 2, "levels", ("bfs", edges, "--source", 3, "--partition", "modulo")),
            (3, 1, "levels", ("bfs", "star:5", "--source", 2)),
            (2, 1, "delta", ("sssp", "kron:12", "--source", 1, "--weights", "hash255", "--trials", 3)),
            (2, 2, "delta", ("sssp", "road:30", "--source", 5, "--weights", "hash255", "--predecessors")),
            (3, 1, "delta", ("sssp", "graph.shoal", "--source", 3, "--weights", "unit", "--partition", "block")),
            (2, 1, "pull", ("pagerank", "kron:11", "--tolerance", "1e-8", "--trials", 2)),
            (2, 2, "pull", ("pagerank", "graph.shoal")),
            (3, 1, "pull", ("pagerank", "road:30", "--partition", "block")),
        ):
            if processes * pes > 4 * self.gpus:  # a GPU has at most 4 PEs
                continue
            with self.subTest(processes=processes, pes=pes, words=words):
                share = self.share(processes, pes)
                answer = self.run_on(processes, *words, *share, "--verify", "--output", "many.npy")
                self.assertIn("all answers are right", answer.out)
                self.assertIn(f"strategy: {strategy}: ", answer.out)
                self.assertIn(f"processes: {processes}: ", answer.out)
                self.assertEqual(answer.out.count("median"), 1, "several processes speak")
                if words[0] == "pagerank":  # right within its tolerance
                    continue
                self.good(*words, "--device", "gpu", "--pes", 1, "--output", "one.npy")
                self.assertEqual((self.folder / "many.npy").read_bytes(), (self.folder / "one.npy").read_bytes())

    def test_grids_are_those_of_one_process(self) -> None:
        grid = (30, 31, 32, "--iterations", 30, "--boundary", "0,x1=2", "--output")
        self.good("jacobi3d", *grid, "one.npy", "--device", "cpu", "--quiet")
        for processes, pes, words in (
            (2, 1, ("--odf", 1)),
            (2, 1, ("--odf", 8)),
            (2, 1, ("--odf", 4, "--form", "resident")),
            (2, 1, ("--odf", 4, "--form", "kernels", "--fusion", "none")),
            (2, 1, ("--odf", 4, "--form", "kernels", "--fusion", "b", "--graph", 4)),
            (2, 1, ("--blocks", "3x4x5", "--form", "kernels", "--fusion", "d", "--graph", 4)),
            (2, 1, ("--odf", 2, "--form", "kernels", "--mapping", "round-robin")),
            (3, 1, ("--odf", 3, "--form", "kernels", "--graph", 6)),
            (2, 2, ("--odf", 2, "--form", "kernels", "--graph", 10)),
        ):
            if processes * pes > 4 * self.gpus:
                continue
            with self.subTest(processes=processes, pes=pes, words=words):
                share = self.share(processes, pes)
                answer = self.run_on(processes, "jacobi3d", *grid, "many.npy", *words, *share, "--verify")
                self.assertIn(f"processes: {processes}: ", answer.out)
                self.assertEqual(answer.out.count("right"), 1, answer.out)
                self.assertEqual(*((self.folder / name).read_bytes() for name in ("many.npy", "one.npy")))
        self.run_on(2, "jacobi3d", 1, 1, 1, "--verify", *self.share(2))  # one process has no block
        program = pathlib.Path(find_shoal()).parent / "example_05_power_iteration"
        self.assertIn(": right", self.run_on(2, program, "--odf", 4, "--iterations", 20, *self.share(2)).out)

    def test_grids_go_on_in_other_processes(self) -> None:
        grid = ("jacobi3d", 20, 21, 22, "--verify", "--quiet", "--iterations")
        self.run_on(2, *grid, 13, "--odf", 4, "--checkpoint", "c", "--checkpoint-every", 5, *self.share(2))
        self.good(*grid, 20, "--restart", "c", "--checkpoint", "c", "--device", "gpu", "--pes", 1)
        self.run_on(2, *grid, 31, "--restart", "c", "--checkpoint", "c", *self.share(2), "--form", "resident")
        self.good(*grid, 40, "--restart", "c", "--device", "cpu", "--pes", 2)

    def test_too_many(self) -> None:
        answer = self.shoal(
            "run", "-n", self.gpus + 1, "--", "bfs", "kron:8", "--device", "gpu", env={**os.environ, **ENVIRONMENT}
        )
        self.assertEqual(answer.status, 2, answer.out + answer.err)
        self.assertIn(f"need {self.gpus + 1} GPUs, but this host has {self.gpus}", answer.err)

    def test_one_that_comes_to_harm(self) -> None:
        come_to_harm(self, self.share(2), {}, SEARCHES + GRIDS)


@unittest.skipUnless(LAUNCHER, "no OpenSHMEM was found, so the engine for several processes is not built")
class GpusApart(CommandTest):
    """Processes of this host that act as if they were on separate hosts: they communicate through NCCL."""

    def setUp(self) -> None:
        super().setUp()
        doctor = self.shoal("doctor", "--json").json()
        self.gpus = len(doctor["devices"])
        if self.gpus < 2:
            self.skipTest("NCCL wants a GPU for each process, and there are not two")
        nccl = next(library for library in doctor["libraries"] if library["name"] == "NCCL")
        if not nccl["found"]:
            self.skipTest(nccl["cure"])

    def run_on(self, processes: int, *words: object, status: int = 0, **more: str) -> Answer:
        variables = {**os.environ, **ENVIRONMENT, "SHOAL_GPU_WIRE": "nccl", **more}
        answer = self.shoal("run", "-n", processes, "--", *words, "--device", "gpu", env=variables)
        self.assertEqual(answer.status, status, answer.out + answer.err)
        return answer

    def test_answers_are_those_of_one_gpu(self) -> None:
        self.good("convert", "uniform:11,directed", "graph.shoal", "--quiet")
        sockets = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"}
        for processes, pes, by, strategy, words in (
            (2, 1, {}, "levels", ("bfs", "kron:14", "--source", 1, "--trials", 3)),
            (2, 1, sockets, "levels", ("bfs", "kron:12", "--source", 1, "--parents")),
            (2, 1, {}, "levels", ("bfs", "road:40", "--source", 5, "--partition", "random")),
            (2, 1, {}, "levels", ("bfs", "graph.shoal", "--source", 3)),
            (2, 1, {}, "levels", ("bfs", "star:5", "--source", 2)),
            (3, 1, {}, "levels", ("bfs", "uniform:1", "--source", 0)),
            (2, 2, {}, "levels", ("bfs", "uniform:12", "--source", 0, "--partition", "modulo")),
            (2, 1, {}, "pull", ("pagerank", "kron:12", "--tolerance", "1e-8", "--trials", 2)),
            (2, 1, sockets, "pull", ("pagerank", "graph.shoal")),
            (3, 1, {}, "pull", ("pagerank", "road:30", "--partition", "block")),
            (2, 2, {}, "pull", ("pagerank", "star:6", "--partition", "random")),
        ):
            if processes * pes > self.gpus:
                continue
            with self.subTest(processes=processes, pes=pes, words=words):
                answer = self.run_on(processes, *words, "--pes", pes, "--verify", "--output", "many.npy", **by)
                self.assertIn("all answers are right", answer.out)
                self.assertIn(f"strategy: {strategy}: ", answer.out)
                self.assertIn("wire: NCCL ", answer.out)
                if words[0] == "pagerank":  # right within its tolerance
                    continue
                self.good(*words, "--device", "gpu", "--pes", 1, "--output", "one.npy")
                self.assertEqual((self.folder / "many.npy").read_bytes(), (self.folder / "one.npy").read_bytes())

    def test_pes_that_would_share_a_gpu_are_refused(self) -> None:
        answer = self.run_on(2, "bfs", "kron:8", "--pes-per-gpu", 2, status=2)
        self.assertIn(
            "--pes-per-gpu 2: NCCL, which connects the GPUs of several processes, refuses PEs that share a GPU",
            answer.err,
        )

    def test_one_that_comes_to_harm(self) -> None:
        come_to_harm(self, ("--device", "gpu", "--pes", 1), {"SHOAL_GPU_WIRE": "nccl"}, SEARCHES)


if __name__ == "__main__":
    unittest.main()
