"""Classes and functions of the algorithms that `_runs.py` does not define, made from each algorithm's own description."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from . import _checks, _options, _runs, _shoal
from ._placed import Placed

_CHECKS = {"text": _checks.text, "number": _checks.number, "flag": _checks.flag}

_RAISES = ["", "Raises", "------", "UsageError, TypeError, CapacityError, DeviceError", "    As for `bfs`."]


def _described(info: Mapping[str, Any]) -> tuple[type[Placed], Callable[..., Any]]:
    """The class and the function of one algorithm, made from its description `info`."""
    name, title = info["name"], info["name"].capitalize()
    own = _options.own(name)
    start = "search" if info["from_source"] else "run"
    output = _shoal._name_arguments(info["output"]).removeprefix("write ")

    def __init__(self: Placed, graph: Any, **options: Any) -> None:
        given = {key: options.pop(key) for key in list(options) if key in own}
        checked = {own[key]["name"]: _CHECKS[own[key]["type"]](key, value) for key, value in given.items()}
        self._place(name, graph, options, **checked)

    def run(self: Placed) -> dict[str, Any]:
        """Runs the algorithm and returns the report. `result` fetches the answer from the PEs."""
        return json.loads(self._run.run())

    def search(self: Placed, source: int) -> dict[str, Any]:
        """Searches from `source`, in [0, num_vertices), and returns the report. `result` fetches the answer from the PEs."""
        return self._search(source)

    def result(self: Placed) -> Any:
        return self._result("search(source)" if info["from_source"] else "run()")

    parameters = ["", "Parameters", "----------", "graph", "    As for `Bfs`."]
    begins = "    The vertex where the search begins, in [0, num_vertices)."
    source = ["source : int", begins] if info["from_source"] else []
    result.__doc__ = f"Fetches the last answer: {output}."
    says = f"{info['says']}. The graph is placed on processing elements (PEs) once, for any number of runs."
    doc = [says, *parameters, "**options", *_RAISES]
    members = {"__init__": __init__, start: search if info["from_source"] else run, "result": result}
    members |= {"__doc__": "\n".join(doc) + "\n", "__module__": __name__}
    made = _options.listed(name)(type(title, (Placed,), members))

    def from_source(graph: Any, source: int, **options: Any) -> Any:
        placed = made(graph, **options)
        placed.search(source)
        return placed.result()

    def of_graph(graph: Any, **options: Any) -> Any:
        placed = made(graph, **options)
        placed.run()
        return placed.result()

    at_once = from_source if info["from_source"] else of_graph
    at_once.__name__ = at_once.__qualname__ = name
    returns = ["", "Returns", "-------", output]
    says = f"{info['says']}. For several runs, place the graph once with `{title}`."
    at_once.__doc__ = "\n".join([says, *parameters, *source, "**options", *returns, *_RAISES])
    return made, _options.listed(name)(at_once)


DESCRIBED: dict[str, Any] = {}
for _info in _options.ALGORITHMS.values():
    if not hasattr(_runs, _info["name"]):
        DESCRIBED[_info["name"].capitalize()], DESCRIBED[_info["name"]] = _described(_info)
