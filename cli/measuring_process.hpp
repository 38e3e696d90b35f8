// A separate process that measures: if a run takes too long it is ended, if it crashes only this process ends; the caller goes on.
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

/// Used in the measuring process: tells the asker when a run begins and ends.
class RunClock {
 public:
  explicit RunClock(int descriptor) : descriptor_(descriptor) {}
  /// Makes a call that may take at most the run_seconds of ask(), and returns its result.
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

/// Answers questions in a child process, one after the other. A running kernel cannot be cancelled, and a CUDA error stays for the
/// life of a process. So a run that exceeds its limit ends with its process, and the next question gets a new one (on GPUs this
/// takes a second or two, for a new context and graph).
///
/// The child is forked, so it has the memory of its parent, for example a graph that was read. The parent must never use CUDA
/// itself (no Machine, no list_devices()), because a forked CUDA context does not work.
class MeasuringProcess {
 public:
  using Json = nlohmann::ordered_json;
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  /// Called in the child. What it throws, ask() throws in the parent.
  using Answer = std::function<Json(const Json& question, const RunClock& clock)>;

  /// @param begin  called in each new child, before its first question
  explicit MeasuringProcess(std::function<Answer()> begin) : begin_(std::move(begin)) {}
  ~MeasuringProcess() { end(); }
  MeasuringProcess(const MeasuringProcess&) = delete;
  MeasuringProcess& operator=(const MeasuringProcess&) = delete;

  /// @param run_seconds  limit of each call of RunClock::limited(); the time between such calls is not limited
  /// @throws TooSlow; DeviceError if the process ended by itself; and what the answer threw (by its kind in error.hpp)
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
