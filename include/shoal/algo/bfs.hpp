// Breadth-first search as a task. An item says "v can be reached in so many hops". The owner of v accepts it only if
// that is fewer than before, and the worker that runs it offers one hop more to every neighbour. The search is over
// when no item is left on any PE.
#pragma once
#include <cstdint>

#include "shoal/algo/lowers_word.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

/// The word of a vertex is its level: hops from the source, kUnreached where there is no path yet.
///
/// Where the levels do not fit a GPU's second-level cache, `bytes` has them once more, in a quarter of the space: a byte is a
/// level that the vertex had, which may be greater than its level is now, or kNoByte. So an item that is not lower than the
/// byte is refused by a load from the cache, and all others are judged by the word. A byte is stored after its word was
/// lowered, and two that are stored at the same time may come in either order. Levels that are no bytes are looked up in words.
struct Bfs : LowersWord<level_t> {
  static constexpr std::uint8_t kNoByte = 255;

  CsrView graph;                  ///< this PE's rows
  bool look_first = true;         ///< load before the atomic minimum: fewer atomics, one more latency per hop
  std::uint8_t* bytes = nullptr;  ///< [vertices] of a PE that is alone; or null

  SHOAL_FN bool promising(Item item) const {
    if (bytes == nullptr) return !look_first || LowersWord::promising(item);
    const std::uint8_t byte = load(bytes[item.v]);
    if (byte != kNoByte) return byte > item.word;
    return item.word < kNoByte || LowersWord::promising(item);
  }
  SHOAL_FN bool accept(Item item) const {
    if (!LowersWord::accept(item)) return false;
    if (bytes != nullptr && item.word < kNoByte) store(bytes[item.v], static_cast<std::uint8_t>(item.word));
    return true;
  }
  SHOAL_FN bool stale(Item item) const {
    if (bytes == nullptr) return LowersWord::stale(item);
    const std::uint8_t byte = load(bytes[item.v]);
    if (byte != kNoByte) return byte < item.word;
    return item.word >= kNoByte && LowersWord::stale(item);
  }

  SHOAL_FN Span<const vertex_t> range(Item item) const { return graph.neighbors(item.v); }
  SHOAL_FN Item make(Item item, vertex_t neighbor) const { return {neighbor, item.word + 1}; }

  SHOAL_FN level_t priority(Item item) const { return item.word; }
};

}  // namespace shoal
