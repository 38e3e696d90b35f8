"""shoal.Graph from files, generators and arrays; and the installed command."""

import doctest
import os
import pathlib
import shutil
import subprocess
import sys
import threading

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


def test_what_happens_to_the_arrays_later_changes_no_answer() -> None:
    offsets, targets = np.array([0, 1, 2]), np.array([1, 0], dtype=np.uint32)
    weights = np.array([3, 4], dtype=np.int32)
    graph = shoal.Graph.from_csr(offsets, targets, weights)
    matrix = sp.random(50, 50, density=0.1, random_state=3, format="csr")
    real = shoal.from_scipy(matrix)
    before, reached = shoal.sssp(real, 0), shoal.bfs(real.transpose(), 0) >= 0
    for array in (offsets, targets, weights, matrix.indptr, matrix.indices, matrix.data):
        array[:] = 2_000_000_000  # a search that still used this array would leave its memory
    assert shoal.sssp(graph, 0).tolist() == [0, 3]
    np.testing.assert_array_equal(shoal.sssp(real, 0), before)
    np.testing.assert_array_equal(shoal.bfs(real.transpose(), 0) >= 0, reached)


def test_what_happens_to_a_matrix_of_scipy_changes_no_graph() -> None:
    graph = shoal.from_edges([0, 0, 0, 1], [2, 1, 1, 0], [5, 1, 2, 3])
    before = graph.targets.tolist(), graph.weights.tolist()
    matrix = graph.to_scipy()
    matrix.sum_duplicates()
    matrix.sort_indices()
    matrix.data *= 2
    matrix.indices[:] = 0
    graph.to_scipy().tolil()
    assert (graph.targets.tolist(), graph.weights.tolist()) == before
    for array in (graph.offsets, graph.targets, graph.weights):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_arrays_of_any_whole_kind_and_layout() -> None:
    want = shoal.from_csr([0, 2, 3, 3], [1, 2, 2], [4, 5, 6])
    assert (want.offsets.tolist(), want.targets.tolist(), want.weights.tolist()) == ([0, 2, 3, 3], [1, 2, 2], [4, 5, 6])
    spread = np.array([1, 9, 2, 9, 2, 9], dtype=">u2")[::2]
    frozen = np.array([0, 2, 3, 3], dtype=np.uint8)
    frozen.flags.writeable = False
    weights = np.asfortranarray(np.array([[4.0, 0], [5, 0], [6, 0]]))[:, 0][::-1][::-1]
    graph = shoal.from_csr(frozen, spread, weights)
    np.testing.assert_array_equal(graph.offsets, want.offsets)
    np.testing.assert_array_equal(graph.targets, want.targets)
    assert graph.weights.tolist() == [4.0, 5.0, 6.0]
    edges = shoal.from_edges(spread[::-1], spread, weights)
    assert (edges.num_arcs, edges.neighbors(1).tolist()) == (3, [2])
    matrix = sp.csr_array(
        (np.arange(6.0)[::2], np.array([1, 0, 2, 0, 2, 0])[::2], frozen.astype(np.int64)), shape=(3, 3)
    )
    assert shoal.from_scipy(matrix).weights.tolist() == [0, 2, 4]


def test_empty_graphs() -> None:
    for graph in (
        shoal.from_csr([0], []),
        shoal.from_scipy(sp.csr_array((0, 0))),
        shoal.from_scipy(sp.coo_array((0, 0))),
    ):
        assert (graph.num_vertices, graph.num_arcs) == (0, 0)
        assert shoal.components(graph).tolist() == []
        with pytest.raises(shoal.UsageError, match="no vertices"):
            shoal.bfs(graph, 0)
        with pytest.raises(IndexError, match="no vertices"):
            graph.neighbors(0)
    alone = shoal.from_csr([0, 0, 0], [])
    assert shoal.bfs(alone, 1).tolist() == [-1, 0]
    assert alone.to_scipy().nnz == 0


