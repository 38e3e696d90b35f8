// The asynchronous ranking on a machine's PEs: the same lines for CPU threads and GPUs.
#pragma once
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "pagerank_engines.hpp"
#include "shoal/algo/pagerank.hpp"
#include "shoal/core/array.hpp"
#include "shoal/core/error.hpp"
#include "shoal/runtime/worklist.hpp"

namespace shoal {

/// Owns ranks, residuals and the worklist. Between runs of the worklist the residuals are looked at on the host: what they
/// sum to bounds the error, and decides whether another run with a smaller epsilon is needed. All of that is timed.
/// @tparam TaskT  PageRank, or PageRankSummed where shares may be combined
/// @tparam Check  check(machine, graph, ranks, alpha, personal) -> PageRankCheck, where the graph is
template <class TaskT, class Check>
class PageRankAsync : public PageRankEngine {
 public:
  PageRankAsync(const Machine& machine, const PlacedGraph& graph, const LaunchPlan& plan, const PageRankRules& rules)
      : machine_(machine), graph_(graph), rules_(rules), worklist_(machine, plan), ranks_(graph.num_vertices) {
    Symmetric<double> residuals;
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      y_.push_back(machine.allocate(p, graph.out[p].count * sizeof(double), "ranks"));
      residual_.push_back(machine.allocate(p, graph.out[p].count * sizeof(double), "residuals"));
      residuals.part[p] = words(residual_[p]);
    }
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      TaskT task;
      task.graph = graph.out[p];
      task.owners = graph.partition.owner;
      task.y = words(y_[p]);
      task.residual = words(residual_[p]);
      task.residuals = residuals;
      task.alpha = rules.alpha;
      task.epsilon = 1;
      tasks_.push_back(task);
    }
  }

  PageRankOutcome rank(const double* personal, Report& report) override {
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t n = graph_.num_vertices;
    if (n == 0) return {};
    HostArray<double> residual(n, 0.0);  // by placed number, as all PEs have it
    HostArray<double> zero(n, 0.0);
    for (pe_t p = 0; p < graph_.n_pes(); ++p) put(p, words(y_[p]), zero.data() + graph_.out[p].first);
    // At the end residuals lie between 0 and epsilon, most of them well below it, so that twice what is safe is a good
    // first guess.
    const double enough = rules_.tolerance * (1 - rules_.alpha) / (2 * std::max(rules_.alpha, 1e-3));
    double epsilon = 2 * enough / static_cast<double>(n);
    for (std::int64_t v = 0; v < n; ++v) {
      residual[v] = (1 - rules_.alpha) * (personal != nullptr ? personal[v] : 1.0 / static_cast<double>(n));
    }
    Report total;
    PageRankOutcome outcome;
    for (;; epsilon /= 4) {
      Report run = push_all(residual, epsilon);
      add(total, std::move(run));
      for (pe_t p = 0; p < graph_.n_pes(); ++p) {
        get(p, residual.data() + graph_.out[p].first, words(residual_[p]));
        get(p, ranks_.data() + graph_.out[p].first, words(y_[p]));
      }
      double left = 0, sum = 0;
      for (std::int64_t v = 0; v < n; ++v) {
        left += std::abs(residual[v]);
        sum += ranks_[v] + residual[v];
      }
      // With the residuals added to the ranks, what is wrong is alpha times what they sum to, and c as much again.
      outcome.error_bound =
          2 * rules_.alpha * left / (sum * (1 - rules_.alpha)) + pagerank_rounding({rules_.alpha, 0, true});
      if (outcome.error_bound > rules_.tolerance && epsilon > 1e-300) continue;
      for (std::int64_t v = 0; v < n; ++v) ranks_[v] = (ranks_[v] + residual[v]) / sum;
      break;
    }
    total.chosen = std::move(report.chosen);
    total.phase_seconds = std::move(report.phase_seconds);
    total.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report = std::move(total);
    return outcome;
  }

  void fetch_ranks(pe_t pe, double* to) const override {
    const CsrView& rows = graph_.out[pe];
    std::copy(ranks_.data() + rows.first, ranks_.data() + rows.first + rows.count, to);
  }
  PageRankCheck check(double alpha, const double* personal) const override {
    return Check{}(machine_, graph_, ranks_.data(), alpha, personal);
  }

 private:
  static double* words(const std::shared_ptr<void>& memory) { return static_cast<double*>(memory.get()); }
  void put(pe_t p, double* to, const double* from) const {
    if (graph_.out[p].count > 0) machine_.copy_in(p, to, from, graph_.out[p].count * sizeof(double));
  }
  void get(pe_t p, double* to, const double* from) const {
    if (graph_.out[p].count > 0) machine_.copy_out(p, to, from, graph_.out[p].count * sizeof(double));
  }

  /// Runs until no residual is above epsilon. Those that are above it now become seeds.
  Report push_all(HostArray<double>& residual, double epsilon) {
    std::vector<std::vector<typename TaskT::Item>> seeds(graph_.n_pes());
    for (pe_t p = 0; p < graph_.n_pes(); ++p) {
      const CsrView& rows = graph_.out[p];
      for (vertex_t v = rows.first; v < rows.first + rows.count; ++v) {
        if (residual[v] >= epsilon) seeds[p].push_back({v, std::exchange(residual[v], 0.0)});
      }
      put(p, words(residual_[p]), residual.data() + rows.first);
      tasks_[p].epsilon = epsilon;
    }
    return worklist_.run(tasks_, seeds);
  }

  static void add(Report& total, Report&& run) {
    total.pushed += run.pushed, total.withheld += run.withheld, total.accepted += run.accepted;
    total.dropped += run.dropped, total.stale += run.stale, total.run += run.run;
    total.combined += run.combined, total.parked += run.parked, total.thresholds += run.thresholds;
    total.idle_calls += run.idle_calls, total.spilled += run.spilled, total.rounds += run.rounds;
    total.peak_ring = std::max(total.peak_ring, run.peak_ring);
    total.peak_spill = std::max(total.peak_spill, run.peak_spill);
    for (const Traffic& pair : run.traffic) {
      const auto same = [&](const Traffic& t) { return t.from == pair.from && t.to == pair.to; };
      const auto old = std::find_if(total.traffic.begin(), total.traffic.end(), same);
      if (old == total.traffic.end()) {
        total.traffic.push_back(pair);
      } else {
        old->items += pair.items, old->messages += pair.messages, old->bytes += pair.bytes;
      }
    }
  }

  const Machine& machine_;
  const PlacedGraph& graph_;
  PageRankRules rules_;
  Worklist<TaskT> worklist_;
  HostArray<double> ranks_;  ///< by placed number, of the last ranking
  std::vector<std::shared_ptr<void>> y_, residual_;
  std::vector<TaskT> tasks_;
};

}  // namespace shoal
