"""Ctrl-C and other signals whose handlers raise end a call, and the module can be used as before."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import shoal

# Takes minutes: ranks of a road network converge slowly if there are almost no jumps.
LONG_RANKING = 'shoal.pagerank("road:600", alpha=.9999, tolerance=1e-11, device="cpu", strategy="pull")'


def run_and_signal(call: str, before: str = "", after: str = "", number: int = signal.SIGINT) -> tuple[str, float]:
    """Runs `call` in a separate Python process and sends it a signal. Returns what it printed, and the seconds from
    the
    signal to the end of the call."""
    script = f"""
import os, signal, threading, time
import shoal
{before}
print("begun", flush=True)
try:
    {call}
    print("went on to its end")
except BaseException as error:
    print(time.monotonic(), flush=True)
    print(type(error).__name__, error)
print(shoal.bfs("chain:4", 0, device="cpu").tolist(), flush=True)
{after}
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        time.sleep(0.5)
        sent = time.monotonic()
        child.send_signal(number)
        ended, rest = child.stdout.readline(), child.stdout.read()
        assert child.wait(timeout=60) == 0
    return rest, float(ended) - sent


@pytest.mark.parametrize(
    "call",
    [
        LONG_RANKING,
        'shoal.pagerank("road:600", alpha=.9999, tolerance=1e-11, device="cpu", strategy="async")',
        'shoal.Graph.generate("kron:22")',
        'shoal.bfs("chain:30000000", 0, device="cpu")',
        'shoal.sssp("chain:30000000", 0, device="cpu", strategy="async")',
    ],
)
def test_control_c_ends_a_long_call(call: str) -> None:
    rest, seconds = run_and_signal(call)
    assert rest == "KeyboardInterrupt \n[0, 1, 2, 3]\n"
    assert seconds < 5  # usually a tenth of a second; the rest is a margin for busy machines


def test_control_c_ends_waiting_for_a_pipe(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe.el")
    rest, seconds = run_and_signal(f'shoal.read("{tmp_path}/pipe.el")')
    assert rest == "KeyboardInterrupt \n[0, 1, 2, 3]\n"
    assert seconds < 5


def test_control_c_ends_waiting_for_the_reader_of_a_pipe(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe.el")
    call = f'shoal.Graph.generate("chain:100000").write("{tmp_path}/pipe.el")'
    rest, seconds = run_and_signal(call)
    assert rest == "KeyboardInterrupt \n[0, 1, 2, 3]\n"
    assert seconds < 5
    full = os.open(tmp_path / "pipe.el", os.O_RDONLY | os.O_NONBLOCK)  # a reader that reads nothing
    rest, seconds = run_and_signal(call)
    os.close(full)
    assert rest == "KeyboardInterrupt \n[0, 1, 2, 3]\n"
    assert seconds < 5


def test_a_pipe_is_written_to_its_end(tmp_path: pathlib.Path) -> None:
    pipe = tmp_path / "pipe.el"
    os.mkfifo(pipe)
    read: list[int] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes().count(b"\n")))
    reader.start()
    shoal.from_csr(range(50001), np.zeros(50000, dtype=np.int64)).write(pipe)
    reader.join()
    assert read == [50000]


def test_a_pipe_is_read_to_its_end(tmp_path: pathlib.Path) -> None:
    pipe = tmp_path / "pipe.el"
    os.mkfifo(pipe)

    def write() -> None:
        with open(pipe, "w") as to:
            for i in range(20000):
                to.write(f"{i} {i + 1}\n")
                if i == 10000:
                    to.flush()
                    time.sleep(0.3)

    writer = threading.Thread(target=write)
    writer.start()
    graph = shoal.read(pipe)
    writer.join()
    assert (graph.num_vertices, graph.num_arcs) == (20001, 20000)


def test_control_c_ends_waiting_for_another_thread() -> None:
    before = """
ranking = shoal.PageRank("road:600", alpha=.9999, tolerance=1e-11, device="cpu", strategy="pull")
threading.Thread(target=ranking.rank, daemon=True).start()
time.sleep(.3)
"""
    rest, seconds = run_and_signal("ranking.rank()", before, "os._exit(0)  # the other thread still ranks")
    assert rest == "KeyboardInterrupt \n[0, 1, 2, 3]\n"
    assert seconds < 5


def test_what_any_handler_raises_ends_a_call() -> None:
    before = """
def raise_timeout(*_):
    raise TimeoutError("time is up")
signal.signal(signal.SIGALRM, raise_timeout)
"""
    rest, seconds = run_and_signal(LONG_RANKING, before, number=signal.SIGALRM)
    assert rest == "TimeoutError time is up\n[0, 1, 2, 3]\n"
    assert seconds < 5


def run_alone(script: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, timeout=60, check=True
    ).stdout


def test_a_handler_that_does_not_raise_changes_nothing() -> None:
    script = """
import os, signal, threading
import shoal
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(threading.current_thread() is threading.main_thread()))
threading.Timer(.05, os.kill, (os.getpid(), signal.SIGINT)).start()
print(shoal.bfs("chain:5000000", 0, device="cpu")[-1], seen)
"""
    assert run_alone(script) == "4999999 [True]\n"


def test_calls_of_other_threads_go_on() -> None:
    script = """
import os, signal, threading, time
import shoal
answers = []
other = threading.Thread(target=lambda: answers.append(shoal.bfs("chain:5000000", 0, device="cpu")))
other.start()
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
except KeyboardInterrupt:
    print("interrupted")
other.join()
print(answers[0][-1])
"""
    assert run_alone(script) == "interrupted\n4999999\n"


def test_what_was_called_off_has_no_answer_and_runs_again() -> None:
    def raise_timeout(*_: object) -> None:
        raise TimeoutError

    run = shoal.Bfs("chain:10000000", device="cpu")
    old = signal.signal(signal.SIGALRM, raise_timeout)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        with pytest.raises(TimeoutError):
            run.search(0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    with pytest.raises(shoal.UsageError, match="no result"):
        run.result()
    run.search(1)
    assert run.verify() == ""
    assert run.result()[:3].tolist() == [1, 0, 1]
