"""Irregular parallel programs from one source, on CPU threads and GPUs.

>>> import shoal
>>> levels = shoal.bfs("kron:16", source=3)          # a generator or a file
>>> levels, parents = shoal.bfs((offsets, targets), 3, parents=True)   # NumPy arrays
>>> distances = shoal.sssp(matrix, 3)                # a SciPy matrix; its entries are the weights
>>> ranks = shoal.pagerank("web.mtx")
>>> labels = shoal.components("web.mtx")
>>> cores = shoal.kcore("web.mtx")

Errors are ``UsageError`` (also a ``ValueError``), ``CapacityError`` (also a ``MemoryError``), ``TransportError`` (also a
``ConnectionError``) and ``DeviceError`` (also a ``RuntimeError``). An error about a file is a ``FileError``: a ``UsageError``
that is also an ``OSError``, such as ``FileNotFoundError``.

Ctrl-C ends a call within about a second, and so does any exception that a Python signal handler raises. The module can be used
afterwards.
"""

from __future__ import annotations

import json
from typing import Any

from . import _shoal
from ._described import DESCRIBED
from ._edges import from_edges
from ._graph import from_csr, from_scipy, read
from ._paths import path
from ._runs import Bfs, Components, PageRank, Sssp, bfs, components, pagerank, sssp
from ._shoal import CapacityError, DeviceError, Error, FileError, Graph, TransportError, UsageError, __version__

__all__ = [
    "Bfs",
    "CapacityError",
    "Components",
    "DeviceError",
    "Error",
    "FileError",
    "Graph",
    "PageRank",
    "Sssp",
    "TransportError",
    "UsageError",
    "__version__",
    "bfs",
    "components",
    "doctor",
    "from_csr",
    "from_edges",
    "from_scipy",
    "pagerank",
    "path",
    "read",
    "sssp",
]
globals().update(DESCRIBED)
__all__ += list(DESCRIBED)


def doctor() -> dict[str, Any]:
    """What this machine and this build can run: CPU, memory, GPUs, engines, libraries, and what to install."""
    return json.loads(_shoal._machine())
