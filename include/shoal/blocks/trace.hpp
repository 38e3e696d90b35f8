// What runs of blocks write into a trace (core/trace.hpp): a track for each block with a span for each step, and messages as
// flows between the spans. On CPU threads also a track for each worker with a span for each tile.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "shoal/core/fn.hpp"
#include "shoal/core/state_log.hpp"
#include "shoal/core/types.hpp"

namespace shoal::blocks {

/// A log of the tiles that one worker has done, written by its own thread. Times are in trace_ticks().
class TileLog {
 public:
  struct Tile {
    std::int64_t began;
    std::uint32_t unpacked, updated, ended;  ///< ticks after `began`
    std::uint32_t slot, tile;                ///< the slot on its PE; the tile's number in its block
    std::uint64_t step;
  };
  /// Empties the log for another run. Keeps its memory.
  void clear(std::int64_t now) {
    n_ = 0;
    first_ = now;
  }
  void began() { now_.began = trace_ticks(); }
  void unpacked() { now_.unpacked = after_begin(); }
  void updated() { now_.updated = after_begin(); }
  void ended(std::uint32_t slot, std::uint64_t step, std::uint32_t tile) {
    now_.ended = after_begin();
    now_.slot = slot, now_.step = step, now_.tile = tile;
    if (n_ == parts_.size() * kPart && n_ < kMost) parts_.push_back(std::make_unique<Tile[]>(kPart));
    if (n_ < kMost) parts_[n_ / kPart][n_ % kPart] = now_, ++n_;
  }
  std::size_t size() const { return n_; }
  const Tile& operator[](std::size_t i) const { return parts_[i / kPart][i % kPart]; }
  /// When the worker had taken the i-th tile and began to wait for its input.
  std::int64_t came(std::size_t i) const { return i == 0 ? first_ : (*this)[i - 1].began + (*this)[i - 1].ended; }

 private:
  std::uint32_t after_begin() const {
    constexpr std::int64_t kLongest = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::min(trace_ticks() - now_.began, kLongest));
  }
  static constexpr std::size_t kMost = 1 << 18, kPart = 1 << 12;  // tiles: 10 MiB; a hundred KiB or so
  Tile now_{};
  std::size_t n_ = 0;
  std::int64_t first_ = 0;
  std::vector<std::unique_ptr<Tile[]>> parts_;  // in parts, so that nothing is copied when the log grows
};

/// How take_steps() reports the stages of each tile; this one ignores them.
struct Untraced {
  SHOAL_FN void began() const {}
  SHOAL_FN void unpacked() const {}
  SHOAL_FN void updated() const {}
  SHOAL_FN void ended(std::uint32_t, std::uint64_t, std::uint64_t) const {}
};
/// The same for CPU threads: writes into a log; null: does nothing.
struct TracedTo {
  TileLog* log;
  SHOAL_HOST_FN void began() const {
    if (log != nullptr) log->began();
  }
  SHOAL_HOST_FN void unpacked() const {
    if (log != nullptr) log->unpacked();
  }
  SHOAL_HOST_FN void updated() const {
    if (log != nullptr) log->updated();
  }
  SHOAL_HOST_FN void ended(std::uint32_t slot, std::uint64_t step, std::uint64_t tile) const {
    if (log != nullptr) log->ended(slot, step, static_cast<std::uint32_t>(tile));
  }
};

/// One direction of a channel.
struct TracedChannel {
  std::int64_t from, to;  ///< blocks
  std::uint32_t side;     ///< of `from`
  std::int64_t bytes;     ///< of a message
};
/// A step of a block, or a part of that step. Times are nanoseconds, as trace_now().
struct TracedStep {
  std::int64_t block;
  std::uint64_t step;
  std::int64_t begin, end;
  std::int64_t tiles;
};

/// Draws a track for each block, and a flow from each step that sends to the step that unpacks it, where both are in the trace.
/// @param steps  in any order; parts of one step of a block become one span
void draw_steps(Trace& trace, std::vector<TracedStep> steps, const std::vector<TracedChannel>& channels);
/// Draws a track for each worker, then calls draw_steps().
/// @param logs    [PEs x workers]
/// @param times   converts the ticks in the logs
/// @param blocks  [PEs][slots] the number of the block in each slot
void draw_tiles(Trace& trace, const std::vector<TileLog>& logs, const TickTimes& times,
                const std::vector<std::vector<std::int64_t>>& blocks, const std::vector<TracedChannel>& channels);

}  // namespace shoal::blocks
