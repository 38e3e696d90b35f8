"""Wrong input raises the right exception, with a helpful message."""

import errno
import os
import pathlib
import pickle
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
import shoal
from shoal import _shoal

OFFSETS = np.array([0, 1, 2], dtype=np.int64)
TARGETS = np.array([1, 0], dtype=np.int32)


def test_hierarchy() -> None:
    for error, builtin in [
        (shoal.UsageError, ValueError),
        (shoal.CapacityError, MemoryError),
        (shoal.TransportError, ConnectionError),
        (shoal.DeviceError, RuntimeError),
    ]:
        assert issubclass(error, builtin)
        assert issubclass(error, shoal.Error)


@pytest.mark.parametrize("source", [-1, 2, 2**40, 2**63, 2**70, -(2**70)])
def test_source_out_of_range(source: int) -> None:
    with pytest.raises(ValueError, match="0 to 1"):
        shoal.bfs((OFFSETS, TARGETS), source)


def test_source_that_is_no_number() -> None:
    with pytest.raises(TypeError):
        shoal.bfs((OFFSETS, TARGETS), 1.5)


@pytest.mark.parametrize(
    ("offsets", "targets", "words"),
    [
        ([1, 1, 2], [1, 0], r"offsets\[0\] is 1"),
        ([0, 2, 1], [1, 0], r"offsets\[2\] is 1, less than offsets\[1\]"),
        ([0, 1, 3], [1, 0], "last offset is 3, but targets has 2"),
        ([0, 1, 2], [1, 2], r"targets\[1\] is 2; vertices are 0 to 1"),
        ([0, 1, 2], [1, -1], r"targets\[1\] is -1"),
        ([], [], "offsets is empty"),
    ],
)
@pytest.mark.parametrize("target_type", [np.int32, np.int64])
def test_wrong_arrays(offsets: list, targets: list, words: str, target_type: type) -> None:
    with pytest.raises(shoal.UsageError, match=words):
        shoal.bfs((np.array(offsets, dtype=np.int64), np.array(targets, dtype=target_type)), 0)


def test_target_beyond_32_bits() -> None:
    with pytest.raises(shoal.UsageError, match=r"targets\[0\] is 4294967296"):
        shoal.bfs((OFFSETS, np.array([2**32, 0], dtype=np.int64)), 0)


def test_kinds_of_arrays() -> None:
    with pytest.raises(TypeError, match="float64"):
        shoal.bfs((OFFSETS.astype(float), TARGETS), 0)
    with pytest.raises(ValueError, match="shape"):
        shoal.bfs((OFFSETS, TARGETS.reshape(1, 2)), 0)
    with pytest.raises(ValueError, match=r"weights has shape \(1, 2\)"):
        shoal.sssp((OFFSETS, TARGETS, [[1, 2]]), 0)
    with pytest.raises(TypeError, match="complex128"):
        shoal.sssp((OFFSETS, TARGETS, np.array([1j, 2])), 0)
    with pytest.raises(TypeError, match="ndarray; it must be a SciPy sparse matrix"):
        shoal.from_scipy(np.eye(3))
    with pytest.raises(TypeError, match="NoneType"):
        shoal.bfs(None, 0)
    with pytest.raises(TypeError, match="a Graph is made by"):
        shoal.Graph(OFFSETS, TARGETS)
    for bad in (np.nan, np.inf):
        with pytest.raises(shoal.UsageError, match=r"weights\[1\] is (nan|inf); weights are finite"):
            shoal.from_csr(OFFSETS, TARGETS, [1, bad])
        with pytest.raises(shoal.UsageError, match=r"weights\[0\] is (nan|inf); weights are finite"):
            shoal.from_scipy(sp.coo_array(([bad], ([0], [1])), shape=(2, 2)))
    with pytest.raises(TypeError, match="dict"):
        shoal.bfs({}, 0)
    with pytest.raises(ValueError, match="square"):
        shoal.bfs(sp.csr_matrix((2, 3)), 0)


