"""shoal jacobi3d: right results, files, and errors that name the flag and the remedy."""

import array
import os
import pathlib
import struct
import subprocess
import time
import unittest

from command import CommandTest, find_shoal, read_npy

USAGE, CAPACITY = 2, 3


def doubles(data: bytes) -> list[float]:
    return array.array("d", data).tolist()


class Jacobi3d(CommandTest):
    def jacobi(self, *args: object) -> None:
        self.good("jacobi3d", *args, "--device", "cpu", "--threads", 1, "--verify", "--quiet")

    def test_verified_in_many_ways(self) -> None:
        self.jacobi(20, 21, 22, "--odf", 8, "--pes", 3)
        self.jacobi(5, 6, 7, "--blocks", "5x6x7", "--pes", 4, "--mapping", "round-robin")
        self.jacobi(9, 1, 70, "--dtype", "float32", "--odf", 3, "--boundary", "0,x1=2,z0=-1", "--interior", 3.5)
        self.jacobi(1, 1, 1, "--pes", 4, "--odf", 16, "--iterations", 0)
        self.write("where.txt", "0\n1\n0\n1\n")
        self.jacobi(8, 8, 8, "--odf", 2, "--pes", 2, "--mapping", "file:where.txt")

    def test_one_iteration_by_hand(self) -> None:
        self.jacobi(2, 1, 3, "--iterations", 1, "--boundary", "0,x0=7,z1=14", "--output", "grid.npy")
        shape, data = read_npy(self.folder / "grid.npy", "<f8")
        self.assertEqual(shape, (2, 1, 3))
        self.assertEqual([round(v, 12) for v in doubles(data)], [1, 1, 3, 0, 0, 2])

    def test_slices_are_parts_of_the_grid(self) -> None:
        self.jacobi(4, 5, 6, "--odf", 4, "--output", "grid.npy")
        grid = doubles(read_npy(self.folder / "grid.npy", "<f8")[1])
        for where, want_shape, want in (
            ("x=3", (5, 6), grid[3 * 30 :]),
            ("y=2", (4, 6), [grid[x * 30 + 2 * 6 + z] for x in range(4) for z in range(6)]),
            ("z=5", (4, 5), [grid[x * 30 + y * 6 + 5] for x in range(4) for y in range(5)]),
        ):
            with self.subTest(where=where):
                self.jacobi(4, 5, 6, "--odf", 4, "--slice", where, "--output", "slice.npy")
                shape, data = read_npy(self.folder / "slice.npy", "<f8")
                self.assertEqual((shape, doubles(data)), (want_shape, want))

    def test_plot(self) -> None:
        args = ("jacobi3d", 4, 5, 6, "--device", "cpu", "--plot", "p.png", "--quiet")
        if subprocess.run(["python3", "-c", "import matplotlib"], capture_output=True, check=False).returncode == 0:
            self.good(*args)
            self.assertEqual((self.folder / "p.png").read_bytes()[:4], b"\x89PNG")
        else:
            self.bad(USAGE, ["--plot", "python3-matplotlib", "or write --output FILE.npy"], *args)
            self.assertEqual(self.files(), [])
        self.bad(USAGE, ".png, .svg or .pdf", *args[:-2], "p.npy")
        self.bad(USAGE, "are the same file", *args, "--json=p.png")

    def test_what_a_plot_is_drawn_of(self) -> None:
        """With a python3 that copies its input instead of drawing it, and with one that fails."""
        python = self.folder / "bin" / "python3"
        python.parent.mkdir()
        path = {"env": {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}}
        args = ("jacobi3d", 4, 5, 6, "--device", "cpu", "--plot", "p.png", "--quiet")
        python.write_text('#!/bin/sh\ntest "$1" = -c && exit\ncp "$2" "$3" && shift 3 && echo "$@" >words\n')
        python.chmod(0o755)
        for where, axes, shape, cells in (
            ((), "xy", (4, 5), lambda x, y: (x, y, 3)),
            (("--slice", "y=1"), "xz", (4, 6), lambda x, z: (x, 1, z)),
            (("--slice", "x=2", "--output", "s.npy"), "yz", (5, 6), lambda y, z: (2, y, z)),
        ):
            with self.subTest(where=where):
                answer = self.shoal(*args, *where, **path)
                self.assertEqual((answer.status, answer.err), (0, ""))
                self.good(*args[:-3], "--output", "grid.npy")
                grid = doubles(read_npy(self.folder / "grid.npy", "<f8")[1])
                found, data = read_npy(self.folder / "p.png", "<f8")
                want = [cells(i, j) for i in range(shape[0]) for j in range(shape[1])]
                self.assertEqual((found, doubles(data)), (shape, [grid[(x * 5 + y) * 6 + z] for x, y, z in want]))
                words = (self.folder / "words").read_text()
                self.assertIn(f"--axes {axes} --title", words)
                self.assertIn("of 4 x 5 x 6, after 100 iterations", words)
        self.assertEqual((self.folder / "s.npy").read_bytes(), (self.folder / "p.png").read_bytes())
        python.write_text('#!/bin/sh\ntest "$1" = -c\n')
        self.bad(USAGE, ["could not be drawn", "plot_grid.py FILE.npy", "--slice z=3"], *args, **path)

    def test_tolerance(self) -> None:
        args = ("jacobi3d", 8, 8, 8, "--device", "cpu", "--tolerance", "1e-3", "--check", 5, "--odf", 2, "--json")
        found = self.good(*args).json()["trials"][0]
        self.assertEqual((found["iterations"] % 5, found["within_tolerance"]), (0, True))
        self.assertLessEqual(found["last_change"], 1e-3)
        before = self.good(*args, "--iterations", found["iterations"] - 5).json()["trials"][0]
        self.assertFalse(before["within_tolerance"])
        self.assertGreater(before["last_change"], 1e-3)

    def test_restart_on_other_pes(self) -> None:
        for dtype, size in (("float64", (20, 21, 22)), ("float32", (9, 1, 70))):
            with self.subTest(dtype=dtype):
                args = (*size, "--dtype", dtype, "--boundary", "0,x1=2", "--iterations")
                self.jacobi(*args, 13, "--odf", 5, "--pes", 2, "--checkpoint", "c", "--checkpoint-every", 5)
                self.jacobi(*args, 13, "--restart", "c")  # no step is left
                self.jacobi(*args, 40, "--restart", "c", "--pes", 3, "--checkpoint", "c")
                self.jacobi(*args, 41, "--restart", "c", "--mapping", "round-robin", "--pes", 4, "--output", "grid.npy")
                self.jacobi(*args, 41, "--output", "whole.npy")
                self.assertEqual(*((self.folder / name).read_bytes() for name in ("grid.npy", "whole.npy")))
        answer = self.good("jacobi3d", *args, 42, "--restart", "c", "--device", "cpu", "--json").json()
        self.assertEqual((answer["restarted_after"], answer["trials"][0]["iterations"]), (40, 2))
        self.assertEqual(answer["chosen"]["blocks"]["why"], "as in the checkpoint")

    def test_restart_after_a_kill(self) -> None:
        args = ("jacobi3d", 40, 41, 42, "--device", "cpu", "--odf", 4)
        command = [find_shoal(), *map(str, args), "--iterations", "100000000", "--checkpoint", "c", "--quiet"]
        command += ["--checkpoint-every", "3"]
        last = 0
        for _ in range(3):  # each run continues where the previous one was killed
            with subprocess.Popen([*command, *(["--restart", "c"] if last else [])], cwd=self.folder) as run:
                deadline = time.monotonic() + 50
                while self.steps_stored("c") <= last + 3 and time.monotonic() < deadline:
                    time.sleep(0.01)
                run.kill()
            self.assertGreater(self.steps_stored("c"), last + 3)
            last = self.steps_stored("c")
            self.assertEqual(last % 3, 0)
        # SIGKILL between the link and the rename that replace a file leaves the name of the link (data/temporary_file.cpp).
        left = [name for name in self.files() if not name.startswith("c.tmp-")]
        self.assertEqual(left, ["c"])
        self.assertLessEqual(len(self.files()), 1 + 3)
        self.good(*args[:4], "--device", "cpu", "--restart", "c", "--iterations", last + 5, "--pes", 3, "--verify")

    def steps_stored(self, name: str) -> int:
        file = self.folder / name
        return struct.unpack_from("<q", file.read_bytes(), 40)[0] if file.exists() else 0

    def test_damaged_checkpoints(self) -> None:
        args = ("jacobi3d", 5, 6, 7, "--device", "cpu", "--iterations", 9)
        self.jacobi(*args[1:4], "--odf", 2, "--iterations", 9, "--checkpoint", "c")
        whole = (self.folder / "c").read_bytes()
        size_at = 56 + struct.unpack_from("<q", whole, 48)[0]  # where the size of the first array is
        for words, data in (
            ("ends early", whole[:-1]),
            ("ends early", whole[:100]),
            ("is damaged", whole + b"x"),
            ("is damaged", whole[:-200] + bytes([whole[-200] ^ 1]) + whole[-199:]),
            (["checkpoint d", "does not fit"], whole[:size_at] + b"\x01" + whole[size_at + 1 :]),
            ("is not a checkpoint", b"x" + whole[1:]),
            ("is not a checkpoint", b""),
        ):
            with self.subTest(words=words, bytes=len(data)):
                (self.folder / "d").write_bytes(data)
                self.bad(USAGE, words, *args, "--restart", "d")
        self.bad(USAGE, "is of jacobi3d float64", *args[:-1], 10, "--restart", "c", "--dtype", "float32")
        self.bad(USAGE, "is of jacobi3d float64", *args, "--restart", "c", "--boundary", 2)
        self.bad(USAGE, "has taken 9 iterations", *args[:-1], 8, "--restart", "c")
        self.bad(USAGE, "has other blocks", *args, "--restart", "c", "--blocks", "5x1x1")
        self.bad(USAGE, "No such file", *args, "--restart", "nothing")
        self.bad(USAGE, "begins again", *args, "--restart", "c", "--trials", 2)
        self.bad(USAGE, "add --checkpoint", *args, "--checkpoint-every", 2)

    def test_blocks_move_and_nothing_changes(self) -> None:
        self.write("where.txt", "\n".join(["0"] * 11 + ["1"]) + "\n")
        args = (30, 31, 32, "--blocks", "3x2x2", "--pes", 2, "--mapping", "file:where.txt", "--iterations", 23)
        self.jacobi(*args, "--balance", 5, "--checkpoint", "c", "--checkpoint-every", 7)
        self.jacobi(*args[:-1], 30, "--restart", "c", "--balance", 2)
        answer = self.good(
            "jacobi3d", *args, "--device", "cpu", "--threads", 1, "--balance", 10, "--verify", "--json"
        ).json()
        self.assertGreater(answer["trials"][0]["blocks_moved"], 2)  # 11 on one PE and 1 on the other
        self.assertEqual((answer["trials"][0]["verified"], answer["trials"][0]["host_waits"]), (True, 0))

    def test_grids_that_are_too_large(self) -> None:
        words = ["two states of 8192 x 8192 x 8192 cells in 8 blocks take", "float32 or fewer blocks"]
        self.bad(CAPACITY, words, "jacobi3d", 8192, 8192, 8192, "--device", "cpu", "--odf", 8, "--pes", 1)

    def test_table_and_json(self) -> None:
        answer = self.good("jacobi3d", 13, 5, 5, "--device", "cpu", "--odf", 13, "--trials", 2, "--copy", "--verify")
        for words in ("blocks: 13 x 1 x 1: least surface", "form: threads", "median", "copy", "right"):
            self.assertIn(words, answer.out)
        answer = self.good("jacobi3d", 5, 6, 7, "--device", "cpu", "--odf", 13, "--json").json()
        self.assertEqual((answer["command"], answer["size"]), ("jacobi3d", [5, 6, 7]))
        self.assertIn("no three factors of 13 fit", answer["chosen"]["blocks"]["why"])

    def test_flags_that_have_no_effect_are_named(self) -> None:
        said = self.good("jacobi3d", 4, 4, 4, "--device", "cpu", "--graph", 2).out
        self.assertIn("not used: --graph: only for form kernels, which is for GPUs", said)
        self.assertNotIn("not used", self.good("jacobi3d", 4, 4, 4, "--device", "cpu").out)

    def test_wrong_flags(self) -> None:
        grid = ("jacobi3d", 4, 4, 4)
        for words, *args in (
            ("Z is required", "jacobi3d", 4, 4),
            ("each dimension must be at least 1", "jacobi3d", 4, 0, 4),
            ("at most 2^40 cells", "jacobi3d", 1 << 20, 1 << 20, 1 << 20),
            ("'x' is not a number", "jacobi3d", "x", 4, 4),
            ("form resident is for GPUs", *grid, "--form", "resident", "--device", "cpu"),
            ("auto, threads, resident, kernels", *grid, "--form", "host"),
            ("auto, none, a, b, c, d", *grid, "--fusion", "e"),
            ("an even number of steps", *grid, "--graph", 3),
            ("--balance -1 is negative", *grid, "--balance", -1),
            ("are the same file", *grid, "--output", "a.npy", "--checkpoint", "a.npy"),
            ("--odf -1 is out of range", *grid, "--odf", -1),
            ("--blocks '2x2'", *grid, "--blocks", "2x2"),
            ("5 x 1 x 1 blocks do not fit", *grid, "--blocks", "5x1x1"),
            ("legal: block, round-robin, parts, file:PATH", *grid, "--mapping", "fair"),
            ("nowhere.txt: cannot be opened", *grid, "--mapping", "file:nowhere.txt", "--device", "cpu"),
            ("--iterations -1 is negative", *grid, "--iterations", -1),
            ("--tolerance -1", *grid, "--tolerance", -1),
            ("--check 0", *grid, "--check", 0, "--tolerance", 1),
            ("float64, float32", *grid, "--dtype", "int32"),
            ("'w0' is not a face", *grid, "--boundary", "w0=1"),
            ("'one' is not a finite number", *grid, "--boundary", "one"),
            ("'inf' is not a finite number", *grid, "--boundary", "0,z1=inf"),
            ("--interior nan is not a finite number", *grid, "--interior", "nan"),
            ("--interior: 1e+308 is too large for float64: at most 2.24", *grid, "--interior", "1e308"),
            ("--boundary: -1e+38 is too large for float32", *grid, "--boundary", "0,x0=-1e38", "--dtype", "float32"),
            ("--odf excludes --blocks", *grid, "--blocks", "2x2x2", "--odf", 3),
            ("--check requires --tolerance", *grid, "--check", 10),
            ("--boundary: face 'x1' is given twice", *grid, "--boundary", "0,x1=1,x1=2"),
            ("add --output", *grid, "--slice", "x=1"),
            ("z is from 0 to 3", *grid, "--slice", "z=4", "--output", "s.npy"),
            ("x=N, y=N or z=N", *grid, "--slice", "w=1", "--output", "s.npy"),
            ("ends in .npy", *grid, "--output", "grid.txt"),
            ("are the same file", *grid, "--output", "a.npy", "--json=a.npy"),
            ("did you mean --iterations?", *grid, "--iteration", 3),
        ):
            with self.subTest(words=words):
                self.bad(USAGE, words, *args)
        self.assertEqual(self.files(), [])


