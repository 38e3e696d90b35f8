// Breadth-first search as a task. An item says "v can be reached in this many hops". The owner of v accepts it only if this
// is fewer than before. The worker that runs the item offers one hop more to every neighbour. The search is over when no item
// is left on any PE.
#pragma once
#include <cstdint>

#include "shoal/algo/lowers_word.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

/// The word of a vertex is its level: hops from the source, or kUnreached if no path has been found yet.
///
/// If the levels do not fit a GPU's L2 cache, `bytes` holds them a second time, in a quarter of the space. A byte is kNoByte, or
/// a level that the vertex had or was offered; it may be greater than the current level. So a load from the cache is enough to
/// refuse an item that is not lower than the byte. All other items are judged by the word. The byte is stored after every ask
/// of the word, even if the item is refused: another PE may have lowered the word, and it does not write the bytes of this PE.
/// Two stores at the same time may take effect in either order. Levels that do not fit a byte are compared with the words.
struct Bfs : LowersWord<level_t> {
  static constexpr bool kRefusesMost = true;  ///< most arcs lead to vertices that were reached before
  static constexpr std::uint8_t kNoByte = 255;

  CsrView graph;                  ///< this PE's rows
  bool look_first = true;         ///< load before the atomic minimum: fewer atomics, but one more load latency per hop
  std::uint8_t* bytes = nullptr;  ///< [vertices] copies of this PE; or null

  /// A lane looks at bytes if all of its items have one, and otherwise at words.
  using Look = level_t;
  template <lane_t kSome>
  SHOAL_FN void look(const bool (&asks)[kSome], const Item (&item)[kSome], Look (&found)[kSome]) const {
    bool in_bytes = true;
    for (lane_t k = 0; k < kSome; ++k) in_bytes = in_bytes && has_byte(item[k]);
    if (in_bytes) {
      for (lane_t k = 0; k < kSome; ++k) found[k] = load_if(asks[k], bytes + item[k].v, std::uint8_t{0});
    } else if (look_first) {
      for (lane_t k = 0; k < kSome; ++k) found[k] = load_if<Scope::system>(asks[k], known + item[k].v, level_t{0});
    } else {
      for (lane_t k = 0; k < kSome; ++k) found[k] = kUnreached;
    }
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
  /// Stores the byte of the item's vertex, after ask() has returned `before`.
  SHOAL_FN void note(Item item, Answer before) const {
    if (has_byte(item)) store(bytes[item.v], static_cast<std::uint8_t>(before < item.word ? before : item.word));
  }
  SHOAL_FN bool has_byte(Item item) const { return bytes != nullptr && item.word < kNoByte; }
};

}  // namespace shoal
