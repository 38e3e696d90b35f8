// Weights of arcs: those of the file, or computed from the arcs' ends, so that every graph can be given some.
#pragma once
#include <cstdint>
#include <string>

#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

enum class WeightSource {
  file,     ///< as they were read
  hash255,  ///< 1 to 255, from the arc's two ends alone; see hash255()
  unit,     ///< 1 each
};
const char* name(WeightSource);
/// The inverse of name(). @throws UsageError naming the text and the legal values
WeightSource parse_weights(const std::string& text);

/// 2^53: up to here every whole number is a float64, so that whole weights beyond 32 bits are exact, and sums below it.
inline constexpr std::int64_t kMostWholeWeight = std::int64_t{1} << 53;

/// The weight of an arc between u and v in the input's numbers: 1 + (((2654435761 a) xor (40503 b)) mod 2^32) mod 255 with a
/// the smaller and b the larger end. So u -> v and v -> u weigh the same, in directed and in undirected graphs.
SHOAL_FN inline std::int32_t hash255(vertex_t u, vertex_t v) {
  const std::uint64_t a = u < v ? u : v, b = u < v ? v : u;
  return static_cast<std::int32_t>(1 + (((a * 2654435761u) ^ (b * 40503u)) & 0xFFFFFFFFu) % 255);
}

/// The graph with weights from `source`. Offsets and targets (and with `file` the weights) are borrowed: `graph` must
/// outlive the result. All threads.
/// @throws UsageError  `file`, but the graph has no weights; or a weight is negative, infinite or not a number (names the
///                     first such edge and its weight)
Csr with_weights(const Csr& graph, WeightSource source);

}  // namespace shoal
