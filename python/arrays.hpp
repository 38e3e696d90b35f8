// The NumPy arrays that graphs are made from. All are copied, so a program that changes its arrays later does not change the graph.
#pragma once
#include <nanobind/stl/optional.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "core/memory.hpp"
#include "data/formats.hpp"
#include "data/formats/arc_lines.hpp"
#include "module.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/parallel.hpp"
#include "shoal/core/span.hpp"
#include "shoal/core/text.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/graph/graph_size.hpp"

namespace shoal::python {

inline constexpr std::int64_t kCopyGrain = 1 << 18;  ///< entries that a thread copies as one piece of work

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Weights = std::optional<Input<T>>;

/// At most one of the arrays is present: the Python side has checked this.
inline WeightKind kind_of(const Weights<std::int32_t>& whole, const Weights<double>& real) {
  return whole ? WeightKind::int32 : real ? WeightKind::float64 : WeightKind::none;
}

/// @throws UsageError  a weight is not finite; the message names it
template <class T>
void check_finite(Span<const T> weights) {
  if constexpr (std::is_floating_point_v<T>) {
    parallel_ranges(weights.size(), kCopyGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (std::isfinite(weights[i])) continue;
        throw UsageError("weights[" + std::to_string(i) + "] is " + exact(weights[i]) + "; weights are finite numbers");
      }
    });
  }
}

/// @throws CapacityError  with the same message and the same estimate as the readers of files
inline void require_room(const std::string& name, std::int64_t vertices, std::int64_t arcs, WeightKind kind,
                         bool undirected) {
  io::Source source;
  source.name = name;
  source.memory_bytes = available_memory();
  const GraphSize size{vertices, undirected ? 2 * arcs : arcs, kind, undirected};
  source.require_room(size, io::peak_bytes(vertices, arcs, kind, undirected));
}

/// @throws UsageError  the caller said that the graph is symmetric, and it is not
inline void mark_symmetric(Csr& graph) {
  if (!is_symmetric(graph)) {
    throw UsageError("symmetric=True, but some arc has no reverse" +
                     std::string(graph.weight_kind == WeightKind::none ? "" : " of the same weight") +
                     "; leave it out for a directed graph");
  }
  graph.symmetric = true;
}

}  // namespace shoal::python