def test_symmetric_is_checked() -> None:
    one_way = (np.array([0, 1, 1]), np.array([1], dtype=np.int32))
    with pytest.raises(shoal.UsageError, match="no reverse"):
        shoal.Graph.from_csr(*one_way, symmetric=True)
    assert shoal.Graph.from_csr(OFFSETS, TARGETS, symmetric=True).symmetric


def test_options() -> None:
    for option, value in [("pes", 2**70), ("seed", -1), ("capacity", -(2**64)), ("threads", 2**31)]:
        with pytest.raises(shoal.UsageError, match=f"option {option} is {value}, which is out of range"):
            shoal.bfs((OFFSETS, TARGETS), 0, **{option: value})
    with pytest.raises(TypeError, match=r"colour.*legal"):
        shoal.bfs((OFFSETS, TARGETS), 0, colour="red")
    for option, value, words in [
        ("pes", "two", r"pes is 'two' \(str\); it must be a whole number"),
        ("batch_wait", 2.5, r"batch_wait is 2.5 \(float\); it must be a whole number, or microseconds such as '20us'"),
        ("stall_timeout", "long", r"it must be a number"),
        ("device", 3, r"device is 3 \(int\); it must be a string"),
    ]:
        with pytest.raises(TypeError, match=words):
            shoal.bfs((OFFSETS, TARGETS), 0, **{option: value})
    for option, value, words in [
        ("pes", 65, "0 to 64"),
        ("pes_per_gpu", 5, "1 to 4"),
        ("worker", "block:3", "multiple of 32"),
        ("device", "tpu", "cpu, gpu"),
        ("strategy", "fast", "async, levels"),
        ("capacity", 1, "at least 2"),
        ("stall_timeout", 0, "above 0"),
    ]:
        with pytest.raises(shoal.UsageError, match=words):
            shoal.bfs((OFFSETS, TARGETS), 0, **{option: value})


def test_missing_gpu() -> None:
    devices = len(shoal.doctor()["devices"])
    error = shoal.UsageError if devices else shoal.DeviceError
    with pytest.raises(error):
        shoal.bfs((OFFSETS, TARGETS), 0, device="gpu", pes=devices + 1)


def test_files() -> None:
    with pytest.raises(shoal.UsageError, match=r"nothing\.mtx"):
        shoal.bfs("nothing.mtx", 0)
    with pytest.raises(shoal.UsageError, match="kron:99"):
        shoal.bfs("kron:99", 0)


@pytest.mark.parametrize("partition", ["", "file:"])
def test_files_that_the_system_does_not_open(partition: str, tmp_path: pathlib.Path) -> None:
    def read(file: pathlib.Path) -> None:
        if partition:
            shoal.bfs("chain:5", 0, device="cpu", pes=2, partition=f"file:{file}")
        else:
            shoal.read(file)

    closed = tmp_path / "closed.el"
    closed.write_text("0 1\n")
    closed.chmod(0)
    folder = tmp_path / "folder.el"
    folder.mkdir()
    if not partition:
        with pytest.raises(FileNotFoundError, match="there is no such file, and no such generator"):
            shoal.bfs("kron20", 0)
    cases = [(tmp_path / "nothing.el", FileNotFoundError, errno.ENOENT), (folder, IsADirectoryError, errno.EISDIR)]
    if os.geteuid() != 0:  # root may read everything
        cases.append((closed, PermissionError, errno.EACCES))
    for file, kind, number in cases:
        with pytest.raises(kind) as caught:
            read(file)
        assert isinstance(caught.value, (shoal.UsageError, shoal.FileError, ValueError, OSError))
        assert (caught.value.errno, caught.value.filename) == (number, str(file))
        assert str(caught.value).startswith(f"{file}: ")
        assert "\n" not in str(caught.value)
        again = pickle.loads(pickle.dumps(caught.value))
        assert (type(again), str(again)) == (type(caught.value), str(caught.value))


