// Shows long steps on a terminal: nothing during the first second of a step, then one line that is rewritten every second.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace shoal::cli {

/// One step of work, from construction to destruction. Silent when `quiet` or when stderr is not a terminal.
class Step {
 public:
  Step(std::string what, bool quiet);
  ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// How much is done, in [0, 1]; any thread.
  void done(double fraction) { fraction_.store(fraction); }
  std::function<void(double)> callback() {
    return [this](double fraction) { done(fraction); };
  }

 private:
  void speak();

  std::string what_;
  std::atomic<double> fraction_{-1};
  std::mutex mutex_;
  std::condition_variable over_;
  bool finished_ = false;
  std::thread speaker_;  // the last member, since the thread uses the others
};

}  // namespace shoal::cli
