// A clock that worklists read while they run.
#pragma once
#include "shoal/core/fn.hpp"

#if defined(SHOAL_SIMULATE)
#include "shoal/core/sim_atomic.hpp"
#elif !defined(__CUDA_ARCH__)
#include <time.h>  // not <chrono>: a user's program would have to compile it
#endif

#include <cstdint>

namespace shoal {

/// Microseconds since a fixed moment, which is the same for all threads of a process. In the simulator: the number of operations so
/// far. On GPUs: 0, since no GPU code uses the time.
SHOAL_FN inline std::uint64_t clock_us() {
#if defined(SHOAL_SIMULATE)
  return sim::steps();
#elif defined(__CUDA_ARCH__)
  return 0;
#else
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
#endif
}

}  // namespace shoal
