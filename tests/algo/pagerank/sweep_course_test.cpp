// The control logic that decides how PageRank's sweeps on GPUs continue and when they end. Here the sweeps run serially on the
// host, with contributions rounded to float32 as in the kernels. The error bound must hold at the end, after few sweeps.
#include "algo/pagerank/sweep_course.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "algo/components/reference.hpp"
#include "algo/pagerank/engines.hpp"
#include "algo/pagerank/phase_course.hpp"
#include "algo/pagerank/reference.hpp"
#include "algo/pagerank/short_rows.hpp"
#include "pagerank_answers.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal {
namespace {

using namespace pagerank_gpu;
using test::distance;

/// Sweeps over a symmetric graph with uniform jumps.
struct Swept {
  Swept(const std::string& argument, double tolerance, double alpha = 0.85)
      : graph(generate(parse_generator(argument))), n(graph.num_vertices()), jump(1.0 / static_cast<double>(n)) {
    const std::vector<std::int32_t> label = components_reference(graph);
    std::vector<std::int64_t> count(n, 0);
    for (const std::int32_t of_vertex : label) ++count[of_vertex];
    const auto largest = static_cast<std::int32_t>(std::max_element(count.begin(), count.end()) - count.begin());
    for (std::int64_t v = 0; v < n; ++v) tied.push_back(label[v] == largest);
    PageRankRules of_float;
    of_float.alpha = alpha;
    const double mean = static_cast<double>(graph.num_arcs()) / static_cast<double>(n);
    rules = {alpha, tolerance, pagerank_rounding(of_float), mean >= 8 ? 0.47 * alpha : alpha, 1, 0, 300};
    rules.per_arc = alpha * static_cast<double>(count[largest]) * jump / static_cast<double>(graph.num_arcs());
    begin();
  }

  std::int64_t degree(std::int64_t v) const { return graph.neighbors(static_cast<vertex_t>(v)).size(); }
  void begin() {
    y.clear();
    for (std::int64_t v = 0; v < n; ++v) {
      const double jumps = (1 - rules.alpha) * jump;
      y.push_back(tied[v] ? jumps + rules.per_arc * static_cast<double>(degree(v)) : degree(v) > 0 ? jump : jumps);
      if (degree(v) == 0) still += y[v];
    }
    give();
  }
  void give() {
    share.resize(n);
    for (std::int64_t v = 0; v < n; ++v) {
      share[v] = degree(v) > 0 ? static_cast<float>(y[v] / static_cast<double>(degree(v))) : 0;
    }
  }
  double gathered(std::int64_t v) const {
    double sum = 0;
    for (const vertex_t u : graph.neighbors(static_cast<vertex_t>(v))) sum += static_cast<double>(share[u]);
    return rules.alpha * sum;
  }

  /// Sweeps all rows, or only the short ones.
  PhaseTold sweep(bool all, double c) {
    PhaseTold told{};
    for (std::int64_t v = 0; v < n; ++v) {
      const bool is_short = degree(v) <= kPageRankShortRow;
      if (degree(v) == 0 || !(all || is_short)) continue;
      const double now = (tied[v] ? c : 1 - rules.alpha) * jump + gathered(v);
      told.change += rules.alpha * std::abs(now - y[v]);
      if (!(all && is_short)) (tied[v] ? told.tied : told.other) += now;
      y[v] = now;
    }
    give();
    return told;
  }

  /// A bound of the error of ranks whose sum is 1, from their residual (the difference to the result of one more sweep) in
  /// float64.
  double residual_bound(const std::vector<double>& ranks) const {
    double dangling = 0, residual = 0;
    for (std::int64_t v = 0; v < n; ++v) dangling += degree(v) == 0 ? ranks[v] : 0;
    const double c = 1 - rules.alpha + rules.alpha * dangling;
    for (std::int64_t v = 0; v < n; ++v) {
      double sum = 0;
      for (const vertex_t u : graph.neighbors(static_cast<vertex_t>(v)))
        sum += ranks[u] / static_cast<double>(degree(u));
      residual += std::abs(c * jump + rules.alpha * sum - ranks[v]);
    }
    return residual / (1 - rules.alpha);
  }

