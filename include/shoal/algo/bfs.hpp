// Breadth-first search as a task. An item says "v can be reached in so many hops". The owner of v accepts it only if
// that is fewer than before, and the worker that runs it offers one hop more to every neighbour. The search is over
// when no item is left on any PE.
#pragma once
#include "shoal/algo/lowers_word.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

/// The word of a vertex is its level: hops from the source, kUnreached where there is no path yet.
struct Bfs : LowersWord<level_t> {
  CsrView graph;           ///< this PE's rows
  bool look_first = true;  ///< load before the atomic minimum: fewer atomics, one more latency per hop

  SHOAL_FN bool promising(Item item) const { return !look_first || LowersWord::promising(item); }

  SHOAL_FN Span<const vertex_t> range(Item item) const { return graph.neighbors(item.v); }
  SHOAL_FN Item make(Item item, vertex_t neighbor) const { return {neighbor, item.word + 1}; }

  SHOAL_FN level_t priority(Item item) const { return item.word; }
};

}  // namespace shoal
