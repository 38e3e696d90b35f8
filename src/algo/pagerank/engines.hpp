// What PageRankRunner drives. An engine is told the personalization, [num_vertices] of host memory by placed number, at least 0, of
// sum 1 (null: uniform), and where to put what it reached. The words that it leaves are ranks, double; they sum to 1 over all
// PEs.
#pragma once
#include "algo/engine.hpp"
#include "algo/host_memory.hpp"
#include "pull.hpp"
#include "shoal/algo/pagerank_run.hpp"

namespace shoal {

/// @throws UsageError  alpha or tolerance out of range
void check_pagerank_rules(double alpha, double tolerance);
/// What the options leave open, decided from the graph's shape and the machine; reasons go to `why`.
struct PageRankPlan : StrategyPlan<PageRankStrategy> {
  PageRankRules rules;
};
/// @throws UsageError  alpha or tolerance out of range, or a tolerance that the precision cannot reach
PageRankPlan plan_pagerank(const Machine&, const PlacedGraph&, const PageRankOptions&, Decisions& why);
/// Bytes of the host's memory.
RunNeeds needs_of(const GraphSize&, const PageRankOptions&);

MakeEngine<PageRankEngine, PageRankPlan> make_pagerank_async_cpu, make_pagerank_async_gpu, make_pagerank_pull_cpu,
    make_pagerank_pull_gpu;

}  // namespace shoal
