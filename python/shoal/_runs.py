"""Algorithms on a graph that is placed once: classes that run again and again, and functions for one answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _checks, _shoal
from ._graph import as_graph
from ._shoal import UsageError

# As the command line names them, with _ for -. Every algorithm has `strategy` beside them.
_OPTIONS = frozenset(
    [
        *("pes", "pes_per_gpu", "device", "engine", "worker", "kernel", "threads", "workers", "fetch", "capacity"),
        *("spill", "queue", "threshold", "threshold_delta", "buckets", "judge", "combine", "partition"),
        *("batch_bytes", "batch_wait", "stall_timeout", "seed"),
    ]
)

_OPTIONS_DOC = """
    **options
        As of the command line, with ``_`` for ``-``: ``strategy``; where it runs: ``device pes pes_per_gpu engine threads
        partition``; how: ``worker kernel workers fetch capacity spill queue threshold threshold_delta buckets judge
        combine batch_bytes batch_wait stall_timeout seed``. What is left out is chosen from the graph and the machine.

    Raises
    ------
    UsageError, CapacityError, DeviceError
        Options that do not fit together or the machine; memory; a device that is missing.
    """


def _shared(options: Mapping[str, Any]) -> _shoal._Options:
    shared = _shoal._Options()
    for name, value in options.items():
        if name not in _OPTIONS:
            raise TypeError(f"unknown option {name!r}; legal: strategy, {', '.join(sorted(_OPTIONS))}")
        try:
            setattr(shared, name, value)
        except TypeError:
            kind = type(getattr(shared, name, ""))  # texts can only be set
            if kind is not str and isinstance(value, int) and not isinstance(value, bool):
                raise UsageError(f"option {name} is {value}, which is out of range") from None
            wanted = {int: "a whole number", float: "a number"}.get(kind, "text")
            raise TypeError(f"option {name} is {value!r} ({type(value).__name__}); it must be {wanted}") from None
    return shared


class _Placed:
    """What all of them have."""

    _run: _shoal._Run

    def __init_subclass__(cls) -> None:
        if cls.__doc__:
            cls.__doc__ = cls.__doc__.rstrip() + _OPTIONS_DOC

    def _place(self, algorithm: str, graph: Any, options: Mapping[str, Any], **own: Any) -> None:
        """`own` are the algorithm's own options; their types have been looked at."""
        shared = _shared(options)
        self._run = _shoal._Run(algorithm, *as_graph(graph), shared, own)

    def _search(self, source: int) -> dict[str, Any]:
        return json.loads(self._run.run(_checks.vertex("source", source, self.num_vertices)))

    def _result(self, call: str) -> Any:
        arrays, _ = self._run.result(call)
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    @property
    def num_vertices(self) -> int:
        """Vertices are 0 to num_vertices - 1."""
        return self._run.num_vertices

    @property
    def num_arcs(self) -> int:
        """An undirected edge is two arcs."""
        return self._run.num_arcs

    def verify(self) -> str:
        """Checks the last answer by its properties, where it lies. Returns what is wrong, or an empty text."""
        return self._run.verify()


