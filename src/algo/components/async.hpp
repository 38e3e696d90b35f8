// The asynchronous labelling on a machine's PEs, from the same source for CPU threads and GPUs.
#pragma once
#include <vector>

#include "algo/known_words.hpp"
#include "engines.hpp"
#include "shoal/algo/components.hpp"
#include "shoal/worklist/worklist.hpp"

namespace shoal {

/// Owns the labels and the worklist.
/// @tparam Prepare  finds seeds and clears labels in the memory that holds them:
///                  seeds(engine, pe) -> std::vector<Components::Item>, once, when the graph is placed;
///                  clear(engine) sets every known label as algo/components.hpp wants it, inside the timed region
template <class Prepare>
class ComponentsAsync : public ComponentsEngine {
 public:
  ComponentsAsync(const Machine& machine, const PlacedGraph& graph, const ComponentsPlan& plan)
      : machine_(machine), graph_(graph), known_(machine, graph, "labels"), worklist_(machine, plan.launch) {
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      const CsrView in = graph.symmetric ? CsrView{} : graph.in[p];
      tasks_.push_back({{graph.partition.owner, known_.all(p), known_.parts()}, graph.out[p], in});
      seeds_.push_back(prepare_.seeds(*this, p));
    }
  }

  void run(Report& report) override {
    clear_and_run(
        machine_, [&] { prepare_.clear(*this); }, worklist_, tasks_, seeds_, report);
  }

  Words words() const override { return known_.words(); }

  const Machine& machine() const { return machine_; }
  const PlacedGraph& graph() const { return graph_; }
  const Components& task(pe_t pe) const { return tasks_[pe]; }
  const std::vector<Components::Item>& seeds(pe_t pe) const { return seeds_[pe]; }
  const KnownWords<vertex_t>& known() const { return known_; }

 private:
  const Machine& machine_;
  const PlacedGraph& graph_;
  Prepare prepare_;
  KnownWords<vertex_t> known_;
  Worklist<Components> worklist_;
  std::vector<Components> tasks_;
  std::vector<std::vector<Components::Item>> seeds_;
};

}  // namespace shoal
