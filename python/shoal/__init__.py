"""Irregular parallel programs from one source, on CPU threads and GPUs.

>>> import shoal
>>> levels = shoal.bfs("kron:16", source=3)          # a generator or a file
>>> levels, parents = shoal.bfs((offsets, targets), 3, parents=True)   # NumPy arrays

Errors are ``UsageError`` (a ``ValueError``), ``CapacityError`` (``MemoryError``), ``TransportError``
(``ConnectionError``) and ``DeviceError`` (``RuntimeError``).
"""

from __future__ import annotations

import json
import operator
import os
from typing import Any

import numpy as np

from . import _shoal
from ._shoal import CapacityError, DeviceError, Error, Graph, TransportError, UsageError, __version__

__all__ = [
    "Bfs",
    "CapacityError",
    "DeviceError",
    "Error",
    "Graph",
    "TransportError",
    "UsageError",
    "__version__",
    "bfs",
    "doctor",
    "from_csr",
    "from_scipy",
    "read",
]

_INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))
_TARGET_TYPES = (np.dtype(np.int32), np.dtype(np.uint32), np.dtype(np.int64))


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


def from_csr(offsets: np.ndarray, targets: np.ndarray, *, symmetric: bool = False, name: str = "arrays") -> Graph:
    """Makes a graph of two arrays; 64-bit offsets and 32-bit targets are not copied and must not be changed afterwards.

    Parameters
    ----------
    offsets
        int64 or int32, shape (num_vertices + 1,): the arcs of v are ``targets[offsets[v]:offsets[v + 1]]``.
    targets
        int32, uint32 or int64, shape (num_arcs,), each in [0, num_vertices).
    symmetric
        Promise that every arc has its reverse (checked); searches then need no reversed graph.

    Raises
    ------
    TypeError, UsageError
        Wrong kind, dtype or order; offsets that decrease; targets out of range. The message names the place.
    """
    return Graph._from_csr(
        _array(offsets, "offsets", _INDEX_TYPES), _array(targets, "targets", _TARGET_TYPES), symmetric, name
    )


def from_scipy(matrix: Any, *, symmetric: bool = False) -> Graph:
    """Makes a graph of a square SciPy sparse matrix or array: an arc i -> j for each stored entry (i, j).

    A stored zero is an arc. Formats other than CSR are converted by SciPy.
    """
    shape = matrix.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"the matrix has shape {shape}; an adjacency matrix is square")
    csr = matrix.tocsr()
    return from_csr(csr.indptr, csr.indices, symmetric=symmetric, name=f"{type(matrix).__name__}")


def _graph(graph: Any) -> tuple[Graph | None, str]:
    """A graph, or the text of a generator that may run on the device."""
    if isinstance(graph, Graph):
        return graph, ""
    if isinstance(graph, str) and _shoal.is_generator(graph):
        return None, graph
    if isinstance(graph, (str, os.PathLike)):
        return read(graph), ""
    if isinstance(graph, tuple) and len(graph) == 2:
        return from_csr(*graph), ""
    if hasattr(graph, "tocsr") and hasattr(graph, "shape"):
        return from_scipy(graph), ""
    raise TypeError(
        f"graph is a {type(graph).__name__}; legal: shoal.Graph, a file name, a generator such as 'kron:16', "
        "(offsets, targets) as NumPy arrays, a SciPy sparse matrix"
    )


class Bfs:
    """A graph placed on processing elements once, to be searched from many sources.

    Parameters
    ----------
    graph
        A `Graph`, a file name, a generator such as ``"kron:16"``, ``(offsets, targets)``, or a SciPy sparse matrix.
    parents
        Also a tree: of each vertex the smallest valid parent.
    **options
        As of the command line, with ``_`` for ``-``: ``pes device engine worker kernel strategy threads workers fetch
        capacity spill partition stall_timeout seed``. What is left out is chosen from the graph and the machine.

    Raises
    ------
    UsageError, CapacityError, DeviceError
        Options that do not fit together or the machine; memory; a device that is missing.
    """

    def __init__(self, graph: Any, *, parents: bool = False, **options: Any) -> None:
        unknown = sorted(set(options) - _OPTIONS)
        if unknown:
            raise TypeError(f"unknown option {unknown[0]!r}; legal: {', '.join(sorted(_OPTIONS))}")
        held, generator = _graph(graph)
        self._run = _shoal._Bfs(held, generator, parents=parents, **options)
        self._parents = parents

    @property
    def num_vertices(self) -> int:
        return self._run.num_vertices

    @property
    def num_arcs(self) -> int:
        return self._run.num_arcs

    def search(self, source: int) -> dict[str, Any]:
        """Searches from `source` and returns the report; the answer stays where it is until `result`.

        ``report["seconds"]`` is the search alone; ``report["chosen"]`` says which options were chosen, and why.
        """
        return json.loads(self._run.search(operator.index(source)))

    def result(self) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Fetches the answer of the last search.

        Returns
        -------
        levels : int32 (num_vertices,)
            Hops from the source; -1 where there is no path.
        parents : int32 (num_vertices,), only with ``parents=True``
            The source is its own parent; -1 where there is no path.
        """
        levels, parents = self._run.result()
        return (levels, parents) if self._parents else levels


def bfs(graph: Any, source: int, parents: bool = False, **options: Any) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Breadth-first search from one source. For many sources, place the graph once with `Bfs`.

    Parameters
    ----------
    graph, parents, **options
        See `Bfs`.
    source
        A vertex, 0 to num_vertices - 1.

    Returns
    -------
    levels, or (levels, parents)
        See `Bfs.result`.
    """
    run = Bfs(graph, parents=parents, **options)
    run.search(source)
    return run.result()


def doctor() -> dict[str, Any]:
    """What this machine and this build can run: CPU, memory, GPUs, engines, libraries, and what to install."""
    return json.loads(_shoal._machine())


# As the compiled part names them.
_OPTIONS = frozenset(
    [
        *("pes", "device", "engine", "worker", "kernel", "strategy", "threads", "workers", "fetch", "capacity"),
        *("spill", "partition", "stall_timeout", "seed"),
    ]
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
