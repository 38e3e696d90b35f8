// What SsspRunner drives: one search strategy on one kind of processor. An engine leaves its distances on the PEs; fetching,
// checking and judging whether narrow words were wide enough are the same for all engines (sssp_distances.hpp).
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shoal/algo/sssp.hpp"
#include "shoal/algo/sssp_run.hpp"
#include "shoal/pgas/placed_graph.hpp"
#include "shoal/runtime/machine.hpp"
#include "shoal/runtime/report.hpp"
#include "shoal/runtime/worklist_plan.hpp"

namespace shoal {

/// Where the last search left its words (algo/sssp.hpp): [graph.out[pe].count] in PE pe's memory, in placed order.
struct SsspWords {
  bool wide = false;             ///< std::uint64_t, else std::uint32_t
  std::vector<const void*> pes;  ///< [n_pes]
};

class SsspEngine {
 public:
  virtual ~SsspEngine() = default;
  /// Distances of every PE, from scratch. Adds seconds (clearing included), counts, rounds to `report`.
  virtual void search(vertex_t placed_source, Report& report) = 0;
  /// Valid until the engine is destroyed; the words change with the next search.
  virtual SsspWords words() const = 0;
};

// `wide`: words of 64 bits; always so for real weights. A narrow engine saturates at kTooFar (see extend()); the caller looks
// whether it did. `delta`: width of a bucket in units of weight; 0: the engine chooses from the graph, and says so.
std::unique_ptr<SsspEngine> make_sssp_async_cpu(const Machine&, const PlacedGraph&, const LaunchPlan&, bool wide);
std::unique_ptr<SsspEngine> make_sssp_delta_cpu(const Machine&, const PlacedGraph&, double delta, bool wide);
#if defined(SHOAL_HAVE_CUDA)
std::unique_ptr<SsspEngine> make_sssp_async_gpu(const Machine&, const PlacedGraph&, const LaunchPlan&, bool wide);
std::unique_ptr<SsspEngine> make_sssp_delta_gpu(const Machine&, const PlacedGraph&, double delta, bool wide);
#endif

/// A width of buckets in units of weight: few light arcs per vertex, so that few are relaxed twice, but enough vertices in
/// a bucket for all threads (two CPU threads: kron:20 is fastest at 16, road:2048 from 256 to 512, weights 1 to 255).
/// @param threads  CPU threads of all PEs; 0: GPUs, by the mean degree alone (only roads' widths were measured there)
double default_delta(const PlacedGraph& graph, int threads);

/// What the options leave open, decided from the graph's shape and the machine; reasons go to `why`.
struct SsspPlan {
  SsspStrategy strategy;
  LaunchPlan launch;  ///< of async
  int threads;        ///< CPU threads per PE
};
SsspPlan plan_sssp(const Machine&, const PlacedGraph&, const SsspOptions&,
                   std::vector<std::pair<std::string, std::string>>& why);

}  // namespace shoal
