"""Algorithms on a graph that is placed once: a class for many runs, and a function for one answer."""

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
        The options of this algorithm and of every run. `_options.listed` replaces this entry by the list of them.

    Raises
    ------
    UsageError
        The graph is malformed, or options are out of range, contradict each other, or do not suit this machine.
    TypeError
        An argument has the wrong type, or an option is unknown. The message suggests the nearest known option.
    CapacityError
        There is not enough memory on the PEs or on the host.
    DeviceError
        A requested GPU is missing or failed, or a run made no progress for `stall_timeout` seconds.
    """

    def __init__(self, graph: Any, *, parents: bool = False, strategy: str = "auto", **options: Any) -> None:
        own = {"parents": _checks.flag("parents", parents), "strategy": _checks.text("strategy", strategy)}
        self._place("bfs", graph, options, **own)

    def search(self, source: int) -> dict[str, Any]:
        """Searches from `source`, in [0, num_vertices), and returns the report. `result` fetches the answer from the PEs.

        ``report["seconds"]`` is the time of the search alone. ``report["chosen"]`` says which options were chosen, and why. If
        `source` is refused (`UsageError`), the answer of the previous search is kept.
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
        The options of this algorithm and of every run. `_options.listed` replaces this entry by the list of them.

    Returns
    -------
    levels : int32 (num_vertices,)
        Hops from the source; -1 where there is no path.
    parents : int32 (num_vertices,), only with ``parents=True``
        The source is its own parent; -1 where there is no path.

    Raises
    ------
    UsageError
        The graph is malformed, `source` is not a vertex, or options are out of range, contradict each other, or do not
        suit this machine.
    TypeError
        An argument has the wrong type, or an option is unknown. The message suggests the nearest known option.
    CapacityError
        There is not enough memory on the PEs or on the host.
    DeviceError
        A requested GPU is missing or failed, or a run made no progress for `stall_timeout` seconds.

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
        The options of this algorithm and of every run. `_options.listed` replaces this entry by the list of them.

    Raises
    ------
    UsageError
        The graph is malformed, or options are out of range, contradict each other, or do not suit this machine.
    TypeError
        An argument has the wrong type, or an option is unknown. The message suggests the nearest known option.
    CapacityError
        There is not enough memory on the PEs or on the host.
    DeviceError
        A requested GPU is missing or failed, or a run made no progress for `stall_timeout` seconds.
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
        The options of this algorithm and of every run. `_options.listed` replaces this entry by the list of them.

    Returns
    -------
    distances : int64 or float64 (num_vertices,)
        Whole weights: int64, -1 where there is no path. Real weights: float64, infinity where there is none.
    predecessors : int32 (num_vertices,), only with ``predecessors=True``
        The source is its own; -1 where there is no path.

    Raises
    ------
    UsageError
        The graph is malformed, `source` is not a vertex, weights are negative or missing, or options are out of range,
        contradict each other, or do not suit this machine.
    TypeError
        An argument has the wrong type, or an option is unknown. The message suggests the nearest known option.
    CapacityError
        There is not enough memory on the PEs or on the host.
    DeviceError
        A requested GPU is missing or failed, or a run made no progress for `stall_timeout` seconds.

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
    """The personalization as pairs (vertex, weight), from a dict as NetworkX takes it or an array of one weight per vertex."""
    if personalization is None:
        return []
    if isinstance(personalization, Mapping):
        pairs = [(_checks.vertex("personalization vertex", v, n), float(w)) for v, w in personalization.items()]
    else:
        weights = np.asarray(personalization, dtype=np.float64)
        if weights.shape != (n,):
            raise ValueError(f"personalization has shape {weights.shape}; it needs one weight per vertex: ({n},)")
        pairs = [(v, float(weights[v])) for v in np.flatnonzero(weights).tolist()]
    if not pairs:
        raise UsageError("personalization has no weight above 0, so jumps have no vertex to land on")
    return pairs


