// Priorities: accepted items whose priority is beyond the threshold are parked. They run when no nearer item is left on
// any PE.
//
// Bucket 0 holds the priorities below `threshold`, bucket k those in [threshold + (k - 1) * delta, threshold + k *
// delta). At any time one bucket, `near`, is the threshold of all PEs: items up to it go to the ring, and the others
// are parked in slots. There is a slot for each of the next few buckets, and a pair of slots, used in turn, for
// everything beyond. When no item that may run is left, `near` moves (worklist/phases.hpp), and the workers bring the
// items that it has reached back to the ring.
//
// Parking costs one coalesced write. Each worker fills chunks of its own, one per slot, and hands full chunks to a ring
// of chunk numbers that all workers of the PE share, so bringing them back is shared as well.
//
// Source: Atos, two local queues and a pivot, which is `lists` = 1. Differs: all PEs have the same threshold (Groute's
// consensus, without the host), and several buckets are kept apart, so a move does not touch everything that is parked.
#pragma once
#include "shoal/queue/spill.hpp"

namespace shoal {

inline constexpr lane_t kNoBucket = 0xFFFFFFFFu;
inline constexpr lane_t kLastBucket = 0xFFFFFFFEu;  ///< everything from about 4e9 deltas on
inline constexpr lane_t kMostLists = 16;
inline constexpr lane_t kMostSlots = kMostLists + 2;

/// The rule that maps an item to its bucket and its slot. Trivially copyable.
struct Buckets {
  double threshold = 0;
  double per_delta = 0;  ///< 1 / delta
  lane_t lists = 0;      ///< 1 to kMostLists: the next lists - 1 buckets have slots of their own; 0: no priorities

  SHOAL_FN lane_t slots() const { return lists + 2; }

  /// The bucket of a priority. Monotonic: it does not decrease as the priority grows.
  SHOAL_FN lane_t of(double priority) const {
    const double beyond = priority - threshold;
    if (beyond < 0) return 0;
    const double k = beyond * per_delta;
    return k < 4e9 ? static_cast<lane_t>(k) + 1 : kLastBucket;
  }
  /// The slot in which bucket `k`, beyond `near`, is parked. The next lists - 1 buckets have slot 2 + k % lists; these
  /// slots differ from each other and from that of `near`. Everything beyond them goes to slot 0 or 1: `turn` changes
  /// between the two each time everything beyond is looked through. Items that were parked when `near` was smaller, and
  /// are still beyond it, lie in the same window of buckets, so a slot never mixes buckets that wait.
  SHOAL_FN lane_t slot_of(lane_t k, lane_t near, bool turn) const {
    return k - near < lists ? 2 + k % lists : static_cast<lane_t>(turn);
  }
};

/// The chunk that one worker fills for one slot. In the PE's memory.
struct FarChunk {
  SpillList list;              ///< a list of one chunk
  lane_t nearest = kNoBucket;  ///< smallest bucket parked here since the slot was emptied, in this or earlier chunks
};

/// A PE's parked items. View; trivially copyable.
template <class T>
struct FarStore {
  Buckets buckets;
  FarChunk* filling = nullptr;             ///< [n_workers * slots]
  Slot<std::uint32_t>* numbers = nullptr;  ///< [slots * capacity] the rings of full chunks
  ticket_t capacity = 0;                   ///< of each ring; a power of two that can hold all chunks of the pool
  RingCounters* counters = nullptr;        ///< [slots]

  /// [slots] the chunks that worker `index` fills.
  SHOAL_FN FarChunk* chunks_of(lane_t index) const { return filling + index * buckets.slots(); }
  /// The ring of numbers of one slot's full chunks.
  SHOAL_FN SlotRing<std::uint32_t> full(lane_t slot) const {
    return {numbers + slot * capacity, capacity, counters + slot, 0};
  }

