#include <algorithm>
#include <utility>

#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/pgas/placed_graph.hpp"

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

}  // namespace

PlacedGraph place_on_threads(std::shared_ptr<const Csr> graph, Partition partition) {
  if (partition.n() != graph->num_vertices() || !partition.identity()) {
    graph = std::make_shared<const Csr>(place(*graph, partition));  // refuses the partition of another graph
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
  if (!graph->symmetric && placed.num_arcs > 0) {
    const auto reversed = std::make_shared<const Csr>(transpose(*graph));
    placed.in = slices_of(*reversed, partition.owner);
    placed.keep.push_back(std::const_pointer_cast<Csr>(reversed));
  }
  placed.keep.push_back(std::const_pointer_cast<Csr>(std::move(graph)));
  placed.partition = std::move(partition);
  return placed;
}

PlacedGraph place_on_threads(const Csr& graph, Partition partition) {
  Partition ranges;  // what is left to do once the copy is in placed numbers
  ranges.owner = partition.owner;
  PlacedGraph placed = place_on_threads(std::make_shared<const Csr>(place(graph, partition)), std::move(ranges));
  placed.partition = std::move(partition);
  return placed;
}

}  // namespace shoal
