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

}  // namespace shoal
