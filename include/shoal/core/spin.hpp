// The only way to wait. Every wait inside a run is a spin_wait: it backs off, and it ends when the run ends, because it
// polls the run's state.
#pragma once
#include "shoal/core/atomic.hpp"

namespace shoal {

/// The state of a run, which every worker polls while it waits. Zero means running.
enum class RunState : std::uint32_t {
  running = 0,
  done = 1,           ///< quiescent: no item is left anywhere
  enough = 2,         ///< the task's enough() was true; items may be left
  stalled = 3,        ///< no progress for Options::stall_timeout
  worklist_full = 4,  ///< an item found no space, neither in its queue nor in spill
  transport_failed = 5,
  task_failed = 6,  ///< the task broke its contract: owner() named no PE of the run, or a member threw
  interrupted = 7,  ///< the caller called the run off (core/interrupt.hpp)
};

/// Holds a RunState. Written by whoever ends the run (a worker of any PE, or the host's watchdog), read by all.
using StateWord = PaddedWord<std::uint32_t, Scope::system>;

/// For a CPU thread that waits: lets other threads have its core. Yields; or sleeps for some 50 microseconds while other processes
/// compute on the core, each of which would keep it for a time slice of milliseconds (docs/decisions/0072-shared-cores.md).
void give_way();

/// The back-off of a waiting thread: first short pauses, then it gives way (CPU) or sleeps of up to half a microsecond (GPU).
class Backoff {
 public:
  static constexpr unsigned kShort = 64;  ///< pauses of a CPU thread before it gives way
  SHOAL_FN void pause() {
    ++spins_;
#if defined(SHOAL_SIMULATE)
    sim::yield();
#elif defined(__CUDA_ARCH__)
    if (spins_ > 4) __nanosleep(spins_ < 16 ? 20 : spins_ < 256 ? 100 : 400);
#else
    if (spins_ < kShort) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    } else {
      give_way();
    }
#endif
  }
  /// Counts one iteration of the waiting loop without a pause.
  SHOAL_FN void count() { ++spins_; }
  SHOAL_FN void reset() { spins_ = 0; }
  SHOAL_FN unsigned spins() const { return spins_; }

 private:
  unsigned spins_ = 0;
};

/// Waits until ready() returns true. Returns false if the run has ended first; the caller must then return without changing
/// anything. There is no deadline here: the watchdog ends a run that makes no progress (worklist/watchdog.hpp).
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
