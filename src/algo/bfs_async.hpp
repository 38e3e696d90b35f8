// The asynchronous search on a machine's PEs: the same lines for CPU threads and GPUs.
#pragma once
#include <memory>
#include <vector>

#include "bfs_engines.hpp"
#include "shoal/algo/bfs.hpp"
#include "shoal/runtime/worklist.hpp"

namespace shoal {

/// Owns the levels and the worklist; `clear` sets every known level to kUnreached, inside the timed region.
template <class Clear>
class BfsAsync : public BfsEngine {
 public:
  BfsAsync(const Machine& machine, const PlacedGraph& graph, const LaunchPlan& plan, Clear clear)
      : machine_(machine), graph_(graph), clear_(std::move(clear)), worklist_(machine, plan) {
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      known_.push_back(machine.allocate(p, graph.num_vertices * sizeof(level_t), "levels"));
    }
    Symmetric<level_t> levels;
    for (pe_t p = 0; p < graph.n_pes(); ++p) levels.part[p] = level(p);
    // Where arcs are few, levels are many and each is a chain of latencies: one look less.
    const bool look_first = graph.num_arcs > 8 * graph.num_vertices;
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      tasks_.push_back({graph.out[p], graph.partition.owner, known(p), levels, look_first});
    }
  }

  void search(vertex_t placed_source, Report& report) override {
    std::vector<std::vector<Bfs::Item>> seeds(graph_.n_pes());
    seeds[graph_.partition.owner(placed_source)] = {{placed_source, 0}};
    const auto start = std::chrono::steady_clock::now();
    clear_(*this);
    const double clear_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Report run = worklist_.run(tasks_, seeds);
    run.chosen = std::move(report.chosen);
    run.phase_seconds = std::move(report.phase_seconds);
    run.seconds += clear_seconds;
    report = std::move(run);
  }

  void fetch_levels(pe_t pe, level_t* to) const override {
    if (graph_.out[pe].count > 0) machine_.copy_out(pe, to, level(pe), graph_.out[pe].count * sizeof(level_t));
  }

  const Machine& machine() const { return machine_; }
  const PlacedGraph& graph() const { return graph_; }
  /// [graph.out[pe].count]
  level_t* level(pe_t pe) const { return known(pe) + graph_.out[pe].first; }
  /// [graph.num_vertices] Bfs::known
  level_t* known(pe_t pe) const { return static_cast<level_t*>(known_[pe].get()); }

 private:
  const Machine& machine_;
  const PlacedGraph& graph_;
  Clear clear_;
  Worklist<Bfs> worklist_;
  std::vector<std::shared_ptr<void>> known_;
  std::vector<Bfs> tasks_;
};

}  // namespace shoal
