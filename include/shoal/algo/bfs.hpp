// Breadth-first search as a task. An item says "v can be reached in this many hops". The owner of v accepts it only if this
// is fewer than before. The worker that runs the item offers one hop more to every neighbour. The search is over when no item
// is left on any PE.
#pragma once
#include <cstdint>

#include "shoal/algo/lowers_word.hpp"
#include "shoal/core/byte_vector.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/worklist/kernel_set.hpp"

namespace shoal {

/// The word of a vertex is its level: hops from the source, or kUnreached if no path has been found yet.
///
/// If the levels do not fit a GPU's L2 cache, `bytes` holds them a second time, in a quarter of the space. A byte is kNoByte, or
/// a level that the vertex had or was offered; it may be greater than the current level. So a load from the cache is enough to
/// refuse an item that is not lower than the byte. All other items are judged by the word. The byte is stored after every ask
/// of the word, even if the item is refused: another PE may have lowered the word, and it does not write the bytes of this PE.
/// Two stores at the same time may take effect in either order. Levels that do not fit a byte are compared with the words.
///
/// For a vertex of another PE, the byte is the lowest level that this PE has offered. refresh() lowers it to the byte that the owner
/// has. Otherwise a PE would offer nearly every vertex that it has an arc to, long after the owner has reached it by arcs of its own.
struct Bfs : LowersWord<level_t> {
  static constexpr bool kRefusesMost = true;  ///< most arcs lead to vertices that were reached before
  static constexpr std::uint8_t kNoByte = 255;
  /// Rounds are what Atos is fastest with on skewed graphs, so they are compared with its times.
  static constexpr KernelSet kVariants = kAutoKernels | KernelSet::of(WorkerKind::warp, KernelKind::discrete) |
                                         KernelSet::of(WorkerKind::block, KernelKind::discrete);

  CsrView graph;                  ///< this PE's rows
  bool look_first = true;         ///< load before the atomic minimum: fewer atomics, but one more load latency per hop
  std::uint8_t* bytes = nullptr;  ///< [vertices] copies of this PE, aligned to 16 bytes; or null
  Symmetric<const std::uint8_t> all_bytes = {};  ///< `bytes` of every PE; null: the PE is out of reach

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

  /// Learns what the owners of other PEs' vertices know: lowers some bytes to theirs. If another lane lowers such a byte at the same
  /// time, that may be lost, and an item may be sent twice.
  template <class W>
  SHOAL_FN void refresh(const W& w, pe_t me, std::uint32_t part) const {
    if (bytes == nullptr) return;
    // Only vectors of bytes that all belong to one other PE: those that end before this PE's own, and those that begin after them.
    constexpr vertex_t kBytes = ByteVector::kBytes;
    constexpr lane_t kSome = 4;
    const vertex_t before = owners.begin[me] / kBytes, after = (owners.begin[me + 1] + kBytes - 1) / kBytes;
    const vertex_t end = owners.begin[owners.n_pes] / kBytes;
    const vertex_t vectors = before + (end > after ? end - after : 0);
    if (vectors == 0) return;
    const vertex_t of_part = kSome * w.size(), parts = (vectors + of_part - 1) / of_part;
    vertex_t v[kSome];
    bool has[kSome];
    ByteVector mine[kSome], theirs[kSome];
    for (lane_t k = 0; k < kSome; ++k) {
      const vertex_t i = part % parts * of_part + k * w.size() + w.lane();
      has[k] = i < vectors;
      v[k] = !has[k] ? 0 : (i < before ? i : i - before + after) * kBytes;
      const pe_t pe = owners(v[k]);
      const std::uint8_t* const from = all_bytes.part[pe];
      has[k] = has[k] && from != nullptr && owners(v[k] + kBytes - 1) == pe;
      // No load is under a branch: a lane without a vector loads its own PE's first one twice.
      theirs[k] = load_vector<Scope::system>((has[k] ? from : bytes) + v[k]);
      mine[k] = load_vector(bytes + v[k]);
    }
    w.keep_in_flight();
    for (lane_t k = 0; k < kSome; ++k) {
      if (has[k] && lower_each(mine[k], theirs[k])) store_vector(bytes + v[k], mine[k]);
    }
  }

  SHOAL_FN Span<const vertex_t> range(Item item) const { return graph.neighbors(item.v); }
  SHOAL_FN Item make(Item item, vertex_t neighbor) const { return {neighbor, item.word + 1}; }

  SHOAL_FN arc_t locate(bool asks, Item item) const { return graph.locate(asks, item.v); }
  SHOAL_FN void prefetch(bool accepted, Item, arc_t begin) const { graph.prefetch(accepted, begin); }

  SHOAL_FN level_t priority(Item item) const { return item.word; }

 private:
  /// Stores the byte of the item's vertex, after ask() has returned `before`.
  SHOAL_FN void note(Item item, Answer before) const {
    if (has_byte(item)) store(bytes[item.v], static_cast<std::uint8_t>(before < item.word ? before : item.word));
  }
  SHOAL_FN bool has_byte(Item item) const { return bytes != nullptr && item.word < kNoByte; }
};

}  // namespace shoal
