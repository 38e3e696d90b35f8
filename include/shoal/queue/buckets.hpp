// Priorities: accepted items whose priority is beyond the threshold are parked. They run when no nearer item is left on
// any PE.
//
// Bucket 0 holds the priorities below `threshold`, bucket k those in [threshold + (k - 1) * delta, threshold + k *
// delta). At any time one bucket, `near`, is the threshold of all PEs: items up to it go to the ring, and the others
// are parked in slots. There is a slot for each of the next few buckets, and a pair of slots, used in turn, for
// everything beyond. When no item that may run is left, `near` moves (worklist/phases.hpp), and the workers run the
// items that it has reached.
//
// Parking costs one coalesced write. Each worker fills chunks of its own, one per slot, and hands full chunks to a ring
// of chunk numbers that all workers of the PE share, so bringing them back is shared as well. What is brought is run at
// once: it does not go through the ring of items again.
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
inline constexpr lane_t kParkersKept = 64;  ///< buckets of which it is known how many workers have parked in them
static_assert(kParkersKept >= 2 * kMostLists, "a count is set to zero when no bucket that uses it can be parked");

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
  /// The bucket beyond `near` that is parked in `slot`, which is not 0 or 1.
  SHOAL_FN lane_t bucket_of(lane_t slot, lane_t near) const {
    const lane_t next = near + 1;
    return next + (slot - 2 + lists - next % lists) % lists;
  }
};

/// What one worker has parked in one slot. In the PE's memory.
struct FarChunk {
  SpillList list;                 ///< of one chunk, which is being filled
  std::uint32_t full = kNoChunk;  ///< a full chunk, to be handed over before the next item is parked
  lane_t nearest = kNoBucket;     ///< smallest bucket parked here since the slot was emptied
};

/// Where items lie that one worker parks in one slot at the same time: the first `space` of them in chunk `first`, from
/// `at` on, and the next ones in chunk `next`, as many as it can hold.
struct FarPlace {
  std::uint32_t first = kNoChunk;
  lane_t at = 0;
  lane_t space = 0;
  std::uint32_t next = kNoChunk;
};

/// How far one worker is with bringing what a phase has reached. In the PE's memory; its leader's.
struct FarBring {
  std::uint32_t slots = 0;         ///< bit s: slot s is still to be emptied
  lane_t slot = kNoBucket;         ///< the slot that is being emptied; kNoBucket: none
  FarChunk own;                    ///< what is left of the worker's own chunks of that slot
  ticket_t limit = 0;              ///< full chunks with a number below this were handed over before
  std::uint32_t chunk = kNoChunk;  ///< the chunk that is being read
  lane_t left = 0;                 ///< items in it that were not brought yet
  bool shares = false;             ///< whether the slot's items are to be shared by all workers
};

/// A PE's parked items. View; trivially copyable.
template <class T>
struct FarStore {
  Buckets buckets;
  FarChunk* filling = nullptr;             ///< [n_workers * slots]
  FarBring* bringing = nullptr;            ///< [n_workers]
  Slot<std::uint32_t>* numbers = nullptr;  ///< [slots * capacity] the rings of full chunks
  ticket_t capacity = 0;                   ///< of each ring; a power of two that can hold all chunks of the pool
  RingCounters* counters = nullptr;        ///< [slots]

  /// [slots] the chunks that worker `index` fills.
  SHOAL_FN FarChunk* chunks_of(lane_t index) const { return filling + index * buckets.slots(); }
  /// The ring of numbers of one slot's full chunks.
  SHOAL_FN SlotRing<std::uint32_t> full(lane_t slot) const {
    return {numbers + slot * capacity, capacity, counters + slot, 0};
  }

  /// One lane alone: finds places for `n` items of its worker in `slot`, or for fewer: for as many as the chunk that is
  /// being filled and one more can hold.
  /// @param mine     [slots] this worker's chunks; what was parked there before has been written
  /// @param nearest  the smallest bucket among the items
  /// @param news     becomes true if this worker had parked nothing as near in this slot; the caller must then record
  ///   `nearest` (PeControl::nearest) before these items are completed
  /// @param fits     becomes false if the pool is empty, and some items find no place
  SHOAL_FN FarPlace reserve(const SpillPool<T>& pool, FarChunk* mine, lane_t slot, lane_t n, lane_t nearest,
                            const StateWord& state, bool& news, bool& fits) const {
    FarChunk here = mine[slot];
    if (here.full != kNoChunk) hand_over(slot, here.full, state);
    here.full = kNoChunk;
    news = nearest < here.nearest;
    if (news) here.nearest = nearest;
    FarPlace place;
    place.first = here.list.top;
    place.at = here.list.in_top;
    place.space = here.list.top == kNoChunk ? 0 : pool.chunk_items - here.list.in_top;
    fits = true;
    if (n <= place.space) {
      here.list.in_top += n;
    } else {
      place.next = pool.allocate(kNoChunk, state);
      fits = place.next != kNoChunk;
      here.list.in_top = pool.chunk_items;
      if (fits) {
        here.full = here.list.top;
        const lane_t left = n - place.space;
        here.list = {place.next, left < pool.chunk_items ? left : pool.chunk_items};
      }
    }
    mine[slot] = here;
    return place;
  }

  /// Writes an item to its place. False: it is not among those that fit.
  /// @param rank  of the item, among those that are parked together
  SHOAL_FN bool write(const SpillPool<T>& pool, const FarPlace& place, lane_t rank, const T& item) const {
    if (rank < place.space) {
      plain_write(pool.items(place.first)[place.at + rank], item);
      return true;
    }
    if (place.next == kNoChunk || rank - place.space >= pool.chunk_items) return false;
    plain_write(pool.items(place.next)[rank - place.space], item);
    return true;
  }

  /// Leader only: the chunk from which this worker brings its next items. Returns false if all slots are empty: its own
  /// chunks, and its share of those that all workers have handed over.
  /// @param b  the last b.left items of b.chunk are to be brought, if true
  SHOAL_FN bool next_chunk(const SpillPool<T>& pool, FarChunk* mine, FarBring& b, const StateWord& state) const {
    if (b.left > 0) return true;
    if (b.chunk != kNoChunk) pool.recycle(b.chunk, state);
    b.chunk = kNoChunk;
    for (;;) {
      if (b.slot == kNoBucket) {
        if (b.slots == 0) return false;
        for (b.slot = 0; (b.slots >> b.slot & 1) == 0; ++b.slot) {
        }
        b.slots &= ~(1u << b.slot);
        b.own = mine[b.slot];
        mine[b.slot] = FarChunk{};
        // Items that are parked here meanwhile are beyond `limit`, or in a chunk that is being filled.
        b.limit = full(b.slot).counters->tail.load();
      }
      if (take_chunk(pool, b, state)) return true;
      b.slot = kNoBucket;
    }
  }

 private:
  SHOAL_FN bool take_chunk(const SpillPool<T>& pool, FarBring& b, const StateWord& state) const {
    b.left = pool.chunk_items;
    b.chunk = b.own.full;
    b.own.full = kNoChunk;
    if (b.chunk != kNoChunk) return true;
    if (b.own.list.top != kNoChunk) {
      b.chunk = b.own.list.top;
      b.left = b.own.list.in_top;
      b.own.list = {};
      return true;
    }
    if (!full(b.slot).take_below(b.limit, b.chunk, state)) b.left = 0;
    return b.left > 0;
  }
  SHOAL_FN void hand_over(lane_t slot, std::uint32_t chunk, const StateWord& state) const {
    full(slot).put_for_all(chunk, state);
  }
};

}  // namespace shoal
