// The log that a CPU thread writes while it works, for a trace (core/trace.hpp). This file includes few headers, because templates
// include it: <map> and <mutex>, which a trace needs, are not among them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal {

class Trace;
/// The trace into which this process's runs are drawn; null if there is none.
Trace* tracing();

/// The time in nanoseconds, by the clock that is used for all times of a trace.
std::int64_t trace_now();

/// Whether the processor has a time-stamp counter with a constant rate. Reading it takes a fifth of the time that reading the clock
/// takes.
extern const bool kEvenTicks;
/// The value of that counter, or trace_now() if there is none.
inline std::int64_t trace_ticks() {
#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
  if (kEvenTicks) return static_cast<std::int64_t>(__builtin_ia32_rdtsc());
#endif
  return trace_now();
}
/// Converts values of trace_ticks() to times of trace_now(). Reads the clock before the first of them, and in end().
class TickTimes {
 public:
  TickTimes() : ticks_(trace_ticks()), ns_(trace_now()) {}
  /// Call it after the last tick that is to be converted, and before at().
  void end() {
    const std::int64_t ticks = trace_ticks() - ticks_;
    if (ticks > 0) rate_ = static_cast<double>(trace_now() - ns_) / static_cast<double>(ticks);
  }
  /// The time in nanoseconds at which trace_ticks() returned `ticks`.
  std::int64_t at(std::int64_t ticks) const {
    return ns_ + static_cast<std::int64_t>(static_cast<double>(ticks - ticks_) * rate_);
  }

 private:
  std::int64_t ticks_, ns_;
  double rate_ = 1;
};

/// The sequence of a worker's states, written by the worker's own thread.
class StateLog {
 public:
  struct Change {
    std::int64_t at;
    std::uint32_t state;
  };
  /// Records that the worker is in this state from now on. Reads the clock only if the state has changed.
  void now(std::uint32_t state) {
    if (state != last_) change(state);
  }
  const std::vector<Change>& changes() const { return changes_; }
  /// True if no more changes can be recorded: from the last recorded change on, the state is not known.
  bool full() const { return changes_.size() > kMost; }

 private:
  void change(std::uint32_t state);
  static constexpr std::size_t kMost = 1 << 18;  // 4 MiB
  std::uint32_t last_ = ~0u;
  std::vector<Change> changes_;
};

}  // namespace shoal
