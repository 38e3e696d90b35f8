// Checks that strategies on GPUs make before they begin.
#pragma once
#include <bit>
#include <string>

#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {

/// Refuses a graph, or a value of the tuning, with which a strategy cannot run.
class TuningCheck {
 public:
  /// @param whose  the name of the class, for errors: "BfsLevelsGpu"
  /// @throws UsageError  the graph lies on CPU PEs
  TuningCheck(const char* whose, const PlacedGraph& graph) : whose_(whose + std::string(": ")) {
    if (graph.n_pes() != 0 && graph.devices.size() == static_cast<std::size_t>(graph.n_pes())) return;
    throw UsageError(whose_ + "the graph lies on CPU PEs; place it with place_on_devices");
  }
  /// @throws UsageError naming the option, the value and what is wanted, unless `legal`
  void operator()(bool legal, const char* option, double value, const char* wanted) const {
    if (!legal) throw UsageError(whose_ + option + " " + exact(value) + "; use " + wanted);
  }
  /// Checks the parameters with which lockstep kernels are launched.
  void launch(int block_threads, int blocks_per_sm, int cluster_blocks, double deadline_seconds) const {
    const auto& check = *this;
    check(block_threads >= 32 && block_threads <= 1024 && block_threads % 32 == 0, "block_threads", block_threads,
          "a multiple of 32 up to 1,024");
    check(blocks_per_sm >= 0, "blocks_per_sm", blocks_per_sm, "0, which chooses, or more");
    check(cluster_blocks >= 1 && cluster_blocks <= 16 && std::has_single_bit(unsigned(cluster_blocks)),
          "cluster_blocks", cluster_blocks, "1, 2, 4, 8 or 16");
    check(deadline_seconds > 0, "deadline_seconds", deadline_seconds, "more than 0");
  }

 private:
  std::string whose_;
};

}  // namespace shoal
