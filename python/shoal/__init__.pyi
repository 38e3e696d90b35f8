import os
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypedDict, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Unpack

__version__: str

_Distances: TypeAlias = NDArray[np.int64] | NDArray[np.float64]
_Personalization: TypeAlias = Mapping[int, float] | NDArray[np.float64] | None

class Error(Exception): ...
class UsageError(Error, ValueError): ...
class FileError(UsageError, OSError): ...
class CapacityError(Error, MemoryError): ...
class TransportError(Error, ConnectionError): ...
class DeviceError(Error, RuntimeError): ...

class _Options(TypedDict, total=False):
    pes: int
    pes_per_gpu: int
    device: Literal["auto", "cpu", "gpu"]
    engine: Literal["auto", "self", "threads", "peer"]
    worker: str
    kernel: Literal["auto", "persistent", "discrete"]
    threads: int
    workers: int
    fetch: int
    capacity: int
    spill: int
    queue: Literal["auto", "fifo", "priority"]
    threshold: float
    threshold_delta: float
    buckets: int
    keep: int
    overlap: int
    judge: Literal["auto", "owner", "remote"]
    combine: Literal["auto", "off", "on"]
    batch_bytes: int
    batch_wait: int | str
    partition: str
    stall_timeout: float
    seed: int

class _BfsOptions(_Options, total=False):
    strategy: Literal["auto", "async", "levels"]

class _SsspOptions(_Options, total=False):
    strategy: Literal["auto", "async", "delta"]
    weights: Literal["auto", "file", "hash255", "unit"] | None
    delta: float

class _PageRankOptions(_Options, total=False):
    strategy: Literal["auto", "async", "pull"]
    alpha: float
    tolerance: float
    precision: Literal["auto", "float32", "float64"]

class _ComponentsOptions(_Options, total=False):
    strategy: Literal["auto", "async", "hook"]

class _KcoreOptions(_Options, total=False):
    strategy: Literal["auto", "async"]

class Graph:
    @staticmethod
    def read(
        file: str | os.PathLike[str],
        *,
        undirected: bool = False,
        dedup: bool = False,
        num_vertices: int | None = None,
        cache: bool = False,
        format: str | None = None,
    ) -> Graph: ...
    @staticmethod
    def generate(spec: str) -> Graph: ...
    @staticmethod
    def from_csr(
        offsets: Any,
        targets: Any,
        weights: Any = None,
        *,
        symmetric: bool = False,
        dedup: bool = False,
        name: str = "arrays",
    ) -> Graph: ...
    @staticmethod
    def from_edges(
        sources: Any,
        targets: Any,
        weights: Any = None,
        *,
        num_vertices: int | None = None,
        undirected: bool = False,
        dedup: bool = False,
        name: str = "edges",
    ) -> Graph: ...
    @staticmethod
    def from_scipy(matrix: Any, *, symmetric: bool = False, dedup: bool = False) -> Graph: ...
    @property
    def num_vertices(self) -> int: ...
    @property
    def num_arcs(self) -> int: ...
    @property
    def symmetric(self) -> bool: ...
    @property
    def name(self) -> str: ...
    @property
    def offsets(self) -> NDArray[np.int64]: ...
    @property
    def targets(self) -> NDArray[np.uint32]: ...
    @property
    def weights(self) -> NDArray[np.int32] | NDArray[np.float64] | None: ...
    @property
    def degrees(self) -> NDArray[np.int64]: ...
    def neighbors(self, vertex: int) -> NDArray[np.uint32]: ...
    def to_scipy(self) -> Any: ...
    def is_symmetric(self) -> bool: ...
    def transpose(self) -> Graph: ...
    def write(self, file: str | os.PathLike[str]) -> None: ...

class _Placed:
    @property
    def num_vertices(self) -> int: ...
    @property
    def num_arcs(self) -> int: ...
    def verify(self) -> str: ...

class Bfs(_Placed):
    def __init__(self, graph: Any, *, parents: bool = False, **options: Unpack[_BfsOptions]) -> None: ...
    def search(self, source: int) -> dict[str, Any]: ...
    def result(self) -> NDArray[np.int32] | tuple[NDArray[np.int32], NDArray[np.int32]]: ...

class Sssp(_Placed):
    def __init__(self, graph: Any, *, predecessors: bool = False, **options: Unpack[_SsspOptions]) -> None: ...
    def search(self, source: int) -> dict[str, Any]: ...
    def result(self) -> _Distances | tuple[_Distances, NDArray[np.int32]]: ...

class PageRank(_Placed):
    def __init__(self, graph: Any, **options: Unpack[_PageRankOptions]) -> None: ...
    def rank(self, personalization: _Personalization = None) -> dict[str, Any]: ...
    def result(self) -> NDArray[np.float64]: ...
    @property
    def error_bound(self) -> float: ...

class Components(_Placed):
    def __init__(self, graph: Any, **options: Unpack[_ComponentsOptions]) -> None: ...
    def run(self) -> dict[str, Any]: ...
    def result(self) -> NDArray[np.int32]: ...

@overload
def bfs(
    graph: Any, source: int, parents: Literal[False] = False, **options: Unpack[_BfsOptions]
) -> NDArray[np.int32]: ...
@overload
def bfs(
    graph: Any, source: int, parents: Literal[True], **options: Unpack[_BfsOptions]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
@overload
def sssp(
    graph: Any, source: int, predecessors: Literal[False] = False, **options: Unpack[_SsspOptions]
) -> _Distances: ...
@overload
def sssp(
    graph: Any, source: int, predecessors: Literal[True], **options: Unpack[_SsspOptions]
) -> tuple[_Distances, NDArray[np.int32]]: ...
def pagerank(
    graph: Any, personalization: _Personalization = None, **options: Unpack[_PageRankOptions]
) -> NDArray[np.float64]: ...

class Kcore(_Placed):
    def __init__(self, graph: Any, **options: Unpack[_KcoreOptions]) -> None: ...
    def run(self) -> dict[str, Any]: ...
    def result(self) -> NDArray[np.int32]: ...

def kcore(graph: Any, **options: Unpack[_KcoreOptions]) -> NDArray[np.int32]: ...
def components(graph: Any, **options: Unpack[_ComponentsOptions]) -> NDArray[np.int32]: ...
def read(
    file: str | os.PathLike[str],
    *,
    undirected: bool = False,
    dedup: bool = False,
    num_vertices: int | None = None,
    cache: bool = False,
    format: str | None = None,
) -> Graph: ...
def from_csr(
    offsets: Any,
    targets: Any,
    weights: Any = None,
    *,
    symmetric: bool = False,
    dedup: bool = False,
    name: str = "arrays",
) -> Graph: ...
def from_edges(
    sources: Any,
    targets: Any,
    weights: Any = None,
    *,
    num_vertices: int | None = None,
    undirected: bool = False,
    dedup: bool = False,
    name: str = "edges",
) -> Graph: ...
def from_scipy(matrix: Any, *, symmetric: bool = False, dedup: bool = False) -> Graph: ...
def path(predecessors: Any, target: int) -> NDArray[np.int32]: ...
def doctor() -> dict[str, Any]: ...
