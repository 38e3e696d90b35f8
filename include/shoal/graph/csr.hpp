// A graph in compressed sparse row (CSR) form: `Csr` owns a whole graph on the host; `CsrView` is the slice of one PE.
#pragma once
#include <string>

#include "shoal/core/array.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/prefetch.hpp"
#include "shoal/core/span.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// The type of the arcs' weights, as a file or a generator gave it. Breadth-first search does not read weights.
enum class WeightKind { none, int32, float64 };

/// What a reader found among the weights, for reports and messages. An empty text: nothing was found, or nobody checked.
struct WeightRemarks {
  /// Names a weight that does not fit 32 bits. All weights are whole numbers then, up to 2^53, and stored as float64.
  std::string wide;
  /// Names the first edge that has a negative weight, and its place in the file.
  std::string negative;
  /// Says what the file of a graph without weights lacks: "as column 3 is missing".
  std::string missing;
};

/// A whole graph on the host. Rows are sorted by target unless a reader says otherwise.
struct Csr {
  HostArray<arc_t> offsets;     ///< [num_vertices + 1]; offsets[0] = 0, never decreasing, last = num_arcs
  HostArray<vertex_t> targets;  ///< [num_arcs]; each below num_vertices
  WeightKind weight_kind = WeightKind::none;
  HostArray<std::int32_t> int_weights;  ///< [num_arcs] if weight_kind is int32, else empty
  HostArray<double> real_weights;       ///< [num_arcs] if weight_kind is float64, else empty
  WeightRemarks weight_remarks;
  /// Explains the number of vertices if it may surprise someone who knows the file. Empty: nothing to explain.
  std::string vertices_remark;
  bool symmetric = false;  ///< every arc has its reverse, so the lists of in-arcs and out-arcs are the same
  std::string name;        ///< the file or generator, for reports

  std::int64_t num_vertices() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  arc_t num_arcs() const { return offsets.empty() ? 0 : offsets[offsets.size() - 1]; }
  arc_t degree(vertex_t v) const { return offsets[v + 1] - offsets[v]; }
  Span<const vertex_t> neighbors(vertex_t v) const { return {targets.data() + offsets[v], degree(v)}; }
};

/// An arc of a PE's rows: where it leads, and its number there, by which its weight is found (Context::weights).
struct Arc {
  vertex_t target;
  arc_t number;
};
/// The arcs of one vertex, as a task's range() may return them.
struct ArcRange {
  const vertex_t* targets;  ///< of all rows
  arc_t begin;              ///< number of the first arc
  std::int64_t count;

  SHOAL_FN std::int64_t size() const { return count; }
  SHOAL_FN Arc operator[](std::int64_t i) const { return {targets[begin + i], begin + i}; }
};

/// The rows that one PE owns: those of the placed vertices [first, first + count). Their targets are placed numbers, and may
/// be vertices of any PE. Trivially copyable; passed to kernels by value.
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
  /// For a task's locate(): the number of the first arc of v, 0 if `asks` is false.
  SHOAL_FN arc_t locate(bool asks, vertex_t v) const { return asks ? offsets[v - first] : 0; }
  /// For a task's prefetch(): fetches the targets from arc number `begin` on, if `does`.
  SHOAL_FN void prefetch(bool does, arc_t begin) const { prefetch_if(does, targets + begin); }
  SHOAL_FN ArcRange arcs(vertex_t v) const {
    const arc_t begin = offsets[v - first];
    return {targets, begin, offsets[v - first + 1] - begin};
  }
};

}  // namespace shoal
