// Level-synchronous search on GPUs: the host's state. Set up in levels_gpu_setup.cu, run in levels_gpu.cu.
#pragma once
#include <memory>
#include <vector>

#include "levels.cuh"
#include "levels_course.hpp"
#include "levels_gpu.hpp"
#include "lockstep/apart.cuh"
#include "lockstep/peer_memory.cuh"
#include "lockstep/team.cuh"

namespace shoal {

struct BfsLevelsGpu::State {
  using u32 = bfs_gpu::u32;
  using u64 = bfs_gpu::u64;

  const PlacedGraph& graph;
  World* const world;  // null: one process
  BfsLevelsGpuTuning tuning;
  LockstepTeam team;
  bfs_gpu::Rules rules{};
  PeerMemory memory;
  std::vector<bfs_gpu::Slice> views;  // of this process
  std::vector<int> blocks;            // of the search kernel on each PE
  int cluster = 0;                    // blocks of the narrow kernel; 0: not used
  bfs_gpu::Summary total{};           // of the last search
  double prepare_seconds = 0;
  double clock_ghz = 1;
  double kernel_seconds = 0;  // of the last search

  std::unique_ptr<Apart> apart;  // null: PEs can access each other's memory

  State(const PlacedGraph& g, const BfsLevelsGpuTuning& t, World* w, World::Reach reach)
      : graph(g),
        world(w),
        tuning(t),
        team(g.devices, "breadth-first search", t.deadline_seconds, w, reach),
        memory(g.devices, reach == World::Reach::memory ? w : nullptr) {}
  bool multi() const { return graph.all_pes() > 1; }
  /// The PE of a view, counted from 0 within this process.
  pe_t here(const bfs_gpu::Slice& v) const { return v.me - graph.first_pe; }
  const void* search_kernel() const;
  std::size_t search_shared() const;

  void set_up_views();
  void set_up_memory(bfs_gpu::Slice& v);
  void connect_peers();
  void set_up_rows();
  void set_up_launches();
  void run_search(vertex_t source, level_t* const* level);
  /// Runs one kernel: from a source, or continuing where narrow_levels stopped. Adds to `total`.
  void run_kernel(bool resume, vertex_t source, level_t* const* level);
  void run_narrow(level_t* level);
  void add_summary();
  void describe(Report& report) const;

  // For PEs that cannot access each other's memory (levels_apart.cu).
  void set_up_apart();
  void search_apart(vertex_t source, level_t* const* level, Report& report);
  void send_before(const bfs_gpu::LevelsCourse& course);
  void launch(const bfs_gpu::LevelsCourse& course, vertex_t source, level_t* const* level);
};

}  // namespace shoal
