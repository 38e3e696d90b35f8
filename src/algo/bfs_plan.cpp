// What `auto` means for breadth-first search.
#include <algorithm>

#include "bfs_engines.hpp"
#include "shoal/core/error.hpp"

namespace shoal {

const char* name(BfsStrategy strategy) {
  switch (strategy) {
    case BfsStrategy::automatic:
      return "auto";
    case BfsStrategy::async:
      return "async";
    case BfsStrategy::levels:
      return "levels";
  }
  return "?";
}

BfsPlan plan_bfs(const Machine& machine, const PlacedGraph& graph, const BfsOptions& options,
                 std::vector<std::pair<std::string, std::string>>& why) {
  BfsPlan plan;
  const double mean_degree =
      graph.num_vertices > 0 ? static_cast<double>(graph.num_arcs) / static_cast<double>(graph.num_vertices) : 0;
  const bool skewed = static_cast<double>(graph.max_degree) > 32 * std::max(mean_degree, 1.0);
  const bool dense = mean_degree >= 8;
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
  why.emplace_back("strategy", std::string(name(plan.strategy)) + ": " + reason);
  if (plan.strategy != BfsStrategy::async) note_unused(options, why);
  if (plan.strategy == BfsStrategy::async) {
    plan.launch = plan_launch(options, machine.on_gpu(), graph.n_pes(),
                              graph.num_vertices / std::max<pe_t>(graph.n_pes(), 1) + 1, mean_degree, why);
    if (plan.launch.queue == QueueKind::priority && options.threshold_delta == 0) {
      // A move of the threshold costs what several levels of a road cost, and two levels of a skewed graph are most of it.
      plan.launch.threshold_delta = dense || skewed ? 2 : 64;
      for (auto& [option, text] : why) {
        if (option == "threshold_delta") text = dense || skewed ? "2: few levels" : "64: levels are narrow";
      }
    }
    allow_remote_judge(plan.launch, options, graph.n_pes(), why);
  }
  return plan;
}

}  // namespace shoal
