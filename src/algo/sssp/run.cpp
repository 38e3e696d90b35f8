#include "shoal/algo/sssp_run.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "algo/host_memory.hpp"
#include "algo/placed_run.hpp"
#include "distances.hpp"
#include "engines.hpp"
#include "reference.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/weights.hpp"

namespace shoal {
namespace {

/// Four H200 and one, 2026-11-22, medians of 5, ms: kron:20 .99 / .50, kron:22 1.3 / 1.0, uniform:22 3.7 / 3.8, kron:23 (8 M vertices)
/// 1.6 / 1.6, kron:24 2.1 / 2.9, uniform:24 11 / 21; road:512 5.3 / 3.8, road:2048 (4 M) 23 / 18, road:8192 138 / 228.
constexpr std::int64_t kFewVertices = 1 << 23;

}  // namespace

struct SsspRunner::State : GraphRunner::State {
  template <class Graph>
  State(const Graph& graph, const SsspOptions& o)
      : GraphRunner::State(graph, o, needs_of(size_of(graph), o), o.weights, few_for_auto(o, kFewVertices)),
        options(o) {
    const PlacedGraph& placed = run.placed();
    const double longest = static_cast<double>(std::max<std::int64_t>(placed.num_vertices, 1)) * placed.max_weight;
    real = placed.weight_kind == WeightKind::float64;
    if (real && std::isinf(longest)) {
      throw UsageError("weights as large as " + std::to_string(placed.max_weight) +
                       " make paths of infinite length in this graph; scale them down");
    }
    const double least = real ? 0 : 1;
    if (!(o.delta == 0 || (o.delta >= least && std::isfinite(o.delta)))) {
      throw UsageError("--delta " + exact(o.delta) +
                       " is out of range: " + (real ? "above 0" : "1 or more for whole weights") + " (0 chooses)");
    }
    wide = real;
    fits = real || longest < kTooFar;
    plan = plan_sssp(run.machine(), placed, o, run.chosen());
    run.limit_threads(plan.threads);
    engine = run.prepare([this] { return make_engine(); });
  }

  std::unique_ptr<SsspEngine> make_engine() {
    const Machine& machine = run.machine();
    const PlacedGraph& placed = run.placed();
    const bool async = plan.strategy == SsspStrategy::async;
#if defined(SHOAL_HAVE_CUDA)
    if (machine.on_gpu()) {
      return async ? make_sssp_async_gpu(machine, placed, plan.launch, wide)
                   : make_sssp_delta_gpu(machine, placed, options.delta, wide);
    }
#endif
    return async ? make_sssp_async_cpu(machine, placed, plan.launch, wide)
                 : make_sssp_delta_cpu(machine, placed, options.delta, wide);
  }

  /// The last search's distances as wide words, by input number.
  HostArray<std::uint64_t> words() const {
    return run.gather<std::uint64_t>(
        [&](pe_t pe, std::uint64_t* to) { fetch_words(run.machine(), run.placed(), engine->words(), pe, to); },
        [](std::uint64_t word) { return word; });
  }

  /// In-arcs in the input's numbers.
  const Csr& in() {
    const Csr& graph = run.graph();
    if (graph.symmetric) return graph;
    if (reversed.offsets.empty()) reversed = transpose(graph);
    return reversed;
  }

  SsspOptions options;
  SsspPlan plan;
  bool real = false;  ///< weights are doubles
  bool wide = false;  ///< words of 64 bits
  bool fits = false;  ///< no path is too long for the words
  std::unique_ptr<SsspEngine> engine;
  vertex_t source = kNoVertex;  ///< in the input's numbers, of the last search
  Csr reversed;                 ///< empty until wanted
};

SsspRunner::SsspRunner(const Csr& graph, const SsspOptions& options)
    : GraphRunner(std::make_unique<State>(graph, options)) {}
SsspRunner::SsspRunner(const GeneratorSpec& spec, const SsspOptions& options)
    : GraphRunner(std::make_unique<State>(spec, options)) {}
SsspRunner::State& SsspRunner::state() const { return static_cast<State&>(*state_); }

Report SsspRunner::search(vertex_t source) {
  State& s = state();
  const vertex_t placed = s.run.placed_vertex("source", source);
  s.source = source;
  return s.timed([&](Report& report) {
    s.engine->search(placed, report);
    if (!s.fits) {
      Stopwatch watch;
      const bool again = any_too_far(s.run.machine(), s.run.placed(), s.engine->words());
      report.seconds += watch.lap();
      if (again) {  // from now on in wide words
        s.wide = s.fits = true;
        s.engine.reset();
        s.engine = s.make_engine();
        report.chosen = s.run.chosen();
        s.engine->search(placed, report);
      }
    }
    if (!s.real) {
      report.chosen.push_back({"distances", s.wide ? "64 bits" : "32 bits",
                               !s.wide  ? "every distance fits"
                               : s.fits ? "a distance is above 4,294,967,293"
                                        : ""});
    }
  });
}

SsspResult SsspRunner::result() const {
  State& s = state();
  s.need_result();
  const HostArray<std::uint64_t> words = s.words();
  const std::int64_t n = words.size();
  SsspResult result;
  result.report = s.report;
  if (s.real)
    result.real_distances = HostArray<double>(n);
  else
    result.distances = HostArray<std::int64_t>(n);
  const Reached reached = s.run.count_reached([&](std::int64_t v) {
    const bool there = words[v] != kUnreachedDistance<std::uint64_t>;
    const auto real = std::bit_cast<double>(words[v]);
    if (s.real)
      result.real_distances[v] = there ? real : INFINITY;
    else
      result.distances[v] = static_cast<std::int64_t>(words[v]);  // all ones is -1
    return !there ? -1.0 : s.real ? real : static_cast<double>(words[v]);
  });
  if (s.real && !s.run.graph().weight_remarks.wide.empty() &&
      reached.farthest >= static_cast<double>(kMostWholeWeight)) {  // rounding brings no larger sum below it
    const Csr& graph = s.run.graph();
    throw UsageError((graph.name.empty() ? "the graph" : graph.name) + ": distances from vertex " +
                     std::to_string(s.source) +
                     " reach 2^53, from where float64 rounds them, and the weights are whole (" +
                     graph.weight_remarks.wide + "); scale them down, or make one real to have distances rounded");
  }
  result.reached = reached.vertices;
  result.reached_arcs = reached.arcs;
  result.farthest = reached.farthest;
  if (s.options.predecessors) result.predecessors = sssp_predecessors(s.in(), words.span(), s.source);
  return result;
}

std::string SsspRunner::verify() const {
  State& s = state();
  s.need_result();
  const vertex_t placed = s.run.placed_vertex("source", s.source);
  const SsspCheck check = check_words(s.run.machine(), s.run.placed(), s.engine->words(), placed);
  if (!check.wrong.empty() || check.all_from_nearer) return check.wrong;
  const HostArray<std::uint64_t> words = s.words();  // arcs of weight zero: the host looks for rings
  return verify_distances(s.in(), words.span(), s.source);
}

}  // namespace shoal
