// What `auto` means for PageRank.
#include <algorithm>

#include "algo/plan.hpp"
#include "engines.hpp"
#include "pull.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal {
namespace {

constexpr Named<PageRankStrategy> kStrategies[] = {
    {PageRankStrategy::automatic, "auto"}, {PageRankStrategy::async, "async"}, {PageRankStrategy::pull, "pull"}};
constexpr Named<PageRankPrecision> kPrecisions[] = {{PageRankPrecision::automatic, "auto"},
                                                    {PageRankPrecision::float32, "float32"},
                                                    {PageRankPrecision::float64, "float64"}};

// A thread with less work is not worth its wake-up time (docs/decisions/0023, also for the next constant).
constexpr std::int64_t kLeastWork = 1 << 14;  ///< of a thread, in vertices and arcs

// If a thread has the contributions in its cache anyway, halving their size saves nothing and costs a conversion for each.
constexpr std::int64_t kVerticesInCache = 1 << 18;

/// Chooses the type in which contributions are stored. Rounding may take half of the tolerance.
bool choose_wide(const PageRankOptions& o, bool in_cache, Decisions& why) {
  const double narrow = pagerank_rounding({o.alpha, o.tolerance, false}),
               wide = pagerank_rounding({o.alpha, o.tolerance, true});
  const bool use_wide = o.precision == PageRankPrecision::float64 ||
                        (o.precision == PageRankPrecision::automatic && (in_cache || narrow > o.tolerance / 2));
  const double rounding = use_wide ? wide : narrow;
  if (rounding > o.tolerance * 0.9) {
    throw UsageError(
        "tolerance " + rough(o.tolerance) + " cannot be guaranteed with alpha " + rough(o.alpha) + ": rounding of " +
        (use_wide ? "float64" : "float32") + " contributions alone may be " + rough(rounding) +
        (use_wide ? "; raise the tolerance or lower alpha" : "; use precision float64, or raise the tolerance"));
  }
  why.push_back({"precision", use_wide ? "float64" : "float32",
                 o.precision != PageRankPrecision::automatic ? "asked for"
                 : in_cache                                  ? "contributions fit in a cache"
                            : "rounding of float32 contributions costs up to " + rough(narrow) + " of the tolerance " +
                                  rough(o.tolerance)});
  return use_wide;
}

}  // namespace

const char* name(PageRankStrategy strategy) { return name_of(kStrategies, strategy); }
PageRankStrategy parse_pagerank_strategy(const std::string& text) { return kind_of(kStrategies, "strategy", text); }

const char* name(PageRankPrecision precision) { return name_of(kPrecisions, precision); }
PageRankPrecision parse_pagerank_precision(const std::string& text) { return kind_of(kPrecisions, "precision", text); }

void check_pagerank_rules(double alpha, double tolerance) {
  if (!(alpha >= 0 && alpha <= 0.9999)) {
    throw UsageError("--alpha " + exact(alpha) + " is out of range: 0 to 0.9999");
  }
  if (!(tolerance >= 1e-11 && tolerance <= 1)) {
    throw UsageError("--tolerance " + exact(tolerance) + " is out of range: 1e-11 to 1");
  }
}

lane_t pagerank_fetch_on_gpus(const PlacedGraph& graph, const LaunchPlan& launch) {
  const auto lanes = static_cast<lane_t>(launch.block_threads);
  if (launch.worker != WorkerKind::block) return 16;
  // In a round each worker takes a full batch, however few items wait.
  return launch.kernel == KernelKind::discrete && mean_degree(graph) >= 8 ? std::min<lane_t>(96, lanes) : lanes;
}

PageRankPlan plan_pagerank(const Machine& machine, const PlacedGraph& graph, const PageRankOptions& options,
                           Decisions& why) {
  check_pagerank_rules(options.alpha, options.tolerance);
  PageRankPlan plan;
  // Options of the worklist mean that the user wants the task.
  const bool tuned = asks_for_worklist(options);
  plan.strategy = options.strategy;
  std::string reason = "asked for";
  if (plan.strategy == PageRankStrategy::automatic) {
    plan.strategy = tuned ? PageRankStrategy::async : PageRankStrategy::pull;
    reason = tuned ? "options of the asynchronous worklist were given"
                   : "all vertices change until the end: sweeps read memory in order and need no atomics";
  }
  say_strategy(plan.strategy, reason, options, why);
  plan.threads =
      threads_worth(machine, graph, plan.strategy == PageRankStrategy::async ? kLeastWorkAsync : kLeastWork, why);
  const bool in_cache = !machine.on_gpu() && graph.num_vertices <= kVerticesInCache;
  plan.rules = {options.alpha, options.tolerance, choose_wide(options, in_cache, why),
                options.precision != PageRankPrecision::automatic};
  if (plan.strategy == PageRankStrategy::async) {
    plan.launch =
        plan_vertices(machine, graph, options, why, /*has_priority=*/false, "all vertices are active from the start");
    if (machine.on_gpu() && options.fetch == 0 && plan.launch.worker != WorkerKind::thread) {
      plan.launch.fetch = pagerank_fetch_on_gpus(graph, plan.launch);
      decide_again(why, "fetch", std::to_string(plan.launch.fetch),
                   static_cast<int>(plan.launch.fetch) == plan.launch.block_threads
                       ? "the warps of a block refuse most shares by themselves, so long batches cost little"
                       : "most vertices that run have few arcs; hubs wait until running them pays");
    }
    // No share is ever dropped, and a vertex may run again before the shares that it pushed last time are judged.
    if (options.spill < 0 && graph.all_pes() > 1) {
      plan.launch.spill *= 4;
      decide_again(why, "spill", std::to_string(plan.launch.spill), "no share is dropped, so many wait");
    }
    if (machine.on_gpu() && options.combine == CombineKind::on) {
      throw UsageError("combine on: shares are combined on CPU threads only, not on GPUs; leave --combine out");
    }
    allow_remote_judge(plan.launch, options, graph.all_pes(), machine.world() != nullptr, why);
  }
  return plan;
}

RunNeeds needs_of(const GraphSize&, const PageRankOptions& options) {
  RunNeeds needs;
  const bool personal = !options.personalization.empty() || !options.personalization_file.empty();
  const bool wide = options.precision == PageRankPrecision::float64 ||
                    pagerank_rounding({options.alpha, options.tolerance, false}) > options.tolerance / 2;
  if (runs_async(options)) {
    needs.vertex = 2 * RunNeeds::kWide;  // ranks and residuals
    needs.slot = RunNeeds::kLargeSlot;
  } else {
    needs.vertex = 2 * RunNeeds::kWide + (wide ? RunNeeds::kWide : RunNeeds::kWord);  // ranks, twice, and shares
    needs.vertex += RunNeeds::kWide + 2 * RunNeeds::kWord;                            // rows sorted by length
    needs.arc = RunNeeds::kWord;
  }
  if (personal) needs.vertex += RunNeeds::kWide;
  needs.answer = 2 * RunNeeds::kWide;
  needs.check = RunNeeds::kWide + (personal ? RunNeeds::kWide : 0);
  needs.check_reverses = true;
  return needs;
}

}  // namespace shoal
