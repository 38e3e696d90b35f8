// Shortest paths on GPUs, strategy `delta`: one cooperative kernel per PE that works in lockstep steps.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "shoal/placement/placed_graph.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

class World;

/// What changes the time but never the answer.
struct SsspDeltaGpuTuning {
  /// Width of the window of distances that a step expands, in units of weight; 0: from weights and degrees.
  double delta = 0;

  // Sweeping: vertices that wait far beyond the nearest are not kept in the queue, but found by sweeps.
  double sweep_enter = 1.0 / 32;   ///< from this part of all vertices pending on
  double sweep_leave = 1.0 / 256;  ///< until fewer are
  double far_widths = 8;           ///< deltas that the queue reaches beyond the nearest vertex meanwhile

  // Pulling (sssp_delta_pull.cuh): long arcs from a range of distances are pulled by the vertices beyond instead of
  // pushed, for a few ranges after each other. Arcs are then kept once more, in order of weight.
  double pull_degree = 8;         ///< least mean degree of a graph for which that is done
  double pull_enter = 1.0 / 128;  ///< the first range begins when this part of all vertices is pending
  double pull_share = 0.125;      ///< it is pulled if this part of all arcs leave its vertices; if not, they are pushed
  int pulls = 2;                  ///< ranges at most; 0: nothing is pulled
  double pull_width = 0.05;       ///< mean weights: width of the first range; 0: nothing is pulled
  double pull_growth = 5;         ///< each range is so many times as wide as the one before
  double range_windows = 1;       ///< a range is settled in so many windows, or fewer: none is narrower than delta
  double after_width = 1;         ///< mean weights: least delta afterwards, when only vertices of few arcs are left

  // Small steps on one cluster of blocks on each PE. Both limits are lowered to what its shared memory holds.
  bool narrow = true;
  int narrow_after = 4;      ///< steps in a row with
  int narrow_enter = 24576;  ///< at most so many pending vertices on all PEs, then the clusters take over,
  int narrow_leave = 65536;  ///< until so many are pending
  int cluster_blocks = 16;   ///< 1, 2, 4, 8 or 16; lowered to what the device can hold
  int round_steps = 8;       ///< several PEs: steps that a cluster makes at most before it meets the others

  int block_threads = 1024;      ///< of a block; a multiple of 32 up to 1,024
  int blocks_per_sm = 0;         ///< 0: as many as fit
  double deadline_seconds = 30;  ///< longest wait of a PE for the others
};

/// Searches from one source after another on one placed graph with weights. Distances stay on the devices.
class SsspDeltaGpu {
 public:
  /// @param graph  with weights, on devices, one for each PE; must outlive this
  /// @param wide   words of 64 bits; real weights always have them
  /// @param world  of several processes, all of which make one, and search together; null: this one has all PEs
  /// @throws UsageError (no weights, CPU PEs, more than 8 PEs, a device twice, tuning), CapacityError, DeviceError
  SsspDeltaGpu(const PlacedGraph& graph, bool wide, const SsspDeltaGpuTuning& tuning = {}, World* world = nullptr);
  ~SsspDeltaGpu();
  SsspDeltaGpu(SsspDeltaGpu&&) noexcept;
  SsspDeltaGpu& operator=(SsspDeltaGpu&&) noexcept;

  /// Distances from a vertex (placed number). Adds seconds and rounds to the report, sets run (vertices expanded) and
  /// pushed (arcs relaxed), and says what was chosen.
  /// @throws UsageError (no such vertex), DeviceError
  void search(vertex_t placed_source, Report& report);

  // PEs of this process, counted from 0 here.
  /// Where the last search left the distances: words of algo/sssp.hpp, [rows of the PE] in PE p's memory.
  const void* words(pe_t p) const;
  bool wide() const;  ///< 64-bit words, else 32

  double delta() const;  ///< as chosen

  /// Seconds that PE p's first block spent in each kind of phase of the last search, waiting for the others included (with
  /// its name), and what the PE sent.
  std::vector<std::pair<const char*, double>> phases(pe_t p) const;
  std::int64_t messages(pe_t p) const;
  double prepare_seconds() const;
  std::int64_t extra_bytes() const;  ///< device memory beside the graph, all PEs

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace shoal
