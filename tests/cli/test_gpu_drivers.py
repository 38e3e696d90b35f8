"""The programs of scripts/ that run many others on GPUs count their results. GPUs and programs are replaced by
stubs."""

import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

from command import ROOT

# Reports that two ways were right; its other actions depend on its arguments.
MATRIX = """#!{python}
import json, sys
at = lambda flag: sys.argv[sys.argv.index(flag) + 1]
names = [sys.argv[i + 1] for i, word in enumerate(sys.argv) if word == "--algorithm"]
pes, soak = int(at("--pes")), "--soak" in sys.argv
stuck = pes == 2 and not soak and at("--shard") == "0/2" and at("--ways") == "core" and "sssp" in names
if pes == 2 and not soak and at("--ways") == "rest" and "sssp" in names:
    print("out of luck")
    sys.exit(2)
counts = [
    dict(algorithm=name, what="w", pes=pes, right=2, wrong=int(stuck and name == "sssp"), not_run=int(name == "components"),
         seconds=0.5)
    for name in names
]
with open(at("--json"), "w") as file:
    json.dump(dict(gpu="G", counts=counts, failures=["STUCK sssp"] if stuck else []), file)
sys.exit(3 if stuck else int("components" in names))
"""
SANITIZER = """#!{python}
import os, sys
tool, arguments = sys.argv[2], " ".join(sys.argv[5:])
print("========= ERROR SUMMARY: " + ("3 errors" if tool == "initcheck" and "hook" in arguments else "0 errors"))
gpus, shared = len(os.environ["CUDA_VISIBLE_DEVICES"].split(",")), "--pes-per-gpu 2" in arguments
if shared != ("--pes 2" in arguments and gpus == 1):
    sys.exit(6)
sys.exit(7 if tool == "memcheck" and "pull" in arguments else 0)
"""
# Fails if it gets another number of GPUs than it asked for, or a GPU that another process has. Takes long for one table.
SHOAL = """#!{python}
import os, pathlib, sys, time
gpus = os.environ["CUDA_VISIBLE_DEVICES"].split(",")
taken = [pathlib.Path(sys.argv[0] + "-" + gpu) for gpu in gpus]
for file in taken:
    file.touch(exist_ok=False)
time.sleep(60 if "groute-table4" in sys.argv else 0.1)
for file in taken:
    file.unlink()
print("right")
sys.exit(int(sys.argv[sys.argv.index("--pes") + 1]) != len(gpus))
"""

# CHARM is Charm++'s program: 30 us with -d, 40 us without, and a failure on three GPUs. JACOBI is shoal: 100 us for ten
# iterations.
CHARM = """#!/bin/sh
case "$*" in
  +p3*) echo broken >&2; exit 1 ;;
  *-d) echo "Average iteration time: 30.0 us" ;;
  *) echo "Average iteration time: 40.0 us" ;;
esac
"""
JACOBI = """#!/bin/sh
echo '{"trials": [{"seconds": 9e-5}, {"seconds": 1e-4}, {"seconds": 2e-4}]}'
"""


