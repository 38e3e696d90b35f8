#include <algorithm>
#include <mutex>
#include <utility>

#include "shoal/core/error.hpp"
#include "shoal/core/parallel.hpp"
#include "shoal/data/io.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {
namespace {

/// The rows of each PE, as views of the whole graph in placed numbers.
std::vector<CsrView> slices_of(const Csr& graph, const OwnerTable& owner) {
  static constexpr arc_t kNoArcs[1] = {0};  // a graph without vertices may have no offsets at all
  std::vector<CsrView> slices;
  for (pe_t p = 0; p < owner.n_pes; ++p) {
    const vertex_t first = owner.begin[p];
    const arc_t* const offsets = graph.offsets.empty() ? kNoArcs : graph.offsets.data() + first;
    slices.push_back({offsets, graph.targets.data(), first, owner.begin[p + 1] - first});
  }
  return slices;
}

/// The weights of each PE. Offsets of host slices count from the first arc of the whole graph, so all PEs have the same pointer.
std::vector<ArcWeights> weights_of(const Csr& graph, pe_t n_pes) {
  if (graph.weight_kind == WeightKind::none) return {};
  const bool real = graph.weight_kind == WeightKind::float64;
  return std::vector<ArcWeights>(
      n_pes, real ? ArcWeights{nullptr, graph.real_weights.data()} : ArcWeights{graph.int_weights.data(), nullptr});
}

template <class T>
void sum_and_largest(const HostArray<T>& weights, double& sum, double& largest) {
  std::mutex mutex;
  parallel_ranges(weights.size(), 1 << 18, [&](std::int64_t begin, std::int64_t end) {
    double part = 0;
    T most = 0;
    for (arc_t a = begin; a < end; ++a) {
      part += static_cast<double>(weights[a]);
      most = std::max(most, weights[a]);
    }
    const std::lock_guard lock(mutex);
    sum += part;
    largest = std::max(largest, static_cast<double>(most));
  });
}

}  // namespace

void describe_weights(const Csr& graph, PlacedGraph& placed) {
  double sum = 0;
  placed.max_weight = 0;
  if (graph.weight_kind == WeightKind::float64) {
    sum_and_largest(graph.real_weights, sum, placed.max_weight);
  } else if (graph.weight_kind == WeightKind::int32) {
    sum_and_largest(graph.int_weights, sum, placed.max_weight);
  }
  placed.mean_weight = graph.num_arcs() > 0 ? sum / static_cast<double>(graph.num_arcs()) : 0;
}

void keep_slices(PlacedGraph& placed, pe_t first_pe, pe_t n_pes) {
  const auto keep = [&](auto& slices) {
    if (slices.empty()) return;
    slices.erase(slices.begin() + first_pe + n_pes, slices.end());
    slices.erase(slices.begin(), slices.begin() + first_pe);
  };
  keep(placed.out);
  keep(placed.in);
  keep(placed.out_weights);
  keep(placed.in_weights);
  placed.first_pe = first_pe;
}

PlacedGraph place_on_threads(std::shared_ptr<const Csr> graph, Partition partition) {
  if (partition.n() != graph->num_vertices() || !partition.identity()) {
    graph = std::make_shared<const Csr>(place(*graph, partition));  // throws if the partition is of another graph
  }
  PlacedGraph placed;
  placed.num_vertices = graph->num_vertices();
  placed.num_arcs = graph->num_arcs();
  placed.symmetric = graph->symmetric;
  for (std::int64_t v = 0; v < placed.num_vertices; ++v) {
    placed.max_degree = std::max(placed.max_degree, graph->degree(static_cast<vertex_t>(v)));
  }
  placed.out = slices_of(*graph, partition.owner);
  placed.in = placed.out;
  placed.out_weights = placed.in_weights = weights_of(*graph, placed.n_pes());
  placed.weight_kind = graph->weight_kind;
  if (!graph->symmetric && placed.num_arcs > 0) {
    const auto reversed = std::make_shared<const Csr>(transpose(*graph));
    placed.in = slices_of(*reversed, partition.owner);
    placed.in_weights = weights_of(*reversed, placed.n_pes());
    placed.keep.push_back(std::const_pointer_cast<Csr>(reversed));
  }
  placed.keep.push_back(std::const_pointer_cast<Csr>(std::move(graph)));
  placed.partition = std::move(partition);
  return placed;
}

PlacedGraph place_on_threads(const Csr& graph, Partition partition) {
  Partition ranges;  // the copy is in placed numbers already, so only the ranges are needed
  ranges.owner = partition.owner;
  PlacedGraph placed = place_on_threads(std::make_shared<const Csr>(place(graph, partition)), std::move(ranges));
  placed.partition = std::move(partition);
  return placed;
}

}  // namespace shoal
