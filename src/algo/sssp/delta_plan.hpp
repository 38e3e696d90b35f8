// What the search for shortest paths on GPUs decides before it begins: is the tuning legal, and how wide are its windows.
#pragma once
#include <string>

#include "delta_gpu.hpp"

namespace shoal {

/// @throws UsageError naming the value and what is legal, or: the graph lies on CPU PEs
void check_tuning(const PlacedGraph& graph, const SsspDeltaGpuTuning& tuning);

/// A slice in numbers.
struct SliceSummary {
  std::uint64_t chunks = 0;     ///< pieces that its long rows are cut into
  std::uint64_t connected = 0;  ///< vertices with out-arcs
  std::uint64_t weights = 0;    ///< sampled weights: up to 2^20, spread over the slice
  double weight_sum = 0;        ///< of these

  void add(const SliceSummary& other) {
    chunks += other.chunks;
    connected += other.connected;
    weights += other.weights;
    weight_sum += other.weight_sum;
  }
};
/// On the current device, which holds the slice. @throws CapacityError, DeviceError
SliceSummary describe_slice(const CsrView& rows, ArcWeights weights);

/// In units of weight.
struct SsspWindows {
  double delta = 0;  ///< what a step expands
  double pull = 0;   ///< the range whose long arcs are pulled; 0: none is
  double after = 0;  ///< what a step expands afterwards
  std::string why;
};
/// @param all  the sum over all PEs
SsspWindows choose_windows(const PlacedGraph& graph, const SsspDeltaGpuTuning& tuning, const SliceSummary& all);

}  // namespace shoal
