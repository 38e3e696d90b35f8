// What the memory of queues holds before the first run, written where it is. On the current device, on its legacy
// stream; nobody waits.
#pragma once
#include <cstddef>
#include <cstdint>

namespace shoal {

/// See Machine::number_slots.
void number_slots_on_device(void* slots, std::size_t slot_bytes, std::uint64_t n, std::uint64_t period,
                            std::uint64_t full);
/// See Machine::repeat.
void repeat_on_device(void* to, const std::uint32_t* pattern, std::size_t words, std::uint64_t n);

}  // namespace shoal
