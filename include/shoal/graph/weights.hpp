// Weights of arcs: read from the file, or computed from the arcs' ends, so that any graph can have weights.
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

/// 2^53: every whole number up to this has an exact float64. So whole weights beyond 32 bits are exact, and so are sums below
/// this limit.
inline constexpr std::int64_t kMostWholeWeight = std::int64_t{1} << 53;

/// The weight of an arc between the input vertices u and v: 1 + (((2654435761 a) xor (40503 b)) mod 2^32) mod 255, where a is
/// the smaller and b the larger of the two. So u -> v and v -> u have the same weight, in directed and in undirected graphs.
SHOAL_FN inline std::int32_t hash255(vertex_t u, vertex_t v) {
  const std::uint64_t a = u < v ? u : v, b = u < v ? v : u;
  return static_cast<std::int32_t>(1 + (((a * 2654435761u) ^ (b * 40503u)) & 0xFFFFFFFFu) % 255);
}

/// The graph with weights from `source`. The result borrows offsets and targets of `graph` (and its weights if `source` is
/// `file`), so `graph` must outlive it. Uses all threads.
/// @throws UsageError  `source` is `file`, but the graph has no weights, or one is negative, infinite or not a number (names
///                     the first such edge and its weight)
Csr with_weights(const Csr& graph, WeightSource source);

}  // namespace shoal
