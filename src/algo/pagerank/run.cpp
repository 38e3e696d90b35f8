#include "shoal/algo/pagerank_run.hpp"

#include <cmath>
#include <utility>

#include "algo/host_memory.hpp"
#include "algo/placed_run.hpp"
#include "engines.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal {

namespace {

/// Four H200 and one, 2026-11-22, medians of 5, ms: kron:18 1.10 / 1.02, kron:20 (1 M vertices) 1.7 / 2.4, uniform:20 1.2 / 2.8; road:256 .48 /
/// .38, road:512 .50 / .41, road:1024 (1 M) .58 / .69.
constexpr std::int64_t kFewVertices = 1 << 20;

}  // namespace

struct PageRankRunner::State : GraphRunner::State {
  template <class Graph>
  State(const Graph& graph, const PageRankOptions& o)
      : GraphRunner::State(graph, o, needs_of(size_of(graph), o), std::nullopt, few_for_auto(o, kFewVertices)),
        options(o) {
    if (!o.personalization_file.empty() && o.personalization.empty()) {
      options.personalization = read_personalization(o.personalization_file, run.num_vertices());
    }
    engine = run.prepare([this] { return make_engine(); });
  }

  std::unique_ptr<PageRankEngine> make_engine() {
    const Machine& machine = run.machine();
    const PlacedGraph& placed = run.placed();
    const PageRankPlan plan = plan_pagerank(machine, placed, options, run.chosen());
    run.limit_threads(plan.threads);
    const bool async = plan.strategy == PageRankStrategy::async;
#if defined(SHOAL_HAVE_CUDA)
    if (machine.on_gpu()) {
      return async ? make_pagerank_async_gpu(machine, placed, plan.launch, plan.rules)
                   : make_pagerank_pull_gpu(machine, placed, plan.rules);
    }
#endif
    return async ? make_pagerank_async_cpu(machine, placed, plan.launch, plan.rules)
                 : make_pagerank_pull_cpu(machine, placed, plan.rules);
  }

  /// One number per placed vertex that sums to 1; empty when uniform.
  HostArray<double> place_personal(const std::vector<PersonalWeight>& weights) const {
    if (weights.empty()) return {};
    HostArray<double> personal(run.num_vertices(), 0.0);
    double sum = 0;
    const auto place = [&](const PersonalWeight& w) {
      return w.line > 0 ? options.personalization_file + ":" + std::to_string(w.line) + ":" : "personalization:";
    };
    for (const PersonalWeight& w : weights) {
      if (!(w.weight >= 0) || !std::isfinite(w.weight)) {
        throw UsageError(place(w) + " vertex " + std::to_string(w.vertex) + " has weight " + exact(w.weight) +
                         "; finite weights of at least 0 are wanted");
      }
      personal[run.placed_vertex((place(w) + " vertex").c_str(), w.vertex)] += w.weight;
      sum += w.weight;
    }
    if (!(sum > 0) || !std::isfinite(sum)) {
      const bool file = weights[0].line > 0;
      throw UsageError((file ? options.personalization_file : "personalization") +
                       (sum > 0 ? ": the weights sum to more than a float64 holds; scale them down"
                                : ": the weights sum to 0; give at least one vertex a weight above 0"));
    }
    for (double& p : personal) p /= sum;
    return personal;
  }
  PageRankOptions options;
  std::unique_ptr<PageRankEngine> engine;
  HostArray<double> personal;  ///< of the last ranking, by placed number; empty: uniform
  PageRankOutcome outcome;
};

PageRankRunner::PageRankRunner(const Csr& graph, const PageRankOptions& options)
    : GraphRunner(std::make_unique<State>(graph, options)) {}
PageRankRunner::PageRankRunner(const GeneratorSpec& spec, const PageRankOptions& options)
    : GraphRunner(std::make_unique<State>(spec, options)) {}
PageRankRunner::State& PageRankRunner::state() const { return static_cast<State&>(*state_); }

Report PageRankRunner::rank() { return rank(state().options.personalization); }

Report PageRankRunner::rank(const std::vector<PersonalWeight>& personalization) {
  State& s = state();
  s.personal = s.place_personal(personalization);
  return s.timed([&](Report& report) {
    s.outcome = s.engine->rank(s.personal.empty() ? nullptr : s.personal.data(), report);
    report.chosen.push_back({"error", rough(s.outcome.error_bound),
                             "bound of the L1 error, " + rough(s.options.tolerance) + " was asked for"});
  });
}

const std::vector<PersonalWeight>& PageRankRunner::personalization() const { return state().options.personalization; }

PageRankResult PageRankRunner::result() const {
  State& s = state();
  s.need_result();
  PageRankResult result;
  result.report = s.report;
  result.error_bound = s.outcome.error_bound;
  result.sweeps = s.outcome.sweeps;
  result.ranks = s.run.gather<double>([&](pe_t pe, double* to) { s.engine->fetch_ranks(pe, to); },
                                      [](double rank) { return rank; });
  return result;
}

std::string PageRankRunner::verify() const {
  State& s = state();
  s.need_result();
  const double alpha = s.options.alpha;
  const PageRankCheck check = s.engine->check(alpha, s.personal.empty() ? nullptr : s.personal.data());
  const vertex_t named = check.bad != kNoVertex ? check.bad : check.worst;
  return describe_pagerank_check(check, alpha, s.options.tolerance, num_vertices(),
                                 named == kNoVertex ? named : s.run.placed().partition.input(named));
}

}  // namespace shoal
