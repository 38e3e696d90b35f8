// What `auto` means for shortest paths.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "algo/plan.hpp"
#include "engines.hpp"
#include "shoal/algo/sssp.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal {
namespace {

constexpr Named<SsspStrategy> kStrategies[] = {
    {SsspStrategy::automatic, "auto"}, {SsspStrategy::async, "async"}, {SsspStrategy::delta, "delta"}};

// A thread with less work is not worth its wake-up time, and every bucket has at least one meeting (docs/decisions/0023, also for
// all other numbers here).
constexpr std::int64_t kLeastWork = 1 << 16;  ///< of a thread, in vertices and arcs

// Small maps that are run by priority all the same: road:256 and delaunay_n16, which have 2^16 vertices, take 0.77 and 0.84 of the time
// so; smaller ones more, road:128 1.0 and bremen-time 1.24, and with many dead ends luxembourg_osm 1.3.
constexpr std::int64_t kVerticesOfOrder = 1 << 16;
constexpr double kArcsOfOrder = 3;  ///< per vertex

/// About how many arcs a search from some vertex looks at: from most vertices of a directed graph, only a part of the graph is
/// reached. Counting all arcs made cnr-2000 take `delta`: .525 ms in place of .166.
std::int64_t arcs_of_a_search(const PlacedGraph& graph) {
  return graph.symmetric ? graph.num_arcs : graph.num_arcs / 2;
}

/// Edges in excess of those of a tree of all vertices; below 0 where there are several components.
std::int64_t detours_of(const PlacedGraph& graph) {
  return (graph.symmetric ? graph.num_arcs / 2 : graph.num_arcs) - graph.num_vertices;
}

}  // namespace

const char* name(SsspStrategy strategy) { return name_of(kStrategies, strategy); }
SsspStrategy parse_sssp_strategy(const std::string& text) { return kind_of(kStrategies, "strategy", text); }

// Most arcs of a skewed graph lead to vertices with many more arcs than the mean: a vertex that is reached again within a bucket
// runs a long row again. So the buckets of a skewed graph are as narrow as those of a graph in which all rows are long. In a tree,
// however, nothing is reached again. Below an eighth of the mean weight, the steps of more buckets cost more than they save. A
// single thread never waits at the end of a step, so narrow buckets suit it at smaller degrees.
double default_delta(const PlacedGraph& graph, int threads) {
  constexpr double kMostDegree = 32;
  double degree = mean_degree(graph);
  if (threads > 0) {
    const bool crowded = is_skewed(graph) && detours_of(graph) > graph.num_vertices / 4;
    degree = crowded || (threads == 1 && degree > 4) ? kMostDegree : std::min(degree, kMostDegree);
  }
  // The sum of all weights may be infinite where no path is; a GPU's buckets are up to 32 times as wide.
  return std::clamp(graph.mean_weight * (degree >= 8 ? 4 / degree : 4), std::numeric_limits<double>::min(),
                    std::numeric_limits<double>::max() / 32);
}

// At the end of a bucket most of a GPU's workers have nothing to do, hence fewer and wider buckets. Still wider ones on roads with many
// dead ends, where few vertices run twice, and on small maps, of which a GPU has little to do in a bucket: up to 20 times as wide, and 4
// times less for each doubling of its vertices. On several GPUs a bucket takes longer to end, so they are wider there, and 3.5 times less
// for each doubling (docs/decisions/0077-more-sources.md, 0078, 0080, 0082, 0085).
double wider_on_gpus(const PlacedGraph& graph) {
  const double degree = mean_degree(graph);
  const bool several = graph.n_pes() > 1;
  if (degree >= 8) return is_skewed(graph) ? 4 : std::clamp(64 / degree, 2.0, 8.0);
  // The logarithm of the vertices of a GPU from which 8 times is best. Twice as many warps need wider buckets to have enough to do
  // (docs/decisions/0079-more-warps.md).
  const bool more = !several && is_like_roads(graph) && graph.num_vertices >= WarpTraits().many_items;
  const double least = more || several ? 23 : 20.5;
  const double doublings = std::log2(std::max(1.0, static_cast<double>(graph.num_vertices) / graph.n_pes()));
  if (degree < 3) {  // many dead ends
    if (!is_like_roads(graph)) return several ? 32 : 16;
    // Lines between what was best: on one GPU 32 times for 2^22.5 vertices and 24 for 2^24.5; on two 48 for 2^19.5 of each and 32 for 2^23.5.
    return several ? std::clamp(126 - 4 * doublings, 32.0, 48.0) : std::clamp(122 - 4 * doublings, 16.0, 32.0);
  }
  return std::clamp(8 + (several ? 3.5 : 4) * (least - doublings), more ? 6.0 : 8.0, 20.0);
}

