"""Algorithms on a graph that is placed once: classes that run again and again, and functions for one answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _checks, _options
from ._placed import Placed
from ._shoal import UsageError


@_options.listed("bfs")
class Bfs(Placed):
    """A graph placed on processing elements once, to be searched breadth-first from many sources.

    Parameters
    ----------
    graph
        A `Graph`, a file name, a generator such as ``"kron:16"``, ``(offsets, targets)``, or a SciPy sparse matrix.
    **options
        Own options, and those of every run: listed here from the table of `_options.py`.

    Raises
    ------
    UsageError
        A graph that is malformed; options that are out of range or do not fit together or the machine.
    TypeError
        An argument of another kind, or an option that is not known; the message names the nearest that is.
    CapacityError
        The memory of the PEs or of the host does not suffice.
    DeviceError
        A GPU that was asked for is missing or failed, or a run made no progress for `stall_timeout`.
    """

    def __init__(self, graph: Any, *, parents: bool = False, strategy: str = "auto", **options: Any) -> None:
        own = {"parents": _checks.flag("parents", parents), "strategy": _checks.text("strategy", strategy)}
        self._place("bfs", graph, options, **own)

    def search(self, source: int) -> dict[str, Any]:
        """Searches from `source`, in [0, num_vertices), and returns the report; the answer stays where it is until `result`.

        ``report["seconds"]`` is the search alone; ``report["chosen"]`` says which options were chosen, and why. A source that
        is refused (`UsageError`) leaves the answer of the search before.
        """
        return self._search(source)

    def result(self) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Fetches the answer of the last search.

        Returns
        -------
        levels : int32 (num_vertices,)
            Hops from the source; -1 where there is no path.
        parents : int32 (num_vertices,), only with ``parents=True``
            The source is its own parent; -1 where there is no path.
        """
        return self._result("search(source)")


@_options.listed("bfs")
def bfs(graph: Any, source: int, parents: bool = False, **options: Any) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Breadth-first search from one source. For many sources, place the graph once with `Bfs`.

    Parameters
    ----------
    graph
        As for `Bfs`.
    source : int
        Where the search begins, in [0, num_vertices).
    **options
        Own options, and those of every run: listed here from the table of `_options.py`.

    Returns
    -------
    levels : int32 (num_vertices,)
        Hops from the source; -1 where there is no path.
    parents : int32 (num_vertices,), only with ``parents=True``
        The source is its own parent; -1 where there is no path.

    Raises
    ------
    UsageError
        A graph that is malformed; options that are out of range or do not fit together or the machine;
        a source that is no vertex.
    TypeError
        An argument of another kind, or an option that is not known; the message names the nearest that is.
    CapacityError
        The memory of the PEs or of the host does not suffice.
    DeviceError
        A GPU that was asked for is missing or failed, or a run made no progress for `stall_timeout`.

    Examples
    --------
    >>> shoal.bfs("chain:4", 1).tolist()
    [1, 0, 1, 2]
    >>> levels, parents = shoal.bfs("chain:4", 1, parents=True)
    >>> parents.tolist()
    [1, 1, 1, 2]
    """
    run = Bfs(graph, parents=parents, **options)
    run.search(source)
    return run.result()


@_options.listed("sssp")
class Sssp(Placed):
    """A weighted graph placed on processing elements once, for shortest paths from many sources.

    Parameters
    ----------
    graph
        A `Graph`, a file name, a generator such as ``"kron:16"``, ``(offsets, targets, weights)``, or a SciPy sparse
        matrix, whose entries are the weights.
    **options
        Own options, and those of every run: listed here from the table of `_options.py`.

    Raises
    ------
    UsageError
        A graph that is malformed; options that are out of range or do not fit together or the machine.
    TypeError
        An argument of another kind, or an option that is not known; the message names the nearest that is.
    CapacityError
        The memory of the PEs or of the host does not suffice.
    DeviceError
        A GPU that was asked for is missing or failed, or a run made no progress for `stall_timeout`.
    """

    def __init__(
        self,
        graph: Any,
        *,
        predecessors: bool = False,
        weights: str | None = "auto",
        strategy: str = "auto",
        delta: float = 0.0,
        **options: Any,
    ) -> None:
        own = {
            "predecessors": _checks.flag("predecessors", predecessors),
            "weights": "auto" if weights is None else _checks.text("weights", weights),
            "strategy": _checks.text("strategy", strategy),
            "delta": _checks.number("delta", delta),
        }
        self._place("sssp", graph, options, **own)

    def search(self, source: int) -> dict[str, Any]:
        """Searches from `source` and returns the report, as `Bfs.search` does."""
        return self._search(source)

    def result(self) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Fetches the answer of the last search.

        Returns
        -------
        distances : int64 or float64 (num_vertices,)
            Whole weights: int64, -1 where there is no path. Real weights: float64, infinity where there is none.
        predecessors : int32 (num_vertices,), only with ``predecessors=True``
            The source is its own; -1 where there is no path.
        """
        return self._result("search(source)")


