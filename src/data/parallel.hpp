// Parallelism for readers and builders: numbered tasks, and ranges of rows with equal work.
#pragma once
#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "shoal/core/parallel.hpp"

namespace shoal::io {

inline constexpr std::int64_t kArcGrain = 1 << 18;  ///< number of arcs that is worth a task of its own

/// How many threads are worth starting for `tasks` independent tasks; at least 1.
inline int thread_count(std::int64_t tasks) {
  const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  return static_cast<int>(std::clamp<std::int64_t>(tasks, 1, cores));
}

/// Calls f(i) once for every i in [0, tasks), starting with the smallest. If calls throw, rethrows the exception of the smallest
/// such i.
template <class F>
void parallel_tasks(std::int64_t tasks, F&& f) {
  parallel_chunks(tasks, 1, [&](std::int64_t i, std::int64_t, std::int64_t) { f(i); });
}

/// Cuts rows 0..n-1 into at most `parts` ranges with about equal sums of arcs and rows. Returns the first row of each, then n.
/// @param offsets [n + 1], never decreasing
template <class Offset>
std::vector<std::int64_t> balanced_rows(const Offset* offsets, std::int64_t n, std::int64_t parts) {
  std::vector<std::int64_t> cuts{0};
  const std::int64_t total = static_cast<std::int64_t>(offsets[n]) + n;
  for (std::int64_t k = 1; k < parts; ++k) {
    const std::int64_t goal = total / parts * k + total % parts * k / parts;
    std::int64_t low = cuts.back(), high = n;
    while (low < high) {
      const std::int64_t mid = low + (high - low) / 2;
      static_cast<std::int64_t>(offsets[mid]) + mid < goal ? low = mid + 1 : high = mid;
    }
    if (low > cuts.back() && low < n) cuts.push_back(low);
  }
  if (n > 0) cuts.push_back(n);
  return cuts;
}

}  // namespace shoal::io