SmallGraph small_on_gpus(const PlacedGraph& graph) {
  constexpr std::int64_t kVertices = 1 << 19, kSkewedArcs = 7 << 18, kEvenArcs = 9 << 18;
  const std::int64_t most_detours = std::int64_t{std::bit_width(unsigned(graph.n_pes()))}
                                    << 16;  // 1, 2, 2, 3 times for 1 to 4
  const std::int64_t detours = detours_of(graph);
  const bool tree = graph.num_vertices <= kVertices && detours <= std::min(most_detours, 2 * graph.num_vertices);
  if (graph.n_pes() > 1) return tree && !is_skewed(graph) ? SmallGraph::tree : SmallGraph::no;
  if (is_skewed(graph)) {
    return detours > graph.num_vertices / 4 && arcs_of_a_search(graph) <= kSkewedArcs ? SmallGraph::near
                                                                                      : SmallGraph::no;
  }
  if (tree) return SmallGraph::tree;
  const double degree = mean_degree(graph);
  return degree >= 7 && degree < 16 && graph.num_arcs <= kEvenArcs ? SmallGraph::near : SmallGraph::no;
}

namespace {

/// A worker for graphs in which all vertices are near. Warps where there is little to do (as-caida .053 ms, .076 by blocks;
/// facebook_combined .079, .097; wiki-Vote .113, .133; kron:11, at the edge, .125, .120), otherwise blocks, and small blocks where
/// no row fills large ones: dblp-2010 (rows to 238) .53 ms by 128 lanes, .78 by 512, and wave (44) 1.14, 2.95; but email-enron
/// (1,383) .37, .28, and kron:14 .46, .24. Large batches where there are many vertices: uniform:15,degree=4 (32,768) .28 ms with 64
/// items, .21 with as many as fill the lanes.
/// @return whether a worker was chosen: the user did not ask for one
bool choose_worker(const PlacedGraph& graph, Options& launch) {
  constexpr std::int64_t kArcsOfWarps = 1 << 16;
  if (launch.worker != WorkerKind::automatic) return false;
  if (arcs_of_a_search(graph) < kArcsOfWarps) {
    launch.worker = WorkerKind::warp;
    return true;
  }
  const bool long_rows = graph.max_degree >= 512;
  launch.worker = WorkerKind::block;
  launch.block_threads = long_rows ? kMostBlockThreads : 128;
  if (launch.fetch == 0 && !long_rows && graph.num_vertices > 1 << 16) launch.fetch = 64;
  return true;
}

/// An upper bound for the length of a path, in units of weight.
double longest_path(const PlacedGraph& graph) {
  return static_cast<double>(std::max<std::int64_t>(graph.num_vertices, 1)) * graph.max_weight;
}

void check(const Machine& machine, const PlacedGraph& graph, const SsspOptions& options) {
  const bool real = graph.weight_kind == WeightKind::float64;
  // No path is longer than all arcs together. The factor is for what was rounded. Sums beyond all paths, which GPUs' buckets may
  // add, have not been tested there.
  const double all_arcs = 1.01 * graph.mean_weight * static_cast<double>(graph.num_arcs);
  if (real && std::isinf(longest_path(graph)) && (machine.on_gpu() || std::isinf(all_arcs))) {
    const double most = std::numeric_limits<double>::max() / static_cast<double>(graph.num_vertices);
    throw UsageError("the graph's weights, the largest of which is " + rough(graph.max_weight) +
                     ", may add up to a distance that is infinite in float64; divide all of them by a number, so that "
                     "the largest is below " +
                     rough(0.99 * most));
  }
  const double least = real ? 0 : 1;
  if (!(options.delta == 0 || (options.delta >= least && std::isfinite(options.delta)))) {
    throw UsageError("--delta " + exact(options.delta) +
                     " is out of range: " + (real ? "above 0" : "1 or more for whole weights") + " (0 chooses)");
  }
}

}  // namespace

lane_t sssp_batches_on_gpus(const PlacedGraph& graph, QueueKind queue) {
  if (mean_degree(graph) < 8) return 1;
  const std::int64_t n = graph.num_vertices;
  if (!is_skewed(graph)) return n >= 1 << 22 ? 4 : 1;
  if (queue == QueueKind::priority) return 1;
  return n >= 1 << 22 ? 8 : n >= 1 << 20 ? 4 : n >= 1 << 18 ? 2 : 1;
}

