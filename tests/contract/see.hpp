// What a test reads of a PE, where that PE may be in another process than the test.
#pragma once
#include <cstddef>

#include "shoal/core/types.hpp"

namespace shoal::contract {

/// Set where there are several processes, in each of which the same test runs: gives all of them the `bytes` that the process of
/// PE `pe` has.
inline void (*see_from_its_process)(pe_t pe, void* values, std::size_t bytes) = nullptr;

/// Call after a PE's values were read here: afterwards they are those of the process that has this PE.
inline void see(pe_t pe, void* values, std::size_t bytes) {
  if (see_from_its_process != nullptr) see_from_its_process(pe, values, bytes);
}

}  // namespace shoal::contract
