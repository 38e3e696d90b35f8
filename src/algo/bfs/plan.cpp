// What `auto` means for breadth-first search.
#include <tuple>

#include "algo/plan.hpp"
#include "engines.hpp"
#include "shoal/core/text.hpp"

namespace shoal {

namespace {

constexpr Named<BfsStrategy> kStrategies[] = {
    {BfsStrategy::automatic, "auto"}, {BfsStrategy::async, "async"}, {BfsStrategy::levels, "levels"}};

// Waking a second thread costs 12 us and more, and every level is a meeting. AMD EPYC, two threads, idle, 2026-11-21, ms by
// one thread / by two: road:64 (18,566 vertices and arcs) .051 / .055, road:100 (45,000) .10 / .14, road:150 (0.1 M) .29 / .26,
// road:200 (0.2 M) .55 / .37, road:300 (0.4 M) 1.24 / .73; kron:14 (0.4 M) .10 / .09, uniform:14,degree=4 (0.15 M) .22 / .13.
// While others had a part of the processor road:300 took 1.0 by one and 2.0 by two.
constexpr std::int64_t kLeastWork = 1 << 16;  ///< of a thread, in vertices and arcs

// Roads on one H200, 2026-11-22 (bench/results/roads_h200.txt), ms by levels / as items come: road:6000 42 / 38,
// road:7000,deleted=0.4 45 / 38, road:9000 94 / 76, road:13191,deleted=0.4 149 / 104; but road:4896,deleted=0.4 26.7 / 29.4.
constexpr std::int64_t kVerticesOfNarrowLevels = 1 << 25;
// Levels that are few, and wide, are no road's: uniform:26,degree=1 (67 M vertices of 2 arcs, rows up to 13) 7.0 / 43.
constexpr arc_t kArcsOfAJunction = 8;

// Where a PE has more of a road than it can run as fast as items come, a PE with less to do runs ahead, by paths that are too
// long, and much is run again. H200s, the same day and file, ms first in first out / in windows of 1,024 levels:
// road:13191,deleted=0.4 (174 M vertices) on two 150 to 2,900 / 115, on four 250 to 1,900 / 106 (4,700 M items / 185 M);
// road:8192 (67 M) on two 210 to 750 / 64; but on four 45 / 56. Narrower windows wait longer, on four: 64 levels 266, 256 136.
constexpr std::int64_t kVerticesInOrder = 1 << 24;  ///< of a PE, up to which the order of arrival is good enough

/// Whether much of what is run comes from other PEs. Where it comes late, windows of levels must be narrow, if that helps at
/// all: road:2048 in random parts on four H200, 2026-11-22, ms: 79 by levels; 207 in windows of 64, 504 of 256, 3,500 in none.
bool crosses_much(const PlacedGraph& graph) { return graph.partition.cut_arcs > graph.num_arcs / 8; }

}  // namespace

const char* name(BfsStrategy strategy) { return name_of(kStrategies, strategy); }
BfsStrategy parse_bfs_strategy(const std::string& text) { return kind_of(kStrategies, "strategy", text); }

namespace {

/// A graph of few levels, or of levels so wide that they cost little beside what is in them.
bool is_shallow(const PlacedGraph& graph) { return is_skewed(graph) || mean_degree(graph) >= 8; }

}  // namespace

std::pair<BfsStrategy, const char*> choose_bfs_on_gpus(const PlacedGraph& graph) {
  if (is_skewed(graph)) {
    return {BfsStrategy::levels, "skewed degrees: looking from unreached vertices skips most arcs"};
  }
  if (is_shallow(graph)) return {BfsStrategy::levels, "many arcs per vertex, few levels"};
  if (graph.n_pes() == 1) {
    const bool large_road = graph.num_vertices > kVerticesOfNarrowLevels && graph.max_degree <= kArcsOfAJunction;
    if (large_road) return {BfsStrategy::async, "many levels, too wide for one cluster"};
    return {BfsStrategy::levels, "narrow levels stay on one cluster, about 2 us each"};
  }
  if (crosses_much(graph)) {
    return {BfsStrategy::levels, "many arcs between PEs: without an order most would be run again"};
  }
  return {BfsStrategy::async, "few arcs per vertex: many levels, no barrier between PEs"};
}

bool bfs_runs_ahead_on_gpus(const PlacedGraph& graph) {
  return graph.n_pes() > 1 && !is_shallow(graph) && graph.num_vertices / graph.n_pes() > kVerticesInOrder;
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
      reason = "CPU threads meet at a barrier in less time than they push items";
    } else {
      std::tie(plan.strategy, reason) = choose_bfs_on_gpus(graph);
    }
  }
  say_strategy(plan.strategy, reason, options, why);
  plan.threads = threads_worth(machine, graph, plan.strategy == BfsStrategy::async ? kLeastWorkAsync : kLeastWork, why);
  if (plan.strategy == BfsStrategy::async) {
    Options launch = options;
    if (options.queue == QueueKind::automatic && machine.on_gpu() && bfs_runs_ahead_on_gpus(graph)) {
      launch.queue = QueueKind::priority;
    }
    plan.launch = plan_vertices(machine, graph, launch, why);
    if (launch.queue != options.queue) decide_again(why, "queue", "priority", "else a PE runs ahead of the others");
    if (plan.launch.queue == QueueKind::priority && options.threshold_delta == 0) {
      // A move of the threshold costs what several levels of a road cost, and two levels of a skewed graph are most of it.
      const bool shallow = is_shallow(graph), wide = machine.on_gpu() && !crosses_much(graph);
      plan.launch.threshold_delta = shallow ? 2 : wide ? 1024 : 64;
      decide_again(why, "threshold_delta", exact(plan.launch.threshold_delta),
                   shallow ? "few levels" : "levels are narrow");
    }
    allow_remote_judge(plan.launch, options, graph.n_pes(), why);
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