bool sssp_keeps_items_on_gpus(const PlacedGraph& graph) { return is_like_roads(graph) && !crosses_much(graph); }

bool sssp_overlaps_on_gpus(const PlacedGraph& graph) {
  // With a mean degree of 8 delta-stepping takes 0.45 to 0.96 of the worklist's time, with 16 1.0 to 1.4. With half as many arcs on one
  // GPU it takes 0.95, and with 2^24 vertices on two 0.96. Where there are few distances, most buckets are empty, and the next one may
  // not begin early.
  constexpr double kLeastDegree = 12, kLeastRange = 16;
  constexpr arc_t kLeastArcs = 1 << 21;
  constexpr std::int64_t kMostOnOne = 1 << 24, kMostOnTwo = 3 << 21;  ///< vertices
  if (graph.weight_kind == WeightKind::float64 || is_skewed(graph) || graph.max_weight < kLeastRange) return false;
  if (mean_degree(graph) < kLeastDegree || graph.n_pes() > 2) return false;
  if (graph.n_pes() == 1) return graph.num_vertices <= kMostOnOne && graph.num_arcs >= kLeastArcs;
  return graph.num_vertices <= kMostOnTwo;
}

bool sssp_owners_judge_on_gpus(const PlacedGraph& graph, QueueKind queue) {
  const bool counted = graph.partition.cut_arcs >= 0;
  return graph.n_pes() > 1 && is_skewed(graph) && queue == QueueKind::fifo && counted && !crosses_much(graph);
}

