"""The programs of scripts/ that run many others on GPUs count what those say, with stand-ins for GPUs and programs."""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

from command import ROOT

# Says that two ways were right; what else it does depends on its arguments.
MATRIX = """#!{python}
import json, sys
at = lambda flag: sys.argv[sys.argv.index(flag) + 1]
algorithm, pes, soak = at("--algorithm"), int(at("--pes")), "--soak" in sys.argv
if algorithm == "sssp" and pes == 2 and not soak:
    print("STUCK sssp, chain:3: not through after 30 s")
    sys.exit(3)
wrong = algorithm == "pagerank" and pes == 1 and at("--shard") == "0/1"
counts = dict(algorithm=algorithm, what="soak" if soak else "matrix", pes=pes, right=2, wrong=int(wrong))
counts |= dict(not_run=int(algorithm == "components" and not soak), seconds=0.5)
failures = ["vertex 3"] if wrong else []
with open(at("--json"), "w") as file:
    json.dump(dict(gpu="G", counts=[counts], failures=failures), file)
sys.exit(int(wrong or counts["not_run"] > 0))
"""
SANITIZER = """#!{python}
import sys
tool, arguments = sys.argv[2], " ".join(sys.argv[5:])
print("========= ERROR SUMMARY: " + ("3 errors" if tool == "initcheck" and "hook" in arguments else "0 errors"))
sys.exit(7 if tool == "memcheck" and "pull" in arguments else 0)
"""


class GpuDrivers(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="shoal-drivers-")))

    def stand_in(self, name: str, text: str) -> None:
        file = self.folder / name
        file.write_text(text.replace("{python}", sys.executable))
        file.chmod(file.stat().st_mode | stat.S_IEXEC)

    def run_script(self, name: str, *arguments: str, gpus: str = "0,1") -> subprocess.CompletedProcess:
        path = os.pathsep.join([str(self.folder), os.environ["PATH"]])
        environment = dict(os.environ, CUDA_VISIBLE_DEVICES=gpus, PATH=path, PYTHONDONTWRITEBYTECODE="1")
        command = [sys.executable, str(ROOT / "scripts" / name), str(self.folder), str(self.folder / "out"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)

    def test_matrix(self) -> None:
        for name in ("algo_matrix", "algo_matrix_delayed"):
            self.stand_in(name, MATRIX)
        sums = self.folder / "sums.json"
        done = self.run_script("gpu_matrix.py", "--shards", "2", "--soak", "3", "--json", str(sums))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("matrix  bfs         2 PEs: 4 right, 0 wrong, 0 not run", done.stdout)
        self.assertIn("matrix  sssp        2 PEs: 0 right, 2 wrong, 0 not run", done.stdout)
        self.assertIn("matrix  components  2 PEs: 4 right, 0 wrong, 2 not run", done.stdout)
        self.assertIn("matrix  pagerank    1 PEs: 2 right, 1 wrong, 0 not run", done.stdout)
        self.assertIn("soak    sssp        2 PEs: 4 right, 0 wrong, 0 not run", done.stdout)
        self.assertIn("FAILED matrix-sssp-2-0of2: status 3: STUCK sssp, chain:3", done.stdout)
        self.assertIn("FAILED matrix-pagerank-1-0of1: vertex 3", done.stdout)
        self.assertNotIn("3 PEs", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "36 right, 3 wrong, 3 not run")
        data = json.loads(sums.read_text())
        self.assertEqual((data["gpu"], data["gpus"], len(data["rows"]), len(data["failures"])), ("G", 2, 12, 3))
        done = self.run_script("gpu_matrix.py", "--algorithms", "bfs", "--soak", "2")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, "24 right, 0 wrong, 0 not run"))
        done = self.run_script("gpu_matrix.py", "--algorithms", "dfs")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--algorithms dfs: legal: bfs, sssp", done.stderr)

    def test_sanitizers(self) -> None:
        self.stand_in("compute-sanitizer", SANITIZER)
        done = self.run_script("gpu_sanitize.py", "--tools", "memcheck,initcheck", gpus="0")
        self.assertEqual(done.returncode, 1, done.stderr)
        lines = {line[:32].strip(): line[37:].split() for line in done.stdout.splitlines()}
        self.assertEqual(lines["components hook"], ["ok", "0", "s", "3", "found"])
        self.assertEqual(lines["pagerank pull"], ["wrong", "(7)", "ok", "0", "s"])
        self.assertEqual(lines["bfs levels, narrow"], ["ok", "0", "s", "ok", "0", "s"])
        self.assertEqual(done.stdout.splitlines()[-1], "30 ok, 2 not")


if __name__ == "__main__":
    unittest.main()
