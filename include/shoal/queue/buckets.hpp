// Priority: accepted items whose priority is beyond the threshold are parked, and run when nothing nearer is left anywhere.
//
// Bucket 0 holds the priorities below `threshold`, bucket k those in [threshold + (k - 1) * delta, threshold + k * delta).
// At any time one bucket number is the nearest that waits, on all PEs alike: items up to it go to the ring, the others to
// lists of the worker that judged them, one list per bucket for the next few and one for all beyond. When no item is left
// that may run, the threshold moves (runtime/phases.hpp) and every worker brings the items of its lists that it has reached.
//
// Lists belong to workers, so that parking costs a coalesced write and no shared counter; the ring spreads what comes back.
//
// Source: Atos, two local queues and a pivot, which is `lists` = 1. Differs: the threshold is one for all PEs (Groute's
// consensus, without the host), and more buckets are kept apart, so that moving on does not touch all that is parked.
#pragma once
#include "shoal/queue/spill.hpp"

namespace shoal {

inline constexpr lane_t kNoBucket = 0xFFFFFFFFu;
inline constexpr lane_t kLastBucket = 0xFFFFFFFEu;  ///< everything from about 4e9 deltas on
inline constexpr lane_t kMostLists = 64;

/// The items of one worker in one bucket, or in all buckets beyond the others. In the PE's memory.
struct FarList {
  SpillList list;
  lane_t nearest = kNoBucket;  ///< smallest bucket of any item in the list; kNoBucket when it is empty
};

/// The rule that gives an item its bucket and its list. Trivially copyable.
struct Buckets {
  double threshold = 0;
  double per_delta = 0;  ///< 1 / delta
  lane_t lists = 0;      ///< lists per worker, 1 to kMostLists; 0: no priorities in this run

  /// Does not decrease as the priority grows.
  SHOAL_FN lane_t of(double priority) const {
    const double beyond = priority - threshold;
    if (beyond < 0) return 0;
    const double k = beyond * per_delta;
    return k < 4e9 ? static_cast<lane_t>(k) + 1 : kLastBucket;
  }
  /// The list for bucket `k`, when items up to bucket `near` run: lists 1 to lists - 1 for the next lists - 1 buckets, which
  /// differ in their remainders; list 0 for all beyond. What was put into list i earlier, and is still beyond `near`, is
  /// of the same bucket as what is put there now, because it too lies in the window.
  SHOAL_FN lane_t list_of(lane_t k, lane_t near) const { return k - near < lists ? 1 + k % (lists - 1) : 0; }
};

/// Worker-collective. Parks the items of the lanes with `far`, whose buckets `k` are beyond `near`, in this worker's lists.
/// @param mine  [buckets.lists] this worker's lists
/// @param least the smallest bucket that was parked
/// @return false: the pool is empty, some items found no place
template <Worker W, class T>
SHOAL_FN bool park(const W& w, const Buckets& buckets, const SpillPool<T>& pool, FarList* mine, bool far, const T& item,
                   lane_t k, lane_t near, const StateWord& state, lane_t& least) {
  least = kNoBucket;
  while (w.any(far)) {
    const lane_t slot = w.smallest(far ? buckets.list_of(k, near) : ~lane_t{0});
    const bool now = far && buckets.list_of(k, near) == slot;
    const lane_t nearest = w.smallest(now ? k : kNoBucket);
    FarList here = mine[slot];
    if (!pool.push(w, here.list, now, item, state)) return false;  // every lane has read `here` when it returns
    if (nearest < here.nearest) here.nearest = nearest;
    if (w.lane() == 0) mine[slot] = here;
    w.sync();
    if (nearest < least) least = nearest;
    far = far && !now;
  }
  return true;
}

}  // namespace shoal
