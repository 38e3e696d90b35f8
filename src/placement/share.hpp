// What is done with the rows of one of several processes, wherever they come from.
#pragma once
#include <cstdint>
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

/// What a process counts in the rows of its PEs.
struct Measured {
  std::vector<std::uint64_t> arcs;       ///< [PEs of this process]
  std::uint64_t cut = 0, most_arcs = 0;  ///< arcs to vertices of other PEs; in one row
};
/// Every process: sums and largest numbers that a report and `auto` want of the whole graph.
void sum_up(PlacedGraph& placed, const ShareOfPes& share, const Measured& mine);
/// The same, of rows on the host.
void measure(PlacedGraph& placed, const ShareOfPes& share);

/// Ranges of about equal arcs, cut between steps of 2^shift vertices.
/// @param arcs  of each step, of the whole graph
OwnerTable cut_equally(const std::vector<std::uint64_t>& arcs, int shift, std::int64_t n, pe_t n_pes);
/// The shift for n vertices.
int shift_of_steps(std::int64_t n);

}  // namespace shoal
