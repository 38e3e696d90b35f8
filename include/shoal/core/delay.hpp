// Random pauses at accesses by which threads interact, for soak tests. If SHOAL_DELAYS is defined, an atomic access of a Word that
// orders memory, or that hands out tickets, sometimes waits first. A value then stays written but unpublished, a ticket
// taken but unfilled, or an item run but uncounted, for as long as a slow link or a delayed warp would cause. Without
// SHOAL_DELAYS this compiles to nothing.
//
// The target `shoal_delayed` is the library compiled in this way, and algo_matrix_delayed --soak links it. On GPUs,
// where the faulty transport cannot be used, this is the only source of delays. The pauses are derived from clocks, so every
// run has different ones.
#pragma once
#include "shoal/core/fn.hpp"

#if defined(SHOAL_DELAYS) && !defined(SHOAL_SIMULATE)
#include <chrono>
#include <cstdint>
#include <thread>
#endif

namespace shoal::detail {

#if defined(SHOAL_DELAYS) && !defined(SHOAL_SIMULATE)

/// Waits in one of `one_in` calls on average: up to 16 us, and every 64th time up to half a millisecond.
/// @param one_in  a power of two
SHOAL_FN inline void delay(std::uint32_t one_in) {
#if defined(__CUDA_ARCH__)
  std::uint64_t x = static_cast<std::uint64_t>(clock64()) + (blockIdx.x * 1024u + threadIdx.x) * 0x9E3779B97F4A7C15ull;
#else
  static thread_local std::uint64_t calls = 0;
  std::uint64_t x = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) +
                    ++calls * 0x9E3779B97F4A7C15ull;
#endif
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  x ^= x >> 31;
  if ((x & (one_in - 1)) != 0) return;
  const std::uint32_t most = (x >> 32) % 64 == 0 ? 500'000 : 16'000,
                      nanoseconds = static_cast<std::uint32_t>((x >> 40) % most);
#if defined(__CUDA_ARCH__)
  __nanosleep(nanoseconds);
#else
  std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
#endif
}

#else

SHOAL_FN inline void delay(unsigned) {}

#endif

}  // namespace shoal::detail
