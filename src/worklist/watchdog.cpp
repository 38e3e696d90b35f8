#include "shoal/worklist/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"

namespace shoal {

using Clock = std::chrono::steady_clock;

struct Watchdog::Watch {
  const Clock::time_point begun = Clock::now();
  const double timeout_seconds;
  const WorklistParts& parts;
  std::mutex mutex;
  std::condition_variable leave;
  bool leaving = false;
  std::string stalled;  ///< the text of the error; empty while there is none
  std::thread thread;
  std::stop_callback<std::function<void()>> when_called_off;

  Watch(double timeout, const WorklistParts& of)
      : timeout_seconds(timeout),
        parts(of),
        thread([this] { watch_or_end(); }),
        when_called_off(interrupt_token(), [this] { parts.end_as(RunState::interrupted); }) {}
  ~Watch() {
    {
      const std::lock_guard lock(mutex);
      leaving = true;
    }
    leave.notify_one();
    thread.join();
  }

  void watch();
  /// Without a watchdog nothing would notice a run that hangs.
  void watch_or_end() {
    try {
      watch();
    } catch (const std::exception& error) {
      stalled = std::string("the run is not watched any more: ") + error.what();
      parts.end_as(RunState::stalled);
    }
  }
  std::uint64_t moved(const std::vector<PeSnapshot>& pes) const {
    return parts.wires() != nullptr ? parts.wires()->moved(progress(pes)) : progress(pes);
  }
};

Watchdog::Watchdog(double timeout_seconds, const WorklistParts& parts)
    : watch_(std::make_unique<Watch>(timeout_seconds, parts)) {}
Watchdog::~Watchdog() = default;

void Watchdog::throw_if_stalled() {
  const std::lock_guard lock(watch_->mutex);
  if (!watch_->stalled.empty()) throw DeviceError(watch_->stalled);
}

double Watchdog::seconds() const { return std::chrono::duration<double>(Clock::now() - watch_->begun).count(); }

void Watchdog::Watch::watch() {
  const auto look_every = std::chrono::duration<double>(std::clamp(timeout_seconds / 10, 0.01, 1.0));
  std::unique_lock lock(mutex);
  auto moved_at = Clock::now();
  // A process that stands still is detected before the lack of progress is, and gives the better message, so wait longer for the
  // latter.
  const double patience = timeout_seconds + (parts.wires() != nullptr ? 2 : 0);
  std::uint64_t last = moved(parts.snapshots());
  while (!leave.wait_for(lock, look_every, [this] { return leaving; })) {
    const std::uint64_t now = moved(parts.snapshots());
    if (now != last) {
      last = now;
      moved_at = Clock::now();
    } else if (Clock::now() - moved_at > std::chrono::duration<double>(patience)) {
      const std::vector<PeSnapshot> pes = parts.snapshots(/*closely=*/true);
      if (moved(pes) != last) continue;  // there was progress while this thread was about to act
      std::string line;
      const bool runs = std::all_of(pes.begin(), pes.end(), [](const PeSnapshot& pe) { return pe.state == 0; });
      if (runs) line = stalled = stall_line(timeout_seconds, pes);
      // If it ended, for whatever reason: a PE that was not told, or a worker that has not noticed.
      parts.end_as(RunState::stalled);
      if (leave.wait_for(lock, std::chrono::seconds(2), [this] { return leaving; })) return;
      if (line.empty()) line = stall_line(timeout_seconds, pes);
      if (parts.wires() != nullptr) parts.wires()->leave_for_good("a task does not return: " + line);
      end_stuck_process("shoal", "a task does not return: " + line);
    }
  }
}

}  // namespace shoal
