// What BfsRunner drives. An engine is told the placed number of the source; the words that it leaves are levels, level_t.
#pragma once
#include <utility>

#include "algo/engine.hpp"
#include "algo/host_memory.hpp"
#include "shoal/algo/bfs_run.hpp"

namespace shoal {

/// What the options leave open, decided from the graph's shape and the machine; reasons go to `why`.
using BfsPlan = StrategyPlan<BfsStrategy>;
BfsPlan plan_bfs(const Machine&, const PlacedGraph&, const BfsOptions&, Decisions& why);
/// Bytes of the host's memory.
RunNeeds needs_of(const GraphSize&, const BfsOptions&);
/// What `auto` means on GPUs, and why.
std::pair<BfsStrategy, const char*> choose_bfs_on_gpus(const PlacedGraph&);
/// Whether, in order of arrival, a GPU with less to do would run ahead of the others: windows of levels hold it back.
bool bfs_runs_ahead_on_gpus(const PlacedGraph&);

using BfsEngine = Engine<vertex_t>;
MakeEngine<BfsEngine, BfsPlan> make_bfs_async_cpu, make_bfs_async_gpu, make_bfs_levels_cpu, make_bfs_levels_gpu;

}  // namespace shoal
