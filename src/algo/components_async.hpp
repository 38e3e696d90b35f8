// The asynchronous labelling on a machine's PEs: the same lines for CPU threads and GPUs.
#pragma once
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "components_engines.hpp"
#include "shoal/algo/components.hpp"
#include "shoal/runtime/worklist.hpp"

namespace shoal {

/// Owns the labels and the worklist.
/// @tparam Prepare  finds seeds and clears labels where the labels are:
///                  seeds(engine, pe) -> std::vector<Components::Item>, once, when the graph is placed;
///                  clear(engine) sets every known label as algo/components.hpp wants it, inside the timed region
template <class Prepare>
class ComponentsAsync : public ComponentsEngine {
 public:
  ComponentsAsync(const Machine& machine, const PlacedGraph& graph, const LaunchPlan& plan)
      : machine_(machine), graph_(graph), worklist_(machine, plan) {
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      known_.push_back(machine.allocate(p, graph.num_vertices * sizeof(vertex_t), "labels"));
    }
    Symmetric<vertex_t> labels;
    for (pe_t p = 0; p < graph.n_pes(); ++p) labels.part[p] = label(p);
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      const CsrView in = graph.symmetric ? CsrView{} : graph.in[p];
      tasks_.push_back({graph.out[p], in, graph.partition.owner, known(p), labels});
      seeds_.push_back(prepare_.seeds(*this, p));
    }
  }

  void run(Report& report) override {
    const auto start = std::chrono::steady_clock::now();
    prepare_.clear(*this);
    const double clear_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Report run = worklist_.run(tasks_, seeds_);
    run.chosen = std::move(report.chosen);
    run.phase_seconds = std::move(report.phase_seconds);
    run.seconds += clear_seconds;
    report = std::move(run);
  }

  void fetch_labels(pe_t pe, vertex_t* to) const override {
    if (graph_.out[pe].count > 0) machine_.copy_out(pe, to, label(pe), graph_.out[pe].count * sizeof(vertex_t));
  }

  const Machine& machine() const { return machine_; }
  const PlacedGraph& graph() const { return graph_; }
  const Components& task(pe_t pe) const { return tasks_[pe]; }
  const std::vector<Components::Item>& seeds(pe_t pe) const { return seeds_[pe]; }
  /// [graph.out[pe].count]
  vertex_t* label(pe_t pe) const { return known(pe) + graph_.out[pe].first; }
  /// [graph.num_vertices] Components::known
  vertex_t* known(pe_t pe) const { return static_cast<vertex_t*>(known_[pe].get()); }

 private:
  const Machine& machine_;
  const PlacedGraph& graph_;
  Prepare prepare_;
  Worklist<Components> worklist_;
  std::vector<std::shared_ptr<void>> known_;
  std::vector<Components> tasks_;
  std::vector<std::vector<Components::Item>> seeds_;
};

}  // namespace shoal
