#include <string>
#include <utility>

#include "shoal/placement/device_graph.hpp"

namespace shoal {

Csr fetch_graph(const PlacedGraph& placed, bool input_numbers) {
  Csr graph;
  graph.symmetric = placed.symmetric;
  graph.offsets = HostArray<arc_t>(placed.num_vertices + 1);
  graph.targets = HostArray<vertex_t>(placed.num_arcs);
  graph.weight_kind = placed.weight_kind;
  if (placed.weight_kind == WeightKind::int32) graph.int_weights = HostArray<std::int32_t>(placed.num_arcs);
  if (placed.weight_kind == WeightKind::float64) graph.real_weights = HostArray<double>(placed.num_arcs);
  arc_t done = 0;
  graph.offsets[0] = 0;
  for (pe_t p = 0; p < placed.n_pes(); ++p) {
    const CsrView& slice = placed.out[p];
    arc_t* const offsets = graph.offsets.data() + slice.first;
    copy_to_host(offsets, slice.offsets, (static_cast<std::size_t>(slice.count) + 1) * sizeof(arc_t));
    const arc_t first = offsets[0], arcs = offsets[slice.count] - first;
    copy_to_host(graph.targets.data() + done, slice.targets + first, static_cast<std::size_t>(arcs) * sizeof(vertex_t));
    const auto copy_weights = [&](auto* to, const auto* from) {
      copy_to_host(to + done, from + first, static_cast<std::size_t>(arcs) * sizeof(*to));
    };
    if (!graph.int_weights.empty()) copy_weights(graph.int_weights.data(), placed.out_weights[p].ints);
    if (!graph.real_weights.empty()) copy_weights(graph.real_weights.data(), placed.out_weights[p].reals);
    for (vertex_t v = 0; v <= slice.count; ++v) offsets[v] += done - first;
    done += arcs;
  }
  const Partition& partition = placed.partition;
  if (!input_numbers || partition.identity()) return graph;
  // The inverse of the placement is used as a placement. It borrows the tables of `partition`.
  Partition inverse;
  inverse.owner = partition.owner;
  const auto borrow = [](const HostArray<vertex_t>& from) {
    return HostArray<vertex_t>(const_cast<vertex_t*>(from.data()), from.size(), nullptr);
  };
  inverse.placed_of_input = borrow(partition.input_of_placed);
  inverse.input_of_placed = borrow(partition.placed_of_input);
  return place(graph, inverse);
}

}  // namespace shoal
