"""shoal.Graph: files, generators, arrays; and the installed command."""

import doctest
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import shoal


def test_file_round_trip(tmp_path: pathlib.Path) -> None:
    graph = shoal.Graph.generate("uniform:6,degree=3")
    file = tmp_path / "g.mtx"
    graph.write(file)
    again = shoal.Graph.read(file)
    np.testing.assert_array_equal(again.offsets, graph.offsets)
    np.testing.assert_array_equal(again.targets, graph.targets)
    assert again.symmetric
    assert shoal.bfs(file, 3).tolist() == shoal.bfs(graph, 3).tolist()


def test_scipy_file(tmp_path: pathlib.Path) -> None:
    if not next(x for x in shoal.doctor()["libraries"] if x["name"] == "libzip")["found"]:
        pytest.skip("built without libzip")
    matrix = sp.random(40, 40, density=0.1, random_state=1, format="csr")
    sp.save_npz(tmp_path / "m.npz", matrix)
    graph = shoal.Graph.read(tmp_path / "m.npz")
    np.testing.assert_array_equal(graph.offsets, matrix.indptr)
    np.testing.assert_array_equal(graph.targets, matrix.indices)


def test_edge_list(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "g.el"
    file.write_text("0 1\n1 2\n1 2\n")
    assert shoal.Graph.read(file).num_arcs == 3
    assert shoal.Graph.read(file, dedup=True).num_arcs == 2
    assert shoal.Graph.read(file, dedup=True, undirected=True).num_arcs == 4


def test_views_are_read_only_and_keep_the_graph() -> None:
    graph = shoal.Graph.generate("star:10")
    targets, offsets = graph.targets, graph.offsets
    assert (graph.num_vertices, graph.num_arcs) == (10, 18)
    assert repr(graph) == "shoal.Graph('star:10', 10 vertices, 18 arcs, symmetric)"
    del graph
    assert offsets.tolist() == [0, *range(9, 19)]
    assert targets[9:].tolist() == [0] * 9
    for array in (targets, offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_arrays_are_not_copied() -> None:
    offsets, targets = np.array([0, 1, 2]), np.array([1, 0], dtype=np.uint32)
    graph = shoal.Graph.from_csr(offsets, targets)
    assert np.shares_memory(graph.offsets, offsets)
    assert np.shares_memory(graph.targets, targets)
    assert sys.getrefcount(targets) > 2


def test_transpose() -> None:
    graph = shoal.Graph.from_csr(np.array([0, 2, 2, 2]), np.array([1, 2], dtype=np.int32))
    back = graph.transpose()
    assert back.offsets.tolist() == [0, 0, 1, 2]
    assert back.targets.tolist() == [0, 0]
    assert not graph.is_symmetric()


def test_command_is_installed() -> None:
    beside = pathlib.Path(sys.executable).parent / "shoal"
    command = str(beside) if beside.exists() else shutil.which("shoal")
    assert command is not None
    done = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["shoal", shoal.__version__]


def test_whole_weights_beyond_32_bits_are_exact_or_refused() -> None:
    def matrix(*weights: int) -> sp.csr_matrix:
        return sp.csr_matrix((np.array(weights, dtype=np.int64), ([0, 1], [1, 2])), shape=(3, 3))

    assert shoal.Graph.from_scipy(matrix(1, 2**31 - 1)).weights.dtype == np.int32
    graph = shoal.Graph.from_scipy(matrix(2**31, 3))
    assert graph.weights.tolist() == [2.0**31, 3.0]
    assert shoal.sssp(graph, 0).tolist() == [0, 2**31, 2**31 + 3]
    with pytest.raises(shoal.UsageError, match=r"9007199254740993 of entry \(1, 2\) cannot be kept exactly"):
        shoal.Graph.from_scipy(matrix(1, 2**53 + 1))
    with pytest.raises(shoal.UsageError, match=r"entry \(0, 1\) is beyond 32 bits"):
        shoal.sssp(matrix(2**53, 1), 0)
    assert shoal.sssp(matrix(2**53, 1).astype(float), 0)[1] == 2.0**53


def test_a_format_stands_for_the_name(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "edges.data"
    file.write_text("0 1\n1 2\n")
    assert shoal.Graph.read(file, format="el").num_arcs == 2
    with pytest.raises(shoal.UsageError, match="format"):
        shoal.Graph.read(file)


def test_edges_in_any_order() -> None:
    sources, targets, weights = [3, 0, 1, 0, 1], [2, 1, 2, 1, 1], [2, 5, 1, 4, 9]
    graph = shoal.from_edges(sources, targets, weights)
    want = sp.coo_array((weights, (sources, targets)), shape=(4, 4))
    assert (graph.num_vertices, graph.num_arcs, graph.symmetric) == (4, 5, False)
    np.testing.assert_array_equal(graph.to_scipy().toarray(), want.toarray())  # both add what is parallel
    once = shoal.from_edges(
        np.array(sources, np.uint8), np.array(targets, np.int32), weights, dedup=True, num_vertices=9
    )
    assert (once.num_vertices, once.num_arcs, once.weights.min()) == (9, 4, 1)
    assert once.weights.tolist() == [4, 9, 1, 2]
    both = shoal.from_edges(sources, targets, weights, undirected=True)
    assert both.symmetric
    assert (both.num_arcs, both.neighbors(1).tolist()) == (9, [0, 0, 1, 2])
    assert both.degrees.tolist() == [2, 4, 2, 1]
    none = shoal.from_edges([], [])
    assert (none.num_vertices, none.num_arcs, none.weights) == (0, 0, None)
    assert shoal.from_edges([], [], [], num_vertices=3).weights.dtype == np.int32


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        (([0, 5], [1, 1]), {"num_vertices": 3}, shoal.UsageError, r"sources\[1\] is 5; vertices are 0 to 2"),
        (([0, 1], [1, -2]), {}, shoal.UsageError, r"targets\[1\] is -2"),
        (([0], [2**31 - 1]), {}, shoal.UsageError, "num_vertices 2147483648 is out of range"),
        (([0, 1], [1]), {}, ValueError, "sources has 2 entries and targets 1"),
        (([0], [1], [1, 2]), {}, ValueError, r"weights has shape \(2,\), but there are 1 edges"),
        (([0.5], [1]), {}, TypeError, "sources has dtype float64"),
        (([[0]], [[1]]), {}, ValueError, "one dimension"),
        (([0], [1], ["x"]), {}, TypeError, "weights has entries of"),
        (([0], [1], [2**53 + 1]), {}, shoal.UsageError, r"9007199254740993 of edge 0 \(0, 1\) cannot be kept exactly"),
        (([0], [1]), {"undirected": "no"}, TypeError, r"undirected is 'no' \(str\); it must be True or False"),
    ],
)
def test_wrong_edges(arguments: tuple, options: dict, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        shoal.from_edges(*arguments, **options)


def test_weights_of_numpy_s_own_kind() -> None:
    offsets, targets = np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32)
    graph = shoal.from_csr(offsets, targets, np.array([3, 4]))
    assert graph.weights.dtype == np.int32
    assert shoal.sssp(graph, 0).tolist() == [0, 3]
    own = np.array([3, 4], dtype=np.int32)
    assert np.shares_memory(shoal.from_csr(offsets, targets, own).weights, own)
    wide = shoal.from_csr(offsets, targets, np.array([2**40, 4]))
    assert wide.weights.tolist() == [2.0**40, 4.0]
    run = shoal.Sssp(wide)
    assert "of arc 0 is beyond 32 bits" in run.search(0)["chosen"]["weights"]
    with pytest.raises(shoal.UsageError, match=r"-9007199254740993 of arc 1 cannot be kept exactly"):
        shoal.from_csr(offsets, targets, np.array([1, -(2**53) - 1]))


def test_scipy_and_back() -> None:
    matrix = sp.random(30, 30, density=0.1, random_state=5, format="csr")
    np.testing.assert_array_equal(shoal.from_scipy(matrix).to_scipy().toarray(), matrix.toarray())
    plain = shoal.from_scipy(matrix.astype(bool))
    assert plain.weights is None
    assert plain.to_scipy().dtype == bool
    np.testing.assert_array_equal(plain.degrees, np.diff(matrix.indptr))
    np.testing.assert_array_equal(plain.neighbors(7), matrix[[7]].indices)
    with pytest.raises(IndexError, match="vertices are 0 to 29"):
        plain.neighbors(30)


def test_paths() -> None:
    distances, before = shoal.sssp("road:8", 5, predecessors=True)
    weights = shoal.Sssp("road:8")  # hash255, as above
    weights.search(5)
    np.testing.assert_array_equal(weights.result(), distances)
    for target in range(len(before)):
        steps = shoal.path(before, target)
        assert (steps[0], steps[-1]) == (5, target)
        assert len(np.unique(steps)) == len(steps)
        assert np.all(np.diff(distances[steps]) > 0)
    assert shoal.path([0, 0, -1], 2).tolist() == []
    for wrong, target in [([1, 0], 0), ([0, 0], 2), ([0, 0], -1), ([0.0], 0), ([[0]], 0), ([1, -1], 0), ([9], 0)]:
        with pytest.raises(ValueError, match=r"tree|target|whole"):
            shoal.path(wrong, target)


def test_examples_in_docstrings() -> None:
    names = [shoal.bfs, shoal.sssp, shoal.pagerank, shoal.components, shoal.path, shoal.from_edges, shoal.from_csr]
    for function in names:
        tests = doctest.DocTestFinder().find(function, function.__name__, globs={"shoal": shoal, "numpy": np})
        assert sum(len(test.examples) for test in tests) > 0
        for test in tests:
            assert doctest.DocTestRunner().run(test).failed == 0
