// One worker's parked items: accepted items beyond the threshold. queue/buckets.hpp has the rule and the store.
#pragma once
#include "shoal/worklist/parcel.hpp"
#include "shoal/worklist/phase.hpp"
#include "shoal/worklist/view.hpp"

namespace shoal {

/// One object per lane, with the same contents on all lanes of a worker.
template <class View>
class Parking {
 public:
  using Item = typename View::Item;

  Parking() = default;
  SHOAL_FN Parking(const View& view, lane_t index) : phase_(view.seen[index]) {
    if (view.far.buckets.lists > 0) far_ = view.far.filling + index * view.far.buckets.slots();
  }

  /// Worker-collective. Parks the items that are beyond the threshold, and clears their `has`.
  /// @return the number of items that this lane parked
  template <Worker W, lane_t kSome>
  SHOAL_FN lane_t park(const W& w, const View& view, bool (&has)[kSome], const Item (&item)[kSome]) {
    const Buckets& buckets = view.far.buckets;
    const lane_t near = Phase::near(phase_);
    lane_t parked = 0;
    lane_t bucket[kSome], slot_of[kSome];  // slot_of: kNoBucket where there is nothing to park
    for (lane_t k = 0; k < kSome; ++k) {
      bucket[k] = has[k] ? buckets.of(static_cast<double>(view.task.priority(item[k]))) : 0;
      const bool far = has[k] && bucket[k] > near;
      slot_of[k] = far ? buckets.slot_of(bucket[k], near, Phase::turn(phase_)) : kNoBucket;
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
      const bool fits = view.far.park(w, view.spill, far_, slot, now, item, nearest, view.here().state, news);
      if (w.lane() == 0 && news) view.here().nearest[slot].fetch_min(nearest);
      if (fits) continue;
      if (w.lane() == 0) view.stop_all(RunState::worklist_full);
      return parked;
    }
  }

  /// Worker-collective. Records a phase, and brings the parked items that it has reached.
  /// @param bring  bring(has, item), a collective; called once for each of them
  template <Worker W, class Bring>
  SHOAL_FN void move_on(const W& w, const View& view, std::uint64_t phase, Bring bring) {
    const std::uint64_t before = phase_;
    phase_ = phase;
    const Buckets& buckets = view.far.buckets;
    if (buckets.lists == 0) return;
    const auto empty = [&](lane_t slot) { view.far.empty(w, view.spill, far_, slot, view.here().state, bring); };
    const lane_t passed = Phase::near(phase) - Phase::near(before);
    for (lane_t i = 1; i <= (passed < buckets.lists ? passed : buckets.lists); ++i) {
      empty(2 + (Phase::near(before) + i) % buckets.lists);
    }
    if (Phase::turn(phase) != Phase::turn(before)) empty(Phase::turn(before));
  }

 private:
  FarChunk* far_ = nullptr;  ///< this worker's chunks
  std::uint64_t phase_ = 0;  ///< the last phase that this worker has recorded
};

}  // namespace shoal