SsspPlan plan_sssp(const Machine& machine, const PlacedGraph& graph, const SsspOptions& options, Decisions& why) {
  check(machine, graph, options);
  SsspPlan plan;
  plan.delta = options.delta;
  plan.wide = graph.weight_kind == WeightKind::float64;
  plan.fits = plan.wide || longest_path(graph) < kTooFar;
  // Options of the worklist mean that the user wants the task; a bucket width means delta-stepping.
  const bool tuned = asks_for_worklist(options);
  const SmallGraph small = machine.on_gpu() ? small_on_gpus(graph) : SmallGraph::no;
  const bool as_they_come = small != SmallGraph::no;
  plan.strategy = options.strategy;
  std::string reason = "asked for";
  if (!machine.on_gpu()) check_reach(machine, options.strategy);
  const bool worklist_only = machine.world() != nullptr && !machine.on_gpu();
  const bool bulk_only = machine.world() != nullptr && machine.on_gpu();
  if (plan.strategy == SsspStrategy::automatic) {
    const bool keeps = sssp_keeps_items_on_gpus(graph);
    const bool even = machine.on_gpu() && sssp_overlaps_on_gpus(graph);
    const bool async = worklist_only || (!bulk_only && (tuned || as_they_come || keeps || even) && options.delta == 0);
    plan.strategy = async ? SsspStrategy::async : SsspStrategy::delta;
    reason = worklist_only               ? kAcrossProcesses
             : bulk_only                 ? "items cannot be sent between GPUs of several processes"
             : options.delta > 0         ? "the width of its buckets (--delta) was given"
             : tuned                     ? "options of the asynchronous worklist were given"
             : small == SmallGraph::tree ? "the graph is small and nearly a tree: few vertices run twice"
             : small == SmallGraph::near
                 ? "the graph is small and a few hops deep: async finishes before the steps of buckets would"
             : keeps ? "long paths, along which warps keep items"
             : even  ? "long rows of similar lengths: buckets overlap, and no worker waits for the end of a step"
                     : "near vertices run first, so few run twice";
  }
  if (plan.strategy == SsspStrategy::async && options.delta > 0) {
    throw UsageError(
        "--delta is the width of strategy delta's buckets, but strategy async was asked for; leave it out, or "
        "use --queue priority and --threshold-delta");
  }
  say_strategy(plan.strategy, reason, options, why);
  plan.threads =
      threads_worth(machine, graph, plan.strategy == SsspStrategy::async ? kLeastWorkAsync : kLeastWork, why);
  if (plan.strategy == SsspStrategy::async) {
    const double degree = mean_degree(graph);
    Options launch = options;
    // Where most arcs lead to a few vertices, these are near after a few hops: a GPU runs little twice, and waiting for the
    // threshold would cost more.
    // A small map is run as items come, unless warps gain more by keeping items than the ends of buckets cost.
    const bool worth = machine.on_gpu() && graph.n_pes() == 1 && sssp_keeps_items_on_gpus(graph) &&
                       degree >= kArcsOfOrder && graph.num_vertices >= kVerticesOfOrder;
    const bool ordered = (!as_they_come || worth) && (!machine.on_gpu() || !is_skewed(graph));
    if (launch.queue == QueueKind::automatic) launch.queue = ordered ? QueueKind::priority : QueueKind::fifo;
    const bool chosen = small == SmallGraph::near && choose_worker(graph, launch);
    // Twelve warps in place of eight: road:1024 0.89, road:1448 0.92, road:2048 0.89 of the time, but road:512 1.02 (two H200,
    // docs/decisions/0085-a-hop-is-a-loop.md).
    WarpTraits task;
    if (graph.all_pes() > 1) task.many_items = 1 << 19;
    plan.launch = plan_vertices(machine, graph, launch, why, /*has_priority=*/true, /*blocks=*/nullptr, task);
    if (!chosen) fetch_more(machine, launch, plan.launch, sssp_batches_on_gpus(graph, plan.launch.queue), why);
    if (chosen) {  // plan_vertices() recorded these as asked for
      const bool block = launch.worker == WorkerKind::block;
      decide_again(why, "worker", name(launch.worker),
                   block ? "the graph is small and a few hops deep" : "so few arcs that a warp finishes sooner");
      if (block) decide_again(why, "block_threads", std::to_string(launch.block_threads), "from the longest row");
      if (options.fetch == 0 && launch.fetch > 0) {
        decide_again(why, "fetch", std::to_string(launch.fetch), "for a block of 128");
      }
    }
    allow_remote_judge(plan.launch, options, graph.all_pes(), machine.world() != nullptr, why);
    if (sssp_owners_judge_on_gpus(graph, plan.launch.queue)) {
      let_owners_judge(machine, options, plan.launch, "few arcs lead to other PEs, so few items are sent", why);
    }
    if (options.queue == QueueKind::automatic && ordered) {
      decide_again(why, "queue", "priority", "near vertices run first, so few run twice");
    } else if (options.queue == QueueKind::automatic) {
      why.push_back(
          {"queue", "fifo",
           as_they_come
               ? "the graph is small: an order costs more than running some vertices twice"
               : "skewed degrees: a few hops reach most vertices, and an order costs more than running some twice"});
    }
    if (plan.launch.queue == QueueKind::priority && options.buckets == 0 && machine.on_gpu() && degree >= 8) {
      plan.launch.buckets = 8;  // parked items are farther off than on roads; with more buckets they move less often
      decide_again(why, "buckets", "8", "rows are long");
    }
    if (plan.launch.queue == QueueKind::priority && options.threshold_delta == 0) {
      plan.launch.threshold_delta = machine.on_gpu()
                                        ? wider_on_gpus(graph) * default_delta(graph, 0)
                                        : default_delta(graph, plan.threads * static_cast<int>(graph.all_pes()));
      decide_again(why, "threshold_delta", rough(plan.launch.threshold_delta), "from the mean weight and degree");
    }
    // In a skewed graph what runs too early may have a long row, and runs again: kron:22 takes 1.24 of the time.
    const int gpus = machine.on_gpu() ? (graph.n_pes() - 1) / machine.pes_per_gpu() + 1 : 0;
    if (!is_skewed(graph)) overlap_buckets(plan.launch, options, gpus, why);
  }
  return plan;
}

RunNeeds needs_of(const GraphSize& graph, const SsspOptions& options) {
  const bool made = options.weights != WeightSource::file;
  const bool real = !made && graph.weight_kind == WeightKind::float64;
  const double word = real ? RunNeeds::kWide : RunNeeds::kWord;
  RunNeeds needs;
  needs.weight = made ? RunNeeds::kWord : 0;
  if (runs_async_across(options)) {
    needs.vertex_of_pe = word;
    needs.slot = real ? RunNeeds::kLargeSlot : RunNeeds::kSmallSlot;
    needs.arc = 5;  // items that wait for their bucket; kron:20, uniform:21, road:1800 on two threads: 3.4 to 5.7
  } else {
    needs.vertex = 16 + word + RunNeeds::kWord;  // row, distance, turn
    needs.arc = real ? 16 : 8;
    needs.waiting = real ? 32 : 16;  // two entries of buckets
  }
  const double tree = options.predecessors ? RunNeeds::kWord : 0;
  needs.answer =
      2 * RunNeeds::kWide + tree;  // words by placed and input number; the former are freed before distances are made
  needs.answer_reverses = options.predecessors;
  needs.check = 2 * RunNeeds::kWide + tree;  // distances, and words again
  needs.check_reverses = true;
  return needs;
}

}  // namespace shoal
