// Components of a graph whose rows lie in several processes.
#pragma once
#include "shoal/core/array.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// Every process calls it. Returns, in every process, the label of each vertex: the smallest placed number of its component.
///
/// Each process unites the ends of its own rows' arcs in disjoint sets of all vertices. In rounds, every process tells the others
/// the smallest members of its own vertices' sets, and all unite each vertex with the member that was told, until none changes. The
/// ends of an arc between two processes then have the same label: both processes have united them, and each has united the other
/// end with its label.
/// @param graph  on CPU PEs; every arc has its reverse
/// @throws TransportError
HostArray<vertex_t> joined_labels(World& world, const PlacedGraph& graph);

}  // namespace shoal
