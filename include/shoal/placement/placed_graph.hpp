// A graph that is distributed over PEs. Each PE has one slice. Vertices have placed numbers: each PE owns one contiguous
// range of them.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/placement/partition.hpp"

namespace shoal {

/// The weights of a slice's arcs: entry k is the weight of the arc at the slice's targets[k]. At most one of the two pointers
/// is not null. Trivially copyable; passed to kernels by value.
struct ArcWeights {
  const std::int32_t* ints = nullptr;
  const double* reals = nullptr;
};

/// Slices point to host memory for CPU PEs, and to each PE's own device memory for GPUs. Only the PEs of this process have
/// slices here. The counts of vertices and arcs are those of the whole graph.
struct PlacedGraph {
  Partition partition;       ///< over the PEs of all processes
  pe_t first_pe = 0;         ///< the PE that owns out[0], counted over all processes
  std::vector<CsrView> out;  ///< [n_pes] rows owned by the PE; targets are placed numbers
  std::vector<CsrView> in;   ///< [n_pes] in-arcs of the same vertices; equal to `out` when the graph is symmetric
  std::vector<int> devices;  ///< [n_pes] CUDA device of each PE; empty for CPU PEs
  bool symmetric = false;    ///< each arc has its reverse, with the same weight if there are weights
  std::int64_t num_vertices = 0;
  arc_t num_arcs = 0;
  arc_t max_degree = 0;
  /// GPUs: how many levels breadth-first searches from a few vertices need, in the median, to reach 2,048 vertices. Some 5 to 11 in
  /// random graphs, 32 or more in a grid; 0: hardly any reaches so many, or not known.
  int sample_levels = 0;
  WeightKind weight_kind = WeightKind::none;  ///< type of the weights that were placed
  std::vector<ArcWeights> out_weights;        ///< [n_pes] weights of `out`; empty without weights
  std::vector<ArcWeights> in_weights;         ///< [n_pes] weights of `in`; empty without weights
  double mean_weight = 0, max_weight = 0;     ///< over all arcs; 0 before describe_weights()
  std::vector<std::shared_ptr<void>> keep;    ///< owns the memory that the slices point to

  /// Whether a search from a vertex reaches its neighbourhood slowly, as in road networks and meshes.
  bool has_long_paths() const { return sample_levels >= 20; }
  pe_t n_pes() const { return static_cast<pe_t>(out.size()); }  ///< PEs of this process
  pe_t all_pes() const { return partition.owner.n_pes; }
};

/// Places a graph on PEs that are groups of CPU threads: all slices are parts of one copy in placed numbers.
/// @param graph      may be destroyed afterwards; its weights, if it has any, are placed as well
/// @param partition  of this graph; its n() must be the graph's number of vertices
/// @throws UsageError if the partition is of another graph
PlacedGraph place_on_threads(const Csr& graph, Partition partition);

/// The same, but without a copy if the partition keeps the input's numbers: the slices then point into `graph`, which the
/// placed graph keeps alive. (The in-arcs of a directed graph are always built anew.)
PlacedGraph place_on_threads(std::shared_ptr<const Csr> graph, Partition partition);

/// Keeps only the slices of the PEs [first_pe, first_pe + n_pes): those of one of several processes. Does not free the memory
/// of the other slices.
void keep_slices(PlacedGraph& placed, pe_t first_pe, pe_t n_pes);

/// Sets mean_weight and max_weight of `placed` from the weights of the graph from which it was made. Uses all threads.
void describe_weights(const Csr& graph, PlacedGraph& placed);

}  // namespace shoal
