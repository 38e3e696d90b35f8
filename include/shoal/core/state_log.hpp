// What a CPU thread writes down while it works, for a trace (core/trace.hpp); with few headers, since templates include it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal {

/// Nanoseconds of the clock that all times of a trace are of.
std::int64_t trace_now();

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
