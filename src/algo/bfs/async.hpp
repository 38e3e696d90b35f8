// The asynchronous search on a machine's PEs: the same lines for CPU threads and GPUs.
#pragma once
#include <vector>

#include "algo/known_words.hpp"
#include "engines.hpp"
#include "shoal/algo/bfs.hpp"
#include "shoal/worklist/worklist.hpp"

namespace shoal {

/// Owns the levels and the worklist.
/// @tparam kWithGpu  as of Worklist
template <bool kWithGpu = SHOAL_GPU_CODE>
class BfsAsync : public BfsEngine {
 public:
  BfsAsync(const Machine& machine, const PlacedGraph& graph, const BfsPlan& plan)
      : machine_(machine), graph_(graph), known_(machine, graph, "levels"), worklist_(machine, plan.launch) {
    // Where arcs are few, levels are many and each is a chain of latencies: one look less.
    const bool look_first = graph.num_arcs > 8 * graph.num_vertices;
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      tasks_.push_back({{graph.partition.owner, known_.all(p), known_.parts()}, graph.out[p], look_first});
    }
  }

  void run(vertex_t placed_source, Report& report) override {
    const auto seeds = seeds_at(graph_, placed_source, Bfs::Item{placed_source, 0});
    static_assert(kUnreached == ~level_t{0});
    clear_and_run(
        machine_, [&] { known_.fill_ones(); }, worklist_, tasks_, seeds, report);
  }

  Words words() const override { return known_.words(); }

 private:
  const Machine& machine_;
  const PlacedGraph& graph_;
  KnownWords<level_t> known_;
  Worklist<Bfs, DirectTransport, kWithGpu> worklist_;
  std::vector<Bfs> tasks_;
};

}  // namespace shoal
