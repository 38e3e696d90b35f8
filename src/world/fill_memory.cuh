// Initialises the memory of queues before the first run, by kernels on the current device and its legacy stream. The functions
// do not wait for the kernels.
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
