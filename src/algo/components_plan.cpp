// What `auto` means for connected components.
#include "components_engines.hpp"
#include "plan.hpp"

namespace shoal {

namespace {

constexpr Named<ComponentsStrategy> kStrategies[] = {
    {ComponentsStrategy::automatic, "auto"}, {ComponentsStrategy::async, "async"}, {ComponentsStrategy::hook, "hook"}};

// AMD EPYC, 2026-11-21, us by one thread / by two: star:1000 16 / 30, kron:10 (22,200 vertices and arcs) 30 / 44, road:128
// (74,848) 274 / 301 on a busy machine.
constexpr std::int64_t kLeastWork = 1 << 15;  ///< of a thread, in vertices and arcs

}  // namespace

const char* name(ComponentsStrategy strategy) { return name_of(kStrategies, strategy); }
ComponentsStrategy parse_components_strategy(const std::string& text) { return kind_of(kStrategies, "strategy", text); }

ComponentsPlan plan_components(const Machine& machine, const PlacedGraph& graph, const ComponentsOptions& options,
                               Decisions& why) {
  ComponentsPlan plan;
  const bool tuned = asks_for_worklist(options);
  plan.strategy = options.strategy;
  std::string reason = "asked for";
  if (plan.strategy == ComponentsStrategy::automatic) {
    plan.strategy = tuned ? ComponentsStrategy::async : ComponentsStrategy::hook;
    reason =
        tuned ? "options of the asynchronous worklist were given" : "looks at few arcs, whatever the graph's shape";
  }
  say_strategy(plan.strategy, reason, options, why);
  plan.threads =
      threads_worth(machine, graph, plan.strategy == ComponentsStrategy::async ? kLeastWorkAsync : kLeastWork, why);
  if (plan.strategy == ComponentsStrategy::async) {
    plan.launch = plan_vertices(machine, graph, options, why);
    allow_remote_judge(plan.launch, options, graph.n_pes(), why);
  }
  return plan;
}

}  // namespace shoal
