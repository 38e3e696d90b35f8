// A parallel loop on all hardware threads of the machine, for work outside of runs: building, placing and checking graphs.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "shoal/core/interrupt.hpp"

namespace shoal {

/// Calls f(chunk, begin, end) once for each chunk of [0, n): chunk c covers [c * grain, min(n, (c + 1) * grain)). At most as many
/// threads as the machine has hardware threads take the chunks in increasing order; what a chunk covers does not depend on the
/// number of threads. If calls throw, chunks that have not begun are skipped, and the exception of the lowest chunk is thrown.
/// @throws Interrupted  the caller's work was called off (core/interrupt.hpp); all threads check for that before each chunk
template <class F>
void parallel_chunks(std::int64_t n, std::int64_t grain, F&& f) {
  const std::int64_t chunks = (n + grain - 1) / grain;
  std::atomic<std::int64_t> next{0}, last{chunks};
  std::mutex mutex;
  std::int64_t failed = chunks;
  std::exception_ptr error;
  const std::stop_token stop = interrupt_token();
  auto work = [&] {
    const Interruptible inherited(stop);
    for (std::int64_t c; (c = next.fetch_add(1, std::memory_order_relaxed)) < last.load(std::memory_order_relaxed);) {
      try {
        throw_if_interrupted();
        f(c, c * grain, std::min(n, (c + 1) * grain));
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (c < failed) {
          failed = c;
          error = std::current_exception();
          last = c;
        }
      }
    }
  };
  const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  try {
    for (std::int64_t t = 1; t < std::min(cores, chunks); ++t) others.emplace_back(work);
  } catch (const std::exception&) {
    // The system refused a thread, or memory for one; those that were started do all of the work.
  }
  work();
  for (auto& thread : others) thread.join();
  if (error) std::rethrow_exception(error);
}

/// The same, but calls f(begin, end), without the chunk's number.
template <class F>
void parallel_ranges(std::int64_t n, std::int64_t grain, F&& f) {
  parallel_chunks(n, grain, [&](std::int64_t, std::int64_t begin, std::int64_t end) { f(begin, end); });
}

}  // namespace shoal
