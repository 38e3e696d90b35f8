"""Commands in several processes that oshrun starts: which process prints, what is compared at the start, and
processes that do not start."""

import json
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import time
import unittest

from baseline import ENVIRONMENT
from command import ROOT, Answer, CommandTest, find_shoal

LAUNCHER = os.environ.get("SHOAL_OSHRUN", "")
USAGE, CAPACITY, LOST = 2, 3, 4


# Starts three processes, kills one of them after SHOAL_SECONDS (below 0: as soon as it is started), and then the others.
LAUNCHER_THAT_SAYS_NOTHING = f"""#!{sys.executable}
import os, subprocess, sys, time
victim, seconds = int(os.environ["SHOAL_VICTIM"]), float(os.environ["SHOAL_SECONDS"])
numbered = os.environ["SHOAL_NUMBERS"] == "1"
jobs = []
for rank in range(3):
    if rank == victim and seconds < 0:
        time.sleep(0.3)
    jobs.append(subprocess.Popen(sys.argv[-2:], env={{**os.environ, **({{"PMIX_RANK": str(rank)}} if numbered else {{}})}}))
time.sleep(max(seconds, 0))
for job in [jobs[victim], *jobs]:
    job.kill()
    job.wait()
sys.exit(137)
"""


@unittest.skipUnless(LAUNCHER, "no OpenSHMEM was found, so the engine is not built")
class ProcessesTest(CommandTest):
    def together(self, *commands: list[object], **environment: str) -> Answer:
        """Runs one job in which each command is a process."""
        line: list[object] = [LAUNCHER]
        for i, command in enumerate(commands):
            line += [*([":"] if i > 0 else []), "-n", 1, *command]
        return self.run_line(line, {**ENVIRONMENT, **environment})

    def one_line(self, answer: Answer, status: int, *words: str) -> None:
        """All processes have ended, and exactly one of them printed an error. Other lines are the launcher's."""
        self.assertEqual(answer.status, status, answer.out + answer.err)
        errors = [line for line in answer.err.splitlines() if "error: " in line]
        self.assertEqual(len(errors), 1, answer.err)
        for word in words:
            self.assertIn(word, errors[0])
        left = subprocess.run(["pgrep", "-f", str(self.folder)], capture_output=True, text=True, check=False).stdout
        self.assertEqual(left, "", "processes are left behind")

    def command(self, *words: object) -> list[object]:
        return [find_shoal(), *words]

    def test_different_options_are_named(self) -> None:
        answer = self.together(self.command("bfs", "kron:8"), self.command("bfs", "kron:9"))
        self.one_line(answer, USAGE, "process 0 (PE 0, ", "bfs kron:8'", "process 1 (PE 1, ", "bfs kron:9'", "same way")
        self.assertEqual(answer.out, "")

    def test_different_versions_are_named(self) -> None:
        other = self.folder / "shoal"
        code = pathlib.Path(find_shoal()).read_bytes()
        version = subprocess.run([find_shoal(), "--version"], capture_output=True, text=True, check=True).stdout.split()
        self.assertGreater(code.count(version[1].encode()), 0)
        other.write_bytes(code.replace(version[1].encode() + b"\0", b"9" + version[1][1:].encode() + b"\0"))
        other.chmod(0o755)
        answer = self.together(self.command("bfs", "kron:8"), [other, "bfs", "kron:8"])
        self.one_line(answer, USAGE, f"shoal {version[1]}", f"shoal 9{version[1][1:]}")

    def test_one_that_never_comes(self) -> None:
        begin = time.monotonic()
        answer = self.together(self.command("bfs", "kron:8", "--stall-timeout", 0.5), ["sleep", 50])
        self.assertLess(time.monotonic() - begin, 20)
        self.one_line(answer, LOST, "process 0 of 2 has waited 8.5 s", "one has not")

    def test_one_that_is_stopped_while_it_starts(self) -> None:
        begin = time.monotonic()
        stops = "kill -STOP $$; exec sleep 50"  # like a process that OpenSHMEM never finishes starting
        answer = self.together(self.command("bfs", "kron:8", "--stall-timeout", 1), ["sh", "-c", stops])
        self.assertLess(time.monotonic() - begin, 8)
        self.one_line(answer, LOST, "process 1 of 2 (process id ", "is stopped", "process 0 of 2 has waited 1 s")

    def test_what_goes_wrong_is_said_once(self) -> None:
        for words, said in (
            (("bfs", "kron:8", "--pes", "x"), "--pes: 'x' is not a number"),
            (("bfs", "nowhere.mtx"), "nowhere.mtx: cannot be read"),
            (("bfs", "-"), "standard input goes to process 0 alone"),
            (("bfs", "kron:8", "--pes", 40), "make 80 PEs, but a run has at most 64"),
            (("components", "kron:8", "--device", "gpu"), "only bfs, sssp and pagerank run yet"),
            (
                ("pagerank", "kron:8", "--device", "gpu", "--worker", "warp"),
                "the worklist (--strategy async, and options that need it) cannot send items between GPUs of several",
            ),
            (("components", "kron:8", "--strategy", "hook"), "strategy hook needs access to the memory of all PEs"),
            (
                ("sssp", "kron:8", "--weights", "unit", "--judge", "remote"),
                "judge remote needs PEs that access each other's memory",
            ),
        ):
            with self.subTest(words=words):
                self.one_line(self.together(*[self.command(*words)] * 2), USAGE, said)
        apart = "only bfs and pagerank run yet on GPUs that cannot access each other's memory (those of several hosts)"
        for wire, words, said in (
            ("nccl", ("sssp", "kron:8", "--weights", "unit", "--device", "gpu"), apart),
            ("nccl", ("components", "kron:8", "--device", "gpu"), apart),
            ("nccl", ("jacobi3d", 8, 8, 8, "--device", "gpu"), apart),
            (
                "nccl",
                ("bfs", "kron:8", "--device", "gpu", "--strategy", "async"),
                "the worklist (--strategy async, and options that need it) cannot send items between GPUs of several",
            ),
            ("tcp", ("bfs", "kron:8", "--device", "gpu"), "SHOAL_GPU_WIRE=tcp is not known; legal: nccl, or unset"),
        ):
            with self.subTest(wire=wire, words=words):
                self.one_line(self.together(*[self.command(*words)] * 2, SHOAL_GPU_WIRE=wire), USAGE, said)
        if not self.shoal("doctor", "--json").json()["devices"]:
            answer = self.together(*[self.command("bfs", "kron:8", "--device", "gpu")] * 2)
            self.one_line(answer, LOST, "use --device cpu to run on CPU threads")
        answer = self.together(*[self.command("bfs", "--help")] * 2)
        self.assertEqual(answer.out.count("examples:"), 1)

    def test_who_was_gone_first_is_named(self) -> None:
        """With a launcher that prints nothing and whose processes are all gone shortly after the first."""
        launcher = self.write("oshrun", LAUNCHER_THAT_SAYS_NOTHING)
        launcher.chmod(0o755)
        path = f"{self.folder}:{os.environ['PATH']}"
        for victim, seconds, numbers in ((1, 0.25, 1), (2, 0.25, 1), (0, 0.04, 1), (1, 0.04, 0)):
            with self.subTest(victim=victim, seconds=seconds, numbers=numbers):
                told = {"SHOAL_VICTIM": str(victim), "SHOAL_SECONDS": str(seconds), "SHOAL_NUMBERS": str(numbers)}
                answer = self.shoal("run", "-n", 3, "--", "/bin/sleep", 50, env={**os.environ, "PATH": path, **told})
                self.assertEqual(answer.status, 137, answer.err)
                self.assertRegex(
                    answer.err, rf"^shoal: error: process {victim} \(process id \d+\) ended before the others"
                )
        told = {"SHOAL_VICTIM": "2", "SHOAL_SECONDS": "-1", "SHOAL_NUMBERS": "1"}  # gone before it could be observed
        answer = self.shoal("run", "-n", 3, "--", "/bin/sleep", 50, env={**os.environ, "PATH": path, **told})
        self.assertRegex(answer.err, r"^shoal: error: process 2 .*ended before ")

    def run_on(self, processes: int, *words: object, **variables: str) -> Answer:
        command = [find_shoal(), "run", "-n", processes, "--", *words]
        environment = {**os.environ, **ENVIRONMENT, **variables}
        answer = self.shoal(*command[1:], env=environment)
        self.assertEqual(answer.status, 0, answer.out + answer.err)
        return answer

    def test_answers_are_those_of_one_process(self) -> None:
        edges = self.write("graph.el", "".join(f"{v} {v * 7 % 90}\n{v} {(v * v + 3) % 100}\n" for v in range(100)))
        for processes, strategy, words in (
            (2, "levels", ("bfs", "kron:10", "--source", 1, "--parents", "--pes", 2)),
            (3, "async", ("bfs", "road:30", "--source", 5, "--partition", "random", "--queue", "priority")),
            (2, "async", ("bfs", edges, "--source", 3, "--partition", "modulo", "--strategy", "async")),
            (4, "levels", ("bfs", edges, "--source", 3, "--partition", "modulo")),
            (
                2,
                "async",
                ("sssp", "community:10", "--source", 9, "--weights", "hash255", "--predecessors", "--threads", 2),
            ),
            (4, "async", ("components", "uniform:10,degree=1", "--partition", "block", "--combine", "on")),
            (3, "async", ("kcore", edges, "--kernel", "discrete")),
        ):
            with self.subTest(processes=processes, words=words):
                answer = self.run_on(processes, *words, "--verify", "--output", "many.npy")
                self.assertIn("all answers are right", answer.out)
                self.assertIn(f"strategy: {strategy}: ", answer.out)
                self.assertEqual(answer.out.count("median"), 1, "several processes speak")
                self.shoal(*words, "--output", "one.npy")
                self.assertEqual((self.folder / "many.npy").read_bytes(), (self.folder / "one.npy").read_bytes())

    def test_bulk_strategies_by_stores_and_by_the_library(self) -> None:
        for puts, sweep in (("", "from how fast the changes shrink"), ("library", "the processes share no memory")):
            with self.subTest(puts=puts):
                words = ("pagerank", "kron:11", "--verify", "--tolerance", "1e-5")
                answer = self.run_on(2, *words, SHOAL_OPENSHMEM_PUTS=puts)
                self.assertIn("all answers are right", answer.out)
                self.assertIn("strategy: pull: ", answer.out)
                self.assertIn(sweep, answer.out)
        answer = self.run_on(3, "bfs", "kron:11", "--trials", 2, "--verify", SHOAL_OPENSHMEM_PUTS="library")
        self.assertIn("all answers are right", answer.out)
        self.assertRegex(answer.out, r"direction: [1-9].* levels top-down, .*, [1-9]\d* bottom-up")

    def test_files_by_slice(self) -> None:
        chance = random.Random(5)
        pairs = [(chance.randrange(400), chance.randrange(400)) for _ in range(1500)]
        plain = self.write("graph.el", "".join(f"{u} {v}\n" for u, v in pairs))
        weighted = self.write("graph.wel", "".join(f"{u} {v} {(u * v) % 7 + 1}\n" for u, v in pairs))
        self.good("convert", weighted, "graph.shoal")
        for processes, words in (
            (2, ("bfs", "graph.shoal", "--source", 3, "--pes", 2)),
            (4, ("bfs", plain, "--source", 3, "--undirected")),
            (2, ("sssp", weighted, "--source", 3, "--weights", "file")),
            (4, ("sssp", "graph.shoal", "--source", 3, "--weights", "file", "--partition", "block")),
            (2, ("components", plain)),
            (2, ("pagerank", "graph.shoal", "--tolerance", "1e-8", "--strategy", "pull")),
            (4, ("kcore", "graph.shoal", "--dedup")),
        ):
            with self.subTest(processes=processes, words=words):
                answer = self.run_on(processes, *words, "--verify", "--output", "many.npy")
                self.assertIn("all answers are right", answer.out)
                self.assertIn(
                    f"rows: by process: each of the {processes} processes reads the rows of its PEs", answer.out
                )
                if words[0] == "pagerank":  # right within its tolerance
                    continue
                self.shoal(*words, "--output", "one.npy")
                self.assertEqual((self.folder / "many.npy").read_bytes(), (self.folder / "one.npy").read_bytes())
        wrong = self.write("wrong.el", "0 1\n" * 400000 + "0 x\n")
        self.one_line(self.together(*[self.command("bfs", wrong)] * 2), USAGE, "wrong.el:400001: expected a vertex")
        none = self.together(*[self.command("sssp", plain, "--weights", "file")] * 2)
        self.one_line(none, USAGE, "graph.el: has no weights")

    def test_larger_than_one_memory(self) -> None:
        """A graph that one process refuses for lack of memory runs on four processes with the same memory limit
        each."""
        self.good("convert", "uniform:19,degree=24", "large.shoal", "--quiet")
        words = ("sssp", "large.shoal", "--source", 1, "--weights", "hash255", "--threads", 1, "--strategy", "async")
        words += ("--capacity", 32768, "--spill", 1000000)
        little = 330 << 20  # limit of the address space in bytes
        small = {**os.environ, **ENVIRONMENT, "SHMEM_SYMMETRIC_HEAP_SIZE": "16M", "MALLOC_ARENA_MAX": "1"}

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (little, little))
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))  # the stack size of every thread, too

        def run(*command: object) -> Answer:
            line = [find_shoal(), *(str(word) for word in command)]
            done = subprocess.run(
                line, cwd=self.folder, env=small, preexec_fn=limit, capture_output=True, text=True, check=False
            )
            return Answer(done)

        alone = run(*words)
        self.assertEqual(alone.status, CAPACITY, alone.out + alone.err)
        self.assertRegex(alone.err, r"25,[0-9,]* arcs take about [0-9]+ MB of memory, [0-9]+ MB are available")
        together = run("run", "-n", 4, "--", *words, "--json", "--quiet", "--verify")
        self.assertEqual(together.status, 0, together.out + together.err)
        answer = json.loads(together.out)
        self.assertEqual([t["verified"] for t in answer["trials"]], [True])
        memory = answer["memory_of_processes"]
        self.assertLess(memory["expected_bytes"], little)
        self.assertLess(max(memory["most_bytes"]), min(little, 2 * memory["expected_bytes"]))

    def test_ranks_and_memory(self) -> None:
        words = ("pagerank", "kron:12", "--tolerance", "1e-8", "--verify", "--strategy", "async")
        many = json.loads(self.run_on(3, *words, "--json", "--partition", "edges").out)
        self.assertEqual([t["verified"] for t in many["trials"]], [True])
        self.assertTrue(many["trials"][0]["report"]["chosen"]["rows"].startswith("by process"))
        self.assertEqual(len(many["memory_of_processes"]["most_bytes"]), 3)
        one = self.shoal(*words, "--json", "--pes", 3).json()
        facts = [(r["graph"]["num_arcs"], r["graph"]["num_vertices"]) for r in (many, one)]
        self.assertEqual(facts[0], facts[1])

    def test_nothing_but_the_heap_is_shared(self) -> None:
        says = {**os.environ, **ENVIRONMENT, "OMPI_MCA_memheap_base_verbose": "1"}
        answer = self.shoal("run", "-n", 2, "--", "bfs", "chain:3", env=says)
        self.assertEqual(answer.status, 0, answer.err)
        self.assertEqual(len(re.findall(r"static memory: 0 byte\(s\), 1 segments", answer.out + answer.err)), 2)

    def test_what_dead_jobs_left_is_removed(self) -> None:
        old, new = (pathlib.Path(f"/dev/shm/ucx_shm_posix_test_{os.getpid()}_{age}") for age in ("old", "new"))
        try:
            for file in (old, new):
                file.write_bytes(b"left")
            os.utime(old, (time.time() - 100, time.time() - 100))
            self.run_on(1, "bfs", "chain:3")
            self.assertEqual((old.exists(), new.exists()), (False, True))
        finally:
            old.unlink(missing_ok=True)
            new.unlink(missing_ok=True)

    def test_what_a_killed_job_left_is_removed(self) -> None:
        """Even if it is new, unless a process uses it."""
        free, used, old = (
            pathlib.Path(f"/dev/shm/ucx_shm_posix_test_{os.getpid()}_{name}") for name in ("a", "b", "c")
        )
        program = self.folder / "left.sh"
        program.write_text(f"#!/bin/sh\necho left > {free}\necho used > {used}\nkill -9 $$\n", encoding="utf-8")
        program.chmod(0o755)
        try:
            old.write_bytes(b"of another job")
            os.utime(old, (time.time() - 30, time.time() - 30))
            with used.open("wb"):
                answer = self.shoal("run", "-n", 1, "--", program, env={**os.environ, **ENVIRONMENT})
                self.assertNotEqual(answer.status, 0, answer.out + answer.err)
                self.assertEqual([file.exists() for file in (free, used, old)], [False, True, True])
        finally:
            for file in (free, used, old):
                file.unlink(missing_ok=True)

    def test_programs(self) -> None:
        for name, words in (("example_01_bfs", ("kron:10",)), ("example_03_hash_table", ("--size", 10000))):
            program = pathlib.Path(find_shoal()).parent / name
            with self.subTest(program=name):
                answer = self.run_on(2, program, *words)
                self.assertEqual(answer.out.count("right"), 1, answer.out)
        answer = self.together(*[[program, *words, "--device", "gpu"]] * 2)
        self.one_line(answer, USAGE, "items of a program cannot be sent between GPUs of several processes yet")

    def test_one_that_comes_to_harm(self) -> None:
        tool = ROOT / "bench" / "faults_processes.py"
        for command, kill, stop in (
            ("bfs --strategy async", 1, 1),
            ("bfs --strategy levels", 0, 1),
            ("pagerank --strategy pull", 1, 0),
        ):
            with self.subTest(command=command):
                done = subprocess.run(
                    [
                        *(sys.executable, tool, "--shoal", find_shoal(), "--kill", str(kill), "--stop", str(stop)),
                        *("--graph", "road:100", "--command", command),
                    ],
                    cwd=self.folder,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_one_alone(self) -> None:
        answer = self.good("bfs", "kron:10", "--engine", "openshmem", "--verify")
        self.assertIn("all answers are right", answer.out)
        self.assertIn("processes: 1", answer.out)

    def test_each_by_itself(self) -> None:
        answer = self.together(*[self.command("bfs", "kron:8", "--engine", "threads")] * 2)
        self.assertEqual((answer.status, answer.out.count("median")), (0, 2), answer.err)

    def test_a_part_of_the_matrix(self) -> None:
        """The whole matrix is run by hand: bench/results/matrix_processes.txt."""
        matrix = [sys.executable, ROOT / "bench/matrix_processes.py", "--shoal", find_shoal(), "--processes", 2]
        small = ["--algorithms", "kcore", "--graphs", "kron:8", "--partitions", "modulo"]
        answer = self.run_line([*matrix, *small], {**os.environ, **ENVIRONMENT})
        self.assertEqual(answer.status, 0, answer.out + answer.err)
        self.assertIn("4 passed, 0 failed", answer.out)
        # With a program that never fails, the cases that must be refused count as failed.
        never = self.folder / "never"
        never.write_text("#!/bin/sh\nexit 0\n")
        never.chmod(0o755)
        matrix[matrix.index(find_shoal())] = never
        answer = self.run_line([*matrix, *small], {**os.environ, **ENVIRONMENT})
        self.assertEqual(answer.status, 1, answer.out + answer.err)
        self.assertIn("2 passed, 2 failed", answer.out)


if __name__ == "__main__":
    unittest.main()
