"""shoal.bfs and shoal.Bfs against SciPy and plain Python."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
import shoal
from scipy.sparse import csgraph

OFFSETS = np.array([0, 2, 3, 4, 5, 6, 6], dtype=np.int64)
TARGETS = np.array([1, 2, 3, 3, 0, 5], dtype=np.uint32)
LEVELS = [0, 1, 1, 2, -1, -1]


def scipy_levels(matrix: sp.csr_matrix, source: int) -> np.ndarray:
    hops = csgraph.shortest_path(matrix, unweighted=True, indices=source, method="D")
    return np.where(np.isinf(hops), -1, hops).astype(np.int32)


def test_levels_and_parents() -> None:
    levels = shoal.bfs((OFFSETS, TARGETS), 0)
    assert levels.dtype == np.int32
    assert levels.tolist() == LEVELS
    levels, parents = shoal.bfs((OFFSETS, TARGETS), 0, parents=True)
    assert levels.tolist() == LEVELS
    assert parents.dtype == np.int32
    assert parents.tolist() == [0, 0, 0, 1, -1, -1]


@pytest.mark.parametrize("offset_type", [np.int32, np.int64])
@pytest.mark.parametrize("target_type", [np.int32, np.uint32, np.int64])
def test_types(offset_type: type, target_type: type) -> None:
    assert shoal.bfs((OFFSETS.astype(offset_type), TARGETS.astype(target_type)), 0).tolist() == LEVELS


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"strategy": "levels", "pes": 2},
        {"strategy": "async"},
        {"strategy": "async", "pes": 3, "partition": "random", "capacity": 2, "threads": 1},
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_scipy_agrees(options: dict, seed: int) -> None:
    matrix = sp.random(300, 300, density=0.006, random_state=seed, format="csr")
    for source in (0, 150, 299):
        got = shoal.bfs(matrix, source, device="cpu", **options)
        np.testing.assert_array_equal(got, scipy_levels(matrix, source))


def test_scipy_formats() -> None:
    matrix = sp.random(50, 50, density=0.05, random_state=3, format="coo")
    want = scipy_levels(matrix.tocsr(), 7)
    for form in (matrix, matrix.tocsr(), matrix.tocsc(), sp.csr_array(matrix)):
        np.testing.assert_array_equal(shoal.bfs(form, 7), want)


def test_runner_searches_again_and_again() -> None:
    run = shoal.Bfs("kron:8", device="cpu")
    graph = shoal.Graph.generate("kron:8")
    matrix = sp.csr_matrix((np.ones(graph.num_arcs), graph.targets.astype(np.int32), graph.offsets))
    for source in np.flatnonzero(np.diff(graph.offsets))[:5]:
        report = run.search(source)
        levels = run.result()
        np.testing.assert_array_equal(levels, scipy_levels(matrix, int(source)))
        assert report["seconds"] > 0
        assert "strategy" in report["chosen"]


def test_result_outlives_the_runner() -> None:
    run = shoal.Bfs("chain:1000")
    run.search(0)
    levels = run.result()
    del run
    assert levels[999] == 999
    levels[0] = 5  # the array belongs to the caller


def test_arrays_outlive_their_names() -> None:
    offsets, targets = OFFSETS.copy(), TARGETS.copy()
    run = shoal.Bfs((offsets, targets), device="cpu")
    del offsets, targets
    junk = [np.full(6, 77, np.uint32) for _ in range(100)]
    run.search(0)
    assert run.result().tolist() == LEVELS
    assert len(junk) == 100


def test_other_threads_run_during_a_search() -> None:
    # A search of a long chain by worklist takes a while. The interpreter's lock must be free during it.
    run = shoal.Bfs("chain:300000", device="cpu", strategy="async", threads=1)
    counted = 0
    worker = threading.Thread(target=run.search, args=(0,))
    worker.start()
    while worker.is_alive():
        counted += 1
    worker.join()
    assert run.result()[-1] == 299999
    assert counted > 100


def test_unreached_and_tiny_graphs() -> None:
    one = (np.array([0, 0]), np.array([], dtype=np.int32))
    assert shoal.bfs(one, 0).tolist() == [0]
    with pytest.raises(shoal.UsageError, match="no vertices"):
        shoal.bfs((np.array([0]), np.array([], dtype=np.int32)), 0)
