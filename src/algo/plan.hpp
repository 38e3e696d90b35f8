// What the plans of all algorithms have in common. A plan decides what the options leave open; `why` gains a line for
// each decision, which the report shows.
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

/// Arcs per vertex; 0 without vertices.
inline double mean_degree(const PlacedGraph& graph) {
  return static_cast<double>(graph.num_arcs) / static_cast<double>(std::max<std::int64_t>(graph.num_vertices, 1));
}

/// Whether a vertex has so many more out-arcs than most that few vertices hold most arcs.
inline bool is_skewed(const PlacedGraph& graph) {
  return static_cast<double>(graph.max_degree) > 32 * std::max(mean_degree(graph), 1.0);
}

/// What `auto` says of an algorithm of which only the worklist has PEs of several processes.
inline constexpr const char* kAcrossProcesses = "PEs of several processes: only the worklist sends what it has to them";

/// Refuses a strategy in which PEs use each other's memory, where they cannot. (levels and pull exchange what they need.)
template <class Strategy>
void check_reach(const Machine& machine, Strategy asked) {
  if (machine.world() == nullptr || asked == Strategy::automatic || asked == Strategy::async) return;
  throw UsageError(
      std::string("strategy ") + name(asked) + " works on the memory of all PEs, and here they belong to " +
      std::to_string(machine.world()->n_processes()) + " processes; use --strategy async, or one process with --pes");
}

/// Says which strategy runs, and which of the options given it does not use.
template <class Strategy>
void say_strategy(Strategy strategy, const std::string& reason, const Options& options, Decisions& why) {
  why.push_back({"strategy", name(strategy), reason});
  if (strategy != Strategy::async) note_unused(options, why);
}

/// Least work of a thread, in vertices and arcs of the graph, where a strategy runs by worklist: an item costs some 50 ns.
inline constexpr std::int64_t kLeastWorkAsync = 1 << 13;

/// The CPU threads of a PE that are worth starting and waiting for: the graph has that many times the work that one needs to
/// be, where a number was not asked for.
/// @param least  work of a thread: vertices and arcs of the graph, at least 1
inline int threads_worth(const Machine& machine, const PlacedGraph& graph, std::int64_t least, Decisions& why) {
  const int all = machine.threads_per_pe();
  if (machine.on_gpu() || machine.threads_asked()) return all;
  const std::int64_t work = (graph.num_vertices + graph.num_arcs) / std::max<pe_t>(graph.all_pes(), 1);
  const int worth = static_cast<int>(std::clamp<std::int64_t>(work / least, 1, all));
  if (worth < all) decide_again(why, "threads", std::to_string(worth), "a small graph");
  return worth;
}

/// plan_launch() for a task whose items are vertices and that pushes along their arcs.
/// @param blocks  why blocks run it on a GPU whatever its rows are; null: they do where rows are long, or a few very long
inline LaunchPlan plan_vertices(const Machine& machine, const PlacedGraph& graph, const Options& options,
                                Decisions& why, const char* blocks = nullptr) {
  const std::int64_t vertices_of_a_pe = graph.num_vertices / std::max<pe_t>(graph.all_pes(), 1) + 1;
  Options launch = options;
  // docs/decisions/0023: workers on GPUs.
  if (blocks == nullptr && is_skewed(graph)) blocks = "a few very long rows keep a warp busy for long";
  const bool choose = blocks != nullptr && machine.on_gpu() && options.worker == WorkerKind::automatic;
  if (choose) launch.worker = WorkerKind::block;
  LaunchPlan plan = plan_launch(launch, machine.on_gpu(), graph.all_pes(), vertices_of_a_pe, mean_degree(graph), why,
                                machine.world() != nullptr);
  if (choose) decide_again(why, "worker", "block", blocks);
  return plan;
}

/// Blocks of the GPUs of one process take `times` as many items at a time, if the user has not said how many: where very many wait
/// at a time, few long batches cost less than many short ones (docs/decisions/0041-batches.md).
inline void fetch_more(const Machine& machine, const Options& options, LaunchPlan& plan, lane_t times, Decisions& why) {
  const bool here = machine.on_gpu() && machine.world() == nullptr;
  if (!here || times <= 1 || options.fetch > 0 || plan.worker != WorkerKind::block) return;
  plan.fetch = std::min(times * plan.fetch, static_cast<lane_t>(plan.block_threads));
  decide_again(why, "fetch", std::to_string(plan.fetch), "many items wait at a time");
}

}  // namespace shoal
