// Common steps for the rows of one of several processes, whether they were read or generated.
#pragma once
#include <cstdint>
#include <vector>

#include "shoal/graph/csr.hpp"
#include "shoal/graph/weights.hpp"
#include "shoal/placement/host_slice.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {

/// Computes weights from the ends of arcs. Row 0 of `rows` is that of placed vertex `first`. @param source  hash255 or unit
void weigh(Csr& rows, const Partition& partition, vertex_t first, WeightSource source);

/// Appends, for each PE of this process, a view of its part of `rows`, which are the rows of this process.
void add_views(const Csr& rows, const OwnerTable& owner, const ShareOfPes& share, std::vector<CsrView>& views,
               std::vector<ArcWeights>& weights);

/// Counts of the rows of a process's PEs.
struct Measured {
  std::vector<std::uint64_t> arcs;       ///< [PEs of this process]
  std::uint64_t cut = 0, most_arcs = 0;  ///< arcs to vertices of other PEs; the most arcs of a row
};
/// Every process calls it: sets the counts of the whole graph in `placed`, which reports and `auto` use.
void sum_up(PlacedGraph& placed, const ShareOfPes& share, const Measured& mine);
/// The same; counts in rows on the host.
void measure(PlacedGraph& placed, const ShareOfPes& share);

/// Ranges of about equally many arcs, cut between steps of 2^shift vertices.
/// @param arcs  [steps] of the whole graph
OwnerTable cut_equally(const std::vector<std::uint64_t>& arcs, int shift, std::int64_t n, pe_t n_pes);
/// The shift that makes at most 2^16 steps of n vertices.
int shift_of_steps(std::int64_t n);

}  // namespace shoal
