// Level-synchronous search on GPUs: what the host holds for it. Set up in bfs_levels_gpu_setup.cu, run in bfs_levels_gpu.cu.
#pragma once
#include <memory>
#include <vector>

#include "levels.cuh"
#include "levels_gpu.hpp"
#include "lockstep/team.cuh"
#include "shoal/device/device_memory.cuh"

namespace shoal {
namespace bfs_gpu {

/// Everything of one PE, on its device.
struct Pe {
  int device = 0;
  Slice view{};
  DeviceArray<u32> unreachable, seen, front[2], head;
  DeviceArray<uint4> heads;
  DeviceArray<Entry> queue[2];
  DeviceArray<vertex_t> inbox;  // one part for each peer
  DeviceArray<PaddedWord<u64, Scope::device>> spilled;
  DeviceArray<Step> step;

  std::size_t bytes() const {
    return unreachable.size_bytes() + seen.size_bytes() + front[0].size_bytes() + front[1].size_bytes() +
           head.size_bytes() + heads.size_bytes() + queue[0].size_bytes() + queue[1].size_bytes() + inbox.size_bytes() +
           spilled.size_bytes() + step.size_bytes();
  }
};

}  // namespace bfs_gpu

struct BfsLevelsGpu::State {
  using Pe = bfs_gpu::Pe;
  using u32 = bfs_gpu::u32;
  using u64 = bfs_gpu::u64;

  const PlacedGraph& graph;
  BfsLevelsGpuTuning tuning;
  LockstepTeam team;
  bfs_gpu::Rules rules{};
  std::vector<std::unique_ptr<Pe>> pes;
  std::vector<int> blocks;   // of the search kernel on each PE
  int cluster = 0;           // blocks of the narrow kernel; 0: not used
  bfs_gpu::Summary total{};  // of the last search
  double prepare_seconds = 0;
  double clock_ghz = 1;

  State(const PlacedGraph& g, const BfsLevelsGpuTuning& t)
      : graph(g), tuning(t), team(g.devices, "breadth-first search", t.deadline_seconds) {}
  bool multi() const { return pes.size() > 1; }
  const void* search_kernel() const;
  std::size_t search_shared() const;

  void set_up_views();
  void set_up_memory(Pe& pe);
  void connect_peers();
  void set_up_rows();
  void set_up_launches();
  void run_search(vertex_t source, level_t* const* level);
  /// One kernel: from a source, or on from where narrow_levels left off. Adds to `total`.
  void run_kernel(bool resume, vertex_t source, level_t* const* level);
  void run_narrow(level_t* level);
  void add_summary();
};

}  // namespace shoal
