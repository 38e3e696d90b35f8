// The asynchronous ranking on a machine's PEs: the same lines for CPU threads and GPUs.
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

/// What the ranks of a PE amount to between two runs.
struct PageRankSums {
  double left = 0;   ///< sum of |residual|, over vertices with out-arcs like the next two
  double drift = 0;  ///< sum of residuals
  double jumps = 0;  ///< sum of p
  double ranks = 0;  ///< over all vertices: what they would have, y + residual, where that is above 0

  PageRankSums& operator+=(const PageRankSums& other) {
    left += other.left, drift += other.drift, jumps += other.jumps, ranks += other.ranks;
    return *this;
  }
};

/// Owns ranks, residuals and the worklist. Between runs of the worklist the sums are looked at on the host: they bound the
/// error, and decide how c and epsilon go on. All of that is timed.
/// @tparam TaskT  PageRank, or PageRankSummed where shares may be combined
/// @tparam Hands  what is done to all vertices of a PE, where they are:
///                kShrink                    by how much epsilon shrinks from run to run
///                degrees(graph, pe) -> const u32*  all out-degrees where the PE reads them fast, or null
///                owed(graph, pe) -> double*  [vertices] what the PE's task gathers for the others, or null; once
///                clear(engine, pe)          y = residual = 0
///                collect(engine, pe)        adds to the residuals what the others owe, and begins to add up what sums() gives
///                sums(engine, pe) -> PageRankSums
///                settle(engine, pe, scale)  y = what it would have * scale
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
      task.degrees = hands_.degrees(graph, p);
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
        for (const PageRankSums& part : parts) sums += part;  // in the same order everywhere, so to the same bits
      }
      // With the residuals added to the ranks, what is wrong is alpha times what they sum to, and c as much again.
      const double wrong = 2 * rules_.alpha * sums.left / (sums.ranks * (1 - rules_.alpha));
      outcome.error_bound = wrong + rounding;
      if (outcome.error_bound <= rules_.tolerance) {
        for (pe_t p = 0; p < graph_.n_pes(); ++p) hands_.settle(*this, p, 1 / sums.ranks);
        break;
      }
      if (at.runs > kMostRuns || !std::isfinite(wrong)) {
        throw DeviceError("PageRank did not settle: after " + std::to_string(at.runs) +
                          " runs of the worklist the error may be " + rough(outcome.error_bound) + ", " +
                          exact(rules_.tolerance) + " was asked for");
      }
      go_on(at, sums, wrong, rounding);
    }
    total.chosen = std::move(report.chosen);
    total.chosen.push_back({"runs", std::to_string(at.runs + 1), "residuals shrink from one to the next"});
    total.phase_seconds = std::move(report.phase_seconds);
    total.phase_seconds.emplace_back("worklist", total.seconds);  // the rest of the run is between its runs
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

  /// How c and epsilon move.
  struct Course {
    double epsilon;  ///< what limits sum to
    double shrink;   ///< by so much per run, for `planned` runs
    int planned;
    double c, shift;
    int runs = 0;
  };

  /// Four times what the residuals sum to at first, so that the first run is for those with few arcs. At the end most
  /// residuals lie well below their limits, so that twice what is safe is a good last guess.
  Course begin(double rounding) const {
    const double all = 1 - rules_.alpha, first = 4 * all;
    const double last = std::min(first, (rules_.tolerance - rounding) * all / std::max(rules_.alpha, 1e-3));
    const int steps = static_cast<int>(std::ceil(std::log(first / last) / std::log(Hands::kShrink)));
    return {first, steps > 0 ? std::pow(first / last, 1.0 / steps) : 1, steps, all, all};
  }
  /// c goes to where the residuals sum to 0; not far below or above where it is, and not at all where hardly a jump leads to
  /// a vertex with out-arcs.
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
