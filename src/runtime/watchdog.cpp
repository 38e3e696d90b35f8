#include "shoal/runtime/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace shoal {

Watchdog::Watchdog(double timeout_seconds, std::function<std::vector<PeSnapshot>()> look, std::function<void()> stop)
    : timeout_seconds_(timeout_seconds), look_(std::move(look)), stop_(std::move(stop)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  leave_.notify_one();
  thread_.join();
}

void Watchdog::watch() {
  using Clock = std::chrono::steady_clock;
  const auto look_every = std::chrono::duration<double>(std::clamp(timeout_seconds_ / 10, 0.01, 1.0));
  std::unique_lock lock(mutex_);
  auto moved_at = Clock::now();
  std::uint64_t last = progress(look_());
  while (!leave_.wait_for(lock, look_every, [this] { return leaving_; })) {
    const std::uint64_t now = progress(look_());
    if (now != last) {
      last = now;
      moved_at = Clock::now();
    } else if (Clock::now() - moved_at > std::chrono::duration<double>(timeout_seconds_)) {
      stop_();
      if (leave_.wait_for(lock, std::chrono::seconds(2), [this] { return leaving_; })) return;
      const std::vector<PeSnapshot> pes = look_();
      const std::string line = diagnose(pes);
      std::fprintf(stderr, "shoal: error: no progress for %g s, and a task does not return: %s; counters in %s\n",
                   timeout_seconds_, line.c_str(), dump(pes, line).c_str());
      std::_Exit(kStuckExitCode);
    }
  }
}

}  // namespace shoal
