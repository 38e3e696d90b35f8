"""Wrong input becomes the right exception, with words that help."""

import numpy as np
import pytest
import scipy.sparse as sp
import shoal

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


@pytest.mark.parametrize("source", [-1, 2, 2**40])
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
        ([0, 2, 1], [1, 0], r"offsets\[2\] is 1, below offsets\[1\]"),
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
    with pytest.raises(TypeError, match="list"):
        shoal.bfs(([0, 1, 2], TARGETS), 0)
    with pytest.raises(ValueError, match="shape"):
        shoal.bfs((OFFSETS, TARGETS.reshape(1, 2)), 0)
    with pytest.raises(ValueError, match="contiguous"):
        shoal.bfs((OFFSETS, np.array([1, 9, 0, 9], dtype=np.int32)[::2]), 0)
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
    with pytest.raises(TypeError, match=r"colour.*legal"):
        shoal.bfs((OFFSETS, TARGETS), 0, colour="red")
    with pytest.raises(TypeError):
        shoal.bfs((OFFSETS, TARGETS), 0, pes="two")
    for option, value, words in [
        ("pes", 65, "0 to 64"),
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


def test_result_before_search() -> None:
    with pytest.raises(shoal.UsageError, match="search"):
        shoal.Bfs((OFFSETS, TARGETS)).result()


def test_memory() -> None:
    with pytest.raises(MemoryError):
        shoal.Graph.generate("kron:30,degree=64")
