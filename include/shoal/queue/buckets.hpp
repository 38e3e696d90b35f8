// Priorities: accepted items whose priority is beyond the threshold are parked. They run when no item of a nearer bucket is
// left on any PE.
//
// Bucket 0 holds the priorities below `threshold`, bucket k those in [threshold + (k - 1) * delta, threshold + k *
// delta). At any time one bucket, `near`, is the threshold of all PEs: items of buckets up to `near` go to the ring, and the
// others are parked in slots. Each of the next few buckets has a slot of its own, and two slots, used in turn, take
// everything beyond these buckets. When no item that may run is left, or few are, `near` moves (worklist/phases.hpp), and the workers
// run the items that it has reached.
//
// Parking costs one coalesced write. Each worker fills its own chunks, one per slot, and hands full chunks to a ring
// of chunk numbers that all workers of the PE share, so all workers also share the work of bringing items back. Items that
// are brought back are run at once, without the ring of items, unless all workers are to share them (FarBring::shares).
//
// Source: Atos, two local queues and a pivot, which corresponds to `lists` = 1. Differs: all PEs have the same threshold
// (Groute's consensus, without the host), and several buckets are kept apart, so a move of the threshold does not touch
// everything that is parked.
#pragma once
#include <limits>
#include <type_traits>

#include "shoal/queue/spill.hpp"

namespace shoal {

inline constexpr lane_t kNoBucket = 0xFFFFFFFFu;
inline constexpr lane_t kLastBucket = 0xFFFFFFFEu;  ///< everything from about 4e9 deltas on
inline constexpr lane_t kMostLists = 16;
inline constexpr lane_t kMostSlots = kMostLists + 2;
inline constexpr lane_t kParkersKept = 64;  ///< buckets for which the workers that parked in them are counted
static_assert(kParkersKept >= 2 * kMostLists, "a count is set to zero when no bucket that uses it can be parked");

/// The type of Buckets::far_from(): compared with a priority of type P, it takes one instruction.
template <class P>
using FarFrom = std::conditional_t<std::is_integral_v<P>, P, double>;

/// The rule that maps an item to its bucket and its slot. Trivially copyable.
struct Buckets {
  double threshold = 0;  ///< priorities below this are bucket 0
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
  /// A bound for priorities of type P: those below it certainly are in buckets up to `bucket`, and most others are beyond.
  template <class P>
  SHOAL_FN FarFrom<P> far_from(lane_t bucket) const {
    constexpr double kLess = 1.0 / (std::uint64_t{1} << 40);  // more than is lost by rounding
    const double begin = threshold < 0 ? threshold * (1 + kLess) : threshold * (1 - kLess);
    const double within = static_cast<double>(bucket) * (1 - kLess) / per_delta + begin;
    const bool certain = (within - threshold) * per_delta < static_cast<double>(bucket);
    if constexpr (std::is_integral_v<P>) {
      using Limits = std::numeric_limits<P>;
      if (!certain || !(within >= static_cast<double>(Limits::min()))) return Limits::min();
      if (!(within < static_cast<double>(Limits::max()))) return Limits::max();
      const P whole = static_cast<P>(within);
      return static_cast<double>(whole) <= within ? whole + 1 : whole;
    } else {
      return certain ? within : -std::numeric_limits<double>::infinity();
    }
  }
  /// The slot in which items of bucket `k`, which is beyond `near`, are parked. The next lists - 1 buckets have slot
  /// 2 + k % lists; these slots differ from each other and from that of `near`. All buckets beyond them share slot 0 or 1: `turn`
  /// switches between the two each time the items of these buckets are looked through. Items that were parked when `near` was
  /// smaller, and are still beyond it, are in the same window of buckets, so no slot but 0 and 1 mixes waiting buckets.
  SHOAL_FN lane_t slot_of(lane_t k, lane_t near, bool turn) const {
    return k - near < lists ? 2 + k % lists : static_cast<lane_t>(turn);
  }
  /// The bucket beyond `near` whose items are parked in `slot`. Not for slots 0 and 1.
  SHOAL_FN lane_t bucket_of(lane_t slot, lane_t near) const {
    const lane_t next = near + 1;
    return next + (slot - 2 + lists - next % lists) % lists;
  }
};

/// What one worker has parked in one slot and not handed over yet. In the PE's memory.
struct FarChunk {
  SpillList list;                 ///< at most one chunk: the one that is being filled
  std::uint32_t full = kNoChunk;  ///< a full chunk, to be handed over before the next item is parked
  lane_t nearest = kNoBucket;     ///< smallest bucket parked here since the slot was emptied
};

/// The places of items that one worker parks in one slot at the same time: the first `space` items are in chunk `first`, from
/// position `at` on, and the next ones in chunk `next`, as many as it can hold.
struct FarPlace {
  std::uint32_t first = kNoChunk;
  lane_t at = 0;
  lane_t space = 0;
  std::uint32_t next = kNoChunk;
};

/// How far one worker has got in bringing back the parked items that a phase has reached. In the PE's memory; only the worker's
/// leader uses it.
struct FarBring {
  std::uint32_t slots = 0;         ///< bit s: slot s is still to be emptied
  lane_t slot = kNoBucket;         ///< the slot that is being emptied; kNoBucket: none
  FarChunk own;                    ///< what is left of the chunks of that slot that the worker filled itself
  ticket_t limit = 0;              ///< full chunks with tickets below this were handed over before the slot was begun
  std::uint32_t chunk = kNoChunk;  ///< the chunk that is being read
  lane_t left = 0;                 ///< items in it that were not brought back yet
  bool shares = false;             ///< whether all workers are to share the slot's items
};

/// A PE's parked items. View; trivially copyable.
template <class T>
struct FarStore {
  Buckets buckets;
  FarChunk* filling = nullptr;             ///< [n_workers * slots]
  FarBring* bringing = nullptr;            ///< [n_workers]
  Slot<std::uint32_t>* numbers = nullptr;  ///< [slots * capacity] the slots of the rings of full chunks
  ticket_t capacity = 0;                   ///< of each ring: a power of two, at least the number of chunks in the pool
  RingCounters* counters = nullptr;        ///< [slots]

