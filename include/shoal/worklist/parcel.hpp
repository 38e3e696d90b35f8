// Parcels: several items of each lane of a worker, which are counted, sent to other PEs, or put into spill together.
#pragma once
#include "shoal/worklist/view.hpp"

namespace shoal {

template <lane_t kSome>
SHOAL_FN lane_t number_of(const bool (&has)[kSome]) {
  lane_t n = 0;
  for (bool one : has) n += one;
  return n;
}
/// Worker-collective: how many `has` are set in the lanes before this one, and in all lanes.
template <Worker W, lane_t kSome>
SHOAL_FN Scan count_before(const W& w, const bool (&has)[kSome]) {
  if constexpr (kSome == 1) {
    return w.count_before(has[0]);
  } else {
    return w.exclusive_sum(number_of(has));
  }
}
template <lane_t kSome>
SHOAL_FN bool any_of(const bool (&has)[kSome]) {
  bool any = false;
  for (bool one : has) any |= one;
  return any;
}
/// Worker-collective: the leader's tickets, on every lane.
template <Worker W>
SHOAL_FN Tickets from_leader(const W& w, Tickets t) {
  return {w.from_leader(t.first), w.from_leader(t.count)};
}

/// The items that a lane of a worker sends or spills together with the other lanes.
template <class Item, lane_t kSome>
struct Parcel {
  Item item[kSome];
  pe_t owner[kSome];
  bool has[kSome];
};

/// Worker-collective: puts one item of each lane with `has` into spill. Every item is counted as created before it can
/// be seen. Ends the run if the pool is empty. Returns the number of items on the leader, and 0 on other lanes.
template <Worker W, class View>
SHOAL_FN lane_t spill_one(const W& w, const View& view, SpillList& list, bool has, const typename View::Item& item) {
  const Scan scan = w.count_before(has);
  if (w.lane() == 0) view.here().entered.fetch_add(scan.total);
  if (!view.spill.push(w, list, has, item, view.here().state) && w.lane() == 0) {
    view.stop_all(RunState::worklist_full);
  }
  return w.lane() == 0 ? scan.total : 0;
}

/// A worker's list of spilled items, and on the leader the number of items that were added to it.
struct Spilled {
  SpillList list;
  lane_t items = 0;
};

/// Worker-collective: puts items into this worker's spill.
template <Worker W, class View, lane_t kSome>
SHOAL_FN Spilled spill_each(const W& w, const View& view, SpillList list,
                            const Parcel<typename View::Item, kSome>& parcel) {
  lane_t items = 0;
  for (lane_t k = 0; k < kSome; ++k) items += spill_one(w, view, list, parcel.has[k], parcel.item[k]);
  return {list, items};
}
template <Worker W, class View, lane_t kSome>
SHOAL_OUT_OF_LINE SHOAL_FN Spilled spill_out_of_line(W w, const View& view, SpillList list,
                                                     const Parcel<typename View::Item, kSome>& parcel) {
  return spill_each(w, view, list, parcel);
}
/// spill_each(), out of line on GPUs like send_parcel(). Except for workers of one lane: nvcc 13.0 crashes on those.
template <Worker W, class View, lane_t kSome>
SHOAL_FN Spilled spill_parcel(const W& w, const View& view, SpillList list,
                              const Parcel<typename View::Item, kSome>& parcel) {
  if constexpr (W::kMaxLanes > 1) {
    return spill_out_of_line(w, view, list, parcel);
  } else {
    return spill_each(w, view, list, parcel);
  }
}

/// Collective over `w`: sends the items with `now` to PE `to`, as far as there are credits, each through a slot of the channel
/// that worker `index` uses. Sets `has` of the items that found no credit.
template <Worker W, class View, lane_t kSome>
SHOAL_FN void put_in_slots(const W& w, const View& view, pe_t to, lane_t index, bool (&now)[kSome],
                           Parcel<typename View::Item, kSome>& parcel) {
  const Scan scan = count_before(w, now);
  const auto channel = view.sender(view.channel(to, index));
  Tickets t;
  if (w.lane() == 0) t = channel.reserve(scan.total);
  t = from_leader(w, t);
  ticket_t ticket[kSome];
  lane_t before = scan.before;
  for (lane_t k = 0; k < kSome; ++k) {
    ticket[k] = t.first + before;
    parcel.has[k] = parcel.has[k] || (now[k] && before >= t.count);
    before += now[k];
    now[k] = now[k] && !parcel.has[k];
  }
  if (!channel.put_some(view.transport, to, now, ticket, parcel.item)) view.stop_all(RunState::transport_failed);
}

/// As put_in_slots(), but through segments. The first items of all lanes get the first tickets, then come their second items, so
/// what the lanes store at the same time is contiguous.
template <Worker W, class View, lane_t kSome>
SHOAL_FN void put_in_segments(const W& w, const View& view, pe_t to, bool (&now)[kSome],
                              Parcel<typename View::Item, kSome>& parcel) {
  lane_t before[kSome], total = 0;
  for (lane_t k = 0; k < kSome; ++k) {
    const Scan scan = w.count_before(now[k]);
    before[k] = total + scan.before;
    total += scan.total;
  }
  const auto queue = view.segment_sender(to);
  Tickets t;
  if (w.lane() == 0) t = queue.reserve(total);
  t = from_leader(w, t);
  ticket_t ticket[kSome];
  for (lane_t k = 0; k < kSome; ++k) {
    ticket[k] = t.first + before[k];
    parcel.has[k] = parcel.has[k] || (now[k] && before[k] >= t.count);
    now[k] = now[k] && !parcel.has[k];
  }
  queue.put_some(now, ticket, parcel.item);
  w.sync();
  if (w.lane() == 0 && t.count > 0 && !queue.publish(view.transport, to, t)) view.stop_all(RunState::transport_failed);
}

/// Collective over `w`: sends the items for which there are credits, with one reservation for each owner that occurs.
/// `has` stays set for the items that found no credit.
template <Worker W, class View, lane_t kSome>
SHOAL_FN void put_parcel(const W& w, const View& view, lane_t index, Parcel<typename View::Item, kSome>& parcel) {
  bool waits[kSome];
  for (lane_t k = 0; k < kSome; ++k) {
    waits[k] = parcel.has[k];
    parcel.has[k] = false;
  }
  for (;;) {
    lane_t nearest = ~lane_t{0};
    for (lane_t k = 0; k < kSome; ++k) {
      const auto owner = static_cast<lane_t>(parcel.owner[k]);
      if (waits[k] && owner < nearest) nearest = owner;
    }
    nearest = w.smallest(nearest);
    if (nearest == ~lane_t{0}) return;  // none left; every owner was checked to be a PE before
    const pe_t to = static_cast<pe_t>(nearest);
    bool now[kSome];
    for (lane_t k = 0; k < kSome; ++k) {
      now[k] = waits[k] && parcel.owner[k] == to;
      waits[k] = waits[k] && !now[k];
    }
    if (view.segments.on) {
      put_in_segments(w, view, to, now, parcel);
    } else {
      put_in_slots(w, view, to, index, now, parcel);
    }
  }
}

/// Worker-collective: sends items to their owners, and puts those that find no credit into this worker's spill. Each
/// warp of a block sends its items by itself, because a reservation costs less than barriers of the whole block. Out of line
/// on GPUs (queuing.hpp says why).
/// @param index  this worker's number
template <Worker W, class View, lane_t kSome>
SHOAL_OUT_OF_LINE SHOAL_FN Spilled send_parcel(W w, const View& view, SpillList list, lane_t index,
                                               Parcel<typename View::Item, kSome>& parcel) {
  if constexpr (requires { typename W::Part; }) {
    put_parcel(typename W::Part(), view, index, parcel);
  } else {
    put_parcel(w, view, index, parcel);
  }
  if (!w.any(any_of(parcel.has))) return {list, 0};
  return spill_parcel(w, view, list, parcel);
}

}  // namespace shoal
