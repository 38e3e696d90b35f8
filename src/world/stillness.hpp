// How long a process has done nothing, judged by the processor time that it reports.
#pragma once
#include <chrono>
#include <cstdint>
#include <ctime>

namespace shoal {

inline double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
inline std::uint64_t beat_now() { return static_cast<std::uint64_t>(processor_seconds() * 1000); }
inline double seconds_of_beat(std::uint64_t beat) { return static_cast<double>(beat) / 1000; }

/// How long a process has stood still: the time since it last used more than a hundredth of a processor.
class Stillness {
 public:
  explicit Stillness(double worked) : worked_(worked) {}
  /// How long the process has stood still, in seconds. @param worked  the processor time that it has used by now
  double seconds(double worked) {
    const double still = std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
    if (worked - worked_ <= still / 100) return still;
    since_ = std::chrono::steady_clock::now();
    worked_ = worked;
    return 0;
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  double worked_;
};

}  // namespace shoal
