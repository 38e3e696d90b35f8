// The engines that SsspRunner drives. The input of a run is the placed number of the source. The words that an engine leaves are
// those of algo/sssp.hpp, of 32 or 64 bits; what happens to them afterwards is the same for all engines (distances.hpp).
#pragma once
#include "algo/engine.hpp"
#include "algo/host_memory.hpp"
#include "shoal/algo/sssp_run.hpp"

namespace shoal {

/// Decides what the options leave open from the graph's shape and the machine; appends the reasons to `why`.
struct SsspPlan : StrategyPlan<SsspStrategy> {
  double delta;  ///< for strategy delta: width of a bucket in units of weight; 0: the engine chooses it and reports it
  bool wide;     ///< words of 64 bits; always true for real weights
  bool fits;     ///< no path is too long for the words; else a narrow engine stops at kTooFar; check for that
};
/// @throws UsageError  weights so large that a path may be infinitely long, or a bucket width that does not fit the weights
SsspPlan plan_sssp(const Machine&, const PlacedGraph&, const SsspOptions&, Decisions& why);
/// Bytes of host memory.
RunNeeds needs_of(const GraphSize&, const SsspOptions&);

using SsspEngine = Engine<vertex_t>;
MakeEngine<SsspEngine, SsspPlan> make_sssp_async_cpu, make_sssp_async_gpu, make_sssp_delta_cpu, make_sssp_delta_gpu;

/// A width of buckets in units of weight: small enough that there are few light arcs per vertex, so that few are relaxed twice, but
/// large enough for a bucket to occupy all threads (two CPU threads: kron:20 is fastest at 16, road:2048 from 256 to 512, weights 1
/// to 255).
/// @param threads  CPU threads of all PEs; 0: GPUs, by the mean degree alone (only the widths of road networks were measured there)
double default_delta(const PlacedGraph& graph, int threads);
/// How many times as wide as default_delta() the buckets of the worklist on GPUs are: 2 to 16.
double wider_on_gpus(const PlacedGraph&);

/// Small graphs on which a GPU is fastest when it runs items in the order of arrival: its lanes are idle anyway, and a lockstep
/// step costs more than a push and its run (docs/decisions/0023).
enum class SmallGraph {
  no,
  tree,  ///< nearly a tree, so that little is run twice; on several GPUs, where a step costs more, also larger graphs
  near   ///< all vertices are a few hops away: skewed, but no tree, or with rows of about ten arcs
};
SmallGraph small_on_gpus(const PlacedGraph&);
/// The number of items that a block takes at once, as a multiple of the number that it can judge at once. Measured on H100
/// (docs/decisions/0064).
lane_t sssp_batches_on_gpus(const PlacedGraph&, QueueKind);
/// Whether the owner of an item judges it, and not its pusher in the owner's memory. On two H100, owners take 0.91 of the time for
/// community:24, where a tenth of the arcs leads to the other GPU, and 1.21 and 1.33 for kron:22 and kron:24, where half does
/// (bench/results/registers_h100.txt).
bool sssp_owners_judge_on_gpus(const PlacedGraph&, QueueKind);
/// Whether the worklist is faster than delta-stepping on GPUs, as warps keep items (docs/decisions/0078-items-that-a-warp-keeps.md).
bool sssp_keeps_items_on_gpus(const PlacedGraph&);
/// The same, as buckets overlap (docs/decisions/0083-buckets-overlap.md). Measured on one and two GPUs, with whole weights.
bool sssp_overlaps_on_gpus(const PlacedGraph&);

}  // namespace shoal
