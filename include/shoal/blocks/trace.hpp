// What runs of blocks write into a trace (core/trace.hpp): blocks as tracks with a span for each step, messages as flows between
// them; on CPU threads also workers as tracks, with a span for each tile.
#pragma once
#include <cstdint>
#include <vector>

#include "shoal/core/fn.hpp"
#include "shoal/core/trace.hpp"
#include "shoal/core/types.hpp"

namespace shoal::blocks {

/// What one worker did to tiles, by its own thread.
class TileLog {
 public:
  struct Tile {
    std::int64_t came, began, unpacked, updated, ended;
    std::uint64_t step;
    std::uint32_t slot, tile;  ///< of its PE; of its block
  };
  void came() { now_.came = tiles_.empty() ? trace_now() : now_.ended; }
  void began() { now_.began = trace_now(); }
  void unpacked() { now_.unpacked = trace_now(); }
  void updated() { now_.updated = trace_now(); }
  void ended(std::uint32_t slot, std::uint64_t step, std::uint32_t tile) {
    now_.ended = trace_now();
    now_.slot = slot, now_.step = step, now_.tile = tile;
    if (tiles_.size() < kMost) tiles_.push_back(now_);
  }
  const std::vector<Tile>& tiles() const { return tiles_; }

 private:
  static constexpr std::size_t kMost = 1 << 18;  // 16 MiB
  Tile now_{};
  std::vector<Tile> tiles_;
};

/// What take_steps() tells of each tile; nothing here.
struct Untraced {
  SHOAL_FN void came() const {}
  SHOAL_FN void began() const {}
  SHOAL_FN void unpacked() const {}
  SHOAL_FN void updated() const {}
  SHOAL_FN void ended(std::uint32_t, std::uint64_t, std::uint64_t) const {}
};
/// For CPU threads: into a log, or nowhere.
struct TracedTo {
  TileLog* log;
  void came() const {
    if (log != nullptr) log->came();
  }
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
/// @param blocks  [PEs][slots] the block that is there
void draw_tiles(Trace& trace, const std::vector<TileLog>& logs, const std::vector<std::vector<std::int64_t>>& blocks,
                const std::vector<TracedChannel>& channels);

}  // namespace shoal::blocks
