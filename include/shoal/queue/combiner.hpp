// Combining: items for another PE that have equal keys are merged before they are sent. A worker holds back one item in
// each slot of a small table. The next item with the same key is merged into it; an item with another key takes its
// place, and the old item is sent.
//
// An item that is held back does not count as created yet, so the worker must not count the items that pushed it as completed.
// It therefore sends everything that it holds back before it reports its completed items (when it rests), and every few
// steps.
//
// Source: Groute and Atos ask for it; neither has it.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal {

#if defined(SHOAL_SIMULATE)
inline constexpr lane_t kHeldSlots = 2;  // so that small test cases have collisions as well
#else
inline constexpr lane_t kHeldSlots = 256;  ///< per worker; a power of two
#endif

/// One slot of a worker's table, in the PE's memory. All zeros is an empty slot.
template <class T>
struct HeldSlot {
  Word<lane_t, Scope::device> claim;  ///< the lane that may use the slot in this round
  lane_t full;
  T item;
};

/// Worker-collective. Holds back the lanes' items where it can. Afterwards `has` and `item` are what the lane must send now:
/// its own item, an item that was held back before, or none. Out of line, so that runs that do not combine need no registers for
/// it (and because nvcc 13.0 crashes if it is inlined into every push).
/// @param table  [kHeldSlots] this worker's
/// @return how many items this lane merged into another: 0 or 1
template <Worker W, class TaskT>
SHOAL_OUT_OF_LINE SHOAL_FN lane_t hold_back(W w, const TaskT& task, HeldSlot<typename TaskT::Item>* table, bool& has,
                                            typename TaskT::Item& item) {
  constexpr int kRounds = 4;  // lanes that want the same slot take turns; items left after that are sent as they are
  lane_t merged = 0;
  bool waits = has;
  const std::uint64_t key = has ? static_cast<std::uint64_t>(task.key(item)) : 0;
  HeldSlot<typename TaskT::Item>& slot = table[(key * 0x9E3779B97F4A7C15ull >> 32) & (kHeldSlots - 1)];
  SHOAL_ROLLED
  for (int round = 0; round < kRounds && w.any(waits); ++round) {
    if (waits) slot.claim.store(w.lane());
    w.sync();
    if (waits && slot.claim.load() == w.lane()) {
      waits = false;
      if (slot.full == 0) {
        slot.full = 1;
        plain_write(slot.item, item);
        has = false;
      } else {
        const typename TaskT::Item held = plain_read(slot.item);
        const bool same = static_cast<std::uint64_t>(task.key(held)) == key && task.owner(held) == task.owner(item);
        plain_write(slot.item, same ? task.combine(held, item) : item);
        merged += same;
        has = !same;
        if (has) item = held;
      }
    }
    w.sync();
  }
  return merged;
}

}  // namespace shoal