@_options.listed("pagerank")
class PageRank(Placed):
    """A graph placed on processing elements once, whose vertices are ranked by how often a random walk stands on them.

    Ranks are those of NetworkX's ``pagerank(weight=None)``. They sum to 1. From a vertex without outgoing arcs, the walk jumps as
    the personalization says.

    Parameters
    ----------
    graph
        As for `Bfs`. Weights are not used.
    **options
        The options of this algorithm and of every run. `_options.listed` replaces this entry by the list of them.

    Raises
    ------
    UsageError
        The graph is malformed, or options are out of range, contradict each other, or do not suit this machine.
    TypeError
        An argument has the wrong type, or an option is unknown. The message suggests the nearest known option.
    CapacityError
        There is not enough memory on the PEs or on the host.
    DeviceError
        A requested GPU is missing or failed, or a run made no progress for `stall_timeout` seconds.
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
        """Ranks all vertices and returns the report. `result` fetches the ranks from the PEs.

        Parameters
        ----------
        personalization
            How likely a jump lands on each vertex: a dict from vertex to weight, or an array of one weight per vertex, each 0
            or more. ``None``: all vertices are equally likely.
        """
        return json.loads(self._run.run(weights=_jumps(personalization, self.num_vertices)))

    def result(self) -> np.ndarray:
        """Fetches the last ranks: float64 (num_vertices,), sum 1."""
        (ranks,), facts = self._run.result("rank()")
        self._error_bound = facts["error_bound"]
        return ranks

    @property
    def error_bound(self) -> float:
        """An upper bound on the sum over vertices of ``|rank - exact rank|``, for the ranks that `result` fetched last."""
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
        How likely a jump lands on each vertex: a dict from vertex to weight, or an array (num_vertices,) of weights, each 0 or
        more. ``None``: all vertices are equally likely.
    **options
        The options of this algorithm and of every run. `_options.listed` replaces this entry by the list of them.

    Returns
    -------
    float64 (num_vertices,)
        Ranks, which sum to 1.

    Raises
    ------
    UsageError
        The graph is malformed, or options are out of range, contradict each other, or do not suit this machine;
        a personalization whose weights are all 0.
    TypeError
        An argument has the wrong type, or an option is unknown. The message suggests the nearest known option.
    CapacityError
        There is not enough memory on the PEs or on the host.
    DeviceError
        A requested GPU is missing or failed, or a run made no progress for `stall_timeout` seconds.

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
    """A graph placed on processing elements once, to label its connected components (of a directed graph: weakly connected).

    Parameters
    ----------
    graph
        As for `Bfs`.
    **options
        The options of this algorithm and of every run. `_options.listed` replaces this entry by the list of them.

    Raises
    ------
    UsageError
        The graph is malformed, or options are out of range, contradict each other, or do not suit this machine.
    TypeError
        An argument has the wrong type, or an option is unknown. The message suggests the nearest known option.
    CapacityError
        There is not enough memory on the PEs or on the host.
    DeviceError
        A requested GPU is missing or failed, or a run made no progress for `stall_timeout` seconds.
    """

    def __init__(self, graph: Any, *, strategy: str = "auto", **options: Any) -> None:
        self._place("components", graph, options, strategy=_checks.text("strategy", strategy))

    def run(self) -> dict[str, Any]:
        """Labels all vertices and returns the report. `result` fetches the labels from the PEs."""
        return json.loads(self._run.run())

    def result(self) -> np.ndarray:
        """Fetches the last labels: int32 (num_vertices,). A vertex's label is the smallest vertex number in its component."""
        return self._result("run()")


@_options.listed("components")
def components(graph: Any, **options: Any) -> np.ndarray:
    """Connected components (of a directed graph: weakly connected).

    Parameters
    ----------
    graph
        As for `Bfs`.
    **options
        The options of this algorithm and of every run. `_options.listed` replaces this entry by the list of them.

    Returns
    -------
    int32 (num_vertices,)
        The label of each vertex: the smallest vertex number in its component.

    Raises
    ------
    UsageError
        The graph is malformed, or options are out of range, contradict each other, or do not suit this machine.
    TypeError
        An argument has the wrong type, or an option is unknown. The message suggests the nearest known option.
    CapacityError
        There is not enough memory on the PEs or on the host.
    DeviceError
        A requested GPU is missing or failed, or a run made no progress for `stall_timeout` seconds.

    Examples
    --------
    >>> shoal.components(shoal.from_edges([0, 3], [2, 4])).tolist()
    [0, 1, 0, 3, 3]
    """
    run = Components(graph, **options)
    run.run()
    return run.result()
