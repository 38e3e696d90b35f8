// A graph spread over PEs: one slice each, in placed numbers.
#pragma once
#include <memory>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/data/csr.hpp"
#include "shoal/pgas/partition.hpp"

namespace shoal {

/// Slices point to host memory for CPU PEs and to each PE's own device memory for GPUs.
struct PlacedGraph {
  Partition partition;
  std::vector<CsrView> out;  ///< [n_pes] rows owned by the PE; targets are placed numbers
  std::vector<CsrView> in;   ///< [n_pes] in-arcs of the same vertices; equal to `out` when the graph is symmetric
  std::vector<int> devices;  ///< [n_pes] CUDA device of each PE; empty for CPU PEs
  bool symmetric = false;
  std::int64_t num_vertices = 0;
  arc_t num_arcs = 0;
  arc_t max_degree = 0;
  std::vector<std::shared_ptr<void>> keep;  ///< owns the memory that the slices point to

  pe_t n_pes() const { return static_cast<pe_t>(out.size()); }
};

/// Places a graph on PEs that are groups of CPU threads: all slices are parts of one copy in placed numbers.
/// @param graph      may be destroyed afterwards; weights stay behind
/// @param partition  of this graph; its n() must be the graph's number of vertices
/// @throws UsageError if the partition is of another graph
PlacedGraph place_on_threads(const Csr& graph, Partition partition);

/// The same without a copy where the partition keeps the input's numbers: the slices then look into `graph`, which the
/// placed graph keeps alive. (A directed graph's in-arcs are always built.)
PlacedGraph place_on_threads(std::shared_ptr<const Csr> graph, Partition partition);

}  // namespace shoal
