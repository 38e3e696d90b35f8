// The size of a graph, to compute how much memory it needs. A file's header or a generator gives it before the graph exists.
#pragma once
#include <cstdint>

#include "shoal/core/types.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

struct GraphSize {
  std::int64_t vertices = 0;
  std::int64_t arcs = 0;
  WeightKind weight_kind = WeightKind::none;
  bool symmetric = true;  ///< every arc has its reverse, or this is not known yet
};

inline GraphSize size_of(const Csr& graph) {
  return {graph.num_vertices(), graph.num_arcs(), graph.weight_kind, graph.symmetric};
}

/// Bytes of a weight.
inline std::int64_t bytes_of(WeightKind kind) {
  return kind == WeightKind::none ? 0 : kind == WeightKind::int32 ? 4 : 8;
}

/// Bytes of the graph's arrays.
inline std::int64_t csr_bytes(const GraphSize& size) {
  return (size.vertices + 1) * static_cast<std::int64_t>(sizeof(arc_t)) +
         size.arcs * (static_cast<std::int64_t>(sizeof(vertex_t)) + bytes_of(size.weight_kind));
}

}  // namespace shoal
