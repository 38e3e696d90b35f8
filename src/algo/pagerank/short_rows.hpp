// What sweeps on CPU threads and on GPUs share about short rows and the largest component
// (docs/decisions/0052-sweeps-on-cpu-threads.md, 0063-sweeps-in-phases.md).
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "shoal/core/types.hpp"

namespace shoal {

inline constexpr arc_t kPageRankShortRow = 8;  ///< rows of up to this many arcs are short: they may be swept more often
/// The least sum of p in the largest component with which it has a c of its own.
inline constexpr double kPageRankLeastTied = 1e-3;

/// Whether it pays to sweep short rows more often: they have some of the arcs, but not many.
inline bool pays_to_sweep_again(arc_t in_short_rows, arc_t arcs) {
  return in_short_rows > arcs / 1024 && in_short_rows < arcs / 4;
}

/// The label that most of the given vertices have; kNoVertex if there are none.
inline vertex_t most_frequent(std::vector<vertex_t> labels) {
  std::sort(labels.begin(), labels.end());
  vertex_t best = kNoVertex;
  std::ptrdiff_t most = 0;
  for (auto first = labels.begin(); first != labels.end();) {
    const auto last = std::upper_bound(first, labels.end(), *first);
    if (last - first > most) most = last - first, best = *first;
    first = last;
  }
  return best;
}

}  // namespace shoal
