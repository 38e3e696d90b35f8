// The one way to wait. Every wait in the tree is a spin_wait: it backs off, sees the abort flag, and therefore ends.
#pragma once
#include "shoal/core/atomic.hpp"

#if !defined(__CUDA_ARCH__) && !defined(SHOAL_SIMULATE)
#include <thread>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#endif

namespace shoal {

/// What every worker of a run looks at while it waits. Zero means running.
enum class RunState : std::uint32_t {
  running = 0,
  done = 1,           ///< quiescent: no item is left anywhere
  enough = 2,         ///< the task said so; items may be left
  stalled = 3,        ///< no progress for Options::stall_timeout
  worklist_full = 4,  ///< ring and spill are both full
  transport_failed = 5,
  task_failed = 6,  ///< the task broke its contract: owner() named no PE of the run, or a member threw
  interrupted = 7,  ///< the caller called it off (core/interrupt.hpp)
};

/// Written by whoever ends the run (a worker, a peer PE, the host's watchdog), read by all.
using StateWord = PaddedWord<std::uint32_t, Scope::system>;

/// Back-off of one waiter: short pauses first, then yields (CPU) or sleeps of up to half a microsecond (GPU).
class Backoff {
 public:
  SHOAL_FN void pause() {
    ++spins_;
#if defined(SHOAL_SIMULATE)
    sim::yield();
#elif defined(__CUDA_ARCH__)
    if (spins_ > 4) __nanosleep(spins_ < 16 ? 20 : spins_ < 256 ? 100 : 400);
#else
    if (spins_ < 64) {
#if defined(__x86_64__)
      _mm_pause();
#endif
    } else {
      std::this_thread::yield();
    }
#endif
  }
  /// A turn of the loop without a pause.
  SHOAL_FN void count() { ++spins_; }
  SHOAL_FN void reset() { spins_ = 0; }
  SHOAL_FN unsigned spins() const { return spins_; }

 private:
  unsigned spins_ = 0;
};

/// Waits until ready() is true. Returns false when the run ended or was aborted first; the caller then leaves, moving
/// nothing. The deadline is the watchdog's, which raises the state word (worklist/watchdog.hpp).
template <class Ready>
SHOAL_FN bool spin_wait(const StateWord& state, Ready ready) {
  Backoff backoff;
  while (!ready()) {
    if ((backoff.spins() & 15) == 15 && state.load() != 0) return ready();
    backoff.pause();
  }
  return true;
}

}  // namespace shoal
