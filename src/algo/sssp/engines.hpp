// What SsspRunner drives. An engine is told the placed number of the source. The words that it leaves are those of
// algo/sssp.hpp, of 32 or 64 bits; what is done with them is the same for all engines (distances.hpp).
#pragma once
#include "algo/engine.hpp"
#include "algo/host_memory.hpp"
#include "shoal/algo/sssp_run.hpp"
#include "shoal/worklist/launch_plan.hpp"

namespace shoal {

/// What the options leave open, decided from the graph's shape and the machine; reasons go to `why`.
struct SsspPlan {
  SsspStrategy strategy;
  LaunchPlan launch;  ///< of async
  int threads;        ///< CPU threads of a PE
  double delta;       ///< of strategy delta: width of a bucket in units of weight; 0: the engine chooses, and says so
  bool wide;          ///< words of 64 bits; real weights always have them
  bool fits;  ///< no path is too long for the words; else a narrow engine stops at kTooFar, and somebody has to look
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

/// Small graphs that a GPU does best to run as items come: its lanes are idle anyway. A step in lockstep costs about 5 us, a
/// push and its run 2. One H200, 2026-11-21, ms in order of arrival / by strategy delta:
enum class SmallGraph {
  no,
  /// Nearly a tree, so that little is run twice: seattle-roads (24,647 edges beyond a tree) 1.83 / 2.52, luxembourg_osm
  /// (5,068) 3.03 / 4.12, moscow-roads (38,928) 2.96 / 3.99, road:256 (52,000) 1.39 / 1.70, bremen-time (44,733) .64 / 1.25;
  /// but road:320 (81,000) 2.72 / 2.42, road:400 (127,000) 3.9 / 3.1 and road:1024 (837,000) 44.9 / 8.1. On several GPUs, where a step
  /// in lockstep costs more, larger ones too, 2026-11-22: on two road:256 1.52 / 2.30, road:300 (72,000) 2.17 / 3.02, road:350
  /// (97,000) 2.53 / 3.30, road:400 3.89 / 4.1, road:450 (161,000) 4.7 / 4.5; on four road:256 1.54 / 2.47, road:300 2.11 / 3.20,
  /// road:400 3.16 / 4.5, road:450 3.78 / 4.71, road:475 (180,000) 4.09 / 4.97, road:512 (209,000) 5.1 / 5.6, road:600 8.9 / 6.4.
  tree,
  /// All is a few hops away. Skewed: email-enron (0.4 M arcs) .28 / .49, dblp-2010 (1.6 M) .53 / 1.07, kron:14 (0.4 M) .24 / .47,
  /// kron:16 (1.8 M) .37 / .55; but kron:18,degree=4 (2.0 M) .53 / .47, ego-twitter (2.7 M) 1.14 / .98, kron:18 (7.6 M)
  /// .95 / .29, and star:100000, a tree, .50 / .05. Or rows of about ten: wave (2.1 M) 1.14 / 2.07, uniform:18,degree=4
  /// (2.1 M) .47 / .49; but uniform:14 (rows of 32) .41 / .35, delaunay_n16 (of 6) 1.33 / 1.48, road:400 (of 4) 3.7 / 3.1.
  near
};
SmallGraph small_on_gpus(const PlacedGraph&);

}  // namespace shoal
