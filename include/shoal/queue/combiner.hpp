// Combining: items for one other PE that have equal keys are merged before they are sent. A worker holds the last item
// of each slot of a small table back; the next one of the same key is merged into it, one of another key takes its place.
//
// What is held back is not created yet, so the worker may not complete the items that pushed it: it sends everything before
// it tells what it has completed (at rest), and every so many steps.
//
// Source: asked for in Groute and Atos, built in neither.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal {

#if defined(SHOAL_SIMULATE)
inline constexpr lane_t kHeldSlots = 2;  // small cases collide as well
#else
inline constexpr lane_t kHeldSlots = 256;  ///< per worker; a power of two
#endif

/// One slot of a worker's table, in the PE's memory. Zero is an empty slot.
template <class T>
struct HeldSlot {
  Word<lane_t, Scope::device> claim;  ///< the lane that may touch the slot this time
  lane_t full;
  T item;
};

/// Worker-collective. Holds the lanes' items back where it can: afterwards `has` and `item` are what is to be sent now, the
/// same, another, or nothing. Out of line, so that runs that do not combine keep their registers (and because nvcc 13.0
/// crashes when it is inlined into every push).
/// @param table [kHeldSlots] this worker's
/// @return how many items this lane merged into another
template <Worker W, class TaskT>
SHOAL_OUT_OF_LINE SHOAL_FN lane_t hold_back(W w, const TaskT& task, HeldSlot<typename TaskT::Item>* table, bool& has,
                                            typename TaskT::Item& item) {
  constexpr int kRounds = 4;  // lanes that want one slot take turns; after these what is left is sent as it is
  lane_t merged = 0;
  bool waits = has;
  const std::uint64_t key = has ? static_cast<std::uint64_t>(task.key(item)) : 0;
  HeldSlot<typename TaskT::Item>& slot = table[(key * 0x9E3779B97F4A7C15ull >> 32) & (kHeldSlots - 1)];
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
