#include "joined_labels.hpp"

#include <algorithm>
#include <cstdint>

#include "algo/engine.hpp"
#include "union_find.hpp"

namespace shoal {

HostArray<vertex_t> joined_labels(World& world, const PlacedGraph& graph) {
  UnionFind sets(graph.num_vertices);
  for (const CsrView& rows : graph.out) {
    for (vertex_t v = rows.first; v < rows.first + rows.count; ++v) {
      for (const vertex_t u : rows.neighbors(v)) sets.unite(v, u);
    }
  }
  HostArray<vertex_t> labels(graph.num_vertices);
  for (const CsrView& rows : graph.out) std::fill_n(labels.data() + rows.first, rows.count, kNoVertex);
  for (bool changed = true; changed;) {
    std::int64_t mine = 0;  // own vertices whose labels changed
    for (const CsrView& rows : graph.out) {
      for (vertex_t v = rows.first; v < rows.first + rows.count; ++v) {
        const vertex_t label = sets.find(v);
        mine += label != labels[v];
        labels[v] = label;
      }
    }
    complete(&world, graph, labels.data(), sizeof(vertex_t));
    for (vertex_t v = 0; v < graph.num_vertices; ++v) sets.unite(v, labels[v]);
    changed = false;
    for (const std::int64_t its : of_processes(&world, mine)) changed |= its > 0;
  }
  return labels;
}

}  // namespace shoal
