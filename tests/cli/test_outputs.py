"""Outputs: files are written whole or not at all, also through links; devices are written in place; standard
output."""

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import threading
import time
import unittest

from command import CommandTest, find_shoal, int32s, read_npy

USAGE = 2
SEARCH = ("bfs", "chain:4", "--source", "1", "--device", "cpu")
LEVELS = "1\n0\n1\n2\n"


class Links(CommandTest):
    def test_what_a_link_leads_to_is_written_and_the_link_stays(self) -> None:
        (self.folder / "deep").mkdir()
        for there in (True, False):  # also if the target of the link does not exist yet
            for flag, name in (("--output", "levels"), ("--json", "run")):
                with self.subTest(flag=flag, there=there):
                    target = self.folder / "deep" / f"{name}-{there}.txt"
                    if there:
                        target.write_text("old")
                    first, second = self.folder / f"first-{name}-{there}", self.folder / f"second-{name}-{there}"
                    second.symlink_to(pathlib.Path("deep") / target.name)  # relative to the folder of the link
                    first.symlink_to(second)
                    self.good(*SEARCH, f"{flag}={first}")
                    self.assertTrue(first.is_symlink() and second.is_symlink())
                    self.assertFalse(target.is_symlink())
                    if flag == "--output":
                        self.assertEqual(target.read_text(), LEVELS)
                    else:
                        self.assertEqual(json.loads(target.read_text())["command"], "bfs")
        self.assertEqual(len(list((self.folder / "deep").iterdir())), 4)

    def test_profiles_and_graphs_through_links(self) -> None:
        for name, args in (
            ("p.json", ("tune", "chain:9", "--budget", 0.2, "--trials", 1, "--profile", "link-p.json")),
            ("g.el", ("generate", "chain:9", "link-g.el")),
        ):
            (self.folder / f"link-{name}").symlink_to(name)
            self.good(*args)
            self.assertTrue((self.folder / f"link-{name}").is_symlink())
            self.assertTrue((self.folder / name).is_file())
        self.assertEqual(self.files(), ["g.el", "link-g.el", "link-p.json", "p.json"])

    def test_a_link_to_itself(self) -> None:
        (self.folder / "round").symlink_to("round")
        self.bad(USAGE, ["round: cannot be written", "symbolic links"], *SEARCH, "--output", "round")
        self.assertTrue((self.folder / "round").is_symlink())


class InPlace(CommandTest):
    def test_an_open_descriptor_by_its_name(self) -> None:
        # Like /dev/stdout: a link to the name of a descriptor. The descriptor must be written, and the link must stay.
        link = self.folder / "out"
        link.symlink_to("/proc/self/fd/1")
        for name in (link, "/proc/self/fd/1", "/dev/fd/1"):
            with self.subTest(name=name):
                file = self.folder / "q.txt"
                with file.open("w") as out:
                    out.write("before\n")
                    out.flush()
                    done = subprocess.run(
                        [find_shoal(), *SEARCH, "--output", name], stdout=out, stderr=subprocess.PIPE, timeout=60
                    )
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertEqual(file.read_text(), "before\n" + LEVELS)
                self.assertTrue(link.is_symlink())
        self.assertEqual(self.files(), ["out", "q.txt"])

    def test_another_descriptor_leaves_the_table_on_standard_output(self) -> None:
        read, write = os.pipe()
        answer = self.shoal(*SEARCH, "--output", f"/dev/fd/{write}", pass_fds=(write,))
        os.close(write)
        with os.fdopen(read) as got:
            self.assertEqual(got.read(), LEVELS)
        self.assertIn("median", answer.out)
        self.bad(USAGE, ["/dev/fd/99", "Bad file descriptor"], *SEARCH, "--output", "/dev/fd/99")

    def test_fifo_and_device(self) -> None:
        fifo = self.folder / "pipe"
        os.mkfifo(fifo)
        got = []
        reader = threading.Thread(target=lambda: got.append(fifo.read_text()))
        reader.start()
        self.good(*SEARCH, "--output", fifo)
        reader.join(timeout=60)
        self.assertEqual(got, [LEVELS])
        self.assertTrue(fifo.is_fifo())
        self.good(*SEARCH, "--output", "/dev/null")
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        self.assertEqual(self.files(), ["pipe"])

    def test_a_format_that_needs_a_file_says_so(self) -> None:
        (self.folder / "null.npz").symlink_to("/dev/null")
        self.bad(USAGE, ["null.npz: cannot be written", "device"], "generate", "chain:4", "null.npz")


