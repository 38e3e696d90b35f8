#include "progress.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "shoal/core/text.hpp"

namespace shoal::cli {

Step::Step(std::string what, bool quiet) : what_(printable(what)) {
  if (!quiet && isatty(STDERR_FILENO) != 0) speaker_ = std::thread(&Step::speak, this);
}

Step::~Step() {
  if (!speaker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  over_.notify_one();
  speaker_.join();
}

void Step::speak() {
  std::unique_lock lock(mutex_);
  int seconds = 0;
  while (!over_.wait_for(lock, std::chrono::seconds(1), [this] { return finished_; })) {
    ++seconds;
    const double fraction = fraction_.load();
    if (fraction >= 0) {
      std::fprintf(stderr, "\r%s: %.0f %%, %d s\033[K", what_.c_str(), 100 * fraction, seconds);
    } else {
      std::fprintf(stderr, "\r%s: %d s\033[K", what_.c_str(), seconds);
    }
    std::fflush(stderr);
  }
  if (seconds > 0) std::fputs("\r\033[K", stderr);
}

}  // namespace shoal::cli