  /// Sweeps in phases. @return the ranks; empty if phases do not suit this graph
  std::vector<double> in_phases() {
    PhaseCourse at{};
    at.c = 1 - rules.alpha;
    at.still = still;
    at.tied = static_cast<double>(std::count(tied.begin(), tied.end(), true)) * jump;
    bool settled = false;
    while (!settled && at.sweeps < rules.most_sweeps) {
      at.of_all = sweep(true, at.c);
      settled = end_phases(rules, sweep(false, at.c), at);
      if (is_slow(rules, at)) return {};
      for (std::uint32_t turn = 1; !settled && turn < kShortSweeps; ++turn) sweep(false, at.c);
    }
    sweeps = at.sweeps;
    bound = at.bound;
    std::vector<double> ranks = y;
    for (std::int64_t v = 0; v < n; ++v) ranks[v] *= (tied[v] ? at.scale : 1) / at.sum;
    return ranks;
  }

  std::vector<double> by_recursion() {
    std::vector<double> step(n, 0);
    Course at{};
    at.sum = std::accumulate(y.begin(), y.end(), 0.0);
    at.dangling = still;
    at.rho = rules.rho;
    at.w = 1;
    bool settled = false;
    while (!settled && sweeps < rules.most_sweeps) {
      const double next_c = begin_sweep(rules, at);
      double residual = 0, sum = 0;
      for (std::int64_t v = 0; v < n; ++v) {
        if (degree(v) == 0) continue;
        const double r = at.c * jump + gathered(v) - y[v];
        step[v] = static_cast<double>(static_cast<float>(at.w * r + at.m * step[v]));
        residual += std::abs(r);
        sum += y[v] += step[v];
      }
      give();
      ++sweeps;
      settled = end_sweep(rules, still, next_c, residual, sum, 0, at, bound);
    }
    std::vector<double> ranks = y;
    for (std::int64_t v = 0; v < n; ++v) ranks[v] = (y[v] - step[v]) / at.sum;  // the bound is for the ranks before it
    return ranks;
  }

  Csr graph;
  std::int64_t n;
  double jump, still = 0, bound = 0;
  Rules rules{};
  std::vector<bool> tied;
  std::vector<double> y;
  std::vector<float> share;
  std::uint32_t sweeps = 0;
};

TEST(SweepCourse, PhasesSettleInFewSweepsWithinTheirBound) {
  struct Case {
    const char* graph;
    double tolerance, alpha;
    std::uint32_t most;
  };
  for (const auto& [text, tolerance, alpha, most] : {Case{"kron:12", 1e-6, 0.85, 11},
                                                     {"kron:14", 1e-6, 0.85, 10},
                                                     {"kron:14,seed=7", 1e-4, 0.85, 6},
                                                     {"kron:13", 1e-6, 0.5, 8},
                                                     {"uniform:12", 1e-6, 0.85, 10}}) {
    Swept swept(text, tolerance, alpha);
    const std::vector<double> ranks = swept.in_phases();
    ASSERT_FALSE(ranks.empty()) << text;
    EXPECT_LE(swept.sweeps, most) << text;
    EXPECT_LE(swept.bound, tolerance) << text;
    EXPECT_LE(distance(ranks, pagerank_reference(swept.graph, alpha)), swept.bound) << text;
    EXPECT_LE(swept.residual_bound(ranks), swept.bound) << text;  // stricter: errors are far below bounds
  }
}

TEST(SweepCourse, PhasesAreGivenUpWhereChangesShrinkSlowly) {
  for (const char* text : {"community:15", "road:60", "chain:400"}) {
    Swept swept(text, 1e-6);
    EXPECT_TRUE(swept.in_phases().empty()) << text;
  }
}

TEST(SweepCourse, TheRecursionSettlesWithinItsBound) {
  struct Case {
    const char* graph;
    std::uint32_t most;
  };
  for (const auto& [text, most] : {Case{"kron:12", 30}, {"uniform:12", 9}, {"community:13", 30}, {"road:60", 30}}) {
    Swept swept(text, 1e-6);
    const std::vector<double> ranks = swept.by_recursion();
    EXPECT_LE(swept.sweeps, most) << text;
    EXPECT_LE(swept.bound, 1e-6) << text;
    EXPECT_LE(distance(ranks, pagerank_reference(swept.graph)), swept.bound) << text;
  }
}

}  // namespace
}  // namespace shoal
