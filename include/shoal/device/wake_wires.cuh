// Wires between GPUs, after a rest.
#pragma once
#include <cuda/atomic>

#include "shoal/core/types.hpp"

namespace shoal {

/// Words of an area that lies on every wire, as far as is known: 64 KiB.
inline constexpr std::uint32_t kWireWords = 1 << 14;

/// All threads of one block store 512 zeros all over `area`, which another GPU holds, and go on. Wires between GPUs that have
/// rested for some tens of milliseconds take 0.1 ms to wake, each when it is first used, and addresses are spread over all of
/// them (NVLink, four H200, 2026-11-22: docs/decisions/0016). So they wake at once, and while there is other work.
/// @param area   that may be overwritten; several may store at the same time
/// @param words  at least 1
inline __device__ void wake_wires(std::uint32_t* area, std::uint32_t words) {
  constexpr std::uint32_t kStores = 512;
  for (std::uint32_t i = threadIdx.x; i < kStores; i += blockDim.x) {
    const auto at = static_cast<std::uint32_t>(std::uint64_t{words} * i / kStores);
    cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system>(area[at]).store(0, cuda::memory_order_relaxed);
  }
}

}  // namespace shoal
