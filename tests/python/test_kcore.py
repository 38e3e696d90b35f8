"""shoal.kcore and shoal.Kcore, which are generated from the algorithm's description, against the definition."""

import numpy as np
import pytest
import scipy.sparse as sp
import shoal


def by_definition(matrix: sp.csr_matrix) -> np.ndarray:
    """For every k, removes vertices with fewer than k neighbours until there are none."""
    both = ((matrix + matrix.T) != 0).astype(np.int64).tolil()
    both.setdiag(0)
    both = both.tocsr()
    core, inside, k = np.zeros(matrix.shape[0], np.int32), np.ones(matrix.shape[0], bool), 0
    while inside.any():
        core[inside] = k
        k += 1
        while (gone := inside & (both @ inside < k)).any():
            inside &= ~gone
    return core


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pes": 2},
        {"strategy": "async", "pes": 3, "capacity": 2, "combine": "on"},
        {"strategy": "async", "pes": 3, "capacity": 2, "batch_bytes": 64, "batch_wait": 2},
        {"strategy": "async", "pes": 3, "batch_wait": "20us"},
    ],
)
def test_core_numbers(options: dict) -> None:
    matrix = sp.random(300, 300, density=0.02, random_state=5, format="csr")
    matrix.setdiag(1)
    cores = shoal.kcore(matrix, device="cpu", **options)
    assert cores.dtype == np.int32
    np.testing.assert_array_equal(cores, by_definition(matrix.tocsr()))


def test_runner() -> None:
    run = shoal.Kcore("kron:9", device="cpu")
    with pytest.raises(shoal.UsageError, match=r"run\(\)"):
        run.result()
    assert run.run()["seconds"] > 0
    assert run.verify() == ""
    np.testing.assert_array_equal(run.result(), shoal.kcore(shoal.Graph.generate("kron:9")))


def test_words_come_from_the_algorithm() -> None:
    assert "kcore" in shoal.__all__ and "Kcore" in shoal.__all__
    assert "int32, shape (n,)" in shoal.kcore.__doc__
    assert "strategy" in shoal.Kcore.__doc__ and "stall_timeout" in shoal.Kcore.__doc__


def test_errors() -> None:
    with pytest.raises(shoal.UsageError, match="legal: auto, async"):
        shoal.kcore("kron:4", strategy="levels")
    with pytest.raises(TypeError, match="strategy is None"):
        shoal.kcore("kron:4", strategy=None)
    with pytest.raises(TypeError, match=r"source.*legal"):
        shoal.kcore("kron:4", source=3)
    with pytest.raises(TypeError):
        shoal.kcore("kron:4", 3)
