// Parking: how a worker sets aside accepted items that are beyond the threshold, and takes them back later. queue/buckets.hpp
// has the rule that maps items to buckets and slots, and the storage.
#pragma once
#include "shoal/worklist/parcel.hpp"
#include "shoal/worklist/phase.hpp"
#include "shoal/worklist/view.hpp"

namespace shoal {

/// Memory that the lanes of a worker share while they sort items by slot. Between two calls of park() all counts are
/// zero, and `stay` and `tickets` still have the results of the last call.
struct BinTable {
  lane_t count[1 + kMostSlots];  ///< [0]: items that stay, because they may run now; [1 + slot]: items for that slot
  lane_t nearest;                ///< smallest bucket among the items for slots 0 and 1; only one of these is in use
  lane_t stay;                   ///< inside park(): the number of items that stay
  Tickets tickets;               ///< result of park(): the tickets of those of them that go to the ring
  FarPlace place[kMostSlots];    ///< [slot] where its items are written
};
/// Whether a worker packs the items of its lanes before it sorts them (Queuing::append_packed).
template <class W, class TaskT>
inline constexpr bool kPacksItems = HasParts<W>&& HasPriority<TaskT>;

/// Whether an item is beyond the threshold of a phase.
template <class View>
SHOAL_FN bool is_far(const View& view, std::uint64_t phase, const typename View::Item& item) {
  return view.far.buckets.of(static_cast<double>(view.task.priority(item))) > Phase::near(phase);
}
/// False if an item certainly is not beyond the threshold. @param from  Buckets::far_from() that threshold
template <class View>
SHOAL_FN bool may_be_far(const View& view, FarFrom<PriorityOf<typename View::Task>> from,
                         const typename View::Item& item) {
  return !(view.task.priority(item) < from);
}

/// One lane alone: reserves places for `n` items of its worker in a slot. Records the nearest bucket among them in
/// PeControl::nearest, from which it is decided how far the threshold moves. Ends the run if the pool is empty.
template <class View>
SHOAL_FN FarPlace reserve_far(const View& view, lane_t index, lane_t slot, lane_t n, lane_t nearest) {
  bool news = false, fits = true;
  const FarPlace place =
      view.far.reserve(view.spill, view.far.chunks_of(index), slot, n, nearest, view.here().state, news, fits);
  if (news) view.here().nearest[slot].fetch_min(nearest);
  if (news && slot >= 2) view.here().parkers[nearest % kParkersKept].fetch_add(1);
  if (!fits) view.stop_all(RunState::worklist_full);
  return place;
}

/// One-lane workers: parks an item if it is beyond the threshold. False if it is not.
/// @param index  the worker's number on its PE
/// @param phase  the phase by which the worker parks (Changing::phase)
template <class View>
SHOAL_FN bool park_one(const View& view, lane_t index, std::uint64_t phase, const typename View::Item& item) {
  const Buckets& buckets = view.far.buckets;
  const lane_t near = Phase::near(phase), bucket = buckets.of(static_cast<double>(view.task.priority(item)));
  if (bucket <= near) return false;
  const FarPlace place = reserve_far(view, index, buckets.slot_of(bucket, near, Phase::turn(phase)), 1, bucket);
  view.far.write(view.spill, place, 0, item);  // fails only if the pool is empty; then the run ends
  return true;
}

/// Several items of each lane, to be sorted by their buckets.
template <class Item, lane_t kSome>
struct Unsorted {
  Item item[kSome];
  bool has[kSome];
  lane_t rank[kSome];  ///< result of park(), for an item that stays: its number among those that stay
};
/// What park() did: on each lane, how many items of its own it parked; on the leader, the credits that are left; the number of items that
/// stay.
struct Parked {
  lane_t items;
  lane_t credit;
  lane_t stay;  ///< the same on all lanes
};

/// Worker-collective, for workers of several lanes: parks the items that are beyond the threshold and clears their `has`. The
/// others stay: they are numbered in `rank`.
///
/// All slots are filled at the same time: the lanes count the items of each slot together, and then one lane for each slot
/// finds places for them. So it takes two barriers, whatever the number of slots.
/// @tparam kToRing  whether the leader reserves tickets of the ring for the items that stay: table.tickets
/// @param credit    on the leader: its credits for the ring
/// @param room      for so many of the items that stay, the first ones, the leader reserves no tickets
/// @param from      Buckets::far_from() the threshold of `phase`; if kToRing
template <bool kToRing, Worker W, class View, lane_t kSome>
SHOAL_FN Parked park(W w, const View& view, BinTable& table, lane_t index, std::uint64_t phase, lane_t credit,
                     Unsorted<typename View::Item, kSome>& of, lane_t room = 0,
                     FarFrom<PriorityOf<typename View::Task>> from = {}) {
  static_assert(ActsTogether<W>);
  // For a warp, a vote is almost free, and on road networks nearly all items may run now: then nothing has to be sorted.
  if constexpr (kToRing && W::kMaxLanes <= 32) {
    bool may_park = false;
    for (lane_t k = 0; k < kSome; ++k) may_park |= of.has[k] && may_be_far(view, from, of.item[k]);
    if (!w.any(may_park)) {
      const Scan scan = count_before(w, of.has);
      lane_t rank = scan.before;
      for (lane_t k = 0; k < kSome; ++k) of.rank[k] = rank, rank += of.has[k];
      if (scan.total > room) {
        if (w.lane() == 0) table.tickets = view.ring.reserve(scan.total - room, credit);
        w.sync();
      }
      return {0, credit, scan.total};
    }
  }
  const Buckets& buckets = view.far.buckets;
  const lane_t near = Phase::near(phase);
  lane_t bin[kSome], nearest = kNoBucket, parked = 0;
  bool far[kSome];
  for (lane_t k = 0; k < kSome; ++k) {
    const lane_t bucket = of.has[k] ? buckets.of(static_cast<double>(view.task.priority(of.item[k]))) : 0;
    far[k] = of.has[k] && bucket > near;
    bin[k] = far[k] ? 1 + buckets.slot_of(bucket, near, Phase::turn(phase)) : 0;
    if (bin[k] == 1 || bin[k] == 2) nearest = bucket < nearest ? bucket : nearest;
    parked += far[k];
  }
  for (lane_t k = 0; k < kSome; ++k) {
    of.rank[k] = w.count_in(table.count, bin[k], of.has[k]);
    of.has[k] = of.has[k] && !far[k];
  }
  w.lower(&table.nearest, nearest);
  // In a block, takes lanes of different warps, so that the atomics for which they wait are in flight together.
  const lane_t apart = W::kMaxLanes > 32 ? 32 : 1;
  for (bool first = true;; first = false) {
    w.sync();
    for (lane_t b = w.lane() / apart; w.lane() % apart == 0 && b <= buckets.slots(); b += w.size() / apart) {
      const lane_t n = table.count[b];
      table.count[b] = 0;
      if (b == 0) {
        if (first) table.stay = n;
        if (kToRing && n > room) table.tickets = view.ring.reserve(n - room, credit);
      } else if (n > 0) {
        const lane_t least = b > 2 ? buckets.bucket_of(b - 1, near) : table.nearest;
        if (b <= 2) table.nearest = kNoBucket;
        table.place[b - 1] = reserve_far(view, index, b - 1, n, least);
      }
    }
    w.sync();
    for (lane_t k = 0; k < kSome; ++k) {
      if (!far[k]) continue;
      const FarPlace& place = table.place[bin[k] - 1];
      far[k] = !view.far.write(view.spill, place, of.rank[k], of.item[k]) && place.next != kNoChunk;
    }
    // Usually one chunk has space for all items that the lanes can have. Otherwise the items that found no place try again.
    if (view.spill.chunk_items >= kSome * w.size() || !w.any(any_of(far))) return {parked, credit, table.stay};
    for (lane_t k = 0; k < kSome; ++k) {
      const lane_t again = w.count_in(table.count, bin[k], far[k]);
      if (far[k]) of.rank[k] = again;
    }
  }
}

/// What bring_parked() did.
struct Brought {
  lane_t near = 0;      ///< number of items that are to be run now
  bool brings = true;   ///< whether there may be more parked items that the phase has reached
  bool shares = false;  ///< whether all workers of the PE are to run them, so that they must go through the ring
  lane_t parked = 0;    ///< items of this lane that were parked again
  lane_t stale = 0;     ///< items of this lane that were not parked again, because they are stale
};

/// Worker-collective: takes some parked items from the slots that the phase has reached. Those that are still beyond the
/// threshold are parked again, unless they are stale. When none is left, counts this worker's part of the phase as carried out.
/// @param items  [most] shared by the lanes: the items to be run
/// @param most   at most w.size(), if there are several lanes
template <Worker W, class View>
SHOAL_OUT_OF_LINE SHOAL_FN Brought bring_parked(W w, const View& view, BinTable* table, lane_t index,
                                                std::uint64_t phase, typename View::Item* items, lane_t most) {
  Brought brought;
  FarBring& b = view.far.bringing[index];
  constexpr std::uint64_t kShares = std::uint64_t{1} << 63;
  std::uint64_t from = kNoChunk;  // packed: the chunk, the items left in it, and whether they are shared
  if (w.lane() == 0) {
    const lane_t before = b.slot;
    if (view.far.next_chunk(view.spill, view.far.chunks_of(index), b, view.here().state)) {
      // If at least half of the workers have parked in this bucket, each runs its own items. If fewer have, they share their
      // items, because the other workers would have nothing to do. There is no such count for slots 0 and 1: always shared.
      if (b.slot != before) {
        b.shares = b.slot < 2 || 2 * view.here().parkers[Phase::near(phase) % kParkersKept].load() < view.n_workers;
      }
      from = std::uint64_t{b.left} << 32 | b.chunk | (b.shares ? kShares : 0);
    }
  }
  from = w.from_leader(from);
  brought.shares = (from & kShares) != 0;
  from &= ~kShares;
  const auto chunk = static_cast<std::uint32_t>(from);
  brought.brings = chunk != kNoChunk;
  if (!brought.brings) {
    if (w.lane() == 0) view.here().carried_out.fetch_add_release(1);
    return brought;
  }
  const lane_t left = static_cast<lane_t>(from >> 32), n = left < most ? left : most;
  if (w.lane() == 0) b.left = left - n;
  const auto* const parked = view.spill.items(chunk) + (left - n);
  const auto is_stale = [&]([[maybe_unused]] const typename View::Item& item) {
    bool stale = false;
    if constexpr (HasStale<typename View::Task>) stale = view.task.stale(item);
    brought.stale += stale;
    return stale;
  };
  if constexpr (W::kMaxLanes == 1) {
    for (lane_t i = 0; i < n; ++i) {
      const auto item = plain_read(parked[i]);
      if (!is_far(view, phase, item)) {
        items[brought.near++] = item;
      } else if (!is_stale(item)) {
        brought.parked += park_one(view, index, phase, item);
      }
    }
  } else {
    Unsorted<typename View::Item, 1> of;
    of.has[0] = w.lane() < n;
    if (of.has[0]) of.item[0] = plain_read(parked[w.lane()]);
    const bool far = of.has[0] && is_far(view, phase, of.item[0]);
    if (!w.any(far)) {  // nearly always so in slots other than 0 and 1
      if (of.has[0]) items[w.lane()] = of.item[0];
      brought.near = n;
    } else {
      if (far && is_stale(of.item[0])) of.has[0] = false;
      const Parked parked = park</*kToRing=*/false>(w, view, *table, index, phase, 0, of);
      brought.parked = parked.items;
      if (of.has[0]) items[of.rank[0]] = of.item[0];
      brought.near = parked.stay;
    }
    w.sync();
  }
  return brought;
}

/// Worker-collective, for one worker of each PE that carries out a phase: sets to zero the counts in PeControl::parkers of
/// those buckets in which no worker can have parked yet.
template <Worker W>
SHOAL_FN void forget_parkers(const W& w, PeControl& here, lane_t near) {
  for (lane_t i = w.lane(); i < kParkersKept - kMostLists; i += w.size()) {
    here.parkers[(near + kMostLists + i) % kParkersKept].store(0);
  }
}

/// The slots that the phase `phase` has reached and the phase `before` had not: bit s for slot s.
SHOAL_FN inline std::uint32_t slots_reached(const Buckets& buckets, std::uint64_t before, std::uint64_t phase) {
  if (buckets.lists == 0) return 0;
  std::uint32_t slots = 0;
  const lane_t passed = Phase::near(phase) - Phase::near(before);
  for (lane_t i = 1; i <= (passed < buckets.lists ? passed : buckets.lists); ++i) {
    slots |= 1u << (2 + (Phase::near(before) + i) % buckets.lists);
  }
  if (Phase::turn(phase) != Phase::turn(before)) slots |= 1u << static_cast<lane_t>(Phase::turn(before));
  return slots;
}

}  // namespace shoal
