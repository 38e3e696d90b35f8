// Spill: the overflow for items that find no free slot in a ring or no credit in a channel. Each worker has its own list,
// so no worker waits for another. The lists consist of chunks from one pool per PE, in the PE's own memory.
//
// A worker that has spilled runs or sends its own items before it goes idle. That is why bounded rings cannot deadlock
// (models/backpressure.pml). If the pool is empty the run ends with CapacityError; nothing is overwritten.
#pragma once
#include "shoal/queue/slot_ring.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal {

inline constexpr std::uint32_t kNoChunk = 0xFFFFFFFFu;

/// One worker's list of chunks. Each lane has a copy, and all copies are equal; kept in memory between two runs, and on CPUs also
/// between two rounds.
struct SpillList {
  std::uint32_t top = kNoChunk;  ///< the newest chunk; an empty list may keep one chunk
  lane_t in_top = 0;             ///< items in that chunk; 0: the list is empty

  SHOAL_FN bool empty() const { return in_top == 0; }
  SHOAL_FN bool keeps_chunk() const { return empty() && top != kNoChunk; }
};

/// View of a PE's pool; trivially copyable.
template <class T>
struct SpillPool {
  T* chunks = nullptr;            ///< [number of chunks * chunk_items]
  std::uint32_t* next = nullptr;  ///< [number of chunks] the next older chunk of each chunk's list
  lane_t chunk_items = 0;         ///< items of a chunk: LaunchPlan::chunk_items
  SlotRing<std::uint32_t> free;   ///< the numbers of the free chunks; can hold those of all chunks
  SpillList* lists = nullptr;     ///< [workers]

  /// [chunk_items] the items of chunk `i`.
  SHOAL_FN T* items(std::uint32_t i) const { return chunks + std::size_t{i} * chunk_items; }

  /// Worker-collective. Appends the items of the lanes with `has`. False: the pool is empty, and some items were not stored.
  template <Worker W>
  SHOAL_FN bool push(const W& w, SpillList& list, bool has, const T& item, const StateWord& state) const {
    const Scan scan = w.count_before(has);
    lane_t placed = 0;
    while (placed < scan.total) {
      if (list.top == kNoChunk || list.in_top == chunk_items) {
        std::uint32_t fresh = kNoChunk;
        if (w.lane() == 0) fresh = allocate(list.top, state);
        fresh = w.from_leader(fresh);
        if (fresh == kNoChunk) return false;
        list.top = fresh;
        list.in_top = 0;
      }
      const lane_t space = chunk_items - list.in_top, left = scan.total - placed;
      const lane_t now = space < left ? space : left;
      if (has && scan.before >= placed && scan.before < placed + now) {
        plain_write(items(list.top)[list.in_top + scan.before - placed], item);
      }
      list.in_top += now;
      placed += now;
    }
    w.sync();
    return true;
  }

  /// Worker-collective. Moves up to `want` of the newest items to `to` (shared by the lanes); returns how many.
  template <Worker W>
  SHOAL_FN lane_t pop(const W& w, SpillList& list, T* to, lane_t want, const StateWord& state) const {
    if (list.empty()) return 0;
    const T* from = items(list.top);
    const lane_t n = list.in_top < want ? list.in_top : want;
    for (lane_t i = w.lane(); i < n; i += w.size()) to[i] = plain_read(from[list.in_top - n + i]);
    w.sync();
    list.in_top -= n;
    if (list.in_top == 0) {
      std::uint32_t older = kNoChunk;
      if (w.lane() == 0) {
        older = next[list.top];
        if (older != kNoChunk) recycle(list.top, state);
      }
      older = w.from_leader(older);
      if (older != kNoChunk) list = {older, chunk_items};  // the last one is kept: the worker may spill again at once
    }
    return n;
  }
  /// Worker-collective. Gives the chunk that an empty list has kept back to the pool.
  template <Worker W>
  SHOAL_FN void let_go(const W& w, SpillList& list, const StateWord& state) const {
    if (!list.keeps_chunk()) return;
    if (w.lane() == 0) recycle(list.top, state);
    list.top = kNoChunk;
  }

  /// Leader only. Takes a chunk from the pool and links it to `older`. Returns kNoChunk if the pool is empty; the run ends then,
  /// so the ticket that was claimed in vain does not matter.
  SHOAL_FN std::uint32_t allocate(std::uint32_t older, const StateWord& state) const {
    bool pushed = false;
    const ticket_t ticket = free.claim_next(pushed);
    std::uint32_t fresh;
    if (!pushed || !free.take(ticket, fresh, state)) return kNoChunk;
    next[fresh] = older;
    return fresh;
  }
  /// Leader only. Gives back to the pool a chunk that every lane has finished reading.
  SHOAL_FN void recycle(std::uint32_t used, const StateWord& state) const {
    free.put(free.reserve_freely(), used, state);
  }
};

}  // namespace shoal
