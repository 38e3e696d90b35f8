#include "shoal/core/spin.hpp"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "shared_core.hpp"

namespace shoal {
namespace {

thread_local SharedCore core;

std::int64_t time_of(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));  // more cores than a cpu_set_t has room for
}

}  // namespace

void give_way() {
  if (core.may_sleep() && core.sleeps(time_of(CLOCK_MONOTONIC))) {
    const timespec shortest{0, 1};  // Linux adds its timer slack, 50 microseconds
    nanosleep(&shortest, nullptr);
    return;
  }
  const std::int64_t began = time_of(CLOCK_MONOTONIC);
  sched_yield();
  const std::int64_t ended = time_of(CLOCK_MONOTONIC);
  if (ended - began < SharedCore::kLong) {
    core.yielded_shortly();
  } else {
    static const int cores = usable_cores();
    core.yielded_for_long(ended, time_of(CLOCK_PROCESS_CPUTIME_ID), cores);
  }
}

}  // namespace shoal
