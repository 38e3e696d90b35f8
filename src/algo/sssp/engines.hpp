// What SsspRunner drives. An engine is told the placed number of the source. The words that it leaves are those of
// algo/sssp.hpp, of 32 or 64 bits; what is done with them is the same for all engines (distances.hpp).
#pragma once
#include "algo/engine.hpp"
#include "algo/host_memory.hpp"
#include "shoal/algo/sssp_run.hpp"

namespace shoal {

/// What the options leave open, decided from the graph's shape and the machine; reasons go to `why`.
struct SsspPlan : StrategyPlan<SsspStrategy> {
  double delta;  ///< of strategy delta: width of a bucket in units of weight; 0: the engine chooses, and says so
  bool wide;     ///< words of 64 bits; real weights always have them
  bool fits;     ///< no path is too long for the words; else a narrow engine stops at kTooFar, and somebody has to look
};
/// @throws UsageError  weights so large that a path may be infinitely long, or a width of buckets that does not fit them
SsspPlan plan_sssp(const Machine&, const PlacedGraph&, const SsspOptions&, Decisions& why);
/// Bytes of the host's memory.
RunNeeds needs_of(const GraphSize&, const SsspOptions&);

using SsspEngine = Engine<vertex_t>;
MakeEngine<SsspEngine, SsspPlan> make_sssp_async_cpu, make_sssp_async_gpu, make_sssp_delta_cpu, make_sssp_delta_gpu;

/// A width of buckets in units of weight: few light arcs per vertex, so that few are relaxed twice, but enough vertices in
/// a bucket for all threads (two CPU threads: kron:20 is fastest at 16, road:2048 from 256 to 512, weights 1 to 255).
/// @param threads  CPU threads of all PEs; 0: GPUs, by the mean degree alone (only roads' widths were measured there)
double default_delta(const PlacedGraph& graph, int threads);

/// Small graphs that a GPU does best to run as items come: its lanes are idle anyway, and a step in lockstep costs more than a
/// push and its run (docs/decisions/0023).
enum class SmallGraph {
  no,
  tree,  ///< nearly a tree, so that little is run twice; on several GPUs, where a step costs more, larger ones too
  near   ///< all is a few hops away: skewed, but no tree, or with rows of about ten
};
SmallGraph small_on_gpus(const PlacedGraph&);

}  // namespace shoal