class StandardOutput(CommandTest):
    def test_dash(self) -> None:
        self.assertEqual(self.good(*SEARCH, "--output", "-").out, LEVELS)
        self.assertEqual(self.good(*SEARCH, "--output", "-", "--json=r.json", "--verify").out, LEVELS)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["command"], "bfs")
        self.bad(USAGE, "both go to standard output", *SEARCH, "--output", "-", "--json")
        self.assertEqual(self.files(), ["r.json"])
        self.assertTrue(self.good(*self.bench(), "--markdown", "-").out.startswith("## atos-table2"))
        self.bad(USAGE, "both go to standard output", *self.bench(), "--markdown", "-", "--json")

    def bench(self) -> list[str]:
        return ["bench", "atos-table2", "--quick", "--graphs", "road_usa", "--device", "cpu", "--pes", "1"]

    def test_statistics_do_not_mix_with_data(self) -> None:
        for args in (["--json"], ["--output", "-"]):
            answer = self.shoal(*SEARCH, *args, "--stats")
            self.assertEqual(answer.status, 0)
            self.assertIn("last search:", answer.err)
            self.assertNotIn("last search:", answer.out)
        # The choices are printed once.
        self.assertEqual(self.good(*SEARCH, "--stats").out.count("asked for"), 1)

    def test_a_closed_one_is_an_error(self) -> None:
        command = f"{find_shoal()} {' '.join(SEARCH)} --output - >&-"
        done = subprocess.run(["sh", "-c", command], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("standard output: cannot be written", done.stderr)


class Shapes(CommandTest):
    def test_two_rows(self) -> None:
        self.good(*SEARCH, "--parents", "--output", "t.npy")
        shape, data = read_npy(self.folder / "t.npy")
        self.assertEqual((shape, int32s(data)), ((2, 4), [1, 0, 1, 2, 1, 1, 1, 2]))
        for name, words in (("bfs", ["int32", "(n,)", "(2, n)"]), ("sssp", ["int64", "float64", "(2, n)"])):
            text = " ".join(self.good(name, "--help").out.split())
            about = text.split("--output FILE")[1].split("--json")[0]
            for word in [*words, "standard output"]:
                self.assertIn(word, about)


class Names(CommandTest):
    def test_empty_names(self) -> None:
        for args in (["--output", ""], ["--output="], ["--profile", ""]):
            with self.subTest(args=args):
                self.bad(USAGE, args[0].rstrip("="), *SEARCH, *args)
        self.bad(USAGE, "--markdown", "bench", "atos-table2", "--quick", "--markdown", "")
        self.assertEqual(self.files(), [])

    def test_names_that_promise_another_form(self) -> None:
        for name in ("a.npz", "a.npy.gz", "a.txt.gz", "a.txt.zst"):
            with self.subTest(name=name):
                self.bad(USAGE, [f"--output {name}: ", " files are not written", ".npy"], *SEARCH, "--output", name)
        self.assertEqual(self.files(), [])

    def test_one_wording(self) -> None:
        for args in (
            [*SEARCH, "--output", "no/such"],
            [*SEARCH, "--json=no/such"],
            ["generate", "chain:4", "no/such.el"],
            ["generate", "chain:4", "no/such.npz"],
            ["tune", "chain:4", "--profile", "no/such"],
        ):
            with self.subTest(args=args):
                self.bad(USAGE, [": cannot be written: No such file or directory; the folder must exist"], *args)
        self.assertEqual(self.files(), [])


class Modes(CommandTest):
    WAYS = (
        (*SEARCH, "--output", "a.txt"),
        (*SEARCH, "--json=a.txt", "--quiet"),
        ("generate", "chain:4", "a.el"),
        ("generate", "chain:4", "a.npz"),
    )

    def test_a_file_that_is_replaced_leaves_its_mode(self) -> None:
        for mode in (0o600, 0o664, 0o4711):
            for way in self.WAYS:
                with self.subTest(way=way, mode=oct(mode)):
                    file = self.folder / way[-1].removeprefix("--json=").replace("--quiet", "a.txt")
                    file.write_text("old")
                    file.chmod(mode)
                    self.good(*way)
                    self.assertNotEqual(file.read_bytes(), b"old")
                    self.assertEqual(oct(file.stat().st_mode & 0o7777), oct(mode))

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_and_its_owner(self) -> None:
        file = self.write("a.txt", "old")
        os.chown(file, 4321, 8765)
        file.chmod(0o640)
        self.good(*SEARCH, "--output", "a.txt")
        now = file.stat()
        self.assertEqual((now.st_uid, now.st_gid, oct(now.st_mode & 0o7777)), (4321, 8765, "0o640"))

    def test_a_new_one_obeys_the_umask(self) -> None:
        for umask in (0o022, 0o077):
            for way in self.WAYS:
                with self.subTest(way=way, umask=oct(umask)):
                    answer = self.shoal(*way, preexec_fn=lambda: os.umask(umask))  # noqa: B023
                    self.assertEqual(answer.status, 0, answer.err)
                    (name,) = self.files()
                    self.assertEqual(oct((self.folder / name).stat().st_mode & 0o7777), oct(0o666 & ~umask))
                    (self.folder / name).unlink()


class SameFile(CommandTest):
    def test_two_outputs_in_one_file(self) -> None:
        (self.folder / "link").symlink_to("x.npy")
        (self.folder / "loop").symlink_to(".")
        for there in (False, True):
            if there:
                self.write("x.npy", "old")
                (self.folder / "hard").hardlink_to(self.folder / "x.npy")
            for other in ("x.npy", "./x.npy", self.folder / "x.npy", "link", "loop/x.npy", *["hard"] * there):
                with self.subTest(there=there, other=other):
                    words = ["--output x.npy and --json ", "are the same file", "another name"]
                    self.bad(USAGE, words, *SEARCH, "--output", "x.npy", f"--json={other}")
            left = {"link", "loop", *["hard", "x.npy"] * there}
            self.assertEqual(set(self.files()), left)
        self.assertEqual((self.folder / "x.npy").read_text(), "old")
        bench = ["bench", "atos-table2", "--quick", "--graphs", "road_usa", "--device", "cpu", "--pes", "1"]
        self.bad(USAGE, ["--markdown t.png", "--json", "same file"], *bench, "--markdown", "t.png", "--json=t.png")
        self.bad(USAGE, ["--markdown t.png", "--plot", "same file"], *bench, "--markdown", "t.png", "--plot", "t.png")
        self.bad(USAGE, ["--json t.png", "--plot", "same file"], *bench, "--json=t.png", "--plot", "t.png")
        self.bad(USAGE, ["--profile p and --json p", "same"], "tune", "chain:9", "--profile", "p", "--json=p")

    def test_the_table_and_an_output(self) -> None:
        with (self.folder / "x").open("w") as out:
            done = subprocess.run(
                [find_shoal(), *SEARCH, "--output", "x"],
                cwd=self.folder,
                stdout=out,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
            )
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--output x and standard output are the same file", done.stderr)

    def test_what_is_read_is_not_overwritten(self) -> None:
        edges = "0 1\n1 2\n"
        self.write("g.el", edges)
        self.write("w.txt", "0 1\n")
        self.write("p.txt", "0\n1\n0\n")
        for flag in ("--output=", "--json="):
            words = ["g.el would overwrite the graph g.el", "which is read", "another name"]
            self.bad(USAGE, words, "bfs", "g.el", "--source", 0, f"{flag}./g.el")
        self.bad(USAGE, "overwrite --personalization", "pagerank", "g.el", "--personalization=w.txt", "--json=w.txt")
        parts = ("bfs", "g.el", "--source", 0, "--pes", 2, "--device", "cpu", "--partition", "file:p.txt")
        self.bad(USAGE, "overwrite --partition", *parts, "--output", "p.txt")
        self.bad(USAGE, "--cache", "bfs", "g.el", "--source", 0, "--cache", "--output", "g.el.shoal")
        self.bad(USAGE, "--profile", "bfs", "g.el", "--source", 0, "--profile", "w.txt", "--output", "w.txt")
        self.bad(USAGE, "the graph g.el", "tune", "g.el", "--profile", "g.el")
        self.assertEqual(self.files(), ["g.el", "p.txt", "w.txt"])
        self.assertEqual((self.folder / "g.el").read_text(), edges)

    def test_a_graph_is_converted_in_place(self) -> None:
        self.write("g.el", "0 1\n")
        self.good("convert", "g.el", "g.el", "--undirected")
        self.assertEqual((self.folder / "g.el").read_text(), "0 1\n1 0\n")
        self.good("convert", "g.el", "g.shoal")
        self.good("convert", "g.shoal", "g.shoal", "--transpose")  # while it is mapped
        self.assertEqual(self.good("info", "g.shoal", "--json").json()["num_arcs"], 2)

    def test_a_graph_is_not_replaced_by_itself(self) -> None:
        text = "# a comment\n0 1\n"
        file = self.write("g.el", text)
        (self.folder / "link.el").symlink_to("g.el")
        os.link(file, self.folder / "hard.el")
        cure = ["no option asks for a change", "give the output another name", "--undirected"]
        self.bad(USAGE, ["g.el is the input and the output", *cure], "convert", "g.el", "g.el")
        for one, other in (
            ("g.el", "./g.el"),
            ("g.el", file),
            ("g.el", "link.el"),
            ("link.el", "g.el"),
            ("g.el", "hard.el"),
        ):
            self.bad(USAGE, [f"{other} and {one} are the same file", *cure], "convert", one, other, "--quiet")
        self.assertEqual((file.read_text(), (self.folder / "hard.el").read_text()), (text, text))
        self.good("convert", "link.el", "g.el", "--format", "el")
        self.assertEqual(file.read_text(), "0 1\n")
        self.good("convert", "g.el", "link.el", "--weights", "unit")
        self.assertEqual((file.read_text(), (self.folder / "link.el").is_symlink()), ("0 1 1\n", True))

    def test_devices_hold_both(self) -> None:
        self.good(*SEARCH, "--output", "/dev/null", "--json=/dev/null")


class Terminal(CommandTest):
    """A name may contain control sequences of terminals: colours, titles, or replies that appear as typed input."""

    def test_names_are_shown_without_it(self) -> None:
        name = "\x1b]0;t\x07\x1b[31mx\n\x9b.el"
        shown = "\\x1b]0;t\\x07\\x1b[31mx\\x0a\\xc2\\x9b"
        self.write(name, "0 1\n1 2\n")
        self.write("g.el", "0 1\n1 2\n")
        self.write("bad.el" + name, "0 x\n")
        for status, args in (
            (0, ("bfs", name, "--source", 0, "--device", "cpu", "--stats")),
            (0, ("pagerank", "g.el", "--device", "cpu", "--verify", "--profile", self.profile(name))),
            (0, ("info", name)),
            (0, ("convert", name, name + ".el")),
            (0, ("tune", name, "--budget", 0.1, "--trials", 1, "--profile", name + ".json", "--device", "cpu")),
            (USAGE, ("bfs", "bad.el" + name)),
            (USAGE, ("bfs", "missing" + name)),
            (USAGE, ("bfs", "g.el", "--source", 0, "--output", "missing/" + name)),
            (USAGE, ("bfs", "g.el", "--source", name)),
            (USAGE, ("bfs", "g.el", "--strategy", name)),
            (USAGE, ("bfs", "g.el", name)),
            (USAGE, ("bfs", "g.el", "--" + name)),
            (USAGE, ("bfs", "g.el", "--trials", name)),
            (USAGE, (name,)),
            (USAGE, ("pagerank", "g.el", "--personalization", "missing" + name)),
            (USAGE, ("bfs", "g.el", "--pes", 2, "--partition", "file:" + name)),
            (USAGE, ("bench", "atos-table2", "--graphs", name)),
        ):
            with self.subTest(args=args):
                answer = self.shoal(*args)
                self.assertEqual(answer.status, status, answer.err)
                text = answer.out + answer.err
                self.assertIn(shown, text)
                self.assertFalse([c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)], repr(text))
                if status != 0:
                    self.assertEqual(len(answer.err.splitlines()), 1)

    def profile(self, name: str) -> pathlib.Path:
        return self.write("profile" + name, '{"format": "shoal profile 1", "entries": []}')

    def test_json_has_the_name_itself(self) -> None:
        name = "\x1b[31mx.el"
        self.write(name, "0 1\n")
        self.assertEqual(self.good("info", name, "--json").json()["name"], name)

    def test_programs(self) -> None:
        program = pathlib.Path(find_shoal()).parent / "example_01_bfs"
        if not program.exists():
            self.skipTest("example_01_bfs is not built")
        done = subprocess.run([program, "\x1b[31mx.el"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("\\x1b[31mx.el", done.stderr)
        self.assertNotIn("\x1b", done.stderr)


class NoRoom(CommandTest):
    def test_nothing_is_left(self) -> None:
        def little() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        search = ("bfs", "kron:10", "--source", "1", "--device", "cpu")
        for args in (
            ("generate", "kron:10", "g.el"),
            ("generate", "kron:10", "g.el.gz"),
            ("generate", "kron:10", "g.sg"),
            ("generate", "kron:10", "g.npz"),
            (*search, "--output", "levels.npy"),
            (*search, "--json=run.json", "--quiet"),
        ):
            with self.subTest(args=args):
                answer = self.shoal(*args, preexec_fn=little)
                self.assertEqual((answer.status, len(answer.err.splitlines())), (USAGE, 1), answer.err)
                self.assertIn(": cannot be written: File too large; free some space", answer.err)
                self.assertEqual(self.files(), [])


def unnamed_bytes(pid: int, folder: pathlib.Path) -> int:
    """How many bytes a process has written into a file of `folder` that has no final name yet; -1: there is no such
    file."""
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            link = os.readlink(descriptor)
            if link.startswith(f"{folder}/") and (link.endswith("(deleted)") or ".tmp-" in link):
                return descriptor.stat().st_size
        except FileNotFoundError:  # closed in the meantime
            continue
    return -1


class Signals(CommandTest):
    def end(self, number: int, args: list[str], prepare=None, threads: int = 1) -> int:
        """Sends a signal to a run as soon as it has begun a file and has `threads` threads."""
        process = subprocess.Popen(
            [find_shoal(), *args],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=prepare,
        )
        limit = time.monotonic() + 60
        tasks = pathlib.Path(f"/proc/{process.pid}/task")
        while unnamed_bytes(process.pid, self.folder) < 0 or len(os.listdir(tasks)) < threads:
            self.assertIsNone(process.poll(), f"{args}: over before a file was begun")
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.002)
        for _ in range(100):  # `timeout` sends two signals: the second must not interrupt the cleanup of the first
            os.kill(process.pid, number)  # no other process gets its id before wait()
        return process.wait(timeout=60)

    def test_nothing_half_written_is_left(self) -> None:
        # Runs long enough to be interrupted.
        runs = ["bfs", "kron:16", "--source", "max-degree", "--device", "cpu", "--trials", "20000", "--quiet"]
        runs += ["--output", "levels.npy", "--json=run.json"]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for _ in range(10):
                with self.subTest(number=number):
                    self.assertEqual(self.end(number, runs, threads=2 if (os.cpu_count() or 1) > 1 else 1), -number)
                    self.assertEqual(self.files(), [])
        for name in ("big.el", "big.npz"):
            self.assertEqual(self.end(signal.SIGINT, ["generate", "kron:17", name, "--quiet"]), -signal.SIGINT, name)
            self.assertEqual(self.files(), [])

    def kill_while_writing(self, number: int, at_bytes: int) -> None:
        """Sends a signal to a process that writes `old.el` as soon as it has written `at_bytes` bytes."""
        process = subprocess.Popen(
            [find_shoal(), "generate", f"chain:{self.CHAIN}", "old.el", "--quiet"],
            cwd=self.folder,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
        )
        while process.poll() is None and unnamed_bytes(process.pid, self.folder) < at_bytes:
            pass
        if process.returncode is None:
            os.kill(process.pid, number)  # no other process gets its id before wait()
        process.wait(timeout=60)

    CHAIN = 300_000  # 8 MB of text, written in pieces of 1 MB

    def test_a_hundred_kills_leave_nothing_and_the_old_content_whole(self) -> None:
        file = self.folder / "old.el"
        self.good("generate", f"chain:{self.CHAIN}", "old.el")
        new = file.read_bytes()
        numbers = [signal.SIGKILL] * 100
        numbers += [signal.SIGXFSZ, signal.SIGXCPU, signal.SIGUSR1, signal.SIGALRM, signal.SIGSEGV, signal.SIGQUIT]
        places = random.Random(20261123)
        interrupted = 0
        for number in numbers:
            there = places.random() < 0.5
            file.write_text("old") if there else file.unlink(missing_ok=True)
            self.kill_while_writing(number, places.randrange(7 << 20))
            with self.subTest(number=number):
                self.assertEqual(self.files(), ["old.el"] if file.exists() else [])
                left = file.read_bytes() if file.exists() else None
                self.assertIn(left, (b"old" if there else None, new))
                interrupted += left != new
        self.assertGreater(interrupted, 80)  # otherwise the test shows little

    def test_what_is_ignored_stays_ignored(self) -> None:
        # As with nohup.
        runs = [*SEARCH, "--trials", "2000", "--quiet", "--output", "levels.txt"]
        status = self.end(signal.SIGHUP, runs, lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual((status, self.files()), (0, ["levels.txt"]))

    def test_a_measuring_process_that_ends_leaves_its_parents_files(self) -> None:
        runs = ["tune", "kron:10", "--budget", "6", "--trials", "1", "--profile", "none", "--json=t.json"]
        process = subprocess.Popen(
            [find_shoal(), *runs], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        children: list[str] = []
        limit = time.monotonic() + 60
        while not children:
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), limit)
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGTERM)
        self.assertIn(process.wait(timeout=60), (0, 4))
        self.assertFalse([name for name in self.files() if ".tmp-" in name])


