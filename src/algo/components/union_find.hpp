// Disjoint sets of vertices.
#pragma once
#include <cstdint>
#include <vector>

#include "shoal/core/types.hpp"

namespace shoal {

/// Disjoint sets of [0, n), serial: the smallest member represents a set. find() halves the path.
class UnionFind {
 public:
  explicit UnionFind(std::int64_t n) : parent_(static_cast<std::size_t>(n)) {
    for (std::int64_t v = 0; v < n; ++v) parent_[v] = static_cast<vertex_t>(v);
  }
  vertex_t find(vertex_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void unite(vertex_t u, vertex_t v) {
    if (parent_[u] == parent_[v]) return;  // spares most calls two walks to the root
    u = find(u), v = find(v);
    parent_[u < v ? v : u] = u < v ? u : v;
  }

 private:
  std::vector<vertex_t> parent_;
};

}  // namespace shoal
