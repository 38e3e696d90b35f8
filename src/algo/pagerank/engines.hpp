// What PageRankRunner drives: one strategy on one kind of processor, with the ranks on the PEs.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "pull.hpp"
#include "reference.hpp"
#include "shoal/algo/pagerank_run.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

class PageRankEngine {
 public:
  virtual ~PageRankEngine() = default;
  /// Ranks of every PE, from scratch. Adds seconds, counts, rounds to `report`.
  /// @param personal  [num_vertices] of host memory by placed number, at least 0, sums to 1; null: uniform
  virtual PageRankOutcome rank(const double* personal, Report& report) = 0;
  /// Copies PE pe's ranks, in placed order, to the host: [graph.out[pe].count]. They sum to 1 over all PEs.
  virtual void fetch_ranks(pe_t pe, double* to) const = 0;
  /// One step from the ranks, in float64, on the placed graph where it is. Vertices in the check are placed numbers.
  virtual PageRankCheck check(double alpha, const double* personal) const = 0;
};

std::unique_ptr<PageRankEngine> make_pagerank_async_cpu(const Machine&, const PlacedGraph&, const LaunchPlan&,
                                                        const PageRankRules&);
std::unique_ptr<PageRankEngine> make_pagerank_pull_cpu(const Machine&, const PlacedGraph&, const PageRankRules&);
#if defined(SHOAL_HAVE_CUDA)
std::unique_ptr<PageRankEngine> make_pagerank_async_gpu(const Machine&, const PlacedGraph&, const LaunchPlan&,
                                                        const PageRankRules&);
std::unique_ptr<PageRankEngine> make_pagerank_pull_gpu(const Machine&, const PlacedGraph&, const PageRankRules&);
#endif

/// One step on CPU PEs, on the machine's threads.
/// @param ranks  [num_vertices] by placed number
PageRankCheck check_pagerank_on_threads(const Machine&, const PlacedGraph&, const double* ranks, double alpha,
                                        const double* personal);

#if defined(SHOAL_HAVE_CUDA)
/// One step on GPUs. @param ranks, personal  [num_vertices] of host memory, by placed number
PageRankCheck check_pagerank_on_devices(const PlacedGraph&, const double* ranks, double alpha, const double* personal);
#endif

/// What the options leave open, decided from the graph's shape and the machine; reasons go to `why`.
struct PageRankPlan {
  PageRankStrategy strategy;
  PageRankRules rules;
  LaunchPlan launch;  ///< of async
  int threads;        ///< CPU threads per PE
};
/// @throws UsageError  alpha or tolerance out of range, or a tolerance that the precision cannot reach
PageRankPlan plan_pagerank(const Machine&, const PlacedGraph&, const PageRankOptions&, Decisions& why);

}  // namespace shoal
