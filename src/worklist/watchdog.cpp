#include "shoal/worklist/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "shoal/core/error.hpp"
#include "shoal/data/pending_file.hpp"

namespace shoal {

void end_stuck_process(const std::string& program, const std::string& what) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: error: %s\n", program.c_str(), what.c_str());
  io::remove_pending_files();
  std::_Exit(kStuckExitCode);
}

Watchdog::Watchdog(double timeout_seconds, std::function<std::vector<PeSnapshot>(bool)> look,
                   std::function<void()> stop)
    : timeout_seconds_(timeout_seconds), look_(std::move(look)), stop_(std::move(stop)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  leave_.notify_one();
  thread_.join();
}

void Watchdog::throw_if_stalled() {
  const std::lock_guard lock(mutex_);
  if (!stalled_.empty()) throw DeviceError(stalled_);
}

void Watchdog::watch() {
  using Clock = std::chrono::steady_clock;
  const auto look_every = std::chrono::duration<double>(std::clamp(timeout_seconds_ / 10, 0.01, 1.0));
  std::unique_lock lock(mutex_);
  auto moved_at = Clock::now();
  std::uint64_t last = progress(look_(false));
  while (!leave_.wait_for(lock, look_every, [this] { return leaving_; })) {
    const std::uint64_t now = progress(look_(false));
    if (now != last) {
      last = now;
      moved_at = Clock::now();
    } else if (Clock::now() - moved_at > std::chrono::duration<double>(timeout_seconds_)) {
      const std::vector<PeSnapshot> pes = look_(true);
      if (progress(pes) != last) continue;  // it moved while we were about to act
      std::string line;
      const bool runs = std::all_of(pes.begin(), pes.end(), [](const PeSnapshot& pe) { return pe.state == 0; });
      if (runs) line = stalled_ = stall_line(timeout_seconds_, pes);
      stop_();  // if it ended, for whatever reason: a PE that was not told, or a worker that has not noticed
      if (leave_.wait_for(lock, std::chrono::seconds(2), [this] { return leaving_; })) return;
      if (line.empty()) line = stall_line(timeout_seconds_, pes);
      end_stuck_process("shoal", "a task does not return: " + line);
    }
  }
}

}  // namespace shoal
