// Wakes the links between GPUs (NVLink) at the start of a run.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// The size, in words of 4 bytes, of an area whose addresses are, as far as is known, spread over all links: 64 KiB.
inline constexpr std::uint32_t kWireWords = 1 << 14;

/// The threads of one block store 512 zeros, spread over `area` in another GPU's memory, without waiting for them.
///
/// A link between GPUs that was idle for some tens of milliseconds sleeps and takes 0.1 ms to wake when it is next
/// used. Addresses are spread over all links, so a kernel would wait for one link after the other. These stores wake
/// all links at the same time, while other blocks work (docs/decisions/0016-wires-that-sleep.md).
/// @param area   [words] memory that may be overwritten; several GPUs may store to it at the same time
/// @param words  the size of `area`, at least 1
inline __device__ void wake_wires(std::uint32_t* area, std::uint32_t words) {
  constexpr std::uint32_t kStores = 512;
  for (std::uint32_t i = threadIdx.x; i < kStores; i += blockDim.x) {
    const auto at = static_cast<std::uint32_t>(std::uint64_t{words} * i / kStores);
    store<Scope::system>(area[at], std::uint32_t{0});
  }
}

}  // namespace shoal
