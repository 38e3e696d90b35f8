// The tree of a search, from its levels, whichever engine found them: of each vertex the smallest input number among the
// in-neighbours one level up, so that it does not depend on PEs or partition.
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

/// The same on GPUs; of several processes, parents of the vertices that belong to PEs of this one.
/// @param levels   [n_pes] device memory of each PE: [count] levels of its vertices
/// @param on_host  of several processes: the levels of all vertices, by placed number
HostArray<vertex_t> find_parents_on_devices(const PlacedGraph& graph, const level_t* const* levels,
                                            vertex_t placed_source, const level_t* on_host = nullptr);

}  // namespace shoal
