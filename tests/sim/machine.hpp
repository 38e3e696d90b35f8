// The simulator: virtual workers on one thread, a seeded scheduler, a weak memory model and a race detector.
//
// Memory model: every atomic word keeps all values it ever held (its history). A worker has a view: the oldest entry of
// each history that it may still read. A load may return any entry from there on; a release stores the writer's view with
// the value; an acquire joins that view into the reader's. Read-modify-writes read the newest entry and pass its view on
// (release sequences). This is RC11 without load buffering and with stores entering a history in the order they run.
// Plain accesses are ordered by the same views (vector clocks, as FastTrack): an unordered pair is a failure.
//
// Source: Kang et al., POPL 2017 (views); Flanagan and Freund, PLDI 2009 (FastTrack); Burckhardt et al., ASPLOS 2010 (PCT).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "shoal/core/sim_atomic.hpp"

namespace shoal::sim {

inline constexpr int kMaxWorkers = 16;

enum class Policy {
  uniform,   ///< any worker may run at every step
  bursts,    ///< the same worker continues with probability 7/8
  priority,  ///< the worker of highest priority runs, with a few random changes of priority (PCT)
  stall,     ///< uniform, but one worker stops for a long time at a random step
};

/// Everything that decides a run. Equal schedules give equal traces.
struct Schedule {
  std::uint64_t seed = 1;
  Policy policy = Policy::uniform;
  unsigned stale_of_256 = 64;        ///< in how many of 256 loads an older value is preferred
  unsigned expected_steps = 500;     ///< changes of priority and stalls are placed within so many steps
  std::uint64_t max_steps = 100000;  ///< a run with more steps fails as endless
  bool trace = false;

  /// Derives the policy and stale_of_256 from the seed.
  static Schedule from_seed(std::uint64_t seed, unsigned expected_steps, std::uint64_t max_steps);
};

struct Verdict {
  bool ok = true;
  std::string what;  ///< empty when ok
  std::uint64_t steps = 0;
  std::uint64_t trace_hash = 0;  ///< hash of every operation with its worker and value
  std::uint64_t stale_reads = 0;
};

class Machine {
 public:
  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Removes workers and names, for the next set-up.
  void clear();
  /// Removes only the workers, for another run on the same memory.
  void clear_workers();
  /// Adds a worker of PE `pe`. The body must not own memory through objects on its stack: a failed run abandons the stack.
  void add_worker(int pe, std::function<void()> body);
  /// Names memory in reports: label[i] for element i of `count` elements of `stride` bytes.
  void name(const void* first, std::size_t stride, std::size_t count, std::string label);
  /// Runs all workers to their end, or to the first failure.
  Verdict run(const Schedule& schedule);
  /// The last operations of the last run that had Schedule::trace set.
  std::string trace(std::size_t last) const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// Called inside a worker: ends the whole run as failed. Does not return.
[[noreturn]] void fail(const std::string& what);

/// A small random number generator for set-ups and tasks (SplitMix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 0x1234567ull) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  /// In [0, bound); bound at least 1.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32); }

 private:
  std::uint64_t state_;
};

}  // namespace shoal::sim
