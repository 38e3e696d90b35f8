"""The base class of all algorithms' classes: a graph that is placed on processing elements once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import _checks, _options, _shoal
from ._graph import as_graph


class Placed:
    """The members that all algorithms' classes have."""

    _run: _shoal._Run

    def _place(self, algorithm: str, graph: Any, options: Mapping[str, Any], **own: Any) -> None:
        """`own` holds the algorithm's own options, whose types the caller has checked."""
        shared = _options.read(algorithm, options)
        self._run = _shoal._Run(algorithm, *as_graph(graph), shared, own)

    def _search(self, source: int) -> dict[str, Any]:
        return json.loads(self._run.run(_checks.vertex("source", source, self.num_vertices)))

    def _result(self, call: str) -> Any:
        arrays, _ = self._run.result(call)
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    @property
    def num_vertices(self) -> int:
        """The number of vertices, which are numbered 0 to num_vertices - 1."""
        return self._run.num_vertices

    @property
    def num_arcs(self) -> int:
        """The number of arcs; an undirected edge counts as two."""
        return self._run.num_arcs

    def verify(self) -> str:
        """Checks the last answer, on the PEs, for the properties of a correct answer. Returns what is wrong, or an empty text."""
        return self._run.verify()
