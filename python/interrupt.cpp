// Calls the library without Python's global interpreter lock, and lets Ctrl-C end such a call.
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>

#include "module.hpp"
#include "shoal/core/interrupt.hpp"

namespace shoal::python {
namespace {

constexpr std::chrono::milliseconds kLookEvery{50};

/// Python runs signal handlers in its main thread only. They may raise, as the one for Ctrl-C raises KeyboardInterrupt.
bool in_main_thread() {
  const nb::object main = nb::module_::import_("threading").attr("main_thread")();
  const nb::object ident = main.attr("ident");
  return !ident.is_none() && nb::cast<unsigned long>(ident) == PyThread_get_thread_ident();
}

/// Runs f on a thread of its own.
class Helper {
 public:
  /// @throws std::system_error  the system cannot start a thread
  explicit Helper(const std::function<void()>& f)
      : thread_([this, &f](const std::stop_token& stop) { run(f, stop); }) {}

  void call_off() { thread_.request_stop(); }
  /// Waits at most this long. @return whether f has ended
  bool wait_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, time, [this] { return has_ended_; });
  }
  void wait() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return has_ended_; });
  }
  /// Throws again what f threw, if anything. To be called when f has ended.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run(const std::function<void()>& f, const std::stop_token& stop) noexcept {
    const Interruptible scope(stop);
    try {
      f();
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    ended_.notify_one();
  }

  std::exception_ptr error_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::jthread thread_;  // the last member: the thread uses the others, and is joined before they are destroyed
};

/// Waits for the helper, and lets Python handle signals meanwhile. An exception that a signal handler raises ends the call.
void wait_and_look_for_signals(Helper& helper) {
  std::optional<nb::python_error> raised;
  {
    const nb::gil_scoped_release unlocked;
    while (!helper.wait_for(kLookEvery)) {
      const nb::gil_scoped_acquire locked;
      if (PyErr_CheckSignals() == 0) continue;
      raised.emplace();
      helper.call_off();
      break;
    }
  }
  if (raised) {
    {
      const nb::gil_scoped_release unlocked;
      helper.wait();
    }
    throw std::move(*raised);
  }
  helper.rethrow();
}

}  // namespace

void call_unlocked(const std::function<void()>& f) {
  if (in_main_thread()) {
    std::optional<Helper> helper;
    try {
      helper.emplace(f);
    } catch (const std::system_error&) {
      // The system cannot start a thread: f runs on this one, where no signal can interrupt it.
    }
    if (helper) return wait_and_look_for_signals(*helper);
  }
  const nb::gil_scoped_release unlocked;
  f();
}

std::unique_lock<std::timed_mutex> lock_unless_called_off(std::timed_mutex& mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  while (!lock.try_lock_for(kLookEvery)) throw_if_interrupted();
  return lock;
}

}  // namespace shoal::python
