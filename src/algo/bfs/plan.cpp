// What `auto` means for breadth-first search.
#include <tuple>

#include "algo/plan.hpp"
#include "engines.hpp"
#include "shoal/core/text.hpp"

namespace shoal {

namespace {

constexpr Named<BfsStrategy> kStrategies[] = {
    {BfsStrategy::automatic, "auto"}, {BfsStrategy::async, "async"}, {BfsStrategy::levels, "levels"}};

// A thread with less work is not worth its wake-up time, and every level ends in a meeting (docs/decisions/0023, also for the next
// three constants).
constexpr std::int64_t kLeastWork = 1 << 16;  ///< of a thread, in vertices and arcs

// The levels of larger road networks are too wide for one cluster of blocks.
constexpr std::int64_t kVerticesOfNarrowLevels = 1 << 25;
// When a PE has more vertices of a road network than it can process at the rate at which items arrive, a PE with less work runs
// ahead along paths that are too long, and much is run again.
constexpr std::int64_t kVerticesInOrder = 1 << 24;  ///< of a PE, up to which the order of arrival is good enough

constexpr std::int64_t kVerticesOfWideWindows = 1 << 26;  ///< of a road network on a GPU

// On several GPUs smaller road networks run in the order of arrival. Larger ones do not since a worker runs what it keeps at once
// (docs/decisions/0084-kept-items-at-once.md).
constexpr std::int64_t kVerticesOfWindowsOnSeveral = 1 << 16;
// A window takes longer to end on several GPUs, so there are fewer; on larger road networks that was not measured.
constexpr std::int64_t kVerticesOfLongWindows = 6 << 20;

// In a window of levels fewer vertices run at a time than in a bucket of shortest paths: with more warps road:2900 takes 1.02 of the
// time, road:4096 0.93 (docs/decisions/0079-more-warps.md).
constexpr WarpTraits kWarps = {.many_items = 3 << 22};

}  // namespace

const char* name(BfsStrategy strategy) { return name_of(kStrategies, strategy); }
BfsStrategy parse_bfs_strategy(const std::string& text) { return kind_of(kStrategies, "strategy", text); }

namespace {

/// A graph with few levels, or with levels so wide that the cost per level is small compared with that of their vertices and arcs.
bool is_shallow(const PlacedGraph& graph) { return is_skewed(graph) || mean_degree(graph) >= 8; }

/// The reason for running a worklist's items by level; null: order of arrival is as good.
const char* order_worth(const Machine& machine, const PlacedGraph& graph, const Options& options) {
  const bool ahead = machine.on_gpu() ? bfs_runs_ahead_on_gpus(graph) : graph.all_pes() > 1 && !is_shallow(graph);
  if (ahead) return "otherwise a PE would run ahead of the others";
  const bool keeps = machine.on_gpu() && bfs_keeps_items_on_gpus(graph, options);
  return keeps ? "warps may keep items then, so that fewer go through the ring" : nullptr;
}

}  // namespace

lane_t bfs_batches_on_gpus(const PlacedGraph& graph) {
  if (mean_degree(graph) < 8) return 1;
  if (!is_skewed(graph)) return graph.num_vertices >= 1 << 24 ? 8 : graph.num_vertices >= 1 << 22 ? 4 : 1;
  // A block of an H100, which has 264, has 1/264 of all arcs: 1,024 means that the longest row is a quarter of that, 400 two thirds.
  const arc_t longest_rows = graph.num_arcs / std::max<arc_t>(graph.max_degree, 1);
  const bool many = graph.num_vertices / graph.n_pes() >= 1 << 23;
  return longest_rows >= 2560 && many ? 8 : longest_rows >= 1024 ? 4 : longest_rows >= 400 ? 2 : 1;
}

bool bfs_owners_judge_on_gpus(const PlacedGraph& graph) { return graph.n_pes() > 1 && is_skewed(graph); }

std::pair<BfsStrategy, const char*> choose_bfs_on_gpus(const PlacedGraph& graph) {
  if (is_skewed(graph)) {
    return {BfsStrategy::levels, "skewed degrees: searching from unreached vertices skips most arcs"};
  }
  if (is_shallow(graph)) return {BfsStrategy::levels, "many arcs per vertex, few levels"};
  if (graph.n_pes() == 1) {
    const bool large_road = graph.num_vertices > kVerticesOfNarrowLevels && graph.max_degree <= kArcsOfAJunction;
    if (large_road) return {BfsStrategy::async, "many levels, too wide for one cluster"};
    if (bfs_keeps_items_on_gpus(graph, {})) return {BfsStrategy::async, "long paths, along which warps keep items"};
    return {BfsStrategy::levels, "narrow levels stay on one cluster, about 2 us each"};
  }
  if (crosses_much(graph)) {
    return {BfsStrategy::levels, "many arcs between PEs: without an order, most vertices would run again"};
  }
  return {BfsStrategy::async, "few arcs per vertex, so many levels, which async runs without barriers between PEs"};
}

bool bfs_runs_ahead_on_gpus(const PlacedGraph& graph) {
  return graph.n_pes() > 1 && !is_shallow(graph) && graph.num_vertices / graph.n_pes() > kVerticesInOrder;
}

bool bfs_keeps_items_on_gpus(const PlacedGraph& graph, const Options& options) {
  const bool by_warps = options.worker == WorkerKind::automatic || options.worker == WorkerKind::warp;
  const bool large = graph.n_pes() == 1 || (graph.num_vertices >= kVerticesOfWindowsOnSeveral && !crosses_much(graph));
  return large && is_like_roads(graph) && by_warps && options.kernel != KernelKind::discrete && options.keep != 0;
}

int bfs_window_on_gpus(const PlacedGraph& graph) {
  // On very large maps, more runs at a time than there are warps, and what is kept runs ahead within a window
  // (docs/decisions/0079-more-warps.md).
  if (graph.num_vertices / graph.n_pes() > kVerticesOfWideWindows) return 256;
  return graph.n_pes() > 1 && graph.num_vertices <= kVerticesOfLongWindows ? 2048 : 1024;
}

BfsPlan plan_bfs(const Machine& machine, const PlacedGraph& graph, const BfsOptions& options, Decisions& why) {
  BfsPlan plan;
  plan.strategy = options.strategy;
  std::string reason = "asked for";
  if (plan.strategy == BfsStrategy::automatic) {
    if (asks_for_worklist(options)) {
      plan.strategy = BfsStrategy::async;
      reason = "options of the asynchronous worklist were given";
    } else if (!machine.on_gpu()) {
      plan.strategy = BfsStrategy::levels;
      reason = "on CPU threads, a barrier takes less time than pushing items";
    } else if (machine.world() != nullptr) {
      plan.strategy = BfsStrategy::levels;
      reason = "items cannot be sent between GPUs of several processes";
    } else {
      std::tie(plan.strategy, reason) = choose_bfs_on_gpus(graph);
    }
  }
  say_strategy(plan.strategy, reason, options, why);
  plan.threads = threads_worth(machine, graph, plan.strategy == BfsStrategy::async ? kLeastWorkAsync : kLeastWork, why);
  if (plan.strategy == BfsStrategy::async) {
    Options launch = options;
    const char* const order = options.queue == QueueKind::automatic ? order_worth(machine, graph, options) : nullptr;
    if (order != nullptr) launch.queue = QueueKind::priority;
    plan.launch = plan_vertices(machine, graph, launch, why, /*has_priority=*/true, /*blocks=*/nullptr, kWarps);
    if (order != nullptr) decide_again(why, "queue", "priority", order);
    fetch_more(machine, options, plan.launch, bfs_batches_on_gpus(graph), why);
    // A round takes as long as its longest batch (docs/decisions/0071-rounds-that-stay.md, also for the numbers).
    const bool rounds = machine.on_gpu() && plan.launch.kernel == KernelKind::discrete;
    const lane_t most = graph.n_pes() == 1 ? 128 : 32;
    if (rounds && options.fetch == 0 && plan.launch.fetch > most) {
      plan.launch.fetch = most;
      decide_again(why, "fetch", std::to_string(most), "a round takes as long as its longest batch");
    }
    if (plan.launch.queue == QueueKind::priority && options.threshold_delta == 0) {
      // Moving the threshold costs as much as several levels of a road network, and two levels of a skewed graph contain most of
      // it. Rounds do not run ahead of a level, so few moves are best.
      // Windows must be narrow if many of the items that are run come from other PEs, and may arrive late.
      const bool shallow = is_shallow(graph), wide = machine.on_gpu() && !crosses_much(graph);
      plan.launch.threshold_delta = shallow ? (rounds ? 4 : 2) : wide ? bfs_window_on_gpus(graph) : 64;
      decide_again(why, "threshold_delta", exact(plan.launch.threshold_delta),
                   shallow ? "few levels" : "levels are narrow");
    }
    allow_remote_judge(plan.launch, options, graph.all_pes(), machine.world() != nullptr, why);
    if (bfs_owners_judge_on_gpus(graph)) {
      let_owners_judge(machine, options, plan.launch, "skewed degrees: few of the pushed items are sent", why);
    }
  }
  return plan;
}

RunNeeds needs_of(const GraphSize&, const BfsOptions& options) {
  RunNeeds needs;
  if (runs_async(options)) {
    needs.vertex_of_pe = RunNeeds::kWord;
    needs.slot = RunNeeds::kSmallSlot;
  } else {
    needs.vertex = RunNeeds::kWord + 4.0 / 8;  // levels, four bitmaps
    needs.waiting = RunNeeds::kWord;
  }
  const double tree = options.parents ? RunNeeds::kWord : 0;
  needs.answer = 2 * RunNeeds::kWord + 2 * tree;  // by placed number, and by input number
  needs.check = RunNeeds::kWord + tree;
  needs.check_reverses = true;
  return needs;
}

}  // namespace shoal
