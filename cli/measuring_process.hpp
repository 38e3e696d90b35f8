// A process that measures: what takes too long is ended, what breaks down breaks alone, and the caller goes on.
#pragma once
#include <sys/types.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "shoal/core/error.hpp"

namespace shoal::cli {

/// A run was ended because it took longer than it was given.
class TooSlow : public Error {
 public:
  explicit TooSlow(double limit_seconds);
  double limit_seconds;
};

/// Of the process that measures: tells the asker when a run begins and ends.
class RunClock {
 public:
  explicit RunClock(int descriptor) : descriptor_(descriptor) {}
  /// What the call returns; it is limited by ask()'s run_seconds.
  template <class Call>
  auto limited(Call&& call) const {
    say('<');
    auto result = call();
    say('>');
    return result;
  }

 private:
  void say(char mark) const;
  int descriptor_;
};

/// Answers questions in a child process, one after the other. A kernel cannot be taken back and a CUDA error stays for
/// the life of a process: so a run over its limit costs its process, and the next question gets a new one (a second or
/// two on GPUs: contexts and graphs anew).
///
/// The child is forked: it has what its parent had, such as a graph that was read. The parent must not use CUDA itself,
/// before or after (no Machine, no list_devices()): a forked CUDA context does not work.
class MeasuringProcess {
 public:
  using Json = nlohmann::ordered_json;
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  /// Called in the child. What it throws is thrown by ask().
  using Answer = std::function<Json(const Json& question, const RunClock& clock)>;

  /// @param begin  called in each new child, before its first question
  explicit MeasuringProcess(std::function<Answer()> begin) : begin_(std::move(begin)) {}
  ~MeasuringProcess() { end(); }
  MeasuringProcess(const MeasuringProcess&) = delete;
  MeasuringProcess& operator=(const MeasuringProcess&) = delete;

  /// @param run_seconds  for each call of RunClock::limited(); what lies between has no limit
  /// @throws TooSlow, DeviceError when the process ended by itself, and what the answer threw (by its kind in error.hpp)
  Json ask(const Json& question, double run_seconds = kNoLimit);

 private:
  void start();
  [[noreturn]] void serve(int questions, int answers) const;
  void end();
  std::string died();

  const std::function<Answer()> begin_;
  pid_t child_ = 0;  ///< 0: none
  int questions_ = -1, answers_ = -1;
  std::string received_;
};

}  // namespace shoal::cli