def test_read_edge_lists_with_vertices_without_arcs(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "g.el"
    file.write_text("0 1\n1 2\n")
    assert shoal.read(file).num_vertices == 3
    assert shoal.read(file, num_vertices=np.int64(5)).num_vertices == 5
    with pytest.raises(
        shoal.UsageError, match=r":2: vertex number '2' is outside 0\.\.1; correct it, or raise num_vertices$"
    ):
        shoal.read(file, num_vertices=2)
    with pytest.raises(shoal.UsageError, match="num_vertices=-5 is out of range"):
        shoal.read(file, num_vertices=-5)
    with pytest.raises(TypeError, match=r"num_vertices is 2\.5 \(float\); it must be a whole number"):
        shoal.read(file, num_vertices=2.5)


def test_many_threads_at_once() -> None:
    graph = shoal.Graph.generate("kron:12")
    want, run = shoal.bfs(graph, 5), shoal.Bfs(graph, device="cpu")
    wrong: list[object] = []

    def work() -> None:
        for _ in range(5):
            run.search(5)
            if not (np.array_equal(shoal.bfs(graph, 5), want) and np.array_equal(run.result(), want)):
                wrong.append("answer")
            graph.transpose()
            shoal.from_csr(graph.offsets, graph.targets)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_names_of_any_bytes(tmp_path: pathlib.Path) -> None:
    for name in ("große.el", os.fsdecode(b"\xff\xfe.el")):
        file = tmp_path / name
        shoal.from_edges([0, 1], [1, 2]).write(file)
        graph = shoal.read(str(file))
        assert graph.num_arcs == 2
        assert graph.name == str(file)
        assert shoal.bfs(str(file), 0).tolist() == [0, 1, 2]
        repr(graph)
        file.write_text("0 x\n")
        with pytest.raises(shoal.UsageError, match=r"\.el:1"):
            shoal.read(file)


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
    np.testing.assert_array_equal(graph.to_scipy().toarray(), want.toarray())  # both add up parallel arcs
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
        (([], []), {"num_vertices": 2**70}, shoal.UsageError, f"num_vertices {2**70} is out of range"),
        (([], []), {"num_vertices": 2.5}, TypeError, r"num_vertices is 2\.5 \(float\)"),
        (([2**70], [0]), {}, shoal.UsageError, "sources contains a number of more than 64 bits"),
        (([0], [2**63]), {}, shoal.UsageError, rf"targets\[0\] is {2**63}"),
        (([0], ["x"]), {}, TypeError, "targets has dtype <U1"),
        (
            ([0], [0]),
            {"num_vertices": 0},
            shoal.UsageError,
            r"sources\[0\] is 0; the graph has no vertices, because num_vertices is 0",
        ),
        (([0], [1], [float("nan")]), {}, shoal.UsageError, r"weights\[0\] is nan; weights are finite"),
        (([0, 1], [1, -2]), {}, shoal.UsageError, r"targets\[1\] is -2"),
        (([0], [2**31 - 1]), {}, shoal.UsageError, r"targets\[0\] is 2147483647; vertices are 0 to 2\^31 - 2"),
        (([0, 2**40], [2, 1]), {}, shoal.UsageError, r"sources\[1\] is 1099511627776; vertices are 0 to"),
        (([0, 1], [1]), {}, ValueError, "sources has 2 entries, but targets has 1"),
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
    for form in ("coo", "csc", "lil", "dok", "bsr", "dia"):
        same = shoal.from_scipy(matrix.asformat(form))
        np.testing.assert_array_equal(same.to_scipy().toarray(), matrix.toarray(), err_msg=form)
    np.testing.assert_array_equal(plain.degrees, np.diff(matrix.indptr))
    np.testing.assert_array_equal(plain.neighbors(7), matrix[[7]].indices)
    with pytest.raises(IndexError, match="vertices are 0 to 29"):
        plain.neighbors(30)


@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
@pytest.mark.parametrize("kind", [np.int64, np.float64, bool])
def test_entries_that_are_stored_twice_are_parallel_arcs(form: str, kind: type, tmp_path: pathlib.Path) -> None:
    rows, columns, weights = np.array([0, 0, 1]), np.array([1, 1, 2]), np.array([7, 5, 1], dtype=kind)
    if form == "coo":
        matrix = sp.coo_array((weights, (rows, columns)), shape=(3, 3))
    elif form == "csr":
        matrix = sp.csr_array((weights, columns, [0, 2, 3, 3]), shape=(3, 3))
    else:
        matrix = sp.csc_array((weights, rows, [0, 0, 2, 3]), shape=(3, 3))
    graph = shoal.from_scipy(matrix)
    assert matrix.nnz == 3  # unchanged
    assert graph.offsets.tolist() == [0, 2, 3, 3]
    assert graph.targets.tolist() == [1, 1, 2]
    once = shoal.from_scipy(matrix, dedup=True)
    assert (once.offsets.tolist(), once.targets.tolist()) == ([0, 1, 2, 2], [1, 2])
    if kind is bool:
        assert graph.weights is None
    else:
        assert sorted(graph.weights.tolist()) == [1, 5, 7]
        assert once.weights.tolist() == [5, 1]
        assert shoal.sssp(graph, 0).tolist() == shoal.sssp(once, 0).tolist() == [0, 5, 6]
    with pytest.raises(shoal.UsageError, match="no reverse"):
        shoal.from_scipy(matrix, symmetric=True)
    assert shoal.from_scipy(matrix + matrix.T, symmetric=True).symmetric


def test_parallel_arcs_of_rows() -> None:
    assert shoal.from_csr([0, 3, 3], [1, 0, 1], [9, 2, 4]).weights.tolist() == [9, 2, 4]
    once = shoal.from_csr([0, 3, 3], [1, 0, 1], [9, 2, 4], dedup=True)
    assert (once.offsets.tolist(), once.targets.tolist(), once.weights.tolist()) == ([0, 2, 2], [0, 1], [2, 4])


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
