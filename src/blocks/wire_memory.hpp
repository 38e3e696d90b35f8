// Where blocks on GPUs of several processes meet: memory of each PE that GPUs of all processes of the host reach.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "shoal/core/types.hpp"

namespace shoal {

class Machine;

namespace blocks {

class WireMemory {
 public:
  virtual ~WireMemory() = default;
  /// Where PE `here` of this process, counted from 0 here, finds the memory of PE `of` of all; null: that has none.
  virtual std::byte* at(pe_t here, pe_t of) const = 0;
};

/// Zeroed memory of GPUs. Every process makes it, and destroys it, at the same place of the program.
/// @param bytes  [PEs of this process]
/// @throws CapacityError, DeviceError; as World::exchange()
std::unique_ptr<WireMemory> wire_memory_of_gpus(const Machine& machine, const std::vector<std::size_t>& bytes);

}  // namespace blocks
}  // namespace shoal
