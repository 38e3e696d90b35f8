"""Graphs from files, arrays and SciPy matrices."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _checks, _shoal, _weights
from ._edges import from_edges, whole_numbers
from ._shoal import Graph, UsageError

_TARGET_TYPES = (np.int32, np.uint32, np.int64)


def read(
    file: str | os.PathLike,
    *,
    undirected: bool = False,
    dedup: bool = False,
    num_vertices: int | None = None,
    cache: bool = False,
    format: str | None = None,
) -> Graph:
    """Reads a graph file.

    Whole weights are kept as int32. If one of them does not fit in int32, all are kept as float64, which is exact up to 2^53.

    Parameters
    ----------
    file
        A name with one of these endings: ``.mtx .gr .graph .el .edges .edgelist .wel .txt .tsv .csv`` (also followed by ``.gz``
        or ``.zst``), ``.sg .wsg .npz .shoal``. ``-`` is standard input. Parallel entries, also of a SciPy matrix, become parallel
        arcs.
    undirected
        Add the reverse of each line of an edge list.
    dedup
        Merge parallel arcs, keeping the smallest weight.
    num_vertices
        How many vertices an edge list has, including those without arcs. Default: the number that its comments give, or one
        more than the largest vertex number in it.
    cache
        Keep the graph as ``FILE.shoal`` beside the file, and read that the next time.
    format
        Take the file for one with this ending, such as ``el`` or ``mtx.gz``, whatever its name is.

    Raises
    ------
    UsageError
        The file is malformed; the message names file and line.
    FileError
        The file cannot be read. The error is also FileNotFoundError, IsADirectoryError or PermissionError where that applies.
    CapacityError
        The graph would not fit in the free memory.
    """
    return Graph._read(
        _checks.file("file", file),
        _checks.flag("undirected", undirected),
        _checks.flag("dedup", dedup),
        None if num_vertices is None else _checks.whole("num_vertices", num_vertices),
        _checks.flag("cache", cache),
        "" if format is None else _checks.text("format", format),
    )


def _generate(spec: str) -> Graph:
    """Generates a graph. The same text gives the same graph on every machine.

    Parameters
    ----------
    spec
        One of ``kron:S road:N uniform:S community:S chain:N star:N complete:N``, with that generator's parameters after it, as in
        ``kron:18,seed=7,degree=8,directed``.

    Raises
    ------
    UsageError, CapacityError
        There is no such generator; the graph needs more memory than there is.
    """
    return Graph._generate(_checks.text("spec", spec))


def from_csr(
    offsets: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    symmetric: bool = False,
    dedup: bool = False,
    name: str = "arrays",
) -> Graph:
    """Makes a graph from compressed sparse rows. All arrays are copied, so changing them later does not change the graph.

    The copy takes 8 bytes for each vertex, 4 for each arc and 4 or 8 for its weight.

    Parameters
    ----------
    offsets
        Whole numbers, shape (num_vertices + 1,): the arcs of v are ``targets[offsets[v]:offsets[v + 1]]``.
    targets
        Whole numbers, shape (num_arcs,), each in [0, num_vertices). A target that occurs twice in a row gives two parallel arcs.
    weights
        Whole or real numbers, shape (num_arcs,): the weights of the arcs in `targets`. Shortest paths need weights of 0 or more.
        Whole weights are kept as int32. If one of them does not fit in int32, all are kept as float64, which is exact up to 2^53.
    symmetric
        Says that every arc has a reverse arc of the same weight. This is checked. Searches then need no reversed graph.
    dedup
        Merge parallel arcs, keeping the smallest weight.

    Raises
    ------
    TypeError, ValueError, UsageError
        Arguments have wrong types or lengths, offsets decrease, a target is out of range, or a whole weight is beyond 2^53. The
        message names the entry.
    CapacityError
        The graph would not fit in the free memory.

    Examples
    --------
    >>> offsets = numpy.array([0, 2, 3, 3])
    >>> targets = numpy.array([1, 2, 2], dtype=numpy.int32)
    >>> shoal.bfs(shoal.from_csr(offsets, targets), 0).tolist()
    [0, 1, 1]
    """
    kept, wide = None, ""
    if weights is not None:
        given = _weights.array(weights)
        if given.ndim != 1:
            raise ValueError(f"weights has shape {given.shape}; it must have one dimension")
        kept, wide = _weights.keep(given, "weights", lambda at: f"of arc {at}")
    return Graph._from_csr(
        whole_numbers(offsets, "offsets"),
        whole_numbers(targets, "targets", _TARGET_TYPES),
        *_weights.by_kind(kept),
        _checks.flag("symmetric", symmetric),
        _checks.flag("dedup", dedup),
        _checks.text("name", name),
        wide,
    )


def from_scipy(matrix: Any, *, symmetric: bool = False, dedup: bool = False) -> Graph:
    """Makes a graph from a square SciPy sparse matrix or array, with an arc i -> j for each stored entry (i, j). All is copied.

    A stored zero is an arc. Entries that are stored twice are parallel arcs, in every format. (SciPy itself would add them: call
    ``matrix.sum_duplicates()`` first if you want their sum.) The entries are the arcs' weights. Whole numbers are kept as int32,
    other real numbers as float64; a matrix of booleans gives a graph without weights. If a whole number does not fit in int32,
    all weights are kept as float64, which is exact up to 2^53; beyond that they are refused. For a NetworkX graph pass
    ``networkx.to_scipy_sparse_array(graph)``: vertex i is then the i-th of ``list(graph)``.

    Parameters
    ----------
    matrix
        A matrix of any format. Formats other than CSR and CSC are converted to COO first.
    symmetric
        Says that every arc has a reverse arc of the same weight. This is checked. Searches then need no reversed graph.
    dedup
        Merge parallel arcs, keeping the smallest weight.

    Raises
    ------
    TypeError, ValueError
        `matrix` is not a sparse matrix or is not square, or its entries are not real numbers.
    UsageError
        A whole number is beyond 2^53; the message names the entry.
    CapacityError
        The graph would not fit in the free memory.
    """
    if not hasattr(matrix, "tocoo") or not hasattr(matrix, "shape"):
        raise TypeError(f"matrix is a {type(matrix).__name__}; it must be a SciPy sparse matrix or array")
    shape = matrix.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"the matrix has shape {shape}; an adjacency matrix must be square")
    name = type(matrix).__name__
    how = (_checks.flag("symmetric", symmetric), _checks.flag("dedup", dedup), name)
    if matrix.format in ("csr", "csc"):
        csr = matrix.tocsr()  # keeps what is stored twice

        def place_in_row(at: int) -> str:
            row = int(np.searchsorted(csr.indptr, at, side="right")) - 1
            return f"of entry ({row}, {csr.indices[at]})"

        weights, wide = _weights.of_entries(csr.data, f"the {name}", place_in_row)
        offsets, targets = whole_numbers(csr.indptr, "indptr"), whole_numbers(csr.indices, "indices", _TARGET_TYPES)
        return Graph._from_csr(offsets, targets, *weights, *how, wide)
    coo = matrix.tocoo()
    weights, wide = _weights.of_entries(coo.data, f"the {name}", lambda at: f"of entry ({coo.row[at]}, {coo.col[at]})")
    rows, columns = whole_numbers(coo.row, "row"), whole_numbers(coo.col, "col")
    return Graph._from_edges(shape[0], rows, columns, *weights, False, *how, wide)


def _names_generator(text: str) -> bool:
    try:
        return _shoal.is_generator(_checks.text("graph", text))
    except UsageError:  # a file may have such a name
        return False


def as_graph(graph: Any) -> tuple[Graph | None, str]:
    """A graph and an empty text, or None and the text of a generator, which can then generate the graph on the device."""
    if isinstance(graph, Graph):
        return graph, ""
    if isinstance(graph, str) and _names_generator(graph):
        return None, graph
    if isinstance(graph, (str, os.PathLike)):
        return read(graph), ""
    if isinstance(graph, tuple) and len(graph) in (2, 3):
        return from_csr(*graph), ""
    if hasattr(graph, "tocoo") and hasattr(graph, "shape"):
        return from_scipy(graph), ""
    raise TypeError(
        f"graph is a {type(graph).__name__}; legal: shoal.Graph, a file name, a generator such as 'kron:16', "
        "(offsets, targets) or (offsets, targets, weights) as arrays, a SciPy sparse matrix "
        "(for a NetworkX graph: networkx.to_scipy_sparse_array(graph))"
    )


def _write(self: Graph, file: str | os.PathLike) -> None:
    """Writes the graph in the format of the name's ending: ``.sg .wsg .el .wel .mtx .gr .graph .shoal .npz``."""
    self._write(_checks.file("file", file))


