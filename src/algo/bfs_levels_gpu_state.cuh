// Level-synchronous search on GPUs: what the host holds for it. Set up in bfs_levels_gpu_setup.cu, run in bfs_levels_gpu.cu.
#pragma once
#include <memory>
#include <vector>

#include "shoal/algo/bfs_levels.cuh"
#include "shoal/algo/bfs_levels_gpu.hpp"
#include "shoal/core/device_memory.cuh"

namespace shoal {
namespace bfs_gpu {

/// Everything of one PE, on its device.
struct Pe {
  int device = 0;
  cudaStream_t stream = nullptr;
  Outcome* outcome = nullptr;  // pinned
  int blocks = 0;
  View view{};
  DeviceArray<u32> unreachable, seen, front[2], head;
  DeviceArray<uint4> heads;
  DeviceArray<Entry> queue[2];
  DeviceArray<vertex_t> inbox;  // one part for each peer
  DeviceArray<Control> control;

  Pe() = default;
  Pe(Pe&&) = delete;
  ~Pe() {
    if (stream != nullptr) {
      cudaSetDevice(device);
      cudaStreamDestroy(stream);
    }
    if (outcome != nullptr) cudaFreeHost(outcome);
  }
  std::size_t bytes() const {
    return unreachable.size_bytes() + seen.size_bytes() + front[0].size_bytes() + front[1].size_bytes() +
           head.size_bytes() + heads.size_bytes() + queue[0].size_bytes() + queue[1].size_bytes() + inbox.size_bytes() +
           control.size_bytes();
  }
};

}  // namespace bfs_gpu

struct BfsLevelsGpu::State {
  using Pe = bfs_gpu::Pe;
  using u32 = bfs_gpu::u32;
  using u64 = bfs_gpu::u64;

  const PlacedGraph& graph;
  BfsLevelsGpuTuning tuning;
  bfs_gpu::Rules rules{};
  std::vector<std::unique_ptr<Pe>> pes;
  int cluster = 0;   // blocks of the narrow kernel; 0: not used
  u32 barriers = 0;  // met so far on every PE
  u32 steps = 0;     // of the last search
  double prepare_seconds = 0;
  double clock_ghz = 1;

  State(const PlacedGraph& g, const BfsLevelsGpuTuning& t) : graph(g), tuning(t) {}
  bool multi() const { return pes.size() > 1; }
  const void* search_kernel() const;
  std::size_t search_shared() const;

  void set_up_views();
  void set_up_memory(Pe& pe);
  void connect_peers();
  void set_up_rows();
  void set_up_launches();
  void zero_control();
  void run_search(vertex_t source, level_t* const* level);
  void run_kernel(u32 resume, u32 depth, u64 unexplored, pe_t owner, vertex_t local, level_t* const* level);
  void run_narrow(level_t* level);
  void wait_all(const char* what);
  void check_ends();
};

}  // namespace shoal
