// The state of a ComponentsHookGpu on its devices. Private to hook_gpu*.cu.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hook_gpu.hpp"
#include "lockstep/peer_memory.cuh"
#include "shoal/device/cuda_check.cuh"
#include "trees.cuh"

namespace shoal {
namespace hook_gpu {

/// One PE.
struct Pe {
  int device = 0;
  cudaStream_t stream = nullptr;
  cudaGraphExec_t kernels = nullptr;
  View view{};

  Pe() = default;
  Pe(Pe&&) = delete;
  ~Pe() {
    int before = 0;
    cudaGetDevice(&before);
    cudaSetDevice(device);
    if (kernels != nullptr) cudaGraphExecDestroy(kernels);
    if (stream != nullptr) cudaStreamDestroy(stream);
    cudaSetDevice(before);
  }
};

}  // namespace hook_gpu

struct ComponentsHookGpu::State {
  const PlacedGraph& graph;
  ComponentsHookGpuTuning tuning;
  PeerMemory memory, forests;                      ///< `forests` is empty unless PEs merge forests
  std::vector<std::unique_ptr<hook_gpu::Pe>> pes;  ///< [n_pes()]
  int num_kernels = 0;
  Decision exchange;   ///< has no value with one PE
  double seconds = 0;  // of the last run

  State(const PlacedGraph& g, const ComponentsHookGpuTuning& t)
      : graph(g), tuning(t), memory(devices()), forests(devices()) {}

  /// Number of PEs that work: one if the first PE has all vertices, as if there were no others.
  pe_t n_pes() const { return graph.out[0].count == graph.num_vertices ? 1 : graph.n_pes(); }
  std::vector<int> devices() const { return {graph.devices.begin(), graph.devices.begin() + n_pes()}; }

  void set_up(pe_t p);
  void connect();
  /// Enqueues all kernels of a run on the PE's stream, in order; calls after(name) after each.
  void launch_all(hook_gpu::Pe& pe, const std::function<void(const char*)>& after);
  /// Records the kernels as one CUDA graph per PE, so that a run is one launch for each device. Recording also loads the kernels,
  /// because nothing may be loaded while PEs wait for each other.
  void record(hook_gpu::Pe& pe);
  /// Decides how PEs combine their forests into one; records again if that changes the kernels.
  void choose_exchange();
  std::int64_t count_open_arcs();
  void add_forests();
  std::vector<ComponentsHookStep> profile();
  /// @return how many vertices were outside the giant trees after the first arcs
  std::int64_t run();
};

}  // namespace shoal
