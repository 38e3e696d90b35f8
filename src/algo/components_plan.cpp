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
  // A task's options say that the task is wanted.
  const bool tuned = options.worker != WorkerKind::automatic || options.kernel != KernelKind::automatic ||
                     options.fetch > 0 || options.capacity > 0 || options.spill >= 0 || options.workers > 0;
  plan.strategy = options.strategy;
  std::string reason = "asked for";
  if (plan.strategy == ComponentsStrategy::automatic) {
    plan.strategy = tuned ? ComponentsStrategy::async : ComponentsStrategy::hook;
    reason =
        tuned ? "options of the asynchronous worklist were given" : "looks at few arcs, whatever the graph's shape";
  }
  why.emplace_back("strategy", std::string(name(plan.strategy)) + ": " + reason);
  if (plan.strategy == ComponentsStrategy::async) {
    const double mean_degree =
        graph.num_vertices > 0 ? static_cast<double>(graph.num_arcs) / static_cast<double>(graph.num_vertices) : 0;
    plan.launch = plan_launch(options, machine.on_gpu(), graph.n_pes(),
                              graph.num_vertices / std::max<pe_t>(graph.n_pes(), 1) + 1, mean_degree, why);
  }
  return plan;
}

}  // namespace shoal
