// What the plans of all algorithms have in common. A plan decides what the options leave open; it appends a line to `why` for each
// decision, and the report shows these lines.
#pragma once
#include <algorithm>
#include <string>

#include "shoal/core/error.hpp"
#include "shoal/core/kinds.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// Arcs per vertex; 0 when there are no vertices.
inline double mean_degree(const PlacedGraph& graph) {
  return static_cast<double>(graph.num_arcs) / static_cast<double>(std::max<std::int64_t>(graph.num_vertices, 1));
}

/// Whether some vertex has far more out-arcs than the mean, so that few vertices hold most arcs.
inline bool is_skewed(const PlacedGraph& graph) {
  return static_cast<double>(graph.max_degree) > 32 * std::max(mean_degree(graph), 1.0);
}

/// A graph with a vertex of more arcs is not a road network, even if rows are short on average: its levels are few and wide.
inline constexpr arc_t kArcsOfAJunction = 8;

/// Whether the graph is like a road network: rows are short and paths are long. Known of graphs on GPUs only.
inline bool is_like_roads(const PlacedGraph& graph) {
  return graph.has_long_paths() && mean_degree(graph) < 8 && !is_skewed(graph);
}

/// Whether more than an eighth of all arcs lead from one PE to another.
inline bool crosses_much(const PlacedGraph& graph) { return graph.partition.cut_arcs > graph.num_arcs / 8; }

/// The reason that `auto` gives when only the worklist can run the algorithm on PEs of several processes.
inline constexpr const char* kAcrossProcesses = "several processes: only the worklist sends items between them";

/// Refuses a strategy whose PEs use each other's memory when the PEs belong to several processes. (The strategies levels and pull
/// exchange what they need, so they are not checked here.)
template <class Strategy>
void check_reach(const Machine& machine, Strategy asked) {
  if (machine.world() == nullptr || asked == Strategy::automatic || asked == Strategy::async) return;
  throw UsageError(
      std::string("strategy ") + name(asked) + " needs access to the memory of all PEs, but they belong to " +
      std::to_string(machine.world()->n_processes()) + " processes; use --strategy async, or one process with --pes");
}

/// Records which strategy runs, and which of the given options that strategy does not use.
template <class Strategy>
void say_strategy(Strategy strategy, const std::string& reason, const Options& options, Decisions& why) {
  why.push_back({"strategy", name(strategy), reason});
  if (strategy != Strategy::async) note_unused(options, why);
}

/// After allow_remote_judge(): lets the owners of items judge on GPUs, unless the user asked for something.
inline void let_owners_judge(const Machine& machine, const Options& options, LaunchPlan& launch, const char* reason,
                             Decisions& why) {
  if (!machine.on_gpu() || options.judge != JudgeKind::automatic || !launch.judge_remote) return;
  launch.judge_remote = false;
  decide_again(why, "judge", "owner", reason);
}

/// Least work, in vertices and arcs of the graph, that is worth a thread when the worklist runs the strategy: an item costs some 50
/// ns.
inline constexpr std::int64_t kLeastWorkAsync = 1 << 13;

/// How many CPU threads of a PE are worth starting and waiting for: one for each `least` of the PE's work, at most all of them. If
/// the user asked for a number of threads, that number holds.
/// @param least  work that is worth one thread, in vertices and arcs of the graph, at least 1
inline int threads_worth(const Machine& machine, const PlacedGraph& graph, std::int64_t least, Decisions& why) {
  const int all = machine.threads_per_pe();
  if (machine.on_gpu() || machine.threads_asked()) return all;
  const std::int64_t work = (graph.num_vertices + graph.num_arcs) / std::max<pe_t>(graph.all_pes(), 1);
  const int worth = static_cast<int>(std::clamp<std::int64_t>(work / least, 1, all));
  if (worth < all) decide_again(why, "threads", std::to_string(worth), "a small graph");
  return worth;
}

/// Records which of the given options do nothing because there is only one PE.
inline void note_unsent(const Options& o, Decisions& why) {
  const std::string names = given_names({{o.judge != JudgeKind::automatic, "--judge"},
                                         {o.combine != CombineKind::automatic, "--combine"},
                                         {o.batch_bytes >= 0, "--batch-bytes"},
                                         {o.batch_wait > 0 || o.batch_wait_us > 0, "--batch-wait"}});
  if (names.empty()) return;
  std::erase_if(why, [](const Decision& one) { return one.option == "judge" || one.option == "combine"; });
  why.push_back({"not used", names, "one PE has no other to send items to"});
}

/// plan_launch() for a task whose items are vertices and that pushes along their arcs.
/// @param has_priority  whether the task can have a priority queue
/// @param blocks  the reason to use blocks as the workers on a GPU, whatever the rows are like; null: use them where rows are long,
///                or where a few rows are very long
/// @param task  without long_paths, which this function finds out
inline LaunchPlan plan_vertices(const Machine& machine, const PlacedGraph& graph, const Options& options,
                                Decisions& why, bool has_priority, const char* blocks = nullptr, WarpTraits task = {}) {
  const std::int64_t vertices_of_a_pe = graph.num_vertices / std::max<pe_t>(graph.all_pes(), 1) + 1;
  Options launch = options;
  // docs/decisions/0023: workers on GPUs.
  if (blocks == nullptr && is_skewed(graph)) blocks = "a few very long rows would keep a single warp busy for long";
  const bool choose = blocks != nullptr && machine.on_gpu() && options.worker == WorkerKind::automatic;
  if (choose) launch.worker = WorkerKind::block;
  LaunchPlan plan = plan_launch(launch, machine.on_gpu(), graph.all_pes(), vertices_of_a_pe, mean_degree(graph), why,
                                machine.world() != nullptr);
  if (choose) decide_again(why, "worker", "block", blocks);
  check_order(options, plan.queue, has_priority, task.any_order);
  task.long_paths = is_like_roads(graph);
  keep_items(plan, options, mean_degree(graph), task, why);
  more_warps(plan, options, graph.all_pes(), graph.num_vertices, task, why);
  if (graph.all_pes() == 1) note_unsent(options, why);
  return plan;
}

/// On GPUs of one process, lets blocks take `times` as many items at once, unless the user set the number: where very many items
/// wait at a time, few large batches cost less than many small ones (docs/decisions/0041-batches.md).
inline void fetch_more(const Machine& machine, const Options& options, LaunchPlan& plan, lane_t times, Decisions& why) {
  const bool here = machine.on_gpu() && machine.world() == nullptr;
  if (!here || times <= 1 || options.fetch > 0 || plan.worker != WorkerKind::block) return;
  plan.fetch = std::min(times * plan.fetch, static_cast<lane_t>(plan.block_threads));
  decide_again(why, "fetch", std::to_string(plan.fetch), "many items wait at a time");
}

}  // namespace shoal
