// The engines that PageRankRunner drives. The inputs of a run are the personalization ([num_vertices] of host memory by placed
// number, each at least 0, sum 1; null: uniform) and where to store the outcome. The words that an engine leaves are ranks
// (double); they sum to 1 over all PEs.
#pragma once
#include "algo/engine.hpp"
#include "algo/host_memory.hpp"
#include "pull.hpp"
#include "shoal/algo/pagerank_run.hpp"

namespace shoal {

/// @throws UsageError  alpha or tolerance out of range
void check_pagerank_rules(double alpha, double tolerance);
/// Decides what the options leave open from the graph's shape and the machine; appends the reasons to `why`.
struct PageRankPlan : StrategyPlan<PageRankStrategy> {
  PageRankRules rules;
};
/// @throws UsageError  alpha or tolerance out of range, or a tolerance that the precision cannot reach
PageRankPlan plan_pagerank(const Machine&, const PlacedGraph&, const PageRankOptions&, Decisions& why);
/// How many items a warp or a block takes at once, if the user does not say it.
lane_t pagerank_fetch_on_gpus(const PlacedGraph&, const LaunchPlan&);
/// Bytes of host memory.
RunNeeds needs_of(const GraphSize&, const PageRankOptions&);

MakeEngine<PageRankEngine, PageRankPlan> make_pagerank_async_cpu, make_pagerank_async_gpu, make_pagerank_pull_cpu,
    make_pagerank_pull_gpu;

}  // namespace shoal
