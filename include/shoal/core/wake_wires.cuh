// Wires between GPUs that have rested for some tens of milliseconds take 0.1 ms to wake, each when it is first used, and
// addresses are spread over all of them (NVLink, four H200, 2026-11-22: docs/decisions/0016). One block that touches many
// addresses of a peer as a run begins wakes them all at once.
#pragma once
#include <cuda/atomic>

#include "shoal/core/types.hpp"

namespace shoal {

/// Words of an area that lies on every wire, as far as is known: 64 KiB.
inline constexpr std::uint32_t kWireWords = 1 << 14;

/// Calls touch(i) for some hundred i, evenly spread over [0, n), by all threads of a block together.
template <class Touch>
__device__ void touch_all_over(std::uint64_t n, Touch touch) {
  constexpr std::uint32_t kTouches = 512;
  for (std::uint32_t i = threadIdx.x; i < kTouches; i += blockDim.x) touch(n * i / kTouches);
}

/// All threads of one block: stores zeros all over `area`, which another GPU holds, and does not wait for them.
/// @param area   that may be overwritten; several may store at the same time
/// @param words  at least 1
inline __device__ void wake_wires(std::uint32_t* area, std::uint32_t words) {
  touch_all_over(words, [=](std::uint64_t i) {
    cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system>(area[i]).store(0, cuda::memory_order_relaxed);
  });
}

/// The same by loads, where nothing may be overwritten: the block may go on only when they are through.
/// @param n  objects at `area`, of a multiple of 4 bytes each; at least 1
template <class T>
__device__ void wake_wires_reading(const T* area, std::uint64_t n) {
  touch_all_over(n, [=](std::uint64_t i) {
    std::uint32_t nobody_needs;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(nobody_needs) : "l"(area + i) : "memory");
  });
}

}  // namespace shoal
