"""Graphs from edges in any order."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _checks, _weights
from ._shoal import Graph, UsageError


def whole_numbers(values: Any, name: str, kept: tuple[type, ...] = (np.int64,)) -> np.ndarray:
    """A contiguous array of one dimension. It is converted to int64 unless its type is one of `kept`."""
    array = np.asarray(values)
    if array.size == 0 and not isinstance(values, np.ndarray):
        array = array.astype(np.int64)  # NumPy makes an empty list an array of float64
    if array.dtype.kind == "O" and all(isinstance(x, int) for x in array.flat):
        raise UsageError(f"{name} contains a number of more than 64 bits; a graph has at most 2^31 - 1 vertices")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {array.dtype}; it must contain whole numbers")
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; it must have one dimension")
    if array.dtype == np.uint64 and array.size > 0 and array.max() >= 2**63:
        at = int(array.argmax())
        raise UsageError(f"{name}[{at}] is {array[at]}; vertices are 0 to 2^31 - 2")
    return np.ascontiguousarray(array, dtype=array.dtype if array.dtype in kept else np.int64)


def from_edges(
    sources: Any,
    targets: Any,
    weights: Any = None,
    *,
    num_vertices: int | None = None,
    undirected: bool = False,
    dedup: bool = False,
    name: str = "edges",
) -> Graph:
    """Makes a graph from edges in any order. All arrays are copied.

    Parameters
    ----------
    sources, targets
        Whole numbers, 0 or more, shape (num_edges,): edge i goes from ``sources[i]`` to ``targets[i]``.
    weights
        Whole or real numbers, shape (num_edges,). Whole weights are kept as int32. If one of them does not fit in int32, all are
        kept as float64, which is exact up to 2^53.
    num_vertices
        Default: one more than the largest vertex number among the edges.
    undirected
        Add the reverse of each edge (but not of a self-loop). The graph is then symmetric.
    dedup
        Merge parallel arcs, keeping the smallest weight.

    Raises
    ------
    TypeError, ValueError, UsageError
        Arguments have wrong types or lengths, a vertex is not in [0, num_vertices), or a whole weight is beyond 2^53. The
        message names the entry.
    CapacityError
        The graph would not fit in the free memory: one vertex takes 8 bytes, with or without edges.

    Examples
    --------
    >>> graph = shoal.from_edges([0, 1, 3], [1, 2, 2], [5, 1, 2], undirected=True)
    >>> graph
    shoal.Graph('edges', 4 vertices, 6 arcs, symmetric)
    >>> shoal.sssp(graph, 0).tolist()
    [0, 5, 6, 8]
    """
    begin, end = whole_numbers(sources, "sources"), whole_numbers(targets, "targets")
    if len(begin) != len(end):
        raise ValueError(f"sources has {len(begin)} entries, but targets has {len(end)}; each needs one per edge")
    kept, wide = None, ""
    if weights is not None:
        given = _weights.array(weights)
        if given.shape != begin.shape:
            raise ValueError(f"weights has shape {given.shape}, but there are {len(begin)} edges")
        kept, wide = _weights.keep(given, "weights", lambda i: f"of edge {i} ({begin[i]}, {end[i]})")
    if num_vertices is None:
        n = int(max(begin.max(), end.max())) + 1 if len(begin) else 0
        n = max(n, 0)  # a negative vertex is refused later, where its index is known
        for ends, what in ((begin, "sources"), (end, "targets")):
            if n >= 2**31 and ends.max() == n - 1:
                raise UsageError(f"{what}[{int(ends.argmax())}] is {n - 1}; vertices are 0 to 2^31 - 2")
    else:
        n = _checks.whole("num_vertices", num_vertices)
        if not 0 <= n < 2**31:
            raise UsageError(f"num_vertices {n} is out of range: 0 to 2^31 - 1")
    return Graph._from_edges(
        n,
        begin,
        end,
        *_weights.by_kind(kept),
        _checks.flag("undirected", undirected),
        False,
        _checks.flag("dedup", dedup),
        _checks.text("name", name),
        wide,
    )
