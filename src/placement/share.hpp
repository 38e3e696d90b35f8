// What is done with the rows of one of several processes, wherever they come from.
#pragma once
#include <vector>

#include "shoal/graph/csr.hpp"
#include "shoal/graph/weights.hpp"
#include "shoal/placement/host_slice.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {

/// Gives rows from placed vertex `first` on weights of their ends.
void weigh(Csr& rows, const Partition& partition, vertex_t first, WeightSource source);

/// The rows of each PE here, as views of the rows of this process.
void add_views(const Csr& rows, const OwnerTable& owner, const ShareOfPes& share, std::vector<CsrView>& views,
               std::vector<ArcWeights>& weights);

/// Every process: sums and largest numbers that a report and `auto` want of the whole graph.
void measure(PlacedGraph& placed, const ShareOfPes& share);

}  // namespace shoal
