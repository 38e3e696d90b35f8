// What `auto` means for connected components.
#include "algo/plan.hpp"
#include "engines.hpp"

namespace shoal {

namespace {

constexpr Named<ComponentsStrategy> kStrategies[] = {
    {ComponentsStrategy::automatic, "auto"}, {ComponentsStrategy::async, "async"}, {ComponentsStrategy::hook, "hook"}};

// AMD EPYC, two threads, idle, 2026-11-21, ms by one thread / by two: road:100 (45,000 vertices and arcs) .18 / .18, road:150
// (0.1 M) .35 / .26, road:300 (0.4 M) 1.4 / .80; star:100000 (0.3 M) .53 / .29; kron:13 (0.2 M) .20 / .22, kron:14 (0.4 M)
// .49 / .51, kron:15 (0.9 M) 1.17 / 1.0; uniform:16,degree=1 (0.2 M) 2.9 / 1.9.
constexpr std::int64_t kLeastWork = 1 << 16;  ///< of a thread, in vertices and arcs

}  // namespace

const char* name(ComponentsStrategy strategy) { return name_of(kStrategies, strategy); }
ComponentsStrategy parse_components_strategy(const std::string& text) { return kind_of(kStrategies, "strategy", text); }

ComponentsPlan plan_components(const Machine& machine, const PlacedGraph& graph, const ComponentsOptions& options,
                               Decisions& why) {
  ComponentsPlan plan;
  plan.strategy = options.strategy;
  std::string reason = "asked for";
  if (plan.strategy == ComponentsStrategy::automatic) {
    const bool tuned = asks_for_worklist(options);
    plan.strategy = tuned ? ComponentsStrategy::async : ComponentsStrategy::hook;
    reason =
        tuned ? "options of the asynchronous worklist were given" : "looks at few arcs, whatever the graph's shape";
  }
  say_strategy(plan.strategy, reason, options, why);
  plan.threads =
      threads_worth(machine, graph, plan.strategy == ComponentsStrategy::async ? kLeastWorkAsync : kLeastWork, why);
  if (plan.strategy == ComponentsStrategy::async) {
    // One H200, 2026-11-22 (bench/results/workers_h200.txt), ms by warps / blocks of 512: road:1024 143 / 50, uniform:18,degree=6
    // 9.2 / 4.4, dblp-2010 0.73 / 0.44; but email-enron 0.27 / 0.36.
    plan.launch = plan_vertices(machine, graph, options, why, "all vertices begin at once");
    allow_remote_judge(plan.launch, options, graph.n_pes(), why);
  }
  return plan;
}

RunNeeds needs_of(const GraphSize&, const ComponentsOptions& options) {
  RunNeeds needs;
  if (runs_async(options)) {
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
