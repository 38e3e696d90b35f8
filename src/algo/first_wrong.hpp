// Finds the first wrong vertex, for the verifiers.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "shoal/core/parallel.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// The smallest v in [0, n) for which wrong(v), or n if there is none. Uses all threads.
template <class Wrong>
std::int64_t first_wrong(std::int64_t n, Wrong wrong) {
  std::atomic<std::int64_t> first{n};
  parallel_ranges(n, 1 << 13, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < std::min(end, first.load(std::memory_order_relaxed)); ++v) {
      if (!wrong(static_cast<vertex_t>(v))) continue;
      for (std::int64_t old = first; v < old && !first.compare_exchange_weak(old, v);) {
      }
      return;
    }
  });
  return first;
}

}  // namespace shoal
