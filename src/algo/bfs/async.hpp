// The asynchronous search on a machine's PEs, from the same source for CPU threads and GPUs.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "algo/known_words.hpp"
#include "engines.hpp"
#include "shoal/algo/bfs.hpp"
#include "shoal/worklist/worklist.hpp"

namespace shoal {

/// Owns the levels and the worklist.
/// @tparam kCodeFor  see Worklist
template <CodeFor kCodeFor = SHOAL_CODE_FOR>
class BfsAsync : public BfsEngine {
 public:
  /// From this many vertices on, levels do not fit a GPU's second-level cache (docs/decisions/0040-levels-in-bytes.md).
  static constexpr std::int64_t kBytesFrom = 1 << 23;

  /// @param bytes_from  from this many vertices on, each PE has a copy of the levels in bytes as well
  BfsAsync(const Machine& machine, const PlacedGraph& graph, const BfsPlan& plan, std::int64_t bytes_from)
      : machine_(machine), graph_(graph), known_(machine, graph, "levels"), worklist_(machine, plan.launch) {
    // With few arcs per vertex there are many levels, and each is a chain of memory latencies. Then one load less per hop pays, and
    // most levels do not fit a byte.
    const bool look_first = graph.num_arcs > 8 * graph.num_vertices;
    const bool in_bytes = look_first && graph.num_vertices >= bytes_from;
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      if (in_bytes) {
        bytes_.push_back(machine.allocate(p, graph.num_vertices, "levels in bytes", Machine::Contents::anything));
      }
      tasks_.push_back({{graph.partition.owner, known_.all(p), known_.parts()}, graph.out[p], look_first, bytes(p)});
    }
    for (Bfs& task : tasks_) {
      for (pe_t p = 0; p < graph.n_pes(); ++p) task.all_bytes.part[graph.first_pe + p] = bytes(p);
    }
  }
  BfsAsync(const Machine& machine, const PlacedGraph& graph, const BfsPlan& plan)
      : BfsAsync(machine, graph, plan, machine.on_gpu() ? kBytesFrom : kNoVertex) {}

  void run(vertex_t placed_source, Report& report) override {
    const auto seeds = seeds_at(graph_, placed_source, Bfs::Item{placed_source, 0});
    static_assert(kUnreached == ~level_t{0});
    static_assert(Bfs::kNoByte == static_cast<std::uint8_t>(~0u));
    const auto clear = [&] {
      known_.fill_ones();
      if (!bytes_.empty()) fill_ones(machine_, bytes_, graph_.num_vertices);
    };
    clear_and_run(machine_, clear, worklist_, tasks_, seeds, report);
  }

  Words words() const override { return known_.words(); }
  /// Whether there is a copy of the levels in bytes.
  bool in_bytes() const { return !bytes_.empty(); }

 private:
  std::uint8_t* bytes(pe_t p) const {
    return bytes_.empty() ? nullptr : static_cast<std::uint8_t*>(bytes_[static_cast<std::size_t>(p)].get());
  }

  const Machine& machine_;
  const PlacedGraph& graph_;
  KnownWords<level_t> known_;
  std::vector<std::shared_ptr<void>> bytes_;  ///< [PEs here], or empty
  Worklist<Bfs, DirectTransport, kCodeFor> worklist_;
  std::vector<Bfs> tasks_;
};

}  // namespace shoal
