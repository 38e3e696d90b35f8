// Memory for channels between GPUs of several processes: each PE has some, and the GPUs of all processes of the host reach it.
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
  /// The address, for PE `here` (counted from 0 in this process), of the memory of PE `of` (numbered over all processes); null:
  /// that PE has none.
  virtual std::byte* at(pe_t here, pe_t of) const = 0;
};

/// Allocates zeroed memory on GPUs. Every process must call it, and destroy the result, at the same place of the program.
/// @param bytes  [PEs of this process] how many bytes each PE gets
/// @throws CapacityError, DeviceError; as World::exchange()
std::unique_ptr<WireMemory> wire_memory_of_gpus(const Machine& machine, const std::vector<std::size_t>& bytes);

}  // namespace blocks
}  // namespace shoal
