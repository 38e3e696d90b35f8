// What `auto` means for shortest paths.
#include <algorithm>
#include <iterator>

#include "shoal/core/error.hpp"
#include "sssp_engines.hpp"

namespace shoal {
namespace {

constexpr const char* kNames[] = {"auto", "async", "delta"};

}  // namespace

const char* name(SsspStrategy strategy) { return kNames[static_cast<int>(strategy)]; }

SsspStrategy parse_sssp_strategy(const std::string& text) {
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), text);
  if (found == std::end(kNames)) throw UsageError("strategy '" + text + "' is not known; legal: auto, async, delta");
  return static_cast<SsspStrategy>(found - std::begin(kNames));
}

SsspPlan plan_sssp(const Machine& machine, const PlacedGraph& graph, const SsspOptions& options,
                   std::vector<std::pair<std::string, std::string>>& why) {
  SsspPlan plan;
  // A task's options say that the task is wanted, a bucket's width that delta-stepping is.
  const bool tuned = options.worker != WorkerKind::automatic || options.kernel != KernelKind::automatic ||
                     options.fetch > 0 || options.capacity > 0 || options.spill >= 0 || options.workers > 0 ||
                     options.queue != QueueKind::automatic || options.threshold >= 0 || options.threshold_delta > 0 ||
                     options.buckets > 0 || options.judge != JudgeKind::automatic ||
                     options.combine != CombineKind::automatic;
  plan.strategy = options.strategy;
  std::string reason = "asked for";
  if (plan.strategy == SsspStrategy::automatic) {
    plan.strategy = tuned && options.delta == 0 ? SsspStrategy::async : SsspStrategy::delta;
    reason = options.delta > 0 ? "the width of its buckets was given"
             : tuned           ? "options of the asynchronous worklist were given"
                               : "near vertices first: few are run twice";
  }
  if (plan.strategy == SsspStrategy::async && options.delta > 0) {
    throw UsageError(
        "--delta is the width of strategy delta's buckets, but strategy async was asked for; leave it out, or "
        "use --queue priority --threshold-delta");
  }
  why.emplace_back("strategy", std::string(name(plan.strategy)) + ": " + reason);
  if (plan.strategy == SsspStrategy::async) {
    const double mean_degree =
        graph.num_vertices > 0 ? static_cast<double>(graph.num_arcs) / static_cast<double>(graph.num_vertices) : 0;
    plan.launch = plan_launch(options, machine.on_gpu(), graph.n_pes(),
                              graph.num_vertices / std::max<pe_t>(graph.n_pes(), 1) + 1, mean_degree, why);
  }
  return plan;
}

}  // namespace shoal
