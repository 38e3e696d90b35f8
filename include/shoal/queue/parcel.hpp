// Several items of every lane of a worker at once: counting them, sending them to other PEs, putting them into spill.
#pragma once
#include "shoal/queue/worklist_view.hpp"

namespace shoal {

/// Worker-collective: how many items the lanes before this one offer, and how many there are.
template <Worker W, lane_t kSome>
SHOAL_FN Scan count_before(const W& w, const bool (&has)[kSome]) {
  if constexpr (kSome == 1) {
    return w.count_before(has[0]);
  } else {
    lane_t n = 0;
    for (bool one : has) n += one;
    return w.exclusive_sum(n);
  }
}
template <lane_t kSome>
SHOAL_FN bool any_of(const bool (&has)[kSome]) {
  bool any = false;
  for (bool one : has) any |= one;
  return any;
}
template <lane_t kSome>
SHOAL_FN lane_t least_of(const lane_t (&of)[kSome]) {
  lane_t least = kNoBucket;
  for (lane_t one : of) least = one < least ? one : least;
  return least;
}
/// Worker-collective: the leader's.
template <Worker W>
SHOAL_FN Tickets from_leader(const W& w, Tickets t) {
  return {w.from_leader(t.first), w.from_leader(t.count)};
}

/// What the lanes of a worker send, or spill, together: several items each.
template <class Item, lane_t kSome>
struct Parcel {
  Item item[kSome];
  pe_t owner[kSome];
  bool has[kSome];
};

/// Worker-collective. Every item is counted before it can be seen.
template <Worker W, class View>
SHOAL_FN lane_t spill_one(const W& w, const View& view, SpillList& list, bool has, const typename View::Item& item) {
  const Scan scan = w.count_before(has);
  if (w.lane() == 0) view.here().entered.fetch_add(scan.total);
  if (!view.spill.push(w, list, has, item, view.here().state) && w.lane() == 0) {
    view.stop_all(RunState::worklist_full);
  }
  return w.lane() == 0 ? scan.total : 0;
}

/// Worker-collective: puts items into this worker's spill.
/// @return leader: how many there were
template <Worker W, class View, lane_t kSome>
SHOAL_FN lane_t spill_parcel(W w, const View& view, SpillList& list, Parcel<typename View::Item, kSome>& parcel) {
  lane_t spilled = 0;
  for (lane_t k = 0; k < kSome; ++k) spilled += spill_one(w, view, list, parcel.has[k], parcel.item[k]);
  return spilled;
}

/// Worker-collective: sends items to their owners, one reservation for each owner that occurs among the lanes. Out of line on
/// GPUs, and so what it changes is passed as copies: see Scheduler::rarely.
/// @return leader: how many found no room in their channel and went to spill
template <Worker W, class View, lane_t kSome>
SHOAL_OUT_OF_LINE SHOAL_FN lane_t send_parcel(W w, const View& view, SpillList& list,
                                              Parcel<typename View::Item, kSome>& parcel) {
  lane_t spilled = 0;
  for (lane_t k = 0; k < kSome; ++k) {
    bool has = parcel.has[k];
    while (w.any(has)) {
      const pe_t to = static_cast<pe_t>(w.smallest(has ? static_cast<lane_t>(parcel.owner[k]) : ~lane_t{0}));
      const bool now = has && parcel.owner[k] == to;
      const Scan scan = w.count_before(now);
      const ChannelSender<typename View::Item> channel = view.sender(to);
      Tickets t;
      if (w.lane() == 0) t = channel.reserve(scan.total);
      t = from_leader(w, t);
      if (now && scan.before < t.count && !channel.put(view.transport, to, t.first + scan.before, parcel.item[k])) {
        view.stop_all(RunState::transport_failed);
      }
      if (t.count < scan.total) spilled += spill_one(w, view, list, now && scan.before >= t.count, parcel.item[k]);
      has = has && !now;
    }
  }
  return spilled;
}

}  // namespace shoal
