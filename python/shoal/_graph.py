"""Graphs from files, arrays and SciPy matrices."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _shoal
from ._shoal import Graph

_INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))
_TARGET_TYPES = (np.dtype(np.int32), np.dtype(np.uint32), np.dtype(np.int64))
_WEIGHT_TYPES = (np.dtype(np.int32), np.dtype(np.float64))


def _array(values: Any, name: str, legal: tuple[np.dtype, ...]) -> np.ndarray:
    """Checks kind, dtype, shape and order; never converts silently."""
    if not isinstance(values, np.ndarray):
        raise TypeError(f"{name} is a {type(values).__name__}; it must be a NumPy array")
    if values.dtype not in legal:
        names = ", ".join(str(d) for d in legal)
        raise TypeError(f"{name} has dtype {values.dtype}; legal: {names} (convert with {name}.astype)")
    if values.ndim != 1:
        raise ValueError(f"{name} has shape {values.shape}; it must have one dimension")
    if not values.flags.c_contiguous:
        raise ValueError(f"{name} is not contiguous; pass numpy.ascontiguousarray({name})")
    return values


def read(file: str | os.PathLike, *, undirected: bool = False, dedup: bool = False, cache: bool = False) -> Graph:
    """Reads a graph file.

    Parameters
    ----------
    file
        ``.mtx .gr .graph .el .wel .txt .tsv .csv`` (also ``.gz``, ``.zst``), ``.sg .wsg .npz .shoal``.
    undirected
        Take each line of an edge list in both directions.
    dedup
        Merge parallel arcs, keeping the smallest weight.
    cache
        Keep ``FILE.shoal`` beside the file, and read it next time.

    Raises
    ------
    UsageError
        The file cannot be read or is malformed; the message names file and line.
    """
    return Graph._read(os.fsdecode(file), undirected, dedup, cache)


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
        int32 or float64, shape (num_arcs,), beside `targets`; shortest paths want them at least 0.
    symmetric
        Promise that every arc has its reverse, of the same weight (checked); searches then need no reversed graph.

    Raises
    ------
    TypeError, UsageError
        Wrong kind, dtype or order; offsets that decrease; targets out of range. The message names the place.
    """
    if weights is not None:
        _array(weights, "weights", _WEIGHT_TYPES)
    return Graph._from_csr(
        _array(offsets, "offsets", _INDEX_TYPES),
        _array(targets, "targets", _TARGET_TYPES),
        weights if weights is not None and weights.dtype == np.int32 else None,
        weights if weights is not None and weights.dtype == np.float64 else None,
        symmetric,
        name,
    )


def from_scipy(matrix: Any, *, symmetric: bool = False) -> Graph:
    """Makes a graph of a square SciPy sparse matrix or array: an arc i -> j for each stored entry (i, j).

    A stored zero is an arc. Formats other than CSR are converted by SciPy. The entries are the arcs' weights: whole numbers
    that fit int32 as such, other real numbers as float64, none for booleans.
    """
    shape = matrix.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"the matrix has shape {shape}; an adjacency matrix is square")
    csr = matrix.tocsr()
    name = type(matrix).__name__
    return from_csr(csr.indptr, csr.indices, _scipy_weights(csr.data, name), symmetric=symmetric, name=name)


def _scipy_weights(data: np.ndarray, name: str) -> np.ndarray | None:
    if data.dtype == bool:
        return None
    if data.dtype.kind in "iu":
        limits = np.iinfo(np.int32)
        fits = len(data) == 0 or (data.min() >= limits.min and data.max() <= limits.max)
        return data.astype(np.int32 if fits else np.float64, copy=False)
    if data.dtype.kind == "f":
        return data.astype(np.float64, copy=False)
    raise TypeError(f"the {name} has entries of {data.dtype}; weights are whole or real numbers")


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
        "(offsets, targets) or (offsets, targets, weights) as NumPy arrays, a SciPy sparse matrix"
    )


def _write(self: Graph, file: str | os.PathLike) -> None:
    """Writes the graph in the format of the name: ``.sg .wsg .el .wel .mtx .gr .graph .shoal .npz``."""
    self._write(os.fsdecode(file))


def _repr(self: Graph) -> str:
    kind = ", symmetric" if self.symmetric else ""
    return f"shoal.Graph({self.name!r}, {self.num_vertices:,} vertices, {self.num_arcs:,} arcs{kind})"


Graph.read = staticmethod(read)
Graph.from_csr = staticmethod(from_csr)
Graph.from_scipy = staticmethod(from_scipy)
Graph.write = _write
Graph.__repr__ = _repr
