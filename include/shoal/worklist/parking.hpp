// One worker's parked items: accepted items beyond the threshold. queue/buckets.hpp has the rule and the store.
#pragma once
#include "shoal/worklist/parcel.hpp"
#include "shoal/worklist/phase.hpp"
#include "shoal/worklist/view.hpp"

namespace shoal {

/// Worker-collective. Parks the items that are beyond the threshold, and clears their `has`.
/// @param index  the worker's number on its PE
/// @param phase  the last phase that the worker has recorded
/// @return the number of items that this lane parked
template <Worker W, class View, lane_t kSome>
SHOAL_FN lane_t park(const W& w, const View& view, lane_t index, std::uint64_t phase, bool (&has)[kSome],
                     const typename View::Item (&item)[kSome]) {
  const Buckets& buckets = view.far.buckets;
  const lane_t near = Phase::near(phase);
  lane_t parked = 0;
  lane_t bucket[kSome], slot_of[kSome];  // slot_of: kNoBucket where there is nothing to park
  for (lane_t k = 0; k < kSome; ++k) {
    bucket[k] = has[k] ? buckets.of(static_cast<double>(view.task.priority(item[k]))) : 0;
    const bool far = has[k] && bucket[k] > near;
    slot_of[k] = far ? buckets.slot_of(bucket[k], near, Phase::turn(phase)) : kNoBucket;
    has[k] = has[k] && !far;
    parked += far;
  }
  for (;;) {
    const lane_t slot = w.smallest(least_of(slot_of));
    if (slot == kNoBucket) return parked;
    bool now[kSome];
    lane_t nearest = kNoBucket;
    for (lane_t k = 0; k < kSome; ++k) {
      now[k] = slot_of[k] == slot;
      if (!now[k]) continue;
      slot_of[k] = kNoBucket;
      if (bucket[k] < nearest) nearest = bucket[k];
    }
    nearest = w.smallest(nearest);
    bool news = false;
    const bool fits =
        view.far.park(w, view.spill, view.far.chunks_of(index), slot, now, item, nearest, view.here().state, news);
    if (w.lane() == 0 && news) view.here().nearest[slot].fetch_min(nearest);
    if (fits) continue;
    if (w.lane() == 0) view.stop_all(RunState::worklist_full);
    return parked;
  }
}

/// Worker-collective. Brings the parked items that a phase has reached.
/// @param before  the phase that the worker has recorded before
/// @param bring   bring(has, item), a collective; called once for each of them
template <Worker W, class View, class Bring>
SHOAL_FN void bring_reached(const W& w, const View& view, lane_t index, std::uint64_t before, std::uint64_t phase,
                            Bring bring) {
  const Buckets& buckets = view.far.buckets;
  if (buckets.lists == 0) return;
  const auto empty = [&](lane_t slot) {
    view.far.empty(w, view.spill, view.far.chunks_of(index), slot, view.here().state, bring);
  };
  const lane_t passed = Phase::near(phase) - Phase::near(before);
  for (lane_t i = 1; i <= (passed < buckets.lists ? passed : buckets.lists); ++i) {
    empty(2 + (Phase::near(before) + i) % buckets.lists);
  }
  if (Phase::turn(phase) != Phase::turn(before)) empty(Phase::turn(before));
}

}  // namespace shoal