class GpuDrivers(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="shoal-drivers-")))

    def stand_in(self, name: str, text: str) -> None:
        file = self.folder / name
        file.write_text(text.replace("{python}", sys.executable))
        file.chmod(file.stat().st_mode | stat.S_IEXEC)

    def run_script(self, name: str, *arguments: str, gpus: str = "0,1") -> subprocess.CompletedProcess:
        return self.run_command(name, str(self.folder), str(self.folder / "out"), *arguments, gpus=gpus)

    def run_command(self, name: str, *arguments: str, gpus: str) -> subprocess.CompletedProcess:
        path = os.pathsep.join([str(self.folder), os.environ["PATH"]])
        environment = dict(os.environ, CUDA_VISIBLE_DEVICES=gpus, PATH=path, PYTHONDONTWRITEBYTECODE="1")
        command = [sys.executable, str(ROOT / "scripts" / name), *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)

    def test_matrix(self) -> None:
        done = self.run_script("gpu_matrix.py")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no algo_matrix; name the folder where it was built", done.stderr)
        for name in ("algo_matrix", "algo_matrix_delayed"):
            self.stand_in(name, MATRIX)
        sums = self.folder / "sums.json"
        done = self.run_script("gpu_matrix.py", "--shards", "2", "--soak", "3", "--json", str(sums))
        self.assertEqual(done.returncode, 1, done.stderr)
        for line in (
            "core 2 PEs bfs         4 right, 0 wrong, 0 not run",
            "core 2 PEs sssp        4 right, 1 wrong, 0 not run",
            "core 1 PEs components  2 right, 0 wrong, 1 not run",
            "rest 2 PEs program     0 right, 2 wrong, 0 not run",
            "soak 2 PEs pagerank    4 right, 0 wrong, 0 not run",
            "FAILED core-2-0of2: STUCK sssp",
            "FAILED rest-2-0of2: status 2: out of luck",
        ):
            self.assertIn(line, done.stdout)
        self.assertNotIn("3 PEs", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "60 right, 3 wrong, 6 not run")
        data = json.loads(sums.read_text())
        self.assertEqual((data["gpu"], data["gpus"], len(data["rows"]), len(data["failures"])), ("G", 2, 21, 3))
        done = self.run_script("gpu_matrix.py", "--algorithms", "bfs", "--soak", "2", "--shards", "2")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, "16 right, 0 wrong, 0 not run"))
        # Only the job whose results were lost is run again.
        (self.folder / "out" / "core-2-1of2.json").unlink()
        for name in ("algo_matrix", "algo_matrix_delayed"):
            self.stand_in(name, MATRIX.replace("right=2", "right=3"))
        done = self.run_script("gpu_matrix.py", "--algorithms", "bfs", "--soak", "2", "--shards", "2", "--resume")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, "17 right, 0 wrong, 0 not run"))
        # Four PEs do not fit on two GPUs unless they share them.
        for share, said in (("1", "0 right, 0 wrong, 0 not run"), ("2", "3 right, 0 wrong, 0 not run")):
            flags = ("--algorithms", "bfs", "--ways", "core", "--pes", "4", "--pes-per-gpu", share)
            self.assertEqual(self.run_script("gpu_matrix.py", *flags).stdout.splitlines()[-1], said)
        for flags, words in (
            (("--algorithms", "dfs"), "--algorithms dfs: legal: bfs, sssp"),
            (("--ways", "most"), "--ways most: legal: core"),
            (("--pes-per-gpu", "0"), "--pes-per-gpu 0: legal: 1 to 4"),
            (("--data", "/nowhere"), "--data /nowhere: no such folder"),
            (("--resume", "--algorithms", "bfs", "--soak", "2", "--shards", "3"), "one with other --data, --shards"),
        ):
            done = self.run_script("gpu_matrix.py", *flags)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)

    def test_four_gpus(self) -> None:
        self.stand_in("shoal", SHOAL)
        out = self.folder / "out4"
        words = ["tables", "--without-building", "--build", str(self.folder), "--out", str(out)]
        done = self.run_command("gpu4", *words, gpus="0,1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("2 GPUs are visible, and this needs 4", done.stderr)
        for pattern, said in (("nothing", "no step has such a name"), ("(", "unterminated")):
            done = self.run_command("gpu4", *words, "--only", pattern, gpus="0,1,2,3")
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)
        missing = self.run_command("gpu4", "right", *words[1:], "--only", "worklist_gpu_test", gpus="0,1,2,3")
        self.assertEqual(missing.returncode, 1, missing.stdout)  # a program that was not built is a failure
        done = self.run_command("gpu4", *words, "--only", "atos_table2", gpus="0,1,2,3")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = (out / "table.txt").read_text().splitlines()
        self.assertTrue(all(" ok " in line and line.endswith("right") for line in lines), done.stdout)
        self.assertTrue(
            {f"bench_atos_table2_{n}gpus.log" for n in (1, 2, 3, 4)} <= {file.name for file in out.iterdir()}
        )
        self.assertIn(" --budget 40 ", (out / "bench_atos_table2_4gpus.log").read_text())
        # One program gets a budget that ends earlier, and is killed when the time is over. Later programs are not begun, and
        # are
        # reported as not run.
        done = self.run_command("gpu4", *words, "--only", "groute_(table4|items)", "--seconds", "6", gpus="0,1,2,3")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"bench_groute_table4_4gpus +LATE")
        self.assertIn(" --budget 1 ", (out / "bench_groute_table4_4gpus.log").read_text())
        self.assertRegex(done.stdout, r"bench_groute_items_sssp_2gpus +NOT RUN")
        self.assertRegex(done.stdout.splitlines()[-1], r"^1 failed, \d+ not run")

    def test_beside_charm(self) -> None:
        self.stand_in("charm", CHARM)
        self.stand_in("shoal", JACOBI)
        command = [sys.executable, str(ROOT / "bench" / "beside_charm.py"), "--shoal", str(self.folder / "shoal")]

        def beside(*words: str) -> subprocess.CompletedProcess:
            return subprocess.run([*command, *words], capture_output=True, text=True, timeout=60, check=False)

        done = beside("--charm", str(self.folder / "charm"), "--gpus", "2", "3", "--blocks", "4", "--", "64:10")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"64\^3, 2 GPUs, 4 blocks each +40.0 +30.0 +10.0 +3.00\n")
        self.assertIn("64^3, 3 GPUs, 4 blocks each: ", done.stderr)
        self.assertIn("broken", done.stderr)
        done = beside("--charm", str(self.folder / "nowhere"), "64:10")
        self.assertEqual((done.returncode, "is not there" in done.stderr), (2, True))

    def test_sanitizers(self) -> None:
        done = self.run_script("gpu_sanitize.py")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no shoal; name the folder where it was built", done.stderr)
        self.stand_in("shoal", "")
        self.stand_in("compute-sanitizer", SANITIZER)
        (self.folder / "out").write_text("")
        done = self.run_script("gpu_sanitize.py")
        self.assertEqual(done.returncode, 2)
        self.assertIn("out: is a file; name a folder", done.stderr)
        (self.folder / "out").unlink()
        done = self.run_script("gpu_sanitize.py", "--tools", "memcheck,initcheck", gpus="0")
        self.assertEqual(done.returncode, 1, done.stderr)
        cells = {line[:32].strip(): re.sub(r"ok \d+ s", "ok", line[37:]).split() for line in done.stdout.splitlines()}
        self.assertEqual(cells["components hook"], ["ok", "3", "found"])
        self.assertEqual(cells["pagerank pull"], ["wrong", "(7)", "ok"])
        self.assertEqual(cells["bfs levels, narrow"], ["ok", "ok"])
        families = len(done.stdout.splitlines()) - 2  # one line for each, between the heading and the sum
        self.assertGreater(families, 20)
        right = len(re.findall(r"ok \d+ s", done.stdout))  # two cells per family
        self.assertEqual(done.stdout.splitlines()[-1], f"{right} ok, {2 * families - right} not")
        done = self.run_script("gpu_sanitize.py", "--tools", "synccheck")  # with two GPUs, PEs share none
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, f"{families} ok, 0 not"))


if __name__ == "__main__":
    unittest.main()
