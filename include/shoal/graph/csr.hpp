// A graph as compressed sparse rows: `Csr` owns it on the host, `CsrView` is the slice that a PE works on.
#pragma once
#include <string>

#include "shoal/core/array.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/span.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// What a file or generator said about the arcs' weights. Kept as they were; breadth-first search does not look at them.
enum class WeightKind { none, int32, float64 };

/// What a reader found among the weights, for reports and messages. Empty: nothing, or nobody looked.
struct WeightRemarks {
  /// Which whole weight is beyond 32 bits; then all weights are whole, up to 2^53, and kept as float64.
  std::string wide;
  /// Which edge is the first with a negative weight, and where it stands.
  std::string negative;
};

/// A whole graph on the host. Rows are sorted by target unless a reader says otherwise.
struct Csr {
  HostArray<arc_t> offsets;     ///< [num_vertices + 1]; offsets[0] = 0, never decreasing, last = num_arcs
  HostArray<vertex_t> targets;  ///< [num_arcs]; each below num_vertices
  WeightKind weight_kind = WeightKind::none;
  HostArray<std::int32_t> int_weights;  ///< [num_arcs] if weight_kind is int32, else empty
  HostArray<double> real_weights;       ///< [num_arcs] if weight_kind is float64, else empty
  WeightRemarks weight_remarks;
  /// Why there are as many vertices as there are, where a reader of the file may wonder. Empty: nothing to say.
  std::string vertices_remark;
  bool symmetric = false;  ///< every arc has its reverse: in-arcs and out-arcs are the same lists
  std::string name;        ///< the file or generator, for reports

  std::int64_t num_vertices() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  arc_t num_arcs() const { return offsets.empty() ? 0 : offsets[offsets.size() - 1]; }
  arc_t degree(vertex_t v) const { return offsets[v + 1] - offsets[v]; }
  Span<const vertex_t> neighbors(vertex_t v) const { return {targets.data() + offsets[v], degree(v)}; }
};

/// The rows that one PE owns: the vertices [first, first + count) of the placed graph, whose targets are placed numbers
/// of any PE. Trivially copyable; passes into kernels by value.
struct CsrView {
  const arc_t* offsets = nullptr;     ///< [count + 1], relative to `targets`
  const vertex_t* targets = nullptr;  ///< placed vertex numbers
  vertex_t first = 0;
  vertex_t count = 0;

  SHOAL_FN vertex_t local(vertex_t v) const { return v - first; }
  SHOAL_FN bool owns(vertex_t v) const { return v - first < count; }
  SHOAL_FN Span<const vertex_t> neighbors(vertex_t v) const {
    const arc_t begin = offsets[v - first];
    return {targets + begin, offsets[v - first + 1] - begin};
  }
};

}  // namespace shoal