  /// [slots] the chunks that worker `index` fills, one FarChunk for each slot.
  SHOAL_FN FarChunk* chunks_of(lane_t index) const { return filling + index * buckets.slots(); }
  /// The ring with the numbers of the full chunks of one slot.
  SHOAL_FN SlotRing<std::uint32_t> full(lane_t slot) const {
    return {numbers + slot * capacity, capacity, counters + slot, 0};
  }

  /// One lane alone: reserves places for `n` items of its worker in `slot`, or for fewer: as many as the chunk that is
  /// being filled and one more chunk can hold.
  /// @param mine     [slots] this worker's chunks; all items for which places were reserved before must have been written
  /// @param nearest  the smallest bucket among the items
  /// @param news     becomes true if `nearest` is smaller than every bucket that this worker has parked in this slot since it was
  ///   emptied; the caller must then record `nearest` (PeControl::nearest) before these items are counted as completed
  /// @param fits     becomes false if the pool is empty, so that some items get no place
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

  /// Writes an item to its place. Returns false if reserve() found no place for it.
  /// @param rank  the item's number among those that are parked together, from 0
  SHOAL_FN bool write(const SpillPool<T>& pool, const FarPlace& place, lane_t rank, const T& item) const {
    if (rank < place.space) {
      plain_write(pool.items(place.first)[place.at + rank], item);
      return true;
    }
    if (place.next == kNoChunk || rank - place.space >= pool.chunk_items) return false;
    plain_write(pool.items(place.next)[rank - place.space], item);
    return true;
  }

  /// Leader only: finds the chunk from which this worker brings back its next items. Returns false if nothing is left in the slots
  /// of b.slots: neither in the worker's own chunks nor in the full chunks that all workers handed over and share.
  /// @param b  after true, the first b.left items of b.chunk are still to be brought back
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
        // Items that are parked here from now on are in full chunks beyond `limit`, or in a chunk that is being filled.
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
