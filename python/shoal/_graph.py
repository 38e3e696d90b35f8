"""Graphs from files, arrays and SciPy matrices."""

from __future__ import annotations

import operator
import os
from typing import Any

import numpy as np

from . import _checks, _shoal, _weights
from ._edges import from_edges
from ._shoal import Graph

_INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))
_TARGET_TYPES = (np.dtype(np.int32), np.dtype(np.uint32), np.dtype(np.int64))


def _array(values: Any, name: str, legal: tuple[np.dtype, ...] = ()) -> np.ndarray:
    """Checks kind, dtype (where some are legal), shape and order; converts nothing."""
    if not isinstance(values, np.ndarray):
        raise TypeError(f"{name} is a {type(values).__name__}; it must be a NumPy array")
    if legal and values.dtype not in legal:
        names = ", ".join(str(d) for d in legal)
        raise TypeError(f"{name} has dtype {values.dtype}; legal: {names} (convert with {name}.astype)")
    if values.ndim != 1:
        raise ValueError(f"{name} has shape {values.shape}; it must have one dimension")
    if not values.flags.c_contiguous:
        raise ValueError(f"{name} is not contiguous; pass numpy.ascontiguousarray({name})")
    return values


def read(
    file: str | os.PathLike,
    *,
    undirected: bool = False,
    dedup: bool = False,
    cache: bool = False,
    format: str | None = None,
) -> Graph:
    """Reads a graph file.

    Whole weights are kept as int32, or all of them as float64 where one is beyond that (to 2^53, exactly).

    Parameters
    ----------
    file
        ``.mtx .gr .graph .el .wel .txt .tsv .csv`` (also ``.gz``, ``.zst``), ``.sg .wsg .npz .shoal``; ``-`` is standard
        input.
    undirected
        Take each line of an edge list in both directions.
    dedup
        Merge parallel arcs, keeping the smallest weight.
    cache
        Keep ``FILE.shoal`` beside the file, and read it next time.
    format
        An ending that stands for the name's, such as ``el`` or ``mtx.gz``.

    Raises
    ------
    UsageError
        The file cannot be read or is malformed; the message names file and line.
    CapacityError
        The graph would not fit in the free memory.
    """
    return Graph._read(
        os.fsdecode(file),
        _checks.flag("undirected", undirected),
        _checks.flag("dedup", dedup),
        _checks.flag("cache", cache),
        "" if format is None else _checks.text("format", format),
    )


def _generate(spec: str) -> Graph:
    """Generates a graph; the same for the same text, everywhere.

    Parameters
    ----------
    spec
        ``kron:S road:N uniform:S chain:N star:N complete:N``, and what they take: ``kron:18,seed=7,degree=8,directed``.

    Raises
    ------
    UsageError, CapacityError
        No such generator; more memory than there is.
    """
    return Graph._generate(_checks.text("spec", spec))


def from_csr(
    offsets: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    symmetric: bool = False,
    name: str = "arrays",
) -> Graph:
    """Makes a graph of arrays; 64-bit offsets, 32-bit targets and weights are not copied, and must not be changed later.

    Parameters
    ----------
    offsets
        int64 or int32, shape (num_vertices + 1,): the arcs of v are ``targets[offsets[v]:offsets[v + 1]]``.
    targets
        int32, uint32 or int64, shape (num_arcs,), each in [0, num_vertices).
    weights
        Whole or real numbers, shape (num_arcs,), beside `targets`; shortest paths want them at least 0. int32 and float64
        are kept as they are. Other whole numbers are copied to int32, or to float64 where one is beyond that (to 2^53,
        exactly); float32 to float64.
    symmetric
        Promise that every arc has its reverse, of the same weight (checked); searches then need no reversed graph.

    Raises
    ------
    TypeError, UsageError
        Wrong kind, dtype or order; offsets that decrease; targets out of range; a whole weight beyond 2^53. The message
        names the place.

    Examples
    --------
    >>> offsets = numpy.array([0, 2, 3, 3])
    >>> targets = numpy.array([1, 2, 2], dtype=numpy.int32)
    >>> shoal.bfs(shoal.from_csr(offsets, targets), 0).tolist()
    [0, 1, 1]
    """
    kept, wide = None, ""
    if weights is not None:
        kept, wide = _weights.keep(_array(weights, "weights"), "weights", lambda at: f"of arc {at}")
    return _from_csr(offsets, targets, kept, symmetric, name, wide)


