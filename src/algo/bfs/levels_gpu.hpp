// Breadth-first search level by level on GPUs, each level in the cheaper direction. One cooperative kernel per GPU runs the whole
// search: the GPU chooses the direction and detects the end of a level. Host declarations only; no CUDA types.
//
// Source: Beamer, Asanovic, Patterson, SC 2012 (the two directions); Merrill, Garland, Grimshaw, PPoPP 2012 (an equal share of the
// arcs for each warp). Differences: a packed counter hands out queue slots and arc offsets in one atomic, so that no scan over the
// frontier is needed; bottom-up tests four well-connected in-neighbours, chosen when the graph is placed, before it reads a row;
// one cluster of blocks, with a hardware barrier, runs long series of small levels.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/world/report.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// When to change direction, and how many blocks and threads to use. Levels do not depend on any of these.
struct BfsLevelsGpuTuning {
  double alpha = 15;  ///< go bottom-up when the frontier has more than 1 / alpha of the unexplored arcs; 0: never
  double beta = 24;   ///< go back top-down when a shrinking frontier has under 1 / beta of the vertices; 0: never
  int block_threads = 1024;           ///< threads of a block; a multiple of 32, at most 1,024
  int blocks_per_sm = 0;              ///< blocks of a multiprocessor; 0: as many as fit
  bool narrow = true;                 ///< let one cluster of blocks run small levels (one PE only)
  int narrow_after = 6;               ///< ... after this many small levels in a row, at least 2
  std::int64_t narrow_enter = 12288;  ///< a level is small if it has at most this many frontier arcs
  std::int64_t narrow_leave =
      65536;  ///< the cluster gives up at more frontier arcs than this; at least 2 * narrow_enter
  std::int64_t narrow_check = 100000;  ///< in levels of this many vertices or more, it reads a bit before setting it
  int narrow_threads = 1024;           ///< threads of a block of the cluster: 512 or 1024
  int cluster_blocks = 16;             ///< blocks of the cluster: 1, 2, 4, 8 or 16; halved until the device takes it
  double deadline_seconds = 5;         ///< longest wait at one barrier before the search ends in a DeviceError
};

/// One level of the last search as recorded by the first PE. Levels on the cluster are not recorded.
struct BfsLevelStep {
  /// t: top-down, r: receiving what peers reached top-down, b: bottom-up, f: frontier to bitmap, q: bitmap to queue
  char side = 't';
  std::uint32_t depth = 0;     ///< level of the frontier that was expanded
  std::uint64_t vertices = 0;  ///< vertices in that frontier, all PEs
  std::uint64_t arcs = 0;      ///< their arcs; 0 when not counted (bottom-up)
  double microseconds = 0;     ///< including the barrier that ended it
};

/// Searches a graph that was placed on GPUs, any number of times. All memory is allocated in the constructor.
class BfsLevelsGpu {
 public:
  /// Chooses heads (the best connected in-neighbours of every vertex) and allocates queues and bitmaps: about 20 bytes per vertex,
  /// and 32 per vertex with out-arcs. This time counts as placing: see prepare_seconds().
  /// @param graph  on devices, 1 to 8 PEs in all; must stay alive and unchanged
  /// @param world  the world of several processes, all of which make this object and search together; null: this process has all
  ///               PEs
  /// @param reach  wire: PEs cannot access each other's memory, and exchange what each step needs (lockstep/apart.cuh); then no
  ///               levels run on the cluster, and steps() stays empty
  /// @throws UsageError   CPU PEs, more than 8 PEs, or tuning out of range; there is no wire
  /// @throws DeviceError  the devices cannot reach each other's memory, or cannot launch cooperatively
  /// @throws CapacityError  device memory
  explicit BfsLevelsGpu(const PlacedGraph& graph, const BfsLevelsGpuTuning& tuning = {}, World* world = nullptr,
                        World::Reach reach = World::Reach::memory);
  ~BfsLevelsGpu();
  BfsLevelsGpu(BfsLevelsGpu&&) noexcept;
  BfsLevelsGpu& operator=(BfsLevelsGpu&&) noexcept;

  /// Finds the level of every vertex; blocks until all PEs are done. Starts after work that was enqueued earlier on the legacy
  /// stream of each device; work on other streams that uses the level arrays must have ended.
  /// @param placed_source  [0, num_vertices), a placed number
  /// @param level  [PEs of this process] device memory of each, [count] words, aligned to 16 bytes; all of it is written;
  ///               kUnreached where there is no path
  /// @param report  gains seconds (wall clock from before the first launch until every device is done), rounds (levels expanded)
  ///                and the number of levels in each direction
  /// @throws UsageError   no such vertex, or a level array that is missing or not aligned
  /// @throws DeviceError  a barrier was not met within the deadline, or a launch failed; the levels are then undefined, and the
  ///                      object stays usable unless the device is lost
  void search(vertex_t placed_source, level_t* const* level, Report& report);

  /// The levels of the last search, up to 256 of them.
  std::vector<BfsLevelStep> steps() const;
  double prepare_seconds() const;    ///< time that the constructor took
  std::int64_t extra_bytes() const;  ///< device memory held beside the graph, sum of all PEs of this process

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal
