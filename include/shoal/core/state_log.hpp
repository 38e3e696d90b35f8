// What a CPU thread writes down while it works, for a trace (core/trace.hpp); with few headers, since templates include it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal {

/// Nanoseconds of the clock that all times of a trace are of.
std::int64_t trace_now();

/// Whether the processor has a count that runs evenly. To read it takes a thread a fifth of the time that the clock takes.
extern const bool kEvenTicks;
/// That count, or nanoseconds.
inline std::int64_t trace_ticks() {
#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
  if (kEvenTicks) return static_cast<std::int64_t>(__builtin_ia32_rdtsc());
#endif
  return trace_now();
}
/// What ticks are in nanoseconds, by the clock before and after them.
class TickTimes {
 public:
  TickTimes() : ticks_(trace_ticks()), ns_(trace_now()) {}
  /// After the last of them.
  void end() {
    const std::int64_t ticks = trace_ticks() - ticks_;
    if (ticks > 0) rate_ = static_cast<double>(trace_now() - ns_) / static_cast<double>(ticks);
  }
  std::int64_t at(std::int64_t ticks) const {
    return ns_ + static_cast<std::int64_t>(static_cast<double>(ticks - ticks_) * rate_);
  }

 private:
  std::int64_t ticks_, ns_;
  double rate_ = 1;
};

/// The states of one worker, one after the other, by its own thread.
class StateLog {
 public:
  struct Change {
    std::int64_t at;
    std::uint32_t state;
  };
  /// From now on it is in this state. Looks at the clock only where that is another one.
  void now(std::uint32_t state) {
    if (state != last_) change(state);
  }
  const std::vector<Change>& changes() const { return changes_; }
  /// There were more changes; from the last one on nothing is known.
  bool full() const { return changes_.size() > kMost; }

 private:
  void change(std::uint32_t state);
  static constexpr std::size_t kMost = 1 << 18;  // 4 MiB
  std::uint32_t last_ = ~0u;
  std::vector<Change> changes_;
};

}  // namespace shoal