class Bfs(_Placed):
    """A graph placed on processing elements once, to be searched breadth-first from many sources.

    Parameters
    ----------
    graph
        A `Graph`, a file name, a generator such as ``"kron:16"``, ``(offsets, targets)``, or a SciPy sparse matrix.
    parents
        Also a tree: of each vertex the smallest valid parent.
    strategy
        ``auto``, ``async`` (by worklist) or ``levels`` (level by level).
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


def bfs(graph: Any, source: int, parents: bool = False, **options: Any) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Breadth-first search from one source: see `Bfs` and `Bfs.result`. For many sources, place the graph once with `Bfs`.

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


class Sssp(_Placed):
    """A weighted graph placed on processing elements once, for shortest paths from many sources.

    Parameters
    ----------
    graph
        A `Graph`, a file name, a generator such as ``"kron:16"``, ``(offsets, targets, weights)``, or a SciPy sparse
        matrix, whose entries are the weights.
    predecessors
        Also a tree of shortest paths.
    weights
        ``"file"`` (the graph's own), ``"hash255"`` (1 to 255, from the ends of each arc) or ``"unit"`` (1 each). Default:
        the graph's own; for a generator's graph, hash255.
    strategy
        ``auto``, ``async`` (by worklist) or ``delta`` (delta-stepping).
    delta
        Strategy delta: width of a bucket, in units of weight; 0 chooses.
    """

    def __init__(
        self,
        graph: Any,
        *,
        predecessors: bool = False,
        weights: str | None = None,
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


def sssp(
    graph: Any, source: int, predecessors: bool = False, **options: Any
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Shortest paths from one source: see `Sssp` and `Sssp.result`. For many sources, place the graph once with `Sssp`.

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


class PageRank(_Placed):
    """A graph placed on processing elements once, whose vertices are ranked by how often a random walk stands on them.

    Ranks are those of NetworkX's ``pagerank(weight=None)``: they sum to 1; a vertex without out-arcs jumps by the
    personalization.

    Parameters
    ----------
    graph
        As for `Bfs`. Weights are not looked at.
    alpha
        The probability that a walk follows an arc, [0, 0.9999].
    tolerance
        The largest sum over vertices of ``|rank - exact rank|``, [1e-11, 1]; guaranteed.
    precision
        Of what arcs carry: ``auto``, ``float32`` or ``float64``. Ranks are float64 always.
    strategy
        ``auto``, ``async`` (residuals by worklist) or ``pull`` (sweeps over all vertices).
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
        self._error_bound = json.loads(facts)["error_bound"]
        return ranks

    @property
    def error_bound(self) -> float:
        """The sum over vertices of ``|rank - exact rank|`` of the ranks that `result` fetched is at most this."""
        if self._error_bound is None:
            raise UsageError("there is no error bound yet: call rank() and result() first")
        return self._error_bound


def pagerank(graph: Any, personalization: Any = None, **options: Any) -> np.ndarray:
    """PageRank: see `PageRank`, `PageRank.rank` and `PageRank.result`.

    Examples
    --------
    >>> shoal.pagerank("star:5").round(3).tolist()
    [0.476, 0.131, 0.131, 0.131, 0.131]
    """
    run = PageRank(graph, **options)
    run.rank(personalization)
    return run.result()


class Components(_Placed):
    """A graph placed on processing elements once, whose connected components (directed graphs: weakly) are labelled.

    Parameters
    ----------
    graph
        As for `Bfs`.
    strategy
        ``auto``, ``async`` (by worklist) or ``hook`` (trees of parents, hooked together and compressed).
    """

    def __init__(self, graph: Any, *, strategy: str = "auto", **options: Any) -> None:
        self._place("components", graph, options, strategy=_checks.text("strategy", strategy))

    def run(self) -> dict[str, Any]:
        """Labels all vertices and returns the report; the answer stays where it is until `result`."""
        return json.loads(self._run.run())

    def result(self) -> np.ndarray:
        """Fetches the last labels: int32 (num_vertices,), the smallest vertex number of each vertex's component."""
        return self._result("run()")


def components(graph: Any, **options: Any) -> np.ndarray:
    """Connected components: see `Components` and `Components.result`.

    Examples
    --------
    >>> shoal.components(shoal.from_edges([0, 3], [2, 4])).tolist()
    [0, 1, 0, 3, 3]
    """
    run = Components(graph, **options)
    run.run()
    return run.result()


_CHECKS = {"text": _checks.text, "number": _checks.number, "flag": _checks.flag}


def _described(info: Mapping[str, Any]) -> tuple[type[_Placed], Callable[..., Any]]:
    """The class and the function of an algorithm that has none above, made of what it says of itself."""
    name, title = info["name"], info["name"].capitalize()
    own = {option["name"].replace("-", "_"): option for option in info["options"] if option["type"] in _CHECKS}
    start = "search" if info["from_source"] else "run"

    def __init__(self: _Placed, graph: Any, **options: Any) -> None:
        given = {key: options.pop(key) for key in list(options) if key in own}
        checked = {own[key]["name"]: _CHECKS[own[key]["type"]](key, value) for key, value in given.items()}
        self._place(name, graph, options, **checked)

    def run(self: _Placed) -> dict[str, Any]:
        """Computes, and returns the report; the answer stays where it is until `result`."""
        return json.loads(self._run.run())

    def search(self: _Placed, source: int) -> dict[str, Any]:
        """Searches from `source`, in [0, num_vertices), and returns the report; the answer stays where it is until `result`."""
        return self._search(source)

    def result(self: _Placed) -> Any:
        return self._result("search(source)" if info["from_source"] else "run()")

    result.__doc__ = f"Fetches the last answer. {info['output']}"
    doc = [f"{info['says']}: a graph placed on processing elements once.", "", "Parameters", "----------"]
    doc += ["graph", "    As for `Bfs`."]
    for key, option in own.items():
        doc += [f"{key} : {option['type']}, default {option['default']!r}", f"    {option['says']}"]
    members = {"__init__": __init__, start: search if info["from_source"] else run, "result": result}
    members |= {"__doc__": "\n    ".join(doc) + "\n", "__module__": __name__}
    made = type(title, (_Placed,), members)

    def at_once(graph: Any, *source: int, **options: Any) -> Any:
        placed = made(graph, **options)
        getattr(placed, start)(*source)
        return placed.result()

    at_once.__name__ = at_once.__qualname__ = name
    at_once.__doc__ = f"{info['says']}. {info['output']}. See `{title}`."
    return made, at_once


DESCRIBED: dict[str, Any] = {}
for _info in json.loads(_shoal._algorithms()):
    if _info["name"] not in globals():
        DESCRIBED[_info["name"].capitalize()], DESCRIBED[_info["name"]] = _described(_info)
