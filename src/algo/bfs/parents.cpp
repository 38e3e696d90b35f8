#include "parents.hpp"

#include <algorithm>

#include "algo/own_vertices.hpp"

namespace shoal {

HostArray<vertex_t> find_parents(ThreadTeam& team, const PlacedGraph& graph, Span<const level_t> levels,
                                 vertex_t source) {
  HostArray<vertex_t> parents(graph.num_vertices);
  for_shares(team, graph, [&](pe_t pe, int, vertex_t begin, vertex_t end) {
    for (vertex_t v = begin; v < end; ++v) {
      vertex_t smallest = kNoVertex;
      if (v == source) {
        smallest = graph.partition.input(v);
      } else if (levels[v] != kUnreached) {
        for (const vertex_t u : graph.in[pe].neighbors(v)) {
          if (levels[u] + 1 == levels[v]) smallest = std::min(smallest, graph.partition.input(u));
        }
      }
      parents[v] = smallest;
    }
  });
  return parents;
}

}  // namespace shoal
