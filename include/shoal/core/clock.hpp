// A clock that worklists look at while they run.
#pragma once
#include "shoal/core/fn.hpp"

#if defined(SHOAL_SIMULATE)
#include "shoal/core/sim_atomic.hpp"
#elif !defined(__CUDA_ARCH__)
#include <time.h>  // not <chrono>, which a user's program would compile
#endif

#include <cstdint>

namespace shoal {

/// Microseconds since some moment, the same for all threads of a process. In the simulator: operations so far. On GPUs 0:
/// nothing there asks for it.
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
