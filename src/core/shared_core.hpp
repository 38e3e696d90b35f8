// Whether a CPU thread that waits shares its core with other processes that compute (docs/decisions/0072-shared-cores.md).
#pragma once
#include <cstdint>

namespace shoal {

/// What a thread knows of its core from how long its yields took. One object per thread. Times are in nanoseconds.
class SharedCore {
 public:
  static constexpr std::int64_t kLong = 300'000;  ///< a yield to a thread that only waits takes some microseconds
  static constexpr unsigned kFewest = 32, kMost = 1024;

  /// Whether there are sleeps left; only then sleeps() need be asked.
  bool may_sleep() const { return left_ > 0; }
  /// Whether to sleep this time rather than yield.
  bool sleeps(std::int64_t now) {
    if (left_ > 0 && is_outdated(now)) *this = {};
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  /// After a yield that took less than kLong.
  void yielded_shortly() { in_a_row_ = false; }
  /// After any other yield. If the one before took long as well, and the process had less than all its cores between their ends, other
  /// processes had the rest: then this thread sleeps for its next waits, twice as many each time.
  /// @param ended  now
  /// @param used   the CPU time that all threads of the process have had so far
  /// @param cores  on which the process may run
  void yielded_for_long(std::int64_t ended, std::int64_t used, int cores) {
    if (ended_ != 0 && (is_outdated(ended) || used < used_)) *this = {};  // a fork begins with no CPU time
    if (in_a_row_) {
      const bool shared = static_cast<double>(used - used_) < (cores - kOthers) * static_cast<double>(ended - ended_);
      if (shared) left_ = next_;
      next_ = !shared ? kFewest : next_ < kMost ? 2 * next_ : kMost;
    }
    in_a_row_ = true;
    ended_ = ended;
    used_ = used;
  }

 private:
  static constexpr double kOthers = 0.6;  ///< cores; the time that the system itself takes is less
  /// In a run that waits, long yields follow each other within this time, and that of the sleeps between them.
  static constexpr std::int64_t kPatience = 20'000'000, kOfASleep = 200'000;

  /// Whether the thread has done something else since its last long yield: it worked alone, or no run was going on.
  bool is_outdated(std::int64_t now) const { return now - ended_ > kPatience + kOfASleep * next_; }

  unsigned left_ = 0, next_ = kFewest;  // sleeps that are left, and those of the next time
  bool in_a_row_ = false;               // whether the last yield took long
  std::int64_t ended_ = 0, used_ = 0;   // of the last yield that took long; 0: there was none
};

}  // namespace shoal
