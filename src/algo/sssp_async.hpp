// The asynchronous search on a machine's PEs: the same lines for CPU threads and GPUs.
#pragma once
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "shoal/algo/sssp.hpp"
#include "shoal/runtime/worklist.hpp"
#include "sssp_engines.hpp"

namespace shoal {

/// Owns the distances and the worklist; `clear(machine, graph, known)` sets every known word to all ones, inside the timed region.
template <class Word, class Clear>
class SsspAsync : public SsspEngine {
 public:
  SsspAsync(const Machine& machine, const PlacedGraph& graph, const LaunchPlan& plan, Clear clear)
      : machine_(machine), graph_(graph), clear_(std::move(clear)), worklist_(machine, plan) {
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      memory_.push_back(machine.allocate(p, graph.num_vertices * sizeof(Word), "distances"));
      known_.push_back(static_cast<Word*>(memory_.back().get()));
      word_.push_back(known_.back() + graph.out[p].first);
    }
    Symmetric<Word> all;
    for (pe_t p = 0; p < graph.n_pes(); ++p) all.part[p] = word_[p];
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      tasks_.push_back({graph.out[p], graph.out_weights[p], graph.partition.owner, known_[p], all});
    }
  }

  void search(vertex_t placed_source, Report& report) override {
    std::vector<std::vector<typename Sssp<Word>::Item>> seeds(graph_.n_pes());
    seeds[graph_.partition.owner(placed_source)] = {{placed_source, 0}};
    const auto start = std::chrono::steady_clock::now();
    clear_(machine_, graph_, known_);
    const double clear_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Report run = worklist_.run(tasks_, seeds);
    run.chosen = std::move(report.chosen);
    run.phase_seconds = std::move(report.phase_seconds);
    run.seconds += clear_seconds + report.seconds;
    report = std::move(run);
  }

  SsspWords words() const override { return {sizeof(Word) == 8, {word_.begin(), word_.end()}}; }

 private:
  const Machine& machine_;
  const PlacedGraph& graph_;
  Clear clear_;
  Worklist<Sssp<Word>> worklist_;
  std::vector<std::shared_ptr<void>> memory_;
  std::vector<Word*> known_;  ///< Sssp::known of each PE
  std::vector<Word*> word_;   ///< where the PE's own vertices begin in it
  std::vector<Sssp<Word>> tasks_;
};

}  // namespace shoal
