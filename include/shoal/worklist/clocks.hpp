// Measures on what the GPU workers of a worklist spend their time, in builds with -DSHOAL_CLOCKS=1 (cmake -DSHOAL_CLOCKS=on),
// which are slower. Each run then writes a table to standard error: for each section its share of all workers' time, how often
// a warp entered it, and its mean time. Sections are nested: `run` contains `park`, `reserve` and `place`. In `meet` a warp of a
// block waits for the other warps before all of them queue and send together. In other builds, none of this is compiled.
#pragma once

#if !defined(SHOAL_CLOCKS)
#define SHOAL_TIMED(w, own, section) static_cast<void>(0)
#else
#include <cstdio>

#include "shoal/core/atomic.hpp"

/// Counts the time from here to the end of the enclosing scope as time of `section`, in a lane's OwnOfLane.
#define SHOAL_TIMED(w, own, section) const Timed timed((w), (own).clocks, (section))

namespace shoal {

enum class Section : lane_t {
  take,
  bring,
  run,
  split,
  make,
  judge,
  judge_at,
  meet,
  park,
  reserve,
  place,
  send,
  receive,
  refresh,
  phase,
  end,
  look,
  rest,
  idle,
  all,
  count
};
inline constexpr lane_t kSections = static_cast<lane_t>(Section::count);
inline constexpr const char* kSectionNames[kSections] = {
    "take",  "bring", "run",     "split",   "make",  "judge", "judge_at", "meet", "park", "reserve",
    "place", "send",  "receive", "refresh", "phase", "end",   "look",     "rest", "idle", "all"};

/// Sums over the workers of a PE that have left.
struct ClockWords {
  Word<std::uint64_t, Scope::device> cycles[kSections], times[kSections];
};
/// The sums of one warp, or of one thread that is a worker. Its first lane measures.
struct Clocks {
  std::uint64_t cycles[kSections] = {};
  std::uint32_t times[kSections] = {};
};

/// Measures a section, on the first lane of each warp only. On CPUs all times are 0.
class Timed {
 public:
  template <class W>
  SHOAL_FN Timed(const W& w, Clocks& clocks, Section section)
      : clocks_(w.lane() % 32 == 0 ? &clocks : nullptr), section_(static_cast<lane_t>(section)), begin_(now()) {}
  SHOAL_FN ~Timed() {
    if (clocks_ == nullptr) return;
    clocks_->cycles[section_] += static_cast<std::uint64_t>(now() - begin_);
    ++clocks_->times[section_];
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  static SHOAL_FN long long now() {
#if defined(__CUDA_ARCH__)
    return clock64();
#else
    return 0;
#endif
  }

  Clocks* clocks_;
  lane_t section_;
  long long begin_;
};

/// Adds a warp's sums to those of its PE. Called by the first lane of each warp when its worker leaves.
SHOAL_FN inline void add_clocks(const Clocks& clocks, ClockWords& to) {
  for (lane_t s = 0; s < kSections; ++s) {
    if (clocks.times[s] == 0) continue;
    to.cycles[s].fetch_add(clocks.cycles[s]);
    to.times[s].fetch_add(clocks.times[s]);
  }
}

/// Prints the table of one PE to standard error; on the host, after a run.
inline void print_clocks(int pe, const ClockWords& of) {
  const double all = static_cast<double>(of.cycles[static_cast<lane_t>(Section::all)].load());
  for (lane_t s = 0; s < kSections && all > 0; ++s) {
    const double cycles = static_cast<double>(of.cycles[s].load()), times = static_cast<double>(of.times[s].load());
    if (times == 0) continue;
    std::fprintf(stderr, "clocks of PE %d: %-8s %5.1f %%  %12.0f times  %9.0f cycles each\n", pe, kSectionNames[s],
                 100 * cycles / all, times, cycles / times);
  }
}
inline void clear_clocks(ClockWords& of) {
  for (lane_t s = 0; s < kSections; ++s) of.cycles[s].store(0), of.times[s].store(0);
}

}  // namespace shoal
#endif
