// The asynchronous ranking on a machine's PEs, from the same source for CPU threads and GPUs.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algo/known_words.hpp"
#include "engines.hpp"
#include "shoal/algo/pagerank.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/worklist/worklist.hpp"

namespace shoal {

/// Sums over the vertices of a PE, computed between two runs of the worklist.
struct PageRankSums {
  double left = 0;   ///< sum of |residual|, over vertices with out-arcs, like the next two
  double drift = 0;  ///< sum of residuals
  double jumps = 0;  ///< sum of p
  double ranks = 0;  ///< over all vertices: sum of the ranks that they would have, y + residual, where that is above 0

  PageRankSums& operator+=(const PageRankSums& other) {
    left += other.left, drift += other.drift, jumps += other.jumps, ranks += other.ranks;
    return *this;
  }
};

/// Owns ranks, residuals and the worklist. Between runs of the worklist the host reads the sums: they bound the error, and
/// determine how c and epsilon change. All of this is timed.
/// @tparam TaskT  PageRank; or PageRankSummed, with which shares may be combined
/// @tparam Hands  operations on all vertices of a PE, in the memory that holds them:
///                first(n_pes)               the first epsilon, in sums of the initial residuals
///                kShrink                    the factor by which epsilon shrinks from run to run
///                log_degrees(graph, pe) -> const u8*  log_of_degree() of all vertices, in memory that the PE reads fast; or null
///                owed(graph, pe) -> double*  [vertices] where the PE's task gathers shares for other PEs, or null; once
///                clear(engine, pe)          y = residual = 0; nothing is owed
///                collect(engine, pe)        adds what other PEs owe to the residuals, and starts computing what sums() returns
///                sums(engine, pe) -> PageRankSums
///                forget_owed(engine, pe)    nothing is owed any more: all PEs have collected
///                settle(engine, pe, scale)  y = (the rank that the vertex would have) * scale
///                All but sums() may return before they are complete (Machine::wait_for_memory).
template <class TaskT, class Hands>
class PageRankAsync : public PageRankEngine {
 public:
  PageRankAsync(const Machine& machine, const PlacedGraph& graph, const PageRankPlan& plan)
      : machine_(machine), graph_(graph), rules_(plan.rules), worklist_(machine, plan.launch), seeds_(graph.n_pes()) {
    TaskT task{};
    task.owners = graph.partition.owner;
    task.alpha = rules_.alpha;
    task.uniform = 1 / static_cast<double>(std::max<std::int64_t>(graph.num_vertices, 1));
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      const CsrView& rows = graph.out[p];
      y_.push_back(machine.allocate(p, rows.count * sizeof(double), "ranks"));
      residual_.push_back(machine.allocate(p, rows.count * sizeof(double), "residuals"));
      task.residuals.part[graph.first_pe + p] = doubles(residual_[p]);
      task.arcs.part[graph.first_pe + p] = rows.offsets;
      for (std::int64_t i = 0; i < rows.count; i += TaskT::kStretchSize) {
        seeds_[p].push_back({rows.first + static_cast<vertex_t>(i), TaskT::kStretch});
      }
    }
    personal_.resize(graph.n_pes());
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      task.graph = graph.out[p];
      task.y = doubles(y_[p]);
      task.residual = doubles(residual_[p]);
      task.log_degrees = hands_.log_degrees(graph, p);
      task.owed = worklist_.plan().judge_remote ? hands_.owed(graph, p) : nullptr;
      tasks_.push_back(task);
    }
  }

  void run(const double* personal, PageRankOutcome& outcome, Report& report) override {
    outcome = {};
    if (graph_.num_vertices == 0) return;
    place_personal(personal);
    const auto start = std::chrono::steady_clock::now();
    for (pe_t p = 0; p < graph_.n_pes(); ++p) hands_.clear(*this, p);
    Report total;
    const double rounding = pagerank_rounding({rules_.alpha, 0, true});
    Course at = begin(rounding);
    for (;; ++at.runs) {
      for (TaskT& task : tasks_) {
        task.epsilon = at.epsilon / static_cast<double>(std::max<arc_t>(graph_.num_arcs, 1));
        task.shift = at.shift;
      }
      total += run_everywhere(machine_, worklist_, tasks_, seeds_);
      PageRankSums sums;
      for (pe_t p = 0; p < graph_.n_pes(); ++p) hands_.collect(*this, p);
      for (pe_t p = 0; p < graph_.n_pes(); ++p) {
        const PageRankSums part = hands_.sums(*this, p);
        sums += part;
      }
      if (machine_.world() != nullptr) {
        const std::vector<PageRankSums> parts = of_processes(machine_, sums);
        sums = {};
        for (const PageRankSums& part : parts) sums += part;  // in the same order everywhere, so the bits are equal
      }
      // With the residuals added to the ranks, the error is alpha times their sum, and as much again because of c.
      const double wrong = 2 * rules_.alpha * sums.left / (sums.ranks * (1 - rules_.alpha));
      outcome.error_bound = wrong + rounding;
      if (outcome.error_bound <= rules_.tolerance) {
        for (pe_t p = 0; p < graph_.n_pes(); ++p) hands_.settle(*this, p, 1 / sums.ranks);
        machine_.wait_for_memory();
        break;
      }
      if (at.runs > kMostRuns || !std::isfinite(wrong)) {
        throw DeviceError("PageRank did not converge: after " + std::to_string(at.runs) +
                          " runs of the worklist the error may be " + rough(outcome.error_bound) + ", but " +
                          exact(rules_.tolerance) + " was asked for");
      }
      for (pe_t p = 0; p < graph_.n_pes(); ++p) hands_.forget_owed(*this, p);
      go_on(at, sums, wrong, rounding);
    }
    total.chosen = std::move(report.chosen);
    total.chosen.push_back({"runs", std::to_string(at.runs + 1), "residuals shrink from run to run"});
    total.phase_seconds = std::move(report.phase_seconds);
    total.phase_seconds.emplace_back("worklist", total.seconds);  // the rest of the time passes between its runs
    total.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report = std::move(total);
  }

  Words words() const override {
    return Words::of(graph_, [this](pe_t pe) { return doubles(y_[pe]); });
  }

  const Machine& machine() const { return machine_; }
  const PlacedGraph& graph() const { return graph_; }
  const TaskT& task(pe_t pe) const { return tasks_[pe]; }

 private:
  static constexpr int kMostRuns = 500;

  /// How c and epsilon change.
  struct Course {
    double epsilon;  ///< the sum of all limits
    double shrink;   ///< factor per run, for the first `planned` runs
    int planned;
    double c, shift;
    int runs = 0;
  };

  /// The first epsilon is larger than the sum of the initial residuals, so that the first run handles vertices with few arcs. At the
  /// end most residuals are well below their limits, so twice the safe value is a good last guess.
  Course begin(double rounding) const {
    const double all = 1 - rules_.alpha, first = Hands::first(graph_.n_pes()) * all;
    const double last = std::min(first, (rules_.tolerance - rounding) * all / std::max(rules_.alpha, 1e-3));
    const int steps = static_cast<int>(std::ceil(std::log(first / last) / std::log(Hands::kShrink)));
    return {first, steps > 0 ? std::pow(first / last, 1.0 / steps) : 1, steps, all, all};
  }
  /// Moves c to where the residuals would sum to 0, but by no more than the clamp allows, and not at all if hardly any jump leads
  /// to a vertex with out-arcs.
  void go_on(Course& at, const PageRankSums& sums, double wrong, double rounding) const {
    at.shift = sums.jumps > .1 ? std::clamp(-sums.drift / sums.jumps, -at.c / 2, at.c) : 0;
    at.c += at.shift;
    at.epsilon *= at.runs < at.planned ? 1 / at.shrink : std::min(.5, .9 * (rules_.tolerance - rounding) / wrong);
  }

  static double* doubles(const std::shared_ptr<void>& memory) { return static_cast<double*>(memory.get()); }

  void place_personal(const double* personal) {
    for (pe_t p = 0; p < graph_.n_pes(); ++p) {
      const CsrView& rows = graph_.out[p];
      const std::size_t bytes = rows.count * sizeof(double);
      if (personal != nullptr && !personal_[p]) personal_[p] = machine_.allocate(p, bytes, "personalization");
      if (personal != nullptr && bytes > 0) machine_.copy_in(p, personal_[p].get(), personal + rows.first, bytes);
      tasks_[p].personal = personal != nullptr ? doubles(personal_[p]) : nullptr;
    }
  }

  const Machine& machine_;
  const PlacedGraph& graph_;
  PageRankRules rules_;
  Hands hands_;
  Worklist<TaskT> worklist_;
  std::vector<std::vector<typename TaskT::Item>> seeds_;
  std::vector<std::shared_ptr<void>> y_, residual_, personal_;
  std::vector<TaskT> tasks_;
};

}  // namespace shoal
