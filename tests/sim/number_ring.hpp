// The initial state of a ring of chunk numbers, as in the pool of spill chunks and in each slot of parked items.
#pragma once
#include <cstdint>
#include <vector>

#include "shoal/queue/slot_ring.hpp"

namespace shoal::sim {

/// Appends the slots of a ring of `capacity` that holds the numbers [0, n).
inline void fill_ring(std::vector<Slot<std::uint32_t>>& slots, RingCounters& counters, std::uint32_t capacity,
                      std::uint32_t n) {
  for (std::uint32_t i = 0; i < capacity; ++i) {
    Slot<std::uint32_t> slot;
    slot.sequence.store(i < n ? i + 1 : i);
    slot.value = i;
    slots.push_back(slot);
  }
  counters.tail.store(n);
  counters.head.store(0);
  counters.credits.store(static_cast<std::int64_t>(capacity) - n);
}

}  // namespace shoal::sim
