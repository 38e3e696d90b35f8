// One step of PageRank in float64, computed directly from the placed graph, with which a result is checked.
#pragma once
#include "reference.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/world/machine.hpp"

namespace shoal {

class World;

/// Adds the findings for other rows; the worst vertex is the one with the larger difference.
void add_rows(PageRankCheck& sum, const PageRankCheck& part);

/// Called by every process. Vertices in the check are placed numbers.
/// @param ranks, personal  [num_vertices] of host memory, by placed number; personal may be null: uniform
PageRankCheck check_pagerank_on_threads(const Machine& machine, const PlacedGraph& graph, const double* ranks,
                                        double alpha, const double* personal);
/// @param world  null: this process has all PEs
PageRankCheck check_pagerank_on_devices(const PlacedGraph& graph, const double* ranks, double alpha,
                                        const double* personal, World* world = nullptr);

}  // namespace shoal
