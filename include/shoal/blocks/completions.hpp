// Completion callbacks: the program is notified in the middle of a run that a block, or all blocks, have taken a number of steps.
//
// A launcher's when_done(steps, call) and when_done(block, steps, call) register a call before a run. The run makes the call
// once, on a thread of the library, as soon as the steps are done, and goes on meanwhile. Without `block` it waits for all blocks
// of this process. A call may read what blocks gave of that state (gave(state) of a launcher), and may register calls for later
// runs. It may use nothing else of a launcher or an array. If a call throws, the run ends and throws the same.
//
// Source: Choi et al. (Charm++): HAPI, which calls a method of a chare when the GPU has come to a place in a stream.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "shoal/blocks/block.hpp"

namespace shoal::blocks {

/// A registered call.
struct Completion {
  std::int64_t block;  ///< -1: all blocks of this process
  step_t steps;
  std::function<void()> call;
};

/// The registered calls of a launcher. Thread-safe.
class Completions {
 public:
  Completions();
  ~Completions();
  void add(std::int64_t block, step_t steps, std::function<void()> call);
  /// Removes and returns the calls whose steps a run will reach, in order of steps.
  std::vector<Completion> take(const StepRange& range);

 private:
  struct Waiting;  // defined in the source file: it needs <mutex>, which a user's program would have to compile
  const std::unique_ptr<Waiting> waiting_;
};

/// The calls of a run on CPU threads: the worker that does the last of the awaited tiles makes the call.
class CompletionCounts {
 public:
  /// @param tiles  tiles(block): how many tiles the block has in this process; tiles(-1): how many all blocks have here
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
  /// Counts a tile of a block that has now taken `steps` steps. Any worker.
  void done(std::int64_t block, step_t steps);
  /// After a run that came to its end: makes the calls that await no tile of this process.
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
