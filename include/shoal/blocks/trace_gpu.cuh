// Traces of blocks on GPUs come from timed events in their streams. Kernels have no code for traces.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shoal/blocks/trace.hpp"
#include "shoal/blocks/units.hpp"
#include "shoal/core/types.hpp"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::blocks::gpu {

/// Records the events of one run at a time, between begin() and draw() or drop(). Without a trace it does nothing.
class RunTrace {
 public:
  /// @param work  [PEs] the streams Launcher::work_
  RunTrace(const std::vector<int>& devices, const std::vector<Stream>& work);
  ~RunTrace();

  /// Before the launches of a run.
  void begin();
  void drop();
  /// Whether the run is traced.
  explicit operator bool() const { return events_ != nullptr; }

  /// Records an event in PE p's stream.
  /// @param ended  name of the work between the mark before and this one; empty: no span is drawn
  void mark(pe_t p, const std::string& ended);
  /// Steps from `first` on are launched one by one, after the work that is in PE 0's stream now.
  void mark_steps(step_t first);
  /// Gives a unit an event of its own for the end of step s - 1, unless there are too many.
  void add_step(std::int64_t unit, step_t s, pe_t p);
  /// The event of add_step(); null: there is none.
  cudaEvent_t step(std::int64_t unit, step_t s) const;
  /// For resident kernels: true once per millisecond, if the run is traced.
  bool wants_counts();
  static void count_tiles(pe_t p, std::uint64_t tiles);

  /// After the run: draws it into the trace.
  template <class B>
  void draw(const BlockArray<B>& array, const Units& units) {
    std::vector<std::vector<TracedBlock>> blocks(static_cast<std::size_t>(units.size()));
    for (std::int64_t b = 0; b < array.size(); ++b) {
      if (!array.here(b)) continue;
      const auto tiles = static_cast<std::int64_t>(array.slots()[array.home(b)][array.number(b)].tiles);
      for (std::int64_t u = 0; u < units.size(); ++u) {
        const bool its = array.home(b) == units[u].pe && (units.together() || b == units[u].block);
        if (its) blocks[static_cast<std::size_t>(u)].push_back({b, tiles});
      }
    }
    draw(blocks, units, array.channels());
  }

 private:
  struct TracedBlock {
    std::int64_t block, tiles;
  };
  struct Events;
  /// @param blocks  [units] the blocks of each
  void draw(const std::vector<std::vector<TracedBlock>>& blocks, const Units& units,
            const std::vector<TracedChannel>& channels);

  const std::vector<int>& devices_;
  const std::vector<Stream>& work_;
  std::unique_ptr<Events> events_;  ///< null: the run is not traced
  std::int64_t counted_at_ = 0;
};

}  // namespace shoal::blocks::gpu
