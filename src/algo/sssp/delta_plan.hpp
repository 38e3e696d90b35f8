// Decisions of the search for shortest paths on GPUs before it begins: whether the tuning is legal, and how wide the windows are.
#pragma once
#include <string>

#include "delta_gpu.hpp"

namespace shoal {

/// @throws UsageError naming the value and what is legal; also if the graph lies on CPU PEs
void check_tuning(const PlacedGraph& graph, const SsspDeltaGpuTuning& tuning);

/// Statistics of a slice.
struct SliceSummary {
  std::uint64_t chunks = 0;     ///< number of chunks into which its long rows are cut
  std::uint64_t connected = 0;  ///< vertices with out-arcs
  std::uint64_t weights = 0;    ///< sampled weights: up to 2^20, spread over the slice
  double weight_sum = 0;        ///< sum of the sampled weights

  void add(const SliceSummary& other) {
    chunks += other.chunks;
    connected += other.connected;
    weights += other.weights;
    weight_sum += other.weight_sum;
  }
};
/// Runs on the current device, which must hold the slice. @throws CapacityError, DeviceError
SliceSummary describe_slice(const CsrView& rows, ArcWeights weights);

/// Widths in units of weight.
struct SsspWindows {
  double delta = 0;  ///< of the distances that a step expands
  double pull = 0;   ///< of the first range whose long arcs are pulled; 0: nothing is pulled
  double after = 0;  ///< of the distances that a step expands after pulling
  std::string why;
};
/// @param all  the sum over all PEs
SsspWindows choose_windows(const PlacedGraph& graph, const SsspDeltaGpuTuning& tuning, const SliceSummary& all);

}  // namespace shoal
