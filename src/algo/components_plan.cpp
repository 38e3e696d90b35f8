// What `auto` means for connected components.
#include "components_engines.hpp"
#include "plan.hpp"

namespace shoal {

namespace {

constexpr Named<ComponentsStrategy> kStrategies[] = {
    {ComponentsStrategy::automatic, "auto"}, {ComponentsStrategy::async, "async"}, {ComponentsStrategy::hook, "hook"}};

// AMD EPYC, two threads, idle, 2026-11-21, ms by one thread / by two: kron:13 (212,000 vertices and arcs) .20 / .22, kron:14
// (442,552) .48 / .49, kron:15 (0.9 M) 1.17 / .72, kron:16 (1.7 M) 2.4 / 1.4; road:300 (0.4 M) 1.4 / 2.2, road:500 (1.2 M) 4.0 / 2.7.
constexpr std::int64_t kLeastWork = 1 << 18;  ///< of a thread, in vertices and arcs

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
