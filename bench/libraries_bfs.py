"""Breadth-first search by NetworKit and igraph, timed inside this process if they are installed."""

import statistics
import struct
import time

SG_HEADER = struct.Struct("<?qq")  # directed, arcs, vertices; after it come offsets (int64) and targets (int32)


def load_arrays(graph_file):
    """From a .sg file: directed, vertices, sources and targets. The arcs of an undirected graph are given once."""
    import numpy as np

    with open(graph_file, "rb") as file:
        directed, num_arcs, num_vertices = SG_HEADER.unpack(file.read(SG_HEADER.size))
    offsets = np.fromfile(graph_file, np.int64, num_vertices + 1, offset=SG_HEADER.size)
    targets = np.fromfile(graph_file, np.int32, num_arcs, offset=SG_HEADER.size + offsets.nbytes)
    sources = np.repeat(np.arange(num_vertices, dtype=np.int32), np.diff(offsets))
    if not directed:
        keep = sources <= targets
        sources, targets = sources[keep], targets[keep]
    return directed, num_vertices, sources, targets


def networkit_searcher(graph_file, threads):
    import networkit as nk
    import numpy as np

    nk.setNumberOfThreads(threads)
    directed, n, sources, targets = load_arrays(graph_file)
    graph = nk.GraphFromCoo((sources.astype(np.uint64), targets.astype(np.uint64)), n=n, directed=directed)

    def search(source):
        bfs = nk.distance.BFS(graph, source, storePaths=False)
        begin = time.perf_counter()
        bfs.run()
        seconds = time.perf_counter() - begin
        return seconds, sum(1 for d in bfs.getDistances() if d < n)

    return search, nk.__version__


def igraph_searcher(graph_file, _threads):
    import igraph
    import numpy as np

    directed, n, sources, targets = load_arrays(graph_file)
    graph = igraph.Graph(n=n, edges=np.stack([sources, targets], 1), directed=bool(directed))

    def search(source):
        begin = time.perf_counter()
        order, _, _ = graph.bfs(source)
        seconds = time.perf_counter() - begin
        return seconds, len(order)

    return search, igraph.__version__


LIBRARIES = {"networkit": networkit_searcher, "igraph": igraph_searcher}


def measure_library(name, threads, graph_file, sources, reached):
    """The times of one library, or why it was skipped.

    ``reached``: how many vertices the verified answer reaches from each source. Raises ValueError if the library reaches another
    number.
    """
    if not sources:
        return {"skipped": "not asked for (--library-sources)"}
    try:
        search, version = LIBRARIES[name](graph_file, threads)
    except ImportError as error:
        return {"skipped": f"{error}; pip install numpy {name}"}
    seconds = []
    for source, expected in zip(sources, reached):
        took, found = search(source)
        if found != expected:
            raise ValueError(f"{name} reaches {found} vertices from {source}, shoal {expected}")
        seconds.append(took)
    return {"version": version, "sources": len(seconds), "median_seconds": statistics.median(seconds)}
