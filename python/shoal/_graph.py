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
_MOST_WHOLE = 2**53  # every whole number up to here is a float64


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
    return Graph._read(os.fsdecode(file), undirected, dedup, cache, format or "")


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
    return _from_csr(offsets, targets, weights, symmetric, name, "")


def _from_csr(
    offsets: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, symmetric: bool, name: str, wide: str
) -> Graph:
    """Likewise; `wide` names the whole weight beyond int32 for which all of them are float64."""
    if weights is not None:
        _array(weights, "weights", _WEIGHT_TYPES)
    return Graph._from_csr(
        _array(offsets, "offsets", _INDEX_TYPES),
        _array(targets, "targets", _TARGET_TYPES),
        weights if weights is not None and weights.dtype == np.int32 else None,
        weights if weights is not None and weights.dtype == np.float64 else None,
        symmetric,
        name,
        wide,
    )


def from_scipy(matrix: Any, *, symmetric: bool = False) -> Graph:
    """Makes a graph of a square SciPy sparse matrix or array: an arc i -> j for each stored entry (i, j).

    A stored zero is an arc. Formats other than CSR are converted by SciPy. The entries are the arcs' weights: whole numbers
    that fit int32 as such, other real numbers as float64, none for booleans. Where a whole number is beyond int32, all are
    float64: exact to 2^53, beyond which they are refused.

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
    weights, wide = _scipy_weights(csr, name)
    return _from_csr(csr.indptr, csr.indices, weights, symmetric, name, wide)


def _scipy_weights(csr: Any, name: str) -> tuple[np.ndarray | None, str]:
    """The weights, and which whole one is beyond int32, if one is."""
    data = csr.data
    if data.dtype == bool:
        return None, ""
    if data.dtype.kind == "f":
        return data.astype(np.float64, copy=False), ""
    if data.dtype.kind not in "iu":
        raise TypeError(f"the {name} has entries of {data.dtype}; weights are whole or real numbers")
    limits = np.iinfo(np.int32)
    if len(data) == 0 or (data.min() >= limits.min and data.max() <= limits.max):
        return data.astype(np.int32, copy=False), ""
    wide = _first_beyond(csr, limits.min, limits.max)
    if data.min() < -_MOST_WHOLE or data.max() > _MOST_WHOLE:
        first = _first_beyond(csr, -_MOST_WHOLE, _MOST_WHOLE)
        raise _shoal.UsageError(
            f"the {name}: {first} cannot be kept exactly; the largest whole weight is {_MOST_WHOLE} (2^53): scale "
            "the weights down, or pass matrix.astype(float) to have them rounded"
        )
    return data.astype(np.float64), f"{wide} is beyond 32 bits ({limits.max})"


def _first_beyond(csr: Any, least: int, most: int) -> str:
    """The first entry below `least` or above `most`, in words."""
    at = int(np.flatnonzero((csr.data < least) | (csr.data > most))[0])
    row = int(np.searchsorted(csr.indptr, at, side="right")) - 1
    return f"the whole weight {csr.data[at]} of entry ({row}, {csr.indices[at]})"


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
