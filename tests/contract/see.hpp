// How a test reads the values of a PE that may be in another process.
#pragma once
#include <cstddef>

#include "shoal/core/types.hpp"

namespace shoal::contract {

/// Set by programs of several processes, in each of which the same test runs. Copies `bytes` bytes from `values` of the process
/// that has PE `pe` to `values` of all processes.
inline void (*see_from_its_process)(pe_t pe, void* values, std::size_t bytes) = nullptr;

/// Every process calls this after it has read its own copy of a PE's values. Afterwards `values` holds what the process of that
/// PE read.
inline void see(pe_t pe, void* values, std::size_t bytes) {
  if (see_from_its_process != nullptr) see_from_its_process(pe, values, bytes);
}

}  // namespace shoal::contract
