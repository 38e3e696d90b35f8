"""Paths from the trees that searches return."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _checks


def path(predecessors: Any, target: int) -> np.ndarray:
    """The path from the source of a search to `target`.

    Parameters
    ----------
    predecessors
        The second array that `bfs` returns with ``parents=True``, or `sssp` with ``predecessors=True``. It has the vertex before
        each vertex on its path; the source itself for the source; -1 where there is no path.
    target
        The last vertex of the path, in [0, num_vertices).

    Returns
    -------
    int32 (vertices on the path,)
        Begins with the source and ends with `target`. Empty if there is no path.

    Raises
    ------
    ValueError
        `target` is not a vertex, or the array does not describe a tree.

    Examples
    --------
    >>> levels, parents = shoal.bfs("chain:4", 0, parents=True)
    >>> shoal.path(parents, 3).tolist()
    [0, 1, 2, 3]
    """
    before = np.asarray(predecessors)
    if before.ndim != 1 or before.dtype.kind not in "iu":
        raise ValueError(
            f"predecessors has shape {before.shape} and dtype {before.dtype}; it must have one whole number per vertex"
        )
    v = end = _checks.whole("target", target)
    if not 0 <= v < len(before):
        raise ValueError(f"target {v} is not in the graph: vertices are 0 to {len(before) - 1}")
    steps: list[int] = []
    if before[v] < 0:
        return np.array(steps, dtype=np.int32)
    while len(steps) <= len(before):
        steps.append(v)
        u = int(before[v])
        if u == v:
            return np.array(steps[::-1], dtype=np.int32)
        if not 0 <= u < len(before):
            break
        v = u
    raise ValueError(f"predecessors do not form a tree: going back from vertex {end} does not end at a source")
