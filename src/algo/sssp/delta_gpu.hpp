// Shortest paths on GPUs, strategy `delta`: one cooperative kernel per PE, which runs in lockstep steps.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "shoal/placement/placed_graph.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

class World;

/// Parameters that change the time but never the answer.
struct SsspDeltaGpuTuning {
  /// Width of the window of distances that a step expands, in units of weight; 0: chosen from weights and degrees.
  double delta = 0;

  // Sweeping: vertices that wait far beyond the nearest one are not kept in the queue, but found by sweeps over all distances.
  double sweep_enter = 1.0 / 32;   ///< begins when this fraction of all vertices is pending
  double sweep_leave = 1.0 / 256;  ///< ends when fewer than this fraction are
  double far_widths = 8;           ///< deltas by which the queue then reaches beyond the nearest vertex

  // Pulling (delta_pull.cuh): the vertices beyond a range of distances pull the long arcs that leave it, instead of these being
  // pushed, for a few successive ranges. This needs a second copy of the arcs, sorted by weight.
  double pull_degree = 8;         ///< least mean degree of a graph for which arcs are pulled
  double pull_enter = 1.0 / 128;  ///< the first range begins when this fraction of all vertices is pending
  double pull_share = 0.125;      ///< least fraction of all arcs in the first range for it to be pulled; else pushed
  int pulls = 2;                  ///< most ranges; 0: nothing is pulled
  double pull_width = 0.05;       ///< width of the first range in mean weights; 0: nothing is pulled
  double pull_growth = 5;         ///< each range is this many times as wide as the one before
  double range_windows = 1;       ///< a range is settled in at most this many windows, none narrower than delta
  double after_width = 1;         ///< least delta afterwards, in mean weights, when only vertices of few arcs are left

  // Small steps run on one cluster of blocks on each PE. Both limits are lowered to what the cluster's shared memory can hold.
  bool narrow = true;
  int narrow_after = 4;      ///< after this many steps in a row with
  int narrow_enter = 24576;  ///< at most this many pending vertices on all PEs, the clusters take over,
  int narrow_leave = 65536;  ///< until more than this many are pending
  int cluster_blocks = 16;   ///< 1, 2, 4, 8 or 16; lowered to what the device can hold
  int round_steps = 8;       ///< with several PEs: most steps that a cluster makes before it meets the others

  int block_threads = 1024;      ///< of a block; a multiple of 32 up to 1,024
  int blocks_per_sm = 0;         ///< 0: as many as fit
  double deadline_seconds = 30;  ///< longest wait of a PE for the others at a barrier
};

/// Searches from one source after another on one placed graph with weights. The distances stay on the devices.
class SsspDeltaGpu {
 public:
  /// @param graph  with weights, on devices; must outlive this object
  /// @param wide   words of 64 bits; real weights always have them
  /// @param world  the world of several processes, all of which make this object and search together; null: this process has all
  ///               PEs
  /// @throws UsageError (no weights, CPU PEs, more than 8 PEs, tuning), CapacityError, DeviceError
  SsspDeltaGpu(const PlacedGraph& graph, bool wide, const SsspDeltaGpuTuning& tuning = {}, World* world = nullptr);
  ~SsspDeltaGpu();
  SsspDeltaGpu(SsspDeltaGpu&&) noexcept;
  SsspDeltaGpu& operator=(SsspDeltaGpu&&) noexcept;

  /// Computes the distances from a vertex (placed number). Adds seconds and rounds to the report, sets run (vertices expanded) and
  /// pushed (arcs relaxed), and records what was chosen.
  /// @throws UsageError (no such vertex), DeviceError
  void search(vertex_t placed_source, Report& report);

  // PEs below are those of this process, counted from 0.
  /// The distances of the last search: words of algo/sssp.hpp, [rows of the PE] in PE p's memory.
  const void* words(pe_t p) const;
  bool wide() const;  ///< true: 64-bit words; false: 32-bit words

  double delta() const;  ///< the width that was chosen

  /// Seconds that PE p's first block spent in each kind of phase (by name) in the last search, including waits for the others.
  /// messages(): how many messages the PE sent.
  std::vector<std::pair<const char*, double>> phases(pe_t p) const;
  std::int64_t messages(pe_t p) const;
  double prepare_seconds() const;
  std::int64_t extra_bytes() const;  ///< device memory beside the graph, sum of all PEs of this process

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace shoal
