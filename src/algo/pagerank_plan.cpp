// What `auto` means for PageRank.
#include <algorithm>
#include <cstdio>

#include "pagerank_engines.hpp"
#include "shoal/core/error.hpp"

namespace shoal {
namespace {

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

void check_rules(const PageRankOptions& o) {
  if (!(o.alpha >= 0 && o.alpha <= 0.9999)) {
    throw UsageError("alpha " + number(o.alpha) + " is out of range: 0 to 0.9999");
  }
  if (!(o.tolerance >= 1e-11 && o.tolerance <= 1)) {
    throw UsageError("tolerance " + number(o.tolerance) + " is out of range: 1e-11 to 1");
  }
}

/// Chooses what contributions are kept in. Rounding may take half of the tolerance.
bool choose_wide(const PageRankOptions& o, std::vector<std::pair<std::string, std::string>>& why) {
  const double narrow = pagerank_rounding({o.alpha, o.tolerance, false}),
               wide = pagerank_rounding({o.alpha, o.tolerance, true});
  const bool use_wide = o.precision == PageRankPrecision::float64 ||
                        (o.precision == PageRankPrecision::automatic && narrow > o.tolerance / 2);
  const double rounding = use_wide ? wide : narrow;
  if (rounding > o.tolerance * 0.9) {
    throw UsageError(
        "tolerance " + number(o.tolerance) + " cannot be guaranteed with alpha " + number(o.alpha) + ": rounding of " +
        (use_wide ? "float64" : "float32") + " contributions alone may be " + number(rounding) +
        (use_wide ? "; raise the tolerance or lower alpha" : "; use precision float64, or raise the tolerance"));
  }
  why.emplace_back("precision", std::string(use_wide ? "float64: " : "float32: ") +
                                    (o.precision != PageRankPrecision::automatic
                                         ? "asked for"
                                         : "rounding of float32 contributions costs up to " + number(narrow) +
                                               " of the tolerance " + number(o.tolerance)));
  return use_wide;
}

}  // namespace

const char* name(PageRankStrategy strategy) {
  switch (strategy) {
    case PageRankStrategy::automatic:
      return "auto";
    case PageRankStrategy::async:
      return "async";
    case PageRankStrategy::pull:
      return "pull";
  }
  return "?";
}

PageRankStrategy parse_pagerank_strategy(const std::string& text) {
  for (const auto s : {PageRankStrategy::automatic, PageRankStrategy::async, PageRankStrategy::pull}) {
    if (text == name(s)) return s;
  }
  throw UsageError("strategy '" + text + "' is not known; legal: auto, async, pull");
}

const char* name(PageRankPrecision precision) {
  switch (precision) {
    case PageRankPrecision::automatic:
      return "auto";
    case PageRankPrecision::float32:
      return "float32";
    case PageRankPrecision::float64:
      return "float64";
  }
  return "?";
}

PageRankPrecision parse_pagerank_precision(const std::string& text) {
  for (const auto p : {PageRankPrecision::automatic, PageRankPrecision::float32, PageRankPrecision::float64}) {
    if (text == name(p)) return p;
  }
  throw UsageError("precision '" + text + "' is not known; legal: auto, float32, float64");
}

PageRankPlan plan_pagerank(const Machine& machine, const PlacedGraph& graph, const PageRankOptions& options,
                           std::vector<std::pair<std::string, std::string>>& why) {
  check_rules(options);
  PageRankPlan plan;
  // A task's options say that the task is wanted.
  const bool tuned = asks_for_worklist(options);
  plan.strategy = options.strategy;
  std::string reason = "asked for";
  if (plan.strategy == PageRankStrategy::automatic) {
    plan.strategy = tuned ? PageRankStrategy::async : PageRankStrategy::pull;
    reason = tuned ? "options of the asynchronous worklist were given"
                   : "all vertices change until the end: sweeps read memory in order and need no atomics";
  }
  why.emplace_back("strategy", std::string(name(plan.strategy)) + ": " + reason);
  if (plan.strategy != PageRankStrategy::async) note_unused(options, why);
  plan.rules = {options.alpha, options.tolerance, choose_wide(options, why),
                options.precision != PageRankPrecision::automatic};
  if (plan.strategy == PageRankStrategy::async) {
    const double mean_degree =
        graph.num_vertices > 0 ? static_cast<double>(graph.num_arcs) / static_cast<double>(graph.num_vertices) : 0;
    plan.launch = plan_launch(options, machine.on_gpu(), graph.n_pes(),
                              graph.num_vertices / std::max<pe_t>(graph.n_pes(), 1) + 1, mean_degree, why);
    if (machine.on_gpu() && options.fetch == 0 && plan.launch.worker != WorkerKind::thread) {
      // One H200, 2026-11-21: kron:20 10.8 ms in kernels with 64, 24.0 with 9; road:1024 27.3 ms with 16, 57.4 with 4.
      plan.launch.fetch = plan.launch.worker == WorkerKind::block ? std::min(64, plan.launch.block_threads) : 16;
      for (auto& [option, text] : why) {
        if (option != "fetch") continue;
        text = std::to_string(plan.launch.fetch) + ": most that are run have few arcs, hubs wait until it pays";
      }
    }
    // No share is ever dropped, and a vertex may run again before what it gave last time has been judged.
    if (options.spill < 0 && graph.n_pes() > 1) plan.launch.spill_near *= 4;
    if (machine.on_gpu() && options.combine == CombineKind::on) {
      throw UsageError("combine on: shares are combined on CPU threads only, not on GPUs; leave --combine out");
    }
    allow_remote_judge(plan.launch, options, graph.n_pes(), why);
  }
  return plan;
}

}  // namespace shoal