def _to_scipy(self: Graph) -> Any:
    """The graph as a ``scipy.sparse.csr_array``. Entry (i, j) is the weight of the arc, or True in a graph without weights.

    All is copied. Parallel arcs become entries that are stored twice; SciPy adds them when it needs one number.
    """
    from scipy import sparse

    data = np.ones(self.num_arcs, dtype=bool) if self.weights is None else self.weights.copy()
    shape = (self.num_vertices, self.num_vertices)
    return sparse.csr_array((data, self.targets.astype(np.int32), self.offsets.copy()), shape=shape)


def _neighbors(self: Graph, vertex: int) -> np.ndarray:
    """The targets of a vertex's arcs: uint32, read-only, no copy.

    Raises
    ------
    IndexError
        There is no such vertex.
    """
    v = _checks.whole("vertex", vertex)
    if not 0 <= v < self.num_vertices:
        raise IndexError(f"vertex {_checks.no_vertex(v, self.num_vertices)}")
    begin, end = self.offsets[v : v + 2].tolist()
    return self.targets[begin:end]


def _repr(self: Graph) -> str:
    kind = ", symmetric" if self.symmetric else ""
    return f"shoal.Graph({self.name!r}, {self.num_vertices:,} vertices, {self.num_arcs:,} arcs{kind})"


Graph.read = staticmethod(read)
Graph.generate = staticmethod(_generate)
Graph.from_csr = staticmethod(from_csr)
Graph.from_edges = staticmethod(from_edges)
Graph.from_scipy = staticmethod(from_scipy)
Graph.to_scipy = _to_scipy
Graph.neighbors = _neighbors
Graph.degrees = property(
    lambda self: np.diff(self.offsets),
    doc="int64, shape (num_vertices,): the number of arcs out of each vertex. A copy.",
)
Graph.write = _write
Graph.__repr__ = _repr
