"""Graphs from edges in any order."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from . import _checks, _weights
from ._shoal import Graph


def _ends(values: Any, name: str) -> np.ndarray:
    ends = np.asarray(values)
    if ends.size == 0:
        ends = ends.astype(np.int64)  # an empty list is of float64
    if ends.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {ends.dtype}; vertices are whole numbers")
    if ends.ndim != 1:
        raise ValueError(f"{name} has shape {ends.shape}; it must have one dimension")
    return np.ascontiguousarray(ends, dtype=np.int64)


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
    """Makes a graph of edges in any order; all arrays are copied.

    Parameters
    ----------
    sources, targets
        Whole numbers at least 0, shape (num_edges,): edge i goes from ``sources[i]`` to ``targets[i]``.
    weights
        Whole or real numbers, shape (num_edges,). Whole ones are kept as int32, or all of them as float64 where one is
        beyond that (to 2^53, exactly).
    num_vertices
        Left out: one more than the largest number among the edges.
    undirected
        Take each edge in both directions (a loop once). The graph is symmetric then.
    dedup
        Merge parallel arcs, keeping the smallest weight.

    Raises
    ------
    TypeError, ValueError, UsageError
        Wrong kinds or lengths; a vertex that is not in [0, num_vertices); a whole weight beyond 2^53. The message names the
        place.

    Examples
    --------
    >>> graph = shoal.from_edges([0, 1, 3], [1, 2, 2], [5, 1, 2], undirected=True)
    >>> graph
    shoal.Graph('edges', 4 vertices, 6 arcs, symmetric)
    >>> shoal.sssp(graph, 0).tolist()
    [0, 5, 6, 8]
    """
    begin, end = _ends(sources, "sources"), _ends(targets, "targets")
    if len(begin) != len(end):
        raise ValueError(f"sources has {len(begin)} entries and targets {len(end)}; an edge has one of each")
    kept, wide = None, ""
    if weights is not None:
        given = np.asarray(weights)
        if given.shape != begin.shape:
            raise ValueError(f"weights has shape {given.shape}, but there are {len(begin)} edges")
        if given.size == 0 and not isinstance(weights, np.ndarray):
            given = given.astype(np.int32)
        kept, wide = _weights.keep(given, "weights", lambda i: f"of edge {i} ({begin[i]}, {end[i]})")
        kept = np.ascontiguousarray(kept)
    if num_vertices is None:
        n = int(max(begin.max(), end.max())) + 1 if len(begin) else 0
        n = max(n, 0)  # a negative one is refused where its place is known
    else:
        n = operator.index(num_vertices)
    return Graph._from_edges(
        n,
        begin,
        end,
        kept if kept is not None and kept.dtype == np.int32 else None,
        kept if kept is not None and kept.dtype == np.float64 else None,
        _checks.flag("undirected", undirected),
        _checks.flag("dedup", dedup),
        _checks.text("name", name),
        wide,
    )