def _from_csr(
    offsets: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, symmetric: bool, name: str, wide: str
) -> Graph:
    """Likewise, of weights that are int32 or float64; `wide` names the whole one beyond int32 for which all are float64."""
    return Graph._from_csr(
        _array(offsets, "offsets", _INDEX_TYPES),
        _array(targets, "targets", _TARGET_TYPES),
        weights if weights is not None and weights.dtype == np.int32 else None,
        weights if weights is not None and weights.dtype == np.float64 else None,
        _checks.flag("symmetric", symmetric),
        _checks.text("name", name),
        wide,
    )


def from_scipy(matrix: Any, *, symmetric: bool = False) -> Graph:
    """Makes a graph of a square SciPy sparse matrix or array: an arc i -> j for each stored entry (i, j).

    A stored zero is an arc. Formats other than CSR are converted by SciPy. The entries are the arcs' weights: whole numbers
    that fit int32 as such, other real numbers as float64, none for booleans. Where a whole number is beyond int32, all are
    float64: exact to 2^53, beyond which they are refused. Of a graph of NetworkX pass
    ``networkx.to_scipy_sparse_array(graph)``: vertex i is the i-th of ``list(graph)``.

    Raises
    ------
    UsageError
        A whole number is beyond 2^53; the message names the entry.
    """
    shape = matrix.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"the matrix has shape {shape}; an adjacency matrix is square")
    csr = matrix.tocsr()
    name = type(matrix).__name__
    if csr.data.dtype == bool:
        return _from_csr(csr.indptr, csr.indices, None, symmetric, name, "")

    def place(at: int) -> str:
        row = int(np.searchsorted(csr.indptr, at, side="right")) - 1
        return f"of entry ({row}, {csr.indices[at]})"

    weights, wide = _weights.keep(csr.data, f"the {name}", place)
    return _from_csr(csr.indptr, csr.indices, weights, symmetric, name, wide)


def as_graph(graph: Any) -> tuple[Graph | None, str]:
    """A graph, or the text of a generator that may run on the device."""
    if isinstance(graph, Graph):
        return graph, ""
    if isinstance(graph, str) and _shoal.is_generator(graph):
        return None, graph
    if isinstance(graph, (str, os.PathLike)):
        return read(graph), ""
    if isinstance(graph, tuple) and len(graph) in (2, 3):
        return from_csr(*graph), ""
    if hasattr(graph, "tocsr") and hasattr(graph, "shape"):
        return from_scipy(graph), ""
    raise TypeError(
        f"graph is a {type(graph).__name__}; legal: shoal.Graph, a file name, a generator such as 'kron:16', "
        "(offsets, targets) or (offsets, targets, weights) as NumPy arrays, a SciPy sparse matrix "
        "(of NetworkX: networkx.to_scipy_sparse_array(graph))"
    )


def _write(self: Graph, file: str | os.PathLike) -> None:
    """Writes the graph in the format of the name: ``.sg .wsg .el .wel .mtx .gr .graph .shoal .npz``."""
    self._write(os.fsdecode(file))


def _to_scipy(self: Graph) -> Any:
    """The graph as a ``scipy.sparse.csr_array``: entry (i, j) is the arc's weight, or True where there are no weights.

    Offsets and weights are the graph's own arrays where SciPy takes them, so do not write to the matrix.
    """
    from scipy import sparse

    data = np.ones(self.num_arcs, dtype=bool) if self.weights is None else self.weights
    shape = (self.num_vertices, self.num_vertices)
    return sparse.csr_array((data, self.targets.view(np.int32), self.offsets), shape=shape)


def _neighbors(self: Graph, vertex: int) -> np.ndarray:
    """The targets of a vertex's arcs: uint32, read-only, no copy.

    Raises
    ------
    IndexError
        There is no such vertex.
    """
    v = operator.index(vertex)
    if not 0 <= v < self.num_vertices:
        raise IndexError(f"vertex {v} is not in the graph: vertices are 0 to {self.num_vertices - 1}")
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
    lambda self: np.diff(self.offsets), doc="int64 [num_vertices]: arcs out of each vertex. A copy."
)
Graph.write = _write
Graph.__repr__ = _repr