def test_files_that_the_system_does_not_write(tmp_path: pathlib.Path) -> None:
    graph = shoal.from_edges([0], [1])
    (tmp_path / "folder.el").mkdir()
    for file, kind in [("none/x.el", FileNotFoundError), ("folder.el", IsADirectoryError)]:
        with pytest.raises(kind, match="cannot be written") as caught:
            graph.write(tmp_path / file)
        assert isinstance(caught.value, shoal.UsageError)
        assert caught.value.filename == str(tmp_path / file)


def test_names_that_no_file_has() -> None:
    for name in ("a\0b.el", "\ud800.el", "", "kron:5\0"):
        for call in (lambda f: shoal.read(f), lambda f: shoal.bfs(f, 0), lambda f: shoal.from_csr([0], []).write(f)):
            with pytest.raises(shoal.UsageError, match=r"file is '.*', which cannot be a file name") as caught:
                call(name)
            assert "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError, match=r"\\xff\.el: cannot be read"):
        shoal.read(b"\xff.el")
    with pytest.raises(TypeError, match=r"file is 5 \(int\)"):
        shoal.read(5)
    with pytest.raises(shoal.UsageError, match="lone surrogate, so it cannot be encoded as UTF-8"):
        shoal.from_csr([0], [], name="\ud800")
    with pytest.raises(shoal.UsageError, match="contains a NUL character"):
        shoal.Graph.generate("kron:5\0")


def test_result_before_search() -> None:
    with pytest.raises(shoal.UsageError, match="search"):
        shoal.Bfs((OFFSETS, TARGETS)).result()


