// What runs of blocks write into a trace (core/trace.hpp): blocks as tracks with a span for each step, messages as flows between
// them; on CPU threads also workers as tracks, with a span for each tile.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "shoal/core/fn.hpp"
#include "shoal/core/trace.hpp"
#include "shoal/core/types.hpp"

namespace shoal::blocks {

/// What one worker did to tiles, by its own thread. Times are trace_ticks().
class TileLog {
 public:
  struct Tile {
    std::int64_t began;
    std::uint32_t unpacked, updated, ended;  ///< after `began`
    std::uint32_t slot, tile;                ///< of its PE; of its block
    std::uint64_t step;
  };
  /// For another run. What the last one wrote to is written to again.
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
  /// When the worker had a tile and began to wait for what it needs.
  std::int64_t came(std::size_t i) const { return i == 0 ? first_ : (*this)[i - 1].began + (*this)[i - 1].ended; }

 private:
  std::uint32_t after_begin() const {
    constexpr std::int64_t kLongest = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::min(trace_ticks() - now_.began, kLongest));
  }
  static constexpr std::size_t kMost = 1 << 18, kPart = 1 << 12;  // 10 MiB, a hundred KiB or so at a time
  Tile now_{};
  std::size_t n_ = 0;
  std::int64_t first_ = 0;
  std::vector<std::unique_ptr<Tile[]>> parts_;  // nothing is copied when it grows
};

/// What take_steps() tells of each tile; nothing here.
struct Untraced {
  SHOAL_FN void began() const {}
  SHOAL_FN void unpacked() const {}
  SHOAL_FN void updated() const {}
  SHOAL_FN void ended(std::uint32_t, std::uint64_t, std::uint64_t) const {}
};
/// For CPU threads: into a log, or nowhere.
struct TracedTo {
  TileLog* log;
  void began() const {
    if (log != nullptr) log->began();
  }
  void unpacked() const {
    if (log != nullptr) log->unpacked();
  }
  void updated() const {
    if (log != nullptr) log->updated();
  }
  void ended(std::uint32_t slot, std::uint64_t step, std::uint64_t tile) const {
    if (log != nullptr) log->ended(slot, step, static_cast<std::uint32_t>(tile));
  }
};

/// An end of a channel, as seen by who sends there.
struct TracedChannel {
  std::int64_t from, to;  ///< blocks
  std::uint32_t side;     ///< of `from`
  std::int64_t bytes;     ///< of a message
};
/// A block's step, or a part of it.
struct TracedStep {
  std::int64_t block;
  std::uint64_t step;
  std::int64_t begin, end;
  std::int64_t tiles;
};

/// One track for each block, and a flow from a step that sends to the one that it sends for, where both are there.
/// @param steps  in any order; those of one block and step become one span
void draw_steps(Trace& trace, std::vector<TracedStep> steps, const std::vector<TracedChannel>& channels);
/// Workers as tracks, and then draw_steps().
/// @param logs    [PEs x workers]
/// @param times   of what is in them
/// @param blocks  [PEs][slots] the block that is there
void draw_tiles(Trace& trace, const std::vector<TileLog>& logs, const TickTimes& times,
                const std::vector<std::vector<std::int64_t>>& blocks, const std::vector<TracedChannel>& channels);

}  // namespace shoal::blocks
