// What `auto` means for shortest paths.
#include <algorithm>
#include <iterator>
#include <limits>

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

double default_delta(const PlacedGraph& graph) {
  const double n = static_cast<double>(std::max<std::int64_t>(graph.num_vertices, 1));
  const double degree = static_cast<double>(graph.num_arcs) / n;
  return std::max(graph.mean_weight * (degree >= 8 ? 4 / degree : 4), std::numeric_limits<double>::min());
}

SsspPlan plan_sssp(const Machine& machine, const PlacedGraph& graph, const SsspOptions& options,
                   std::vector<std::pair<std::string, std::string>>& why) {
  SsspPlan plan;
  // A task's options say that the task is wanted, a bucket's width that delta-stepping is.
  const bool tuned = asks_for_worklist(options);
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
  if (plan.strategy != SsspStrategy::async) note_unused(options, why);
  if (plan.strategy == SsspStrategy::async) {
    const double mean_degree =
        graph.num_vertices > 0 ? static_cast<double>(graph.num_arcs) / static_cast<double>(graph.num_vertices) : 0;
    Options launch = options;
    // Where rows are long and a GPU's lanes many, waiting for the threshold costs more than what is run twice: kron:20 on one
    // H200, 2026-11-21: 3.2 ms without an order (2.2 times the arcs), 17.9 and more with one.
    const bool ordered = !machine.on_gpu() || mean_degree < 8;
    if (launch.queue == QueueKind::automatic) launch.queue = ordered ? QueueKind::priority : QueueKind::fifo;
    plan.launch = plan_launch(launch, machine.on_gpu(), graph.n_pes(),
                              graph.num_vertices / std::max<pe_t>(graph.n_pes(), 1) + 1, mean_degree, why);
    const auto say = [&](const char* option, const std::string& text) {
      for (auto& [name, reason] : why) {
        if (name == option) reason = text;
      }
    };
    if (options.queue == QueueKind::automatic && ordered) {
      say("queue", "priority: near vertices first, so few are run twice");
    } else if (options.queue == QueueKind::automatic) {
      why.emplace_back("queue", "fifo: long rows keep all lanes busy, and waiting for an order would not");
    }
    if (plan.launch.queue == QueueKind::priority && options.threshold_delta == 0) {
      // Moving the threshold costs a GPU about 10 us: wider steps where few items are near. road:1024 on one H200,
      // 2026-11-21: 15.8 ms at 8 times the width, 25.3 at 4 times, 50.5 at the width itself.
      const double wider = machine.on_gpu() && mean_degree < 8 ? 8 : 1;
      plan.launch.threshold_delta = wider * default_delta(graph);
      say("threshold_delta", std::to_string(plan.launch.threshold_delta) + ": from the mean weight and degree");
    }
  }
  return plan;
}

}  // namespace shoal
