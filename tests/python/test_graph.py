"""shoal.Graph: files, generators, arrays; and the installed command."""

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
    with pytest.raises(shoal.UsageError, match=r"entry \(0, 1\) is beyond 32 bits .* float64 would round"):
        shoal.sssp(matrix(2**53, 1), 0)
    assert shoal.sssp(matrix(2**53, 1).astype(float), 0)[1] == 2.0**53


def test_a_format_stands_for_the_name(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "edges.data"
    file.write_text("0 1\n1 2\n")
    assert shoal.Graph.read(file, format="el").num_arcs == 2
    with pytest.raises(shoal.UsageError, match="format"):
        shoal.Graph.read(file)