@_options.listed("sssp")
def sssp(
    graph: Any, source: int, predecessors: bool = False, **options: Any
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Shortest paths from one source. For many sources, place the graph once with `Sssp`.

    Parameters
    ----------
    graph
        As for `Sssp`.
    source : int
        Where the search begins, in [0, num_vertices).
    **options
        Own options, and those of every run: listed here from the table of `_options.py`.

    Returns
    -------
    distances : int64 or float64 (num_vertices,)
        Whole weights: int64, -1 where there is no path. Real weights: float64, infinity where there is none.
    predecessors : int32 (num_vertices,), only with ``predecessors=True``
        The source is its own; -1 where there is no path.

    Raises
    ------
    UsageError
        A graph that is malformed; options that are out of range or do not fit together or the machine;
        a source that is no vertex; weights below 0, or none.
    TypeError
        An argument of another kind, or an option that is not known; the message names the nearest that is.
    CapacityError
        The memory of the PEs or of the host does not suffice.
    DeviceError
        A GPU that was asked for is missing or failed, or a run made no progress for `stall_timeout`.

    Examples
    --------
    >>> graph = shoal.from_edges([0, 0, 1], [1, 2, 2], [7, 9, 1])
    >>> distances, predecessors = shoal.sssp(graph, 0, predecessors=True)
    >>> distances.tolist(), shoal.path(predecessors, 2).tolist()
    ([0, 7, 8], [0, 1, 2])
    """
    run = Sssp(graph, predecessors=predecessors, **options)
    run.search(source)
    return run.result()


def _jumps(personalization: Any, n: int) -> list[tuple[int, float]]:
    """NetworkX's dict, or a weight for each vertex, as pairs."""
    if personalization is None:
        return []
    if isinstance(personalization, Mapping):
        pairs = [(_checks.vertex("personalization: vertex", v, n), float(w)) for v, w in personalization.items()]
    else:
        weights = np.asarray(personalization, dtype=np.float64)
        if weights.shape != (n,):
            raise ValueError(f"personalization has shape {weights.shape}; it needs one weight per vertex: ({n},)")
        pairs = [(v, float(weights[v])) for v in np.flatnonzero(weights).tolist()]
    if not pairs:
        raise UsageError("personalization has no weight above 0, so jumps land nowhere")
    return pairs


@_options.listed("pagerank")
class PageRank(Placed):
    """A graph placed on processing elements once, whose vertices are ranked by how often a random walk stands on them.

    Ranks are those of NetworkX's ``pagerank(weight=None)``: they sum to 1; a vertex without out-arcs jumps by the
    personalization.

    Parameters
    ----------
    graph
        As for `Bfs`. Weights are not looked at.
    **options
        Own options, and those of every run: listed here from the table of `_options.py`.

    Raises
    ------
    UsageError
        A graph that is malformed; options that are out of range or do not fit together or the machine.
    TypeError
        An argument of another kind, or an option that is not known; the message names the nearest that is.
    CapacityError
        The memory of the PEs or of the host does not suffice.
    DeviceError
        A GPU that was asked for is missing or failed, or a run made no progress for `stall_timeout`.
    """

    def __init__(
        self,
        graph: Any,
        *,
        alpha: float = 0.85,
        tolerance: float = 1e-6,
        precision: str = "auto",
        strategy: str = "auto",
        **options: Any,
    ) -> None:
        own = {
            "strategy": _checks.text("strategy", strategy),
            "alpha": _checks.number("alpha", alpha),
            "tolerance": _checks.number("tolerance", tolerance),
            "precision": _checks.text("precision", precision),
        }
        self._place("pagerank", graph, options, **own)
        self._error_bound: float | None = None

    def rank(self, personalization: Any = None) -> dict[str, Any]:
        """Ranks all vertices and returns the report; the answer stays where it is until `result`.

        Parameters
        ----------
        personalization
            Where jumps land: a dict from vertex to weight, or an array of one weight per vertex; ``None``: everywhere alike.
        """
        return json.loads(self._run.run(weights=_jumps(personalization, self.num_vertices)))

    def result(self) -> np.ndarray:
        """Fetches the last ranks: float64 (num_vertices,), sum 1."""
        (ranks,), facts = self._run.result("rank()")
        self._error_bound = facts["error_bound"]
        return ranks

    @property
    def error_bound(self) -> float:
        """The sum over vertices of ``|rank - exact rank|`` of the ranks that `result` fetched is at most this."""
        if self._error_bound is None:
            raise UsageError("there is no error bound yet: call rank() and result() first")
        return self._error_bound


@_options.listed("pagerank")
def pagerank(graph: Any, personalization: Any = None, **options: Any) -> np.ndarray:
    """PageRank: how often a random walk stands on each vertex. For many personalizations, use `PageRank`.

    Parameters
    ----------
    graph
        As for `Bfs`.
    personalization
        Where jumps land: a dict from vertex to weight, or an array (num_vertices,) of weights at least 0; ``None``: everywhere
        alike.
    **options
        Own options, and those of every run: listed here from the table of `_options.py`.

    Returns
    -------
    float64 (num_vertices,)
        Ranks, which sum to 1.

    Raises
    ------
    UsageError
        A graph that is malformed; options that are out of range or do not fit together or the machine;
        a personalization without weight above 0.
    TypeError
        An argument of another kind, or an option that is not known; the message names the nearest that is.
    CapacityError
        The memory of the PEs or of the host does not suffice.
    DeviceError
        A GPU that was asked for is missing or failed, or a run made no progress for `stall_timeout`.

    Examples
    --------
    >>> shoal.pagerank("star:5").round(3).tolist()
    [0.476, 0.131, 0.131, 0.131, 0.131]
    """
    run = PageRank(graph, **options)
    run.rank(personalization)
    return run.result()


@_options.listed("components")
class Components(Placed):
    """A graph placed on processing elements once, whose connected components (directed graphs: weakly) are labelled.

    Parameters
    ----------
    graph
        As for `Bfs`.
    **options
        Own options, and those of every run: listed here from the table of `_options.py`.

    Raises
    ------
    UsageError
        A graph that is malformed; options that are out of range or do not fit together or the machine.
    TypeError
        An argument of another kind, or an option that is not known; the message names the nearest that is.
    CapacityError
        The memory of the PEs or of the host does not suffice.
    DeviceError
        A GPU that was asked for is missing or failed, or a run made no progress for `stall_timeout`.
    """

    def __init__(self, graph: Any, *, strategy: str = "auto", **options: Any) -> None:
        self._place("components", graph, options, strategy=_checks.text("strategy", strategy))

    def run(self) -> dict[str, Any]:
        """Labels all vertices and returns the report; the answer stays where it is until `result`."""
        return json.loads(self._run.run())

    def result(self) -> np.ndarray:
        """Fetches the last labels: int32 (num_vertices,), the smallest vertex number of each vertex's component."""
        return self._result("run()")


@_options.listed("components")
def components(graph: Any, **options: Any) -> np.ndarray:
    """Connected components (directed graphs: weakly).

    Parameters
    ----------
    graph
        As for `Bfs`.
    **options
        Own options, and those of every run: listed here from the table of `_options.py`.

    Returns
    -------
    int32 (num_vertices,)
        The smallest vertex number of each vertex's component.

    Raises
    ------
    UsageError
        A graph that is malformed; options that are out of range or do not fit together or the machine.
    TypeError
        An argument of another kind, or an option that is not known; the message names the nearest that is.
    CapacityError
        The memory of the PEs or of the host does not suffice.
    DeviceError
        A GPU that was asked for is missing or failed, or a run made no progress for `stall_timeout`.

    Examples
    --------
    >>> shoal.components(shoal.from_edges([0, 3], [2, 4])).tolist()
    [0, 1, 0, 3, 3]
    """
    run = Components(graph, **options)
    run.run()
    return run.result()