class Laps(CommandTest):
    def test_each_is_told(self) -> None:
        run = ("jacobi3d", 20, 21, 22, "--device", "cpu", "--odf", 3, "--verify", "--json")
        trials = self.good(*run, "--pes", 2, "--iterations", 95, "--laps", 10, "--trials", 2).json()["trials"]
        for trial in trials:
            self.assertEqual([lap["iterations"] for lap in trial["laps"]], list(range(10, 91, 10)))
            seconds = [lap["seconds"] for lap in trial["laps"]]
            self.assertEqual(seconds, sorted(seconds))
            self.assertGreater(seconds[0], 0)
        parts = ("--tolerance", 1e-3, "--check", 7, "--iterations", 40, "--laps", 5)
        trial = self.good(*run, *parts).json()["trials"][0]
        self.assertEqual([lap["iterations"] for lap in trial["laps"]], list(range(5, trial["iterations"] + 1, 5)))
        self.assertNotIn("laps", self.good(*run, "--iterations", 9).json()["trials"][0])

    def test_what_is_refused(self) -> None:
        self.bad(USAGE, "--laps -1 is negative", "jacobi3d", 4, 4, 4, "--laps", -1)
        grid = ("jacobi3d", 4, 4, 4, "--device", "cpu")
        for words in (("--urgent-packs",), ("--urgent-packs", "--form", "threads")):
            self.bad(
                USAGE,
                "urgent packs need kernels of their own, but the form is threads, the only one on CPU threads; use --device gpu",
                *grid,
                *words,
            )
        self.bad(USAGE, "halos staged need copies between kernels, but the form is threads", *grid, "--halos", "staged")
        self.bad(USAGE, ["'far' is not known", "direct, staged, copied"], *grid, "--halos", "far")


