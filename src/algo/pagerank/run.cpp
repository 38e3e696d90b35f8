#include <cmath>

#include "algo/if_cuda.hpp"
#include "algo/runner.hpp"
#include "check.hpp"
#include "engines.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal {
namespace {

struct Shape : ShapeOf<PageRankOptions, PageRankPlan, PageRankEngine> {
  /// docs/decisions/0015.
  static constexpr FewVertices kFew = {.than = 1 << 20};
  static constexpr bool kOnGpusOfProcesses = true;
  static constexpr bool kOnGpusApart = true;
  static constexpr EngineChoice<Strategy, Engine, Plan> kEngines[] = {
      {Strategy::async, make_pagerank_async_cpu, if_cuda<make_pagerank_async_gpu>},
      {Strategy::pull, make_pagerank_pull_cpu, if_cuda<make_pagerank_pull_gpu>}};
  static constexpr auto plan = plan_pagerank;
};

}  // namespace

template <>
struct RunnerState<PageRankOptions> : PlannedState<Shape> {
  template <class Graph>
  RunnerState(const Graph& graph, const PageRankOptions& given) : PlannedState(graph, given) {
    if (!given.personalization_file.empty() && given.personalization.empty()) {
      options.personalization = read_personalization(given.personalization_file, run.num_vertices());
    }
  }

  Report rank(const std::vector<PersonalWeight>& weights) {
    personal = place_personal(weights);
    return timed([this](Report& report) {
      engine->run(jumps(), outcome, report);
      report.chosen.push_back({"error", rough(outcome.error_bound),
                               "bound of the L1 error; " + rough(options.tolerance) + " was asked for"});
    });
  }

  PageRankResult result() {
    PageRankResult result;
    result.error_bound = outcome.error_bound;
    result.sweeps = outcome.sweeps;
    result.ranks = run.gather<double>(engine->words(), [](double rank) { return rank; });
    return result;
  }

  /// Checks in float64 on the placed graph, without the data of the strategy: ranks are right when the error is within the
  /// tolerance.
  std::string verify() override {
    const PageRankCheck check = check_ranks();
    const vertex_t named = check.bad != kNoVertex ? check.bad : check.worst;
    return describe_pagerank_check(check, options.alpha, options.tolerance, run.num_vertices(),
                                   named == kNoVertex ? named : run.placed().partition.input(named));
  }

 private:
  const double* jumps() const { return personal.empty() ? nullptr : personal.data(); }

  PageRankCheck check_ranks() const {
    const HostArray<double> ranks = fetch_words<double>(run.machine(), run.placed(), engine->words());
#if defined(SHOAL_HAVE_CUDA)
    if (run.machine().on_gpu()) {
      return check_pagerank_on_devices(run.placed(), ranks.data(), options.alpha, jumps(), run.machine().world());
    }
#endif
    return check_pagerank_on_threads(run.machine(), run.placed(), ranks.data(), options.alpha, jumps());
  }

  /// One number per placed vertex, with sum 1; empty if uniform.
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
                         "; use finite weights of at least 0");
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

  HostArray<double> personal;  ///< of the last ranking, by placed number; empty: uniform
  PageRankOutcome outcome;
};

template class Runner<PageRankOptions, PageRankResult>;

const std::vector<PersonalWeight>& PageRankRunner::personalization() const { return state().options.personalization; }

Report PageRankRunner::rank() { return rank(state().options.personalization); }
Report PageRankRunner::rank(const std::vector<PersonalWeight>& personalization) {
  return state().rank(personalization);
}

}  // namespace shoal
