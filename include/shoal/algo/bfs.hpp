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
/// level that the vertex had or was offered, which may be greater than its level is now, or kNoByte. So an item that is not lower
/// than the byte is refused by a load from the cache, and all others are judged by the word. A byte is stored after its word was
/// asked, whatever came of it: the word of an own vertex may have been lowered by another PE, which has bytes of its own. Two that
/// are stored at the same time may come in either order. Levels that are no bytes are looked up in words.
struct Bfs : LowersWord<level_t> {
  static constexpr std::uint8_t kNoByte = 255;

  CsrView graph;                  ///< this PE's rows
  bool look_first = true;         ///< load before the atomic minimum: fewer atomics, one more latency per hop
  std::uint8_t* bytes = nullptr;  ///< [vertices] of this PE; or null

  // Either load is one instruction under a condition, with no branch around it: so those of several items, and those of
  // range(), are on their way together. A hop of a road took a load's time longer when stale() branched.
  SHOAL_FN level_t look(bool asks, Item item) const {
    const bool in_bytes = has_byte(item);
    const level_t byte = load_if(asks && look_first && in_bytes, bytes + (in_bytes ? item.v : 0), kNoByte);
    const level_t word = load_if<Scope::system>(asks && look_first && !in_bytes, known + item.v, kUnreached);
    return in_bytes ? byte : word;
  }
  SHOAL_FN bool accepts(Item item, Answer before) const {
    note(item, before);
    return LowersWord::accepts(item, before);
  }
  SHOAL_FN bool worth_sending(Item item, Answer before) const {
    note(item, before);
    return LowersWord::worth_sending(item, before);
  }
  SHOAL_FN bool stale(Item item) const {
    return has_byte(item) ? load(bytes[item.v]) < item.word : LowersWord::stale(item);
  }

  SHOAL_FN Span<const vertex_t> range(Item item) const { return graph.neighbors(item.v); }
  SHOAL_FN Item make(Item item, vertex_t neighbor) const { return {neighbor, item.word + 1}; }

  SHOAL_FN level_t priority(Item item) const { return item.word; }

 private:
  /// After the item was asked for.
  SHOAL_FN void note(Item item, Answer before) const {
    if (has_byte(item)) store(bytes[item.v], static_cast<std::uint8_t>(before < item.word ? before : item.word));
  }
  SHOAL_FN bool has_byte(Item item) const { return bytes != nullptr && item.word < kNoByte; }
};

}  // namespace shoal
