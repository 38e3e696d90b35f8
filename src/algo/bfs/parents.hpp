// The tree of a search, computed from its levels, whichever engine found them. The parent of a vertex is the smallest input number
// among its in-neighbours one level closer to the source, so the tree does not depend on the PEs or the partition.
#pragma once
#include "shoal/core/array.hpp"
#include "shoal/core/span.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worker/thread_team.hpp"

namespace shoal {

/// [num_vertices] by placed number; the source is its own parent, kNoVertex where unreached.
/// @param levels  [num_vertices] by placed number
HostArray<vertex_t> find_parents(ThreadTeam& team, const PlacedGraph& graph, Span<const level_t> levels,
                                 vertex_t placed_source);

/// The same on GPUs. With several processes: the parents of the vertices that belong to PEs of this process.
/// @param levels   [n_pes] device memory of each PE: [count] levels of its vertices
/// @param on_host  with several processes: the levels of all vertices, by placed number
HostArray<vertex_t> find_parents_on_devices(const PlacedGraph& graph, const level_t* const* levels,
                                            vertex_t placed_source, const level_t* on_host = nullptr);

}  // namespace shoal
