// What `auto` means for k-cores.
#include <cstdint>
#include <limits>

#include "algo/plan.hpp"
#include "engines.hpp"
#include "shoal/algo/kcore.hpp"
#include "shoal/worker/task.hpp"

namespace shoal {
namespace {

constexpr Named<KCoreStrategy> kStrategies[] = {{KCoreStrategy::automatic, "auto"}, {KCoreStrategy::async, "async"}};

}  // namespace

const char* name(KCoreStrategy strategy) { return name_of(kStrategies, strategy); }
KCoreStrategy parse_kcore_strategy(const std::string& text) { return kind_of(kStrategies, "strategy", text); }

KCorePlan plan_kcore(const Machine& machine, const PlacedGraph& graph, const KCoreOptions& options, Decisions& why) {
  KCorePlan plan;
  plan.strategy = KCoreStrategy::async;
  const bool asked = options.strategy == plan.strategy;
  say_strategy(plan.strategy, asked ? "asked for" : "the only one", options, why);
  plan.threads = threads_worth(machine, graph, kLeastWorkAsync, why);
  WarpTraits task = {.any_order = AnyOrder<KCore>, .many_items = 3 << 18};
  // With items kept, bremen-time took 1.7 times as long and moscow-roads 1.2; why is not known
  // (docs/decisions/0078-items-that-a-warp-keeps.md).
  const bool small_and_sparse = mean_degree(graph) < 3 && graph.num_vertices < 1 << 20;
  if (small_and_sparse) task.many_items = std::numeric_limits<std::int64_t>::max();
  plan.launch = plan_vertices(machine, graph, options, why, /*has_priority=*/false, /*blocks=*/nullptr, task);
  if (small_and_sparse && options.keep < 0 && plan.launch.keeps > 0) {
    plan.launch.keeps = 0;
    decide_again(why, "keep", "0", "small maps with many dead ends take longer with items kept");
  }
  allow_remote_judge(plan.launch, options, graph.all_pes(), machine.world() != nullptr, why);
  return plan;
}

RunNeeds needs_of(const GraphSize& graph, const KCoreOptions&) {
  RunNeeds needs;
  needs.weight = graph.symmetric ? 0 : 24;  // the undirected copy: every arc twice, 12 bytes each while it is made
  needs.undirected = true;
  needs.vertex = 4 * RunNeeds::kWord;  // neighbours left, core number, list of vertices left, list of seeds
  needs.slot = RunNeeds::kSmallSlot;
  needs.answer = 2 * RunNeeds::kWord;
  needs.check = RunNeeds::kWide + 2 * RunNeeds::kWord;  // neighbours left; core numbers and a stack
  return needs;
}

}  // namespace shoal