def test_what_is_refused_leaves_the_answer_before() -> None:
    run = shoal.Bfs("chain:5", device="cpu")
    run.search(1)
    for wrong, error in [(99, shoal.UsageError), (-1, shoal.UsageError), ("3", TypeError)]:
        with pytest.raises(error):
            run.search(wrong)
    assert run.verify() == ""
    assert run.result().tolist() == [1, 0, 1, 2, 3]
    paths = shoal.Sssp("chain:5", weights="unit", device="cpu")
    paths.search(0)
    with pytest.raises(shoal.UsageError):
        paths.search(5)
    assert paths.result().tolist() == [0, 1, 2, 3, 4]
    ranks = shoal.PageRank("star:5", device="cpu")
    ranks.rank()
    for jumps in ({9: 1.0}, {2**70: 1.0}, {1: -1.0}, {}):
        with pytest.raises(shoal.UsageError):
            ranks.rank(jumps)
    assert ranks.result().sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: shoal.bfs("chain:5", 0, device="cpu", engine="peer"), "engine 'threads' or device 'gpu'"),
        (lambda: shoal.bfs("chain:5", 0, device="cpu", worker="warp", strategy="async"), "use worker='thread'"),
        (
            lambda: shoal.sssp((OFFSETS, TARGETS), 0),
            "has no weights; to have them made, use weights='hash255' or 'unit'",
        ),
        (lambda: shoal.sssp("chain:5", 0, weights="file"), "use weights='hash255' or 'unit'"),
        (lambda: shoal.sssp("chain:5", 0, delta=-2), "delta=-2 is out of range"),
        (lambda: shoal.bfs("chain:5", 0, capacity=-4), "capacity=-4 is out of range"),
        (lambda: shoal.bfs("chain:5", 0, pes_per_gpu=9), "pes_per_gpu=9 is out of range"),
        (lambda: shoal.pagerank("chain:5", alpha=2), "alpha=2 is out of range"),
        (lambda: shoal.sssp("chain:5", 0, delta=5, strategy="async"), "use queue='priority' and threshold_delta"),
    ],
)
def test_words_are_of_python(call: Callable[[], object], words: str) -> None:
    with pytest.raises(shoal.UsageError) as caught:
        call()
    assert words in str(caught.value)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("flags", "arguments"),
    [
        ("use --device cpu to run", "use device='cpu' to run"),
        ("(--device cpu), or see", "(device='cpu'), or see"),
        ("use --device cpu, or --engine peer for GPUs", "use device='cpu', or engine='peer' for GPUs"),
        ("raise --capacity or --spill", "raise capacity or spill"),
        ("use --pes 1, or see", "use pes=1, or see"),
        ("leave --engine out", "leave engine out"),
        ("a smaller --worker block:N", "a smaller worker='block:N'"),
        ("use --weights hash255 or unit.", "use weights='hash255' or 'unit'."),
        ("--stall-timeout 5 is", "stall_timeout=5 is"),
        ("read it with --undirected", "read it with undirected=True"),
        ("a -- b, x--y and -5", "a -- b, x--y and -5"),
        ("--", "--"),
    ],
)
def test_flags_become_arguments(flags: str, arguments: str) -> None:
    assert _shoal._name_arguments(flags) == arguments


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: shoal.bfs("chain:5", 0, parents="x"), "parents is 'x' (str); it must be True or False"),
        (lambda: shoal.bfs("chain:5", 0, strategy=3), "strategy is 3 (int); it must be a string"),
        (lambda: shoal.sssp("chain:5", 0, predecessors=1), "predecessors is 1 (int)"),
        (lambda: shoal.sssp("chain:5", 0, delta="wide"), "delta is 'wide' (str); it must be a number"),
        (lambda: shoal.sssp("chain:5", 0, weights=5), "weights is 5 (int)"),
        (lambda: shoal.pagerank("chain:5", alpha=None), "alpha is None (NoneType); it must be a number"),
        (lambda: shoal.components("chain:5", strategy=None), "strategy is None"),
        (lambda: shoal.Graph.generate(5), "spec is 5 (int)"),
        (lambda: shoal.read("a.el", undirected=1), "undirected is 1 (int)"),
        (lambda: shoal.read("a.el", format=2), "format is 2 (int)"),
        (lambda: shoal.from_csr(OFFSETS, TARGETS, symmetric=None), "symmetric is None"),
        (lambda: shoal.bfs("chain:5", 0, threads="two"), "option threads is 'two' (str); it must be a whole number"),
    ],
)
def test_wrong_kinds_are_answered_in_one_line(call: Callable[[], object], words: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_kinds_of_numpy_are_taken() -> None:
    levels, parents = shoal.bfs("chain:3", np.int64(0), parents=np.True_)
    assert (levels.tolist(), parents.tolist()) == ([0, 1, 2], [0, 0, 1])
    assert shoal.sssp("chain:3", 0, weights="unit", delta=np.float32(2)).tolist() == [0, 1, 2]


def test_memory_that_a_graph_would_take_is_estimated() -> None:
    # In a process with a limit of 4 GB, as the memory of the machine is not known.
    script = """
import resource
import numpy as np, scipy.sparse as sp, shoal
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
n = 2**31 - 1
def offsets():
    return np.broadcast_to(np.int64(0), n + 1)
for call in (lambda: shoal.from_edges([0], [1], num_vertices=n),
             lambda: shoal.from_scipy(sp.coo_array(([1.0], ([0], [1])), shape=(n, n))),
             lambda: shoal.from_csr(np.zeros(170_000_000, dtype=np.int64), np.zeros(300_000_000, dtype=np.uint32)),
             lambda: shoal.Graph.generate("chain:2147483647")):
    try:
        call()
    except shoal.CapacityError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("edges: 2,147,483,647 vertices and 1 arc take about ")
    assert lines[1].startswith("coo_array: 2,147,483,647 vertices and 1 arc take about ")
    assert lines[2].startswith("arrays: 169,999,999 vertices and 300,000,000 arcs take about ")
    assert all("available" in line for line in lines)


def test_memory() -> None:
    with pytest.raises(MemoryError):
        shoal.Graph.generate("kron:30,degree=64")
