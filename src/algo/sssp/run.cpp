#include <bit>
#include <cmath>

#include "algo/if_cuda.hpp"
#include "algo/reached.hpp"
#include "algo/runner.hpp"
#include "distances.hpp"
#include "engines.hpp"
#include "reference.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/parallel.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/weights.hpp"

namespace shoal {
namespace {

struct Shape : ShapeOf<SsspOptions, SsspPlan, SsspEngine> {
  /// docs/decisions/0015, 0080.
  static constexpr FewVertices kFew = {.than = 1 << 23, .roads_than = 1 << 27};
  static constexpr bool kOnGpusOfProcesses = true;
  static constexpr EngineChoice<Strategy, Engine, Plan> kEngines[] = {
      {Strategy::async, make_sssp_async_cpu, if_cuda<make_sssp_async_gpu>},
      {Strategy::delta, make_sssp_delta_cpu, if_cuda<make_sssp_delta_gpu>}};
  static constexpr auto plan = plan_sssp;
  static GraphWants wants(const Options& options) { return {.weights = options.weights}; }
};

}  // namespace

template <>
struct RunnerState<SsspOptions> : PlannedState<Shape> {
  using PlannedState::PlannedState;

  Report search(vertex_t from) {
    const vertex_t placed = run.placed_vertex("source", from);
    source = from;
    return timed([&](Report& report) {
      engine->run(placed, report);
      if (!plan.fits) check_width(placed, report);
      if (real()) return;
      report.chosen.push_back({"distances", plan.wide ? "64 bits" : "32 bits",
                               !plan.wide  ? "every distance fits"
                               : plan.fits ? "a distance is above 4,294,967,293"
                                           : ""});
    });
  }

  SsspFound found() {
    const Reached reached = count_reached(run.machine(), run.placed(), engine->words());
    const std::uint64_t word = reached.farthest;
    const double farthest = real() ? std::bit_cast<double>(word) : static_cast<double>(word);
    if (real()) check_exact(farthest);
    return {reached.vertices, reached.arcs, farthest, real()};
  }

  SsspResult result() {
    SsspResult result;
    static_cast<SsspFound&>(result) = found();
    const HostArray<std::uint64_t> words = wide_words();
    if (real()) {
      result.real_distances = HostArray<double>(words.size());
    } else {
      result.distances = HostArray<std::int64_t>(words.size());
    }
    parallel_ranges(words.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) {
        if (!real()) {
          result.distances[v] = static_cast<std::int64_t>(words[v]);  // all ones is -1
        } else {
          const bool there = words[v] != kUnreachedDistance<std::uint64_t>;
          result.real_distances[v] = there ? std::bit_cast<double>(words[v]) : INFINITY;
        }
      }
    });
    if (options.predecessors) result.predecessors = sssp_predecessors(in(), words.span(), source);
    return result;
  }

  /// Needs the host only if the answer depends on arcs of weight zero.
  std::string verify() override {
    const vertex_t placed = run.placed_vertex("source", source);
    const SsspCheck check = check_words(run.machine(), run.placed(), engine->words(), placed);
    if (!check.wrong.empty() || check.all_from_nearer) return check.wrong;
    const HostArray<std::uint64_t> words = wide_words();
    return by_process_0(run.machine(),
                        [&] { return verify_distances(in(), words.span(), source); });  // looks for rings
  }

 private:
  static constexpr std::int64_t kGrain = 1 << 16;

  bool real() const { return run.placed().weight_kind == WeightKind::float64; }

  /// If a distance does not fit, searches again with wide words, which this and later searches then use.
  void check_width(vertex_t placed_source, Report& report) {
    Stopwatch watch;
    const bool again = any_too_far(run.machine(), run.placed(), engine->words());
    report.seconds += watch.lap();
    if (!again) return;
    plan.wide = plan.fits = true;
    engine.reset();
    engine = make_engine();
    report.chosen = run.chosen();
    engine->run(placed_source, report);
  }

  /// Whole weights that need more than 32 bits are added as doubles: exactly, as long as no distance is too large.
  /// @throws UsageError
  void check_exact(double farthest) {
    if (farthest < static_cast<double>(kMostWholeWeight)) return;
    const Csr& graph = run.graph();
    if (graph.weight_remarks.wide.empty()) return;
    // Every sum of 2^53 or more is also at least 2^53 after rounding.
    throw UsageError((graph.name.empty() ? "the graph" : graph.name) + ": distances from vertex " +
                     std::to_string(source) +
                     " reach 2^53, from where float64 rounds them, and the weights are whole (" +
                     graph.weight_remarks.wide + "); scale them down, or make one real to have distances rounded");
  }

  /// The last search's distances as wide words, by input number.
  HostArray<std::uint64_t> wide_words() const {
    const Words words = engine->words();
    const auto widen = [](auto word) { return widened(word); };
    return is_wide(words) ? run.gather<std::uint64_t>(words, widen) : run.gather<std::uint32_t>(words, widen);
  }

  /// In-arcs in the input's numbers.
  const Csr& in() {
    const Csr& graph = run.graph();
    if (graph.symmetric) return graph;
    if (reversed.offsets.empty()) reversed = transpose(graph);
    return reversed;
  }

  vertex_t source = kNoVertex;  ///< by input number, of the last search
  Csr reversed;                 ///< empty until first needed
};

template class Runner<SsspOptions, SsspResult>;

Report SsspRunner::search(vertex_t source) { return state().search(source); }
SsspFound SsspRunner::found() const {
  state().need_result();
  return state().found();
}

}  // namespace shoal
