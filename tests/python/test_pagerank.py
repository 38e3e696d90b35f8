"""shoal.pagerank and shoal.PageRank against a power iteration in this file, and against NetworkX if it is
installed."""

import numpy as np
import pytest
import scipy.sparse as sp
import shoal


def power_iteration(matrix: sp.csr_matrix, alpha: float = 0.85, jumps: np.ndarray | None = None) -> np.ndarray:
    n = matrix.shape[0]
    pattern = sp.csr_matrix((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    degree = np.diff(matrix.indptr)
    jumps = np.full(n, 1 / n) if jumps is None else jumps / jumps.sum()
    x = np.full(n, 1 / n)
    for _ in range(2000):
        give = np.divide(x, degree, out=np.zeros(n), where=degree > 0)
        x = alpha * (pattern.T @ give) + (1 - alpha + alpha * x[degree == 0].sum()) * jumps
    return x


@pytest.fixture
def matrix() -> sp.csr_matrix:
    return sp.random(200, 200, density=0.01, random_state=7, format="csr")  # with dangling vertices


@pytest.mark.parametrize(
    "options", [{}, {"strategy": "pull", "pes": 2}, {"strategy": "async"}, {"precision": "float64"}]
)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-8])
def test_ranks(matrix: sp.csr_matrix, options: dict, tolerance: float) -> None:
    ranks = shoal.pagerank(matrix, device="cpu", tolerance=tolerance, **options)
    assert ranks.dtype == np.float64
    assert ranks.sum() == pytest.approx(1, abs=1e-9)
    assert np.abs(ranks - power_iteration(matrix)).sum() <= tolerance


def test_personalization(matrix: sp.csr_matrix) -> None:
    jumps = np.zeros(200)
    jumps[[3, 77]] = [1, 3]
    want = power_iteration(matrix, 0.5, jumps)
    run = shoal.PageRank(matrix, alpha=0.5, tolerance=1e-9)
    for given in (jumps, {3: 1, 77: 3}, {77: 0.75, 3: 0.25}):
        run.rank(given)
        assert np.abs(run.result() - want).sum() <= 1e-9
        assert run.error_bound <= 1e-9
        assert run.verify() == ""
    run.rank()
    assert np.abs(run.result() - power_iteration(matrix, 0.5)).sum() <= 1e-9


def test_like_networkx(matrix: sp.csr_matrix) -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.from_scipy_sparse_array(sp.csr_array(matrix), create_using=networkx.DiGraph)
    want = networkx.pagerank(graph, weight=None, tol=1e-12, max_iter=1000)
    ranks = shoal.pagerank(matrix, tolerance=1e-8)
    assert sum(abs(ranks[v] - want[v]) for v in range(200)) <= 1e-7


def test_errors(matrix: sp.csr_matrix) -> None:
    for options, words in [
        ({"alpha": 1.0}, "alpha"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"precision": "half"}, "half"),
    ]:
        with pytest.raises(shoal.UsageError, match=words):
            shoal.pagerank(matrix, **options)
    run = shoal.PageRank(matrix)
    with pytest.raises(shoal.UsageError, match="rank"):
        run.result()
    with pytest.raises(shoal.UsageError, match="error bound"):
        _ = run.error_bound
    for jumps, words in [
        ({200: 1}, "0 to 199"),
        ({-1: 1}, "0 to 199"),
        ({3: -1.0}, "3"),
        ({}, "no weight"),
        ({3: 0.0}, "sum"),
    ]:
        with pytest.raises(shoal.UsageError, match=words):
            run.rank(jumps)
    with pytest.raises(ValueError, match="200"):
        run.rank([1.0, 2.0])