class Programs(CommandTest):
    """What a user's own program writes about its runs."""

    def program(self, name: str, *args: object) -> tuple[int, str, str]:
        binary = pathlib.Path(find_shoal()).parent / name
        if not binary.exists():
            self.skipTest(f"{name} is not built")
        answer = self.run_line([binary, *args, "--device", "cpu", "--pes", 2], {})
        return answer.status, answer.out, answer.err

    def reach(self, *args: object) -> tuple[int, str, str]:
        return self.program("example_02_reach", *args)

    def test_statistics_come_before_the_answer(self) -> None:
        status, out, err = self.reach("road:64", "--source", 1000, "--stats")
        self.assertEqual((status, err), (0, ""), out)
        self.assertRegex(out, r"^run 1: \d+\.\d{3} ms\n  items pushed +\d+\n(.*\n)+  kernel .*\n(.*\n)*.*: right\n$")

    def test_json_has_every_run(self) -> None:
        status, out, err = self.reach("road:64", "--source", 1000, "--json", "r.json", "--threads", 1)
        self.assertEqual((status, err), (0, ""), out)
        told = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(told["graph"], {"name": "road:64", "num_vertices": 4096, "num_arcs": 14470})
        self.assertEqual((told["program"], told["right"], len(told["runs"])), ("example_02_reach", True, 1))
        self.assertEqual((told["options"]["threads"], told["arguments"][:3]), (1, ["road:64", "--source", "1000"]))
        run = told["runs"][0]
        self.assertEqual((run["run"], run["pushed"]), (run["accepted"], run["accepted"] + run["dropped"]))
        self.assertEqual(self.program("example_03_hash_table", "--size", 1000, "--json", "h.json")[0], 0)
        told = json.loads((self.folder / "h.json").read_text())
        self.assertEqual((told["size"], "graph" in told), (1000, False))

    def test_traces(self) -> None:
        for program, args in (("example_02_reach", ["road:64"]), ("example_05_power_iteration", [])):
            self.assertEqual(self.program(program, *args, "--trace", "t.json")[0::2], (0, ""))
            names = {event["name"] for event in json.loads((self.folder / "t.json").read_text())["traceEvents"]}
            self.assertIn("process_name", names)
            self.assertGreater(len(names), 3)

    def test_places_that_are_refused(self) -> None:
        graph = self.write("g.el", "0 1\n1 0\n")
        for args, words in (
            (["--json", "g.el"], "--json g.el would overwrite the graph g.el, which is read"),
            (["--trace", "./g.el"], "--trace ./g.el would overwrite the graph g.el"),
            (["--json", "-"], "--json - is standard output, where the program prints; name a file"),
            (["--json", "x", "--trace", "x"], "--json x and --trace x are the same file"),
            (["--trace", "none/x"], "none/x: cannot be written: No such file or directory"),
            (["--json", ""], "--json: is empty; name a file"),
        ):
            with self.subTest(args=args):
                status, out, err = self.reach("g.el", *args)
                self.assertEqual((status, out, err.count("\n")), (USAGE, "", 1), err)
                self.assertIn(words, err)
        self.assertEqual(graph.read_text(), "0 1\n1 0\n")
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"g.el"})
        status, out, err = self.program("example_05_power_iteration", "--trace", "-")
        self.assertEqual((status, out), (USAGE, ""), err)
        self.assertIn("--trace - is standard output", err)

    def test_a_run_that_fails_leaves_no_file(self) -> None:
        status, _, _ = self.reach("chain:4", "--source", 9, "--json", "r.json", "--trace", "t.json")
        self.assertEqual((status, list(self.folder.iterdir())), (USAGE, []))


if __name__ == "__main__":
    unittest.main()