  /// Worker-collective. Parks the items with `far`, several per lane, in `slot`.
  /// @param mine  [slots] this worker's chunks
  /// @param nearest  the smallest bucket among the items
  /// @param news  becomes true if this worker had parked nothing as near in this slot; the caller must then record
  ///   `nearest` (PeControl::nearest) before these items are completed
  /// @return false: the pool is empty and some items found no place
  template <Worker W, lane_t kSome>
  SHOAL_FN bool park(const W& w, const SpillPool<T>& pool, FarChunk* mine, lane_t slot, const bool (&far)[kSome],
                     const T (&item)[kSome], lane_t nearest, const StateWord& state, bool& news) const {
    lane_t of_lane = 0;
    for (bool one : far) of_lane += one;
    const Scan scan = w.exclusive_sum(of_lane);
    FarChunk here = mine[slot];
    news = nearest < here.nearest;
    if (news) here.nearest = nearest;
    SpillList& list = here.list;
    bool fits = true;
    for (lane_t placed = 0; placed < scan.total && fits;) {
      if (list.top == kNoChunk || list.in_top == pool.chunk_items) {
        std::uint32_t fresh = kNoChunk;
        if (w.lane() == 0) {
          fresh = pool.allocate(kNoChunk, state);
          if (list.top != kNoChunk) hand_over(slot, list.top, state);
        }
        list = {w.from_leader(fresh), 0};
        fits = list.top != kNoChunk;
        continue;
      }
      const lane_t space = pool.chunk_items - list.in_top, left = scan.total - placed;
      const lane_t now = space < left ? space : left;
      lane_t at = scan.before;
      for (lane_t k = 0; k < kSome; ++k) {
        if (far[k] && at >= placed && at < placed + now) {
          plain_write(pool.items(list.top)[list.in_top + at - placed], item[k]);
        }
        at += far[k];
      }
      list.in_top += now;
      placed += now;
      w.sync();
    }
    if (w.lane() == 0) mine[slot] = here;
    w.sync();
    return fits;
  }

  /// Worker-collective. Empties this worker's own chunk of a slot, and its share of the chunks that all workers have
  /// handed over.
  /// @param bring  bring(has, item), a collective; called once for each parked item
  template <Worker W, class Bring>
  SHOAL_FN void empty(const W& w, const SpillPool<T>& pool, FarChunk* mine, lane_t slot, const StateWord& state,
                      Bring bring) const {
    const SlotRing<std::uint32_t> ring = full(slot);
    SpillList list = mine[slot].list;
    w.sync();  // every lane has read it
    if (w.lane() == 0) mine[slot] = FarChunk{};
    // Items that are parked here meanwhile are beyond `limit`, or in a chunk that is being filled.
    ticket_t limit = 0;
    if (w.lane() == 0) limit = ring.counters->tail.load();
    for (;;) {
      if (list.top != kNoChunk) {
        const T* parked = pool.items(list.top);
        for (lane_t base = 0; base < list.in_top; base += w.size()) {
          const bool has = base + w.lane() < list.in_top;
          bring(has, has ? plain_read(parked[base + w.lane()]) : T{});
        }
        w.sync();
        if (w.lane() == 0) pool.recycle(list.top, state);
      }
      std::uint32_t number = kNoChunk;
      if (w.lane() == 0 && ring.counters->head.load() < limit) {
        ticket_t waiting = 0;
        const Tickets t = ring.claim(1, waiting);
        lane_t credit = 1;
        if (t.count == 1 && ring.take(t.first, number, state)) ring.release(credit);
      }
      list = {w.from_leader(number), pool.chunk_items};
      if (list.top == kNoChunk) return;
    }
  }

 private:
  SHOAL_FN void hand_over(lane_t slot, std::uint32_t chunk, const StateWord& state) const {
    const SlotRing<std::uint32_t> ring = full(slot);
    lane_t credit = 0;
    const Tickets t = ring.reserve(1, credit);  // always succeeds: the ring holds all chunks
    if (t.count == 1) ring.put(t.first, chunk, state);
  }
};

}  // namespace shoal
