// One step of PageRank in float64, straight from the placed graph: what a result is checked with.
#pragma once
#include "reference.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/world/machine.hpp"

namespace shoal {

class World;

/// Adds what was found in other rows, of which the worst is the one that is farthest off.
void add_rows(PageRankCheck& sum, const PageRankCheck& part);

/// Every process. Vertices in the check are placed numbers.
/// @param ranks, personal  [num_vertices] of host memory, by placed number; personal null: uniform
PageRankCheck check_pagerank_on_threads(const Machine& machine, const PlacedGraph& graph, const double* ranks,
                                        double alpha, const double* personal);
/// @param world  null: this process has all PEs
PageRankCheck check_pagerank_on_devices(const PlacedGraph& graph, const double* ranks, double alpha,
                                        const double* personal, World* world = nullptr);

}  // namespace shoal
