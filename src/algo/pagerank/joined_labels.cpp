#include "joined_labels.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "algo/engine.hpp"

namespace shoal {
namespace {

/// A forest of vertices. A vertex's parent is a smaller vertex or itself, so a root is the smallest vertex of its tree.
class Forest {
 public:
  explicit Forest(std::int64_t n) : parent_(n) { std::iota(parent_.data(), parent_.data() + n, vertex_t{0}); }

  vertex_t root(vertex_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void unite(vertex_t a, vertex_t b) {
    if (parent_[a] == parent_[b]) return;
    a = root(a);
    b = root(b);
    parent_[a > b ? a : b] = a < b ? a : b;
  }

 private:
  HostArray<vertex_t> parent_;
};

}  // namespace

HostArray<vertex_t> joined_labels(World& world, const PlacedGraph& graph) {
  Forest forest(graph.num_vertices);
  for (const CsrView& rows : graph.out) {
    for (vertex_t v = rows.first; v < rows.first + rows.count; ++v) {
      for (const vertex_t u : rows.neighbors(v)) forest.unite(v, u);
    }
  }
  HostArray<vertex_t> labels(graph.num_vertices);
  for (const CsrView& rows : graph.out) std::fill_n(labels.data() + rows.first, rows.count, kNoVertex);
  for (bool changed = true; changed;) {
    std::int64_t mine = 0;  // roots that changed
    for (const CsrView& rows : graph.out) {
      for (vertex_t v = rows.first; v < rows.first + rows.count; ++v) {
        const vertex_t root = forest.root(v);
        mine += root != labels[v];
        labels[v] = root;
      }
    }
    complete(&world, graph, labels.data(), sizeof(vertex_t));
    for (vertex_t v = 0; v < graph.num_vertices; ++v) forest.unite(v, labels[v]);
    changed = false;
    for (const std::int64_t its : of_processes(&world, mine)) changed |= its > 0;
  }
  return labels;
}

}  // namespace shoal
