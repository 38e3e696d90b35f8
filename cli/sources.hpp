// Where searches start: at one vertex, at random vertices with out-arcs, or at the vertex with most out-arcs.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shoal/core/types.hpp"

namespace shoal::cli {

/// A parsed `--source`.
struct SourceChoice {
  enum class Kind { vertex, random, max_degree } kind = Kind::random;
  std::int64_t number = 0;  ///< the vertex, or how many random ones (0: one per trial)

  /// `N`, `random`, `random:K`, `max-degree`. @throws UsageError naming the text and the legal forms
  static SourceChoice parse(const std::string& text);
};

/// The sources of all trials: trial i starts at result[i mod result.size()]. The same graph, choice and seed give the same
/// sources everywhere.
/// @throws UsageError if the vertex is not in the graph, or no vertex has an out-arc and random ones were asked for
std::vector<vertex_t> choose_sources(const SourceChoice& choice, int trials, std::uint64_t seed,
                                     std::int64_t num_vertices, arc_t num_arcs,
                                     const std::function<arc_t(vertex_t)>& degree);

}  // namespace shoal::cli
