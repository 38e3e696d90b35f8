"""Runs the built `shoal` for the tests of this folder. The variable SHOAL_BIN has its path."""

import array
import ast
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 60


def find_shoal() -> str:
    usual = [ROOT / "build" / preset / "shoal" for preset in ("gpu", "cpu")]
    found = os.environ.get("SHOAL_BIN") or next((str(p) for p in usual if p.exists()), None)
    if found is None or not os.path.exists(found):
        raise RuntimeError("no shoal to test: set SHOAL_BIN, or run ./run build")
    return found


class Answer:
    """The result of one command: exit status, standard output, standard error."""

    def __init__(self, done: subprocess.CompletedProcess) -> None:
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    def json(self) -> dict:
        return json.loads(self.out)


class CommandTest(unittest.TestCase):
    """A test with a temporary folder, in which its commands run."""

    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="shoal-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def shoal(self, *args: object, **run: object) -> Answer:
        command = [find_shoal(), *(str(a) for a in args)]
        run = {"cwd": self.folder, "capture_output": True, "text": True, "timeout": TIMEOUT_SECONDS, **run}
        return Answer(subprocess.run(command, check=False, **run))

    def run_line(
        self, line: list[object], environment: dict[str, str], timeout: float = TIMEOUT_SECONDS, **run: object
    ) -> Answer:
        """Runs any command line, with `environment` added to the environment of the test."""
        return Answer(
            subprocess.run(
                [str(word) for word in line],
                cwd=self.folder,
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
                **run,
            )
        )

    def good(self, *args: object) -> Answer:
        """Runs a command that must succeed and print nothing on standard error."""
        answer = self.shoal(*args)
        self.assertEqual((answer.status, answer.err), (0, ""), f"shoal {args}: {answer.out}")
        return answer

    def bad(self, status: int, words: str | list[str], *args: object, **run: object) -> Answer:
        """Runs a command that must fail with `status` and print one line with all `words` on standard error."""
        answer = self.shoal(*args, **run)
        self.assertEqual(answer.status, status, f"shoal {args}: {answer.out}{answer.err}")
        lines = answer.err.splitlines()
        self.assertEqual(len(lines), 1, f"shoal {args}: not one line: {answer.err}")
        self.assertTrue(lines[0].startswith("shoal: error: "), lines[0])
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, lines[0])
        return answer

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def files(self) -> list[str]:
        return sorted(p.name for p in self.folder.iterdir())


def read_npy(path: pathlib.Path, descr: str = "<i4") -> tuple[tuple[int, ...], bytes]:
    """Shape and bytes of a .npy file of values `descr` (little-endian int32), in C order."""
    data = path.read_bytes()
    if data[:8] != b"\x93NUMPY\x01\x00":
        raise AssertionError(f"{path} is not a .npy file of version 1.0")
    end = 10 + int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:end].decode("latin1"))
    if header["descr"] != descr or header["fortran_order"] or end % 64 != 0 or data[end - 1 : end] != b"\n":
        raise AssertionError(f"unexpected header in {path}: {header}")
    return header["shape"], data[end:]


def int32s(data: bytes) -> list[int]:
    return array.array("i", data).tolist()
