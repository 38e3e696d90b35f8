"""shoal.components and shoal.Components against SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp
import shoal
from scipy.sparse import csgraph


def smallest_members(matrix: sp.csr_matrix) -> np.ndarray:
    _, labels = csgraph.connected_components(matrix, directed=True, connection="weak")
    first = np.full(labels.max() + 1, len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    return first[labels].astype(np.int32)


@pytest.mark.parametrize(
    "options",
    [{}, {"strategy": "hook", "pes": 2}, {"strategy": "async"}, {"strategy": "async", "pes": 3, "capacity": 2}],
)
def test_labels(options: dict) -> None:
    matrix = sp.random(400, 400, density=0.002, random_state=2, format="csr")
    labels = shoal.components(matrix, device="cpu", **options)
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(labels, smallest_members(matrix))


def test_runner() -> None:
    run = shoal.Components("kron:9", device="cpu")
    with pytest.raises(shoal.UsageError, match=r"run\(\)"):
        run.result()
    assert run.run()["seconds"] > 0
    assert run.verify() == ""
    graph = shoal.Graph.generate("kron:9")
    matrix = sp.csr_matrix((np.ones(graph.num_arcs), graph.targets.astype(np.int32), graph.offsets))
    np.testing.assert_array_equal(run.result(), smallest_members(matrix))


def test_without_arcs() -> None:
    assert shoal.components((np.array([0, 0, 0]), np.array([], dtype=np.int32))).tolist() == [0, 1]


def test_errors() -> None:
    with pytest.raises(shoal.UsageError, match="hook"):
        shoal.components("kron:4", strategy="levels")
    with pytest.raises(TypeError, match=r"source.*legal"):
        shoal.components("kron:4", source=3)