class Examples(CommandTest):
    """Example programs of blocks that compare their results with a reference."""

    def example(self, name: str, *args: object) -> str:
        program = pathlib.Path(find_shoal()).parent / f"example_{name}"
        if not program.exists():
            self.skipTest(f"{program.name} is not built")
        command = [str(program), "--device", "cpu", "--threads", "1", *map(str, args)]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout

    def test_jacobi(self) -> None:
        self.assertIn("8 blocks on 2 PEs: right", self.example("04_jacobi3d", 20, 21, 22, "--odf", 4, "--pes", 2))

    def test_power_iteration(self) -> None:
        for blocks, args in (
            (6, ("--odf", 3, "--pes", 2, "--iterations", 7)),
            (12, ("--odf", 4, "--pes", 3, "--iterations", 8, "--mapping", "round-robin")),
            (1, ("--iterations", 0)),
        ):
            with self.subTest(blocks=blocks):
                out = self.example("05_power_iteration", *args)
                self.assertIn(f" {blocks} blocks on ", out)
                self.assertIn(": right", out)

    def test_lattice(self) -> None:
        heat = []
        for blocks, args in (
            ("1 x 1 x 1 x 1", ()),
            ("2 x 2 x 2 x 2", ("--odf", 8, "--pes", 2, "--mapping", "parts")),
            ("2 x 2 x 2 x 2", ("--odf", 4, "--pes", 4, "--mapping", "round-robin")),
        ):
            with self.subTest(blocks=blocks):
                out = self.example("06_lattice", "--iterations", 20, *args)
                self.assertIn(f" {blocks} blocks on ", out)
                self.assertIn(": right", out)
                heat.append(out.split("heat ")[1].split(",")[0])
        self.assertEqual(heat[1], heat[2])  # from the same blocks on other PEs
        self.assertNotEqual(heat[0], heat[1])


if __name__ == "__main__":
    unittest.main()
