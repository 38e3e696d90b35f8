// What `auto` means for connected components.
#include "algo/plan.hpp"
#include "engines.hpp"

namespace shoal {

namespace {

constexpr Named<ComponentsStrategy> kStrategies[] = {
    {ComponentsStrategy::automatic, "auto"}, {ComponentsStrategy::async, "async"}, {ComponentsStrategy::hook, "hook"}};

// A thread with less work is not worth its wake-up time (docs/decisions/0023).
constexpr std::int64_t kLeastWork = 1 << 16;  ///< of a thread, in vertices and arcs

}  // namespace

const char* name(ComponentsStrategy strategy) { return name_of(kStrategies, strategy); }
ComponentsStrategy parse_components_strategy(const std::string& text) { return kind_of(kStrategies, "strategy", text); }

ComponentsPlan plan_components(const Machine& machine, const PlacedGraph& graph, const ComponentsOptions& options,
                               Decisions& why) {
  ComponentsPlan plan;
  plan.strategy = options.strategy;
  std::string reason = "asked for";
  check_reach(machine, options.strategy);
  if (plan.strategy == ComponentsStrategy::automatic) {
    const bool tuned = asks_for_worklist(options);
    plan.strategy = tuned || machine.world() != nullptr ? ComponentsStrategy::async : ComponentsStrategy::hook;
    reason = machine.world() != nullptr ? kAcrossProcesses
             : tuned                    ? "options of the asynchronous worklist were given"
                                        : "examines few arcs, whatever the graph's shape";
  }
  say_strategy(plan.strategy, reason, options, why);
  plan.threads =
      threads_worth(machine, graph, plan.strategy == ComponentsStrategy::async ? kLeastWorkAsync : kLeastWork, why);
  if (plan.strategy == ComponentsStrategy::async) {
    plan.launch =
        plan_vertices(machine, graph, options, why, /*has_priority=*/false, "all vertices are active from the start");
    allow_remote_judge(plan.launch, options, graph.all_pes(), machine.world() != nullptr, why);
  }
  return plan;
}

RunNeeds needs_of(const GraphSize&, const ComponentsOptions& options) {
  RunNeeds needs;
  if (runs_async_across(options)) {
    needs.vertex_of_pe = RunNeeds::kWord;
    needs.slot = RunNeeds::kSmallSlot;
  } else {
    needs.vertex = RunNeeds::kWord + 1.0 / 8;  // parents and marks
  }
  needs.answer = 2 * RunNeeds::kWord;
  needs.check = 2 * RunNeeds::kWord;  // labels, and union-find
  return needs;
}

}  // namespace shoal
