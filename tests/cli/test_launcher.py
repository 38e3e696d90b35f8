"""`shoal run`: what it calls, its errors about hosts and launchers, and that it ends even if they do not."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

from command import Answer, CommandTest, find_shoal

LAUNCHER = os.environ.get("SHOAL_OSHRUN", "")
USAGE, LOST = 2, 4

# Replaces ssh: a host that does not exist, one that refuses access, one without Open MPI, and hosts with all that is needed.
FAKE_SSH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
case $host in
  lost*) printf 'a greeting\\nssh: Could not resolve hostname %s: Name or service not known\\r\\n' "$host" >&2; exit 255 ;;
  mute) exit 255 ;;
  bare) PATH=FOLDER/bare exec /bin/sh -c "$*" ;;
  *) PATH=FOLDER/full exec /bin/sh -c "$*" ;;
esac
"""


class LauncherTest(CommandTest):
    def run_with(self, launcher: str) -> tuple[Answer, float]:
        """Runs `shoal run` with a shell script in place of oshrun. Returns its answer and its seconds."""
        file = self.folder / "oshrun"
        file.write_text("#!/bin/sh\n" + launcher)
        file.chmod(0o755)
        begin = time.monotonic()
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        answer = self.shoal("run", "-n", 2, "--", "bfs", "kron:8", env=environment)
        return answer, time.monotonic() - begin

    @unittest.skipUnless(LAUNCHER, "no OpenSHMEM was found, so the engine is not built")
    def test_a_launcher_that_does_not_end(self) -> None:
        os.mkfifo(self.folder / "never")
        # Like Open MPI's launcher sometimes, if a process was killed while it started.
        answer, seconds = self.run_with(f"sleep 0.5\nread line < {self.folder}/never\n")
        self.assertLess(seconds, 20)
        self.assertEqual(answer.status, 128 + 9, answer.out + answer.err)
        self.assertIn("has not ended although all its processes have", answer.err)

    @unittest.skipUnless(LAUNCHER, "no OpenSHMEM was found, so the engine is not built")
    def test_an_interrupt_does_not_read_as_a_wrong_result(self) -> None:
        file = self.folder / "oshrun"
        # Like Open MPI's launcher, which ends with 1.
        file.write_text(
            f"#!/bin/sh\ntrap 'kill $!; exit 1' INT TERM HUP\nsleep 30 &\ntouch {self.folder}/began\nwait\n"
        )
        file.chmod(0o755)
        for asked in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            (self.folder / "began").unlink(missing_ok=True)
            job = subprocess.Popen(
                [find_shoal(), "run", "-n", "2", "--", "bfs", "kron:8"],
                env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            begin = time.monotonic()
            while not (self.folder / "began").exists() and time.monotonic() - begin < 20:
                time.sleep(0.05)
            job.send_signal(asked)
            out, _ = job.communicate(timeout=60)
            self.assertEqual(job.returncode, 128 + asked, out)

    @unittest.skipUnless(LAUNCHER, "no OpenSHMEM was found, so the engine is not built")
    def test_who_was_killed_is_named(self) -> None:
        # Like Open MPI's launcher while processes start: its own lines do not name the process.
        killed = "PMIX_RANK=0 sleep 30 &\nPMIX_RANK=1 sleep 30 &\nsleep 0.5\nkill -9 $!\nsleep 0.5\nkill %1\nexit 137\n"
        answer, _ = self.run_with(killed)
        self.assertEqual(answer.status, 137, answer.out + answer.err)
        self.assertRegex(answer.err, r"process 1 \(process id [0-9]+\) ended before the others")

    @unittest.skipUnless(LAUNCHER, "no OpenSHMEM was found, so the engine is not built")
    def test_what_a_launcher_leaves_is_ended(self) -> None:
        answer, seconds = self.run_with("sleep 4711 &\nsleep 0.3\nkill -SEGV $$\n")
        self.assertLess(seconds, 10)
        self.assertEqual(answer.status, 128 + 11, answer.out + answer.err)
        left = subprocess.run(["pgrep", "-f", "sleep 4711"], capture_output=True, text=True, check=False).stdout
        self.assertEqual(left, "", "processes are left behind")

    def test_what_is_missing_is_said(self) -> None:
        status = self.shoal("run", "-n", 2, "--", "bfs", "kron:8", env={**os.environ, "SHOAL_ENGINES": "/nowhere"})
        self.assertEqual((status.status, len(status.err.splitlines())), (USAGE, 1), status.err)
        self.assertIn("./run setup processes", status.err)

    @unittest.skipUnless(LAUNCHER, "no OpenSHMEM was found, so the engine is not built")
    def test_what_it_calls(self) -> None:
        line = self.good("run", "-n", 3, "--hosts", "a,b", "--show", "--", "bfs", "kron:8", "--verify").out
        self.assertRegex(line, r"oshrun -n 3 .*--host a:2,b:2 .*/shoal bfs kron:8 --verify\n$")
        line = self.good("run", "-n", 2, "--show", "--", "./mine", "kron:8").out
        self.assertRegex(line, r"oshrun -n 2 .* \./mine kron:8\n$")
        no_path = {**os.environ, "PATH": "/nowhere"}
        self.bad(USAGE, "neither oshrun nor mpirun is in PATH", "run", "-n", 2, "--", "bfs", env=no_path)
        self.bad(USAGE, "1 to 64", "run", "-n", 0, "--", "bfs")
        self.bad(USAGE, ["'mine' is not a command", "./mine"], "run", "-n", 2, "--", "mine", "kron:8")
        self.bad(USAGE, "./mine: cannot be started: No such file", "run", "-n", 2, "--", "./mine", "kron:8")
        self.bad(USAGE, "empty name", "run", "-n", 2, "--hosts", "a,,b", "--", "bfs")

    @unittest.skipUnless(LAUNCHER, "no OpenSHMEM was found, so the engine is not built")
    def test_hosts_that_cannot_be_reached(self) -> None:
        """One line names the host, the reason and a remedy, before any process is started."""
        ssh = self.write("ssh", FAKE_SSH.replace("FOLDER", str(self.folder)))
        launcher = self.write("oshrun", '#!/bin/sh\necho "started $*"\n')
        for folder in ("bare", "full", "without"):
            (self.folder / folder).mkdir()
            (self.folder / folder / "sh").symlink_to("/bin/sh")
        daemon = self.write("full/orted", "#!/bin/sh\n")
        for file in (ssh, launcher, daemon):
            file.chmod(0o755)
        (self.folder / "without" / "oshrun").symlink_to(launcher)
        usual = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        usual.pop("OMPI_MCA_plm_rsh_agent", None)

        def fails(status: int, words: list[str], hosts: str, *command: object, **variables: str) -> None:
            line = ("run", "-n", 2, "--hosts", hosts, "--", *(command or ("bfs", "kron:8")))
            answer = self.bad(status, words, *line, env={**usual, **variables})
            self.assertEqual(answer.out, "", "it was started")

        unknown = (
            "host lost cannot be reached: ssh: Could not resolve hostname lost: Name or service not known; correct"
        )
        fails(LOST, [unknown, "`ssh lost true` works here without a prompt"], "there,lost")
        fails(LOST, ["host lost1 cannot be reached", "; 1 more of 3 other hosts failed, too"], "lost1,there,lost2")
        fails(LOST, ["host mute cannot be reached: exit status 255; "], "mute")
        fails(LOST, ["host bare has no orted in PATH", "install it there"], "there,bare")
        fails(LOST, ["host there has no /nowhere/mine; ", "same path"], "there", "/nowhere/mine")
        fails(LOST, ["`mine lost true` works"], "lost", OMPI_MCA_plm_rsh_agent=self.agent_named("mine", ssh))
        nothing = {"PATH": str(self.folder / "without")}
        fails(USAGE, ["ssh : rsh is not found here", "install ssh", "OMPI_MCA_plm_rsh_agent"], "lost", **nothing)
        for hosts, variables in (
            ("there,here", {}),
            ("localhost,127.0.0.1", nothing),  # ssh is not called
            ("lost", {"SLURM_JOB_ID": "7"}),  # the batch system starts them
        ):
            with self.subTest(hosts=hosts):
                answer = self.shoal("run", "-n", 2, "--hosts", hosts, "--", "bfs", "kron:8", env={**usual, **variables})
                self.assertEqual((answer.status, answer.err), (0, ""))
                self.assertRegex(answer.out, "^started -n 2 ")

    def agent_named(self, name: str, agent: pathlib.Path) -> str:
        (self.folder / name).symlink_to(agent)
        return name

    def test_doctor_names_the_engine(self) -> None:
        engines = {e["name"]: e for e in self.shoal("doctor", "--json").json()["engines"]}
        self.assertEqual(engines["openshmem"]["found"], bool(LAUNCHER))
        self.assertEqual(engines["openshmem"]["cure"] == "", bool(LAUNCHER))


if __name__ == "__main__":
    unittest.main()
