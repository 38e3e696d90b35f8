// Who wants to be told in a run, without waiting for it, that a block, or all of them, have taken so many steps.
//
// A launcher's when_done(steps, call) and when_done(block, steps, call) register a call, before a run. The run makes it once, on a
// thread of the library, as soon as the steps are done, and goes on meanwhile. "All" are the blocks of this process. A call may look at
// what blocks gave of that state (gave(state) of a launcher), and may register others for later runs; nothing else of a launcher or
// an array. What a call throws ends the run, which throws it.
//
// Source: Choi et al. (Charm++): HAPI, which calls a method of a chare when the GPU has come to a place in a stream.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "shoal/blocks/block.hpp"

namespace shoal::blocks {

/// A call that is wanted.
struct Completion {
  std::int64_t block;  ///< -1: all
  step_t steps;
  std::function<void()> call;
};

/// Those that wait for a run. Thread-safe.
class Completions {
 public:
  void add(std::int64_t block, step_t steps, std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({block, steps, std::move(call)});
  }
  /// Takes those that a run comes to, in order of steps.
  std::vector<Completion> take(const StepRange& range) {
    const std::lock_guard lock(mutex_);
    const auto later = std::stable_partition(waiting_.begin(), waiting_.end(), [&](const Completion& one) {
      return one.steps > range.first && one.steps <= range.end;
    });
    std::vector<Completion> taken(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(later));
    waiting_.erase(waiting_.begin(), later);
    std::stable_sort(taken.begin(), taken.end(), [](const auto& a, const auto& b) { return a.steps < b.steps; });
    return taken;
  }

 private:
  std::mutex mutex_;
  std::vector<Completion> waiting_;
};

/// Of a run on CPU threads: whoever does the last of the tiles makes the call.
class CompletionCounts {
 public:
  /// @param tiles  tiles(block): how many there are of it here; of -1, in all
  template <class Tiles>
  void begin(std::vector<Completion> wanted, const Tiles& tiles) {
    wanted_ = std::move(wanted);
    left_ = std::make_unique<std::atomic<std::uint64_t>[]>(wanted_.size());
    empty_.clear();
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      left_[i] = tiles(wanted_[i].block);
      empty_.push_back(left_[i] == 0);
    }
  }
  bool any() const { return !wanted_.empty(); }
  /// A tile of a block has been done in the step before `steps`.
  void done(std::int64_t block, step_t steps) {
    const auto first = std::lower_bound(wanted_.begin(), wanted_.end(), steps,
                                        [](const Completion& one, step_t s) { return one.steps < s; });
    for (auto one = first; one != wanted_.end() && one->steps == steps; ++one) {
      if (one->block >= 0 && one->block != block) continue;
      if (left_[one - wanted_.begin()].fetch_sub(1, std::memory_order_acq_rel) == 1) one->call();
    }
  }
  /// After a run that came to its end: those of which there is no tile here.
  void end() const {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (empty_[i]) wanted_[i].call();
    }
  }

 private:
  std::vector<Completion> wanted_;                      ///< in order of steps
  std::unique_ptr<std::atomic<std::uint64_t>[]> left_;  ///< tiles that are not done yet
  std::vector<bool> empty_;
};

}  // namespace shoal::blocks
