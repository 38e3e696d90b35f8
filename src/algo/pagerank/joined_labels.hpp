// Components of a graph whose rows lie in several processes.
#pragma once
#include "shoal/core/array.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// Every process calls it. Returns, in every process, the label of each vertex: the smallest placed number of its component.
///
/// Each process keeps a forest of all vertices, in which it unites the ends of its own rows' arcs. In rounds, every process tells
/// the others the roots of its own vertices, and all unite each vertex with the root that was told, until no root changes. The ends
/// of an arc between two processes then have the same root, since both processes have united them, and each knows the other's root.
/// @param graph  on CPU PEs; every arc has its reverse
/// @throws TransportError
HostArray<vertex_t> joined_labels(World& world, const PlacedGraph& graph);

}  // namespace shoal
