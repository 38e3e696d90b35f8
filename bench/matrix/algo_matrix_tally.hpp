// The results of the ways: a watch that ends the program if a way does not end, and the counts per algorithm and PEs.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "algo_matrix.hpp"

namespace shoal::matrix {

/// Ends the program with status 3 if the current way takes longer than its time.
class Watch {
 public:
  /// @param stuck  called from another thread with the way's name, before the program ends
  Watch(double seconds_per_way, std::function<void(const std::string& way)> stuck)
      : most_(seconds_per_way), stuck_(std::move(stuck)), thread_([this] { look(); }) {}
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  /// Starts the time of `way`; an empty name means that no way is running.
  void begin(std::string way, bool leave = false);

 private:
  using Clock = std::chrono::steady_clock;
  void look();

  const double most_;
  const std::function<void(const std::string&)> stuck_;
  std::mutex mutex_;
  std::condition_variable woken_;
  std::string way_;
  Clock::time_point since_;
  bool leave_ = false;
  std::thread thread_;
};

/// The key under which results are counted together.
struct Column {
  std::string algorithm;
  std::string what;  ///< matrix or soak
  pe_t pes = 1;
  auto operator<=>(const Column&) const = default;
};

struct Counts {
  long long right = 0, wrong = 0, not_run = 0;
  double seconds = 0;  ///< in checks, without references
};

/// Runs ways and counts their results.
class Tally {
  using Clock = std::chrono::steady_clock;

 public:
  /// @param seconds_per_way  a way that takes longer ends the program
  /// @param seconds  ways that would begin later are counted as not run
  /// @param path  the file for write(); empty: none
  Tally(double seconds_per_way, double seconds, std::string path, DeviceKind device);
  /// Runs a way. Prints a line if the answer is wrong, or the run threw. An empty check counts as not run.
  void run(const Column& column, const std::string& where, const Check& check, const Way& way);
  /// True when no more ways are run. Thread-safe.
  bool over() const { return Clock::now() > end_; }
  Counts all() const;
  /// Prints one line per column, and the sum of all at the end: `N passed, N failed[, N not run: ...]`.
  void print() const;
  /// {bench, device, gpu or cpu, date, delays, counts: [{algorithm, what, pes, right, wrong, not_run, seconds}], failures}
  /// Also called if a way does not end, which then counts as wrong. @throws UsageError  the file cannot be written
  void write() const;

 private:
  void stuck(const std::string& way);

  const double seconds_per_way_;
  const Clock::time_point end_;
  const std::string path_;
  const DeviceKind device_;
  mutable std::mutex mutex_;
  std::map<Column, Counts> counts_;
  std::vector<std::string> failures_;
  Column at_hand_;
  Watch watch_;  // last: it calls stuck()
};

}  // namespace shoal::matrix
