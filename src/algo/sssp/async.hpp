// The asynchronous search on a machine's PEs, from the same source for CPU threads and GPUs.
#pragma once
#include <memory>
#include <vector>

#include "algo/known_words.hpp"
#include "engines.hpp"
#include "shoal/algo/sssp.hpp"
#include "shoal/worklist/worklist.hpp"

namespace shoal {

/// Owns the distances and the worklist.
/// @tparam kCodeFor  see Worklist
template <class Word, CodeFor kCodeFor = SHOAL_CODE_FOR>
class SsspAsync : public SsspEngine {
 public:
  SsspAsync(const Machine& machine, const PlacedGraph& graph, const SsspPlan& plan)
      : machine_(machine), graph_(graph), known_(machine, graph, "distances"), worklist_(machine, plan.launch) {
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      tasks_.push_back({{graph.partition.owner, known_.all(p), known_.parts()}, graph.out[p], graph.out_weights[p]});
    }
  }

  void run(vertex_t placed_source, Report& report) override {
    const auto seeds = seeds_at(graph_, placed_source, typename Sssp<Word>::Item{placed_source, 0});
    static_assert(kUnreachedDistance<Word> == static_cast<Word>(-1));
    clear_and_run(
        machine_, [&] { known_.fill_ones(); }, worklist_, tasks_, seeds, report);
  }

  Words words() const override { return known_.words(); }

 private:
  const Machine& machine_;
  const PlacedGraph& graph_;
  KnownWords<Word> known_;
  Worklist<Sssp<Word>, DirectTransport, kCodeFor> worklist_;
  std::vector<Sssp<Word>> tasks_;
};

}  // namespace shoal
