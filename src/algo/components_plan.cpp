// What `auto` means for connected components.
#include <algorithm>

#include "components_engines.hpp"

namespace shoal {

const char* name(ComponentsStrategy strategy) {
  switch (strategy) {
    case ComponentsStrategy::automatic:
      return "auto";
    case ComponentsStrategy::async:
      return "async";
    case ComponentsStrategy::hook:
      return "hook";
  }
  return "?";
}

ComponentsPlan plan_components(const Machine& machine, const PlacedGraph& graph, const ComponentsOptions& options,
                               std::vector<std::pair<std::string, std::string>>& why) {
  ComponentsPlan plan;
  const bool tuned = asks_for_worklist(options);
  plan.strategy = options.strategy;
  std::string reason = "asked for";
  if (plan.strategy == ComponentsStrategy::automatic) {
    plan.strategy = tuned ? ComponentsStrategy::async : ComponentsStrategy::hook;
    reason =
        tuned ? "options of the asynchronous worklist were given" : "looks at few arcs, whatever the graph's shape";
  }
  why.emplace_back("strategy", std::string(name(plan.strategy)) + ": " + reason);
  if (plan.strategy != ComponentsStrategy::async) note_unused(options, why);
  if (plan.strategy == ComponentsStrategy::async) {
    const double mean_degree =
        graph.num_vertices > 0 ? static_cast<double>(graph.num_arcs) / static_cast<double>(graph.num_vertices) : 0;
    plan.launch = plan_launch(options, machine.on_gpu(), graph.n_pes(),
                              graph.num_vertices / std::max<pe_t>(graph.n_pes(), 1) + 1, mean_degree, why);
    allow_remote_judge(plan.launch, options, graph.n_pes(), why);
  }
  return plan;
}

}  // namespace shoal
