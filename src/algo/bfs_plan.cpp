// What `auto` means for breadth-first search.
#include "bfs_engines.hpp"
#include "plan.hpp"

namespace shoal {

namespace {

constexpr Named<BfsStrategy> kStrategies[] = {
    {BfsStrategy::automatic, "auto"}, {BfsStrategy::async, "async"}, {BfsStrategy::levels, "levels"}};

// Waking a second thread costs 12 us and more, and every level is a meeting. AMD EPYC, two threads, idle, 2026-11-21, ms by
// one thread / by two: road:64 (18,566 vertices and arcs) .051 / .055, road:100 (45,000) .10 / .14, road:150 (0.1 M) .29 / .26,
// road:200 (0.2 M) .55 / .37, road:300 (0.4 M) 1.24 / .73; kron:14 (0.4 M) .10 / .09, uniform:14,degree=4 (0.15 M) .22 / .13.
// While others had a part of the processor road:300 took 1.0 by one and 2.0 by two.
constexpr std::int64_t kLeastWork = 1 << 16;  ///< of a thread, in vertices and arcs

}  // namespace

const char* name(BfsStrategy strategy) { return name_of(kStrategies, strategy); }
BfsStrategy parse_bfs_strategy(const std::string& text) { return kind_of(kStrategies, "strategy", text); }

BfsPlan plan_bfs(const Machine& machine, const PlacedGraph& graph, const BfsOptions& options, Decisions& why) {
  BfsPlan plan;
  const double degree = mean_degree(graph);
  const bool skewed = is_skewed(graph);
  const bool dense = degree >= 8;
  plan.strategy = options.strategy;
  std::string reason = "asked for";
  if (plan.strategy == BfsStrategy::automatic) {
    if (asks_for_worklist(options)) {
      plan.strategy = BfsStrategy::async;
      reason = "options of the asynchronous worklist were given";
    } else if (!machine.on_gpu()) {
      plan.strategy = BfsStrategy::levels;
      reason = "CPU threads meet at a barrier in less time than they push items";
    } else if (skewed || dense) {
      plan.strategy = BfsStrategy::levels;
      reason = skewed ? "skewed degrees: looking from unreached vertices skips most arcs"
                      : "many arcs per vertex, few levels";
    } else if (graph.n_pes() == 1) {
      plan.strategy = BfsStrategy::levels;  // road:2048 on one H200, 2026-11-21: 10.5 ms, async 12.6
      reason = "narrow levels stay on one cluster, about 2 us each";
    } else {
      plan.strategy = BfsStrategy::async;
      reason = "few arcs per vertex: many levels, no barrier between PEs";
    }
  }
  say_strategy(plan.strategy, reason, options, why);
  plan.threads = threads_worth(machine, graph, plan.strategy == BfsStrategy::async ? kLeastWorkAsync : kLeastWork, why);
  if (plan.strategy == BfsStrategy::async) {
    plan.launch = plan_vertices(machine, graph, options, why);
    if (plan.launch.queue == QueueKind::priority && options.threshold_delta == 0) {
      // A move of the threshold costs what several levels of a road cost, and two levels of a skewed graph are most of it.
      plan.launch.threshold_delta = dense || skewed ? 2 : 64;
      say_again("threshold_delta", dense || skewed ? "2: few levels" : "64: levels are narrow", why);
    }
    allow_remote_judge(plan.launch, options, graph.n_pes(), why);
  }
  return plan;
}

}  // namespace shoal
