"""shoal.sssp and shoal.Sssp against SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp
import shoal
from scipy.sparse import csgraph

OFFSETS = np.array([0, 2, 3, 4, 5, 6, 6], dtype=np.int64)
TARGETS = np.array([1, 2, 3, 3, 0, 5], dtype=np.uint32)
WEIGHTS = np.array([7, 1, 1, 2, 9, 4], dtype=np.int32)
DISTANCES = [0, 7, 1, 3, -1, -1]


def random_matrix(kind: type, seed: int) -> sp.csr_matrix:
    rng = np.random.default_rng(seed)
    matrix = sp.random(300, 300, density=0.01, random_state=seed, format="csr")
    matrix.data = rng.integers(1, 100, matrix.nnz).astype(kind) if kind is not float else rng.random(matrix.nnz) + 1e-3
    return matrix


def test_whole_weights() -> None:
    distances = shoal.sssp((OFFSETS, TARGETS, WEIGHTS), 0)
    assert distances.dtype == np.int64
    assert distances.tolist() == DISTANCES
    distances, predecessors = shoal.sssp((OFFSETS, TARGETS, WEIGHTS), 0, predecessors=True)
    assert distances.tolist() == DISTANCES
    assert predecessors.dtype == np.int32
    assert predecessors.tolist() == [0, 0, 0, 2, -1, -1]


@pytest.mark.parametrize("kind", [np.int32, np.int64, float, np.float32])
@pytest.mark.parametrize(
    "options",
    [{}, {"strategy": "delta", "pes": 2}, {"strategy": "async", "pes": 2, "queue": "priority"}, {"delta": 50.0}],
)
def test_against_scipy(kind: type, options: dict) -> None:
    matrix = random_matrix(kind, 3)
    want = csgraph.dijkstra(matrix, indices=5)
    got = shoal.sssp(matrix, 5, device="cpu", **options)
    whole = np.issubdtype(kind, np.integer)
    assert got.dtype == (np.int64 if whole else np.float64)
    np.testing.assert_allclose(np.where(got < 0, np.inf, got) if whole else got, want, rtol=1e-12)


def test_weights_of_choice() -> None:
    unit = shoal.sssp((OFFSETS, TARGETS, WEIGHTS), 0, weights="unit")
    assert unit.tolist() == shoal.bfs((OFFSETS, TARGETS), 0).tolist()
    graph = shoal.Graph.generate("kron:7")
    hashed = shoal.sssp(graph, 1, weights="hash255")
    assert hashed.tolist() == shoal.sssp("kron:7", 1).tolist()
    assert hashed.tolist() == shoal.sssp(graph, 1).tolist()
    with pytest.raises(shoal.UsageError, match="weights"):
        shoal.sssp(graph, 1, weights="file")


def test_runner() -> None:
    run = shoal.Sssp("kron:8", device="cpu")
    with pytest.raises(shoal.UsageError, match="search"):
        run.result()
    report = run.search(3)
    assert report["seconds"] > 0
    assert run.verify() == ""
    assert (run.result() >= -1).all()


def test_graph_keeps_weights() -> None:
    graph = shoal.from_csr(OFFSETS, TARGETS, WEIGHTS)
    assert graph.weights.tolist() == WEIGHTS.tolist()
    assert shoal.from_csr(OFFSETS, TARGETS).weights is None
    assert shoal.from_scipy(random_matrix(float, 1)).weights.dtype == np.float64
    assert shoal.from_scipy(random_matrix(np.int64, 1)).weights.dtype == np.int32
    assert shoal.from_scipy(sp.csr_matrix(np.eye(3, dtype=bool))).weights is None
    assert shoal.from_scipy(sp.csr_matrix(np.array([[2**40]]))).weights.tolist() == [2.0**40]


def test_errors() -> None:
    for weights, error, words in [
        (np.array([7, 1, 1, 2, 9, -4], dtype=np.int32), shoal.UsageError, "-4"),
        (np.array([7, 1, 1, 2, 9, np.nan]), shoal.UsageError, "nan"),
        (WEIGHTS[:3].copy(), shoal.UsageError, "3 entries"),
        (WEIGHTS.astype(complex), TypeError, "complex128"),
    ]:
        with pytest.raises(error, match=words):
            shoal.sssp((OFFSETS, TARGETS, weights), 0)
    with pytest.raises(ValueError, match="0 to 5"):
        shoal.sssp((OFFSETS, TARGETS, WEIGHTS), 6)
    with pytest.raises(shoal.UsageError, match="delta"):
        shoal.sssp((OFFSETS, TARGETS, WEIGHTS), 0, strategy="fast")
    with pytest.raises(shoal.UsageError, match="hash255"):
        shoal.sssp((OFFSETS, TARGETS, WEIGHTS), 0, weights="heavy")
    one_way = (np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32), np.array([1, 2], dtype=np.int32))
    with pytest.raises(shoal.UsageError, match="same weight"):
        shoal.from_csr(*one_way, symmetric=True)
