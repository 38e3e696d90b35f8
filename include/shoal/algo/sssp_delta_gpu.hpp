// Shortest paths on GPUs, strategy `delta`: one cooperative kernel per PE that works in lockstep steps.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "shoal/pgas/placed_graph.hpp"
#include "shoal/runtime/report.hpp"

namespace shoal {

/// What changes the time but never the answer.
struct SsspDeltaGpuTuning {
  double delta = 0;       ///< width of the window of distances expanded in one step; 0: from weights and degrees
  double far_widths = 8;  ///< deltas that the queue reaches beyond the nearest vertex while it is swept for
  double sweep_enter = 1.0 / 32;   ///< pending vertices over all vertices: from here on the far ones are swept for
  double sweep_leave = 1.0 / 256;  ///< and below this they wait in the queue again
  /// Mean weights: width of the range of distances, entered when sweeping begins, whose long arcs are pulled by the
  /// vertices beyond instead of pushed (see sssp_delta_pull.cuh); 0: never. Arcs are then kept once more, in order of
  /// weight.
  double pull_width = 0.08;
  double after_width =
      0.25;  ///< mean weights: at least so wide are steps after that, when only vertices of few arcs are left
  double pull_degree = 8;  ///< least mean degree of a graph for which that is done
  /// Several PEs: while at most alone_most vertices are pending, a PE makes up to so many steps before it meets the others.
  std::int64_t alone_most = 1 << 17;
  int alone_steps = 8;
  /// One PE: after narrow_after steps in a row with at most narrow_enter pending vertices, one cluster of blocks takes over
  /// until narrow_leave are pending (both are lowered to what its shared memory holds).
  bool narrow = true;
  int narrow_after = 4;
  int narrow_enter = 24576;
  int narrow_leave = 65536;
  int cluster_blocks = 16;       ///< 1, 2, 4, 8 or 16; lowered to what the device can hold
  int block_threads = 1024;      ///< of a block; a multiple of 32 up to 1,024
  int blocks_per_sm = 0;         ///< 0: as many as fit
  double deadline_seconds = 30;  ///< longest wait of a PE for the others
};

/// Searches from one source after another on one placed graph with weights. Distances stay on the devices.
class SsspDeltaGpu {
 public:
  /// @param graph  with weights, on devices, one for each PE; must outlive this
  /// @param wide   words of 64 bits; real weights always have them
  /// @throws UsageError (no weights, CPU PEs, more than 8 PEs, a device twice, tuning), CapacityError, DeviceError
  SsspDeltaGpu(const PlacedGraph& graph, bool wide, const SsspDeltaGpuTuning& tuning = {});
  ~SsspDeltaGpu();
  SsspDeltaGpu(SsspDeltaGpu&&) noexcept;
  SsspDeltaGpu& operator=(SsspDeltaGpu&&) noexcept;

  /// Distances from a vertex (placed number). Adds seconds and rounds to the report, sets run (vertices expanded) and
  /// pushed (arcs relaxed), and says what was chosen.
  /// @throws UsageError (no such vertex), DeviceError
  void search(vertex_t placed_source, Report& report);

  /// Where the last search left the distances: words of algo/sssp.hpp, [rows of the PE] in PE p's memory.
  const void* words(pe_t p) const;
  bool wide() const;  ///< 64-bit words, else 32

  double delta() const;  ///< as chosen
  double prepare_seconds() const;
  std::int64_t extra_bytes() const;  ///< device memory beside the graph, all PEs

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace shoal
