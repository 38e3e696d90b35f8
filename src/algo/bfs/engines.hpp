// The engines that BfsRunner drives. The input of a run is the placed number of the source; the words that an engine leaves are
// levels (level_t).
#pragma once
#include <utility>

#include "algo/engine.hpp"
#include "algo/host_memory.hpp"
#include "shoal/algo/bfs_run.hpp"

namespace shoal {

/// Decides what the options leave open from the graph's shape and the machine; appends the reasons to `why`.
using BfsPlan = StrategyPlan<BfsStrategy>;
BfsPlan plan_bfs(const Machine&, const PlacedGraph&, const BfsOptions&, Decisions& why);
/// Bytes of host memory.
RunNeeds needs_of(const GraphSize&, const BfsOptions&);
/// The strategy that `auto` means on GPUs, and the reason.
std::pair<BfsStrategy, const char*> choose_bfs_on_gpus(const PlacedGraph&);
/// Whether a GPU with less work would run ahead of the others if items ran in the order in which they arrive. Windows of levels
/// then hold it back.
bool bfs_runs_ahead_on_gpus(const PlacedGraph&);
/// Whether items run by level on one GPU, so that warps may keep some (docs/decisions/0078-items-that-a-warp-keeps.md; not measured on
/// several GPUs).
bool bfs_keeps_items_on_gpus(const PlacedGraph&, const Options&);
/// The levels of a window, of a road network by priority.
int bfs_window_on_gpus(const PlacedGraph&);
/// The number of items that a block takes at once, as a multiple of the number that it can judge at once. A block should not get
/// several of the longest rows: if one such row is a large part of what a block has to do, the others wait for it. Measured on H100
/// and, for graphs that are not skewed, on an H200 (docs/decisions/0064, 0041).
lane_t bfs_batches_on_gpus(const PlacedGraph&);
/// Whether the owner of an item judges it, and not its pusher in the owner's memory. On skewed graphs a GPU refuses most items for
/// others by what it remembers: of kron:24's 639 million pushed items 12 million are sent (bench/results/refresh_2xh100.txt). So little
/// is saved by asking first, for which a block waits (docs/decisions/0068-registers-of-blocks.md).
bool bfs_owners_judge_on_gpus(const PlacedGraph&);

using BfsEngine = Engine<vertex_t>;
MakeEngine<BfsEngine, BfsPlan> make_bfs_async_cpu, make_bfs_async_gpu, make_bfs_levels_cpu, make_bfs_levels_gpu;

}  // namespace shoal
