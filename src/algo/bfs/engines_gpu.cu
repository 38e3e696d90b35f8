#include <algorithm>

#include "async.hpp"
#include "levels_gpu.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/device_memory.cuh"
#include "verify_gpu.hpp"

namespace shoal {

// Compiled in sources of their own (cmake/Kernels.cmake).
extern template struct gpu::Kernels<GpuBlock, gpu::DirectView<Bfs>>;
extern template struct gpu::Kernels<GpuWarp, gpu::DirectView<Bfs>>;
extern template struct gpu::Kernels<GpuThread, gpu::DirectView<Bfs>>;

namespace {

/// One thread per owned vertex: the smallest input number among the in-neighbours one level up.
__global__ void parents_kernel(CsrView rows, const level_t* all_levels, const vertex_t* input_of_placed,
                               vertex_t source, vertex_t* parent) {
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < rows.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const vertex_t v = rows.first + static_cast<vertex_t>(i);
    const level_t mine = all_levels[v];
    vertex_t best = kNoVertex;
    if (v == source) {
      best = input_of_placed != nullptr ? input_of_placed[v] : v;
    } else if (mine != kUnreached) {
      const Span<const vertex_t> in = rows.neighbors(v);
      for (std::int64_t k = 0; k < in.size(); ++k) {
        const vertex_t u = in[k];
        if (all_levels[u] + 1 != mine) continue;
        const vertex_t name = input_of_placed != nullptr ? input_of_placed[u] : u;
        best = name < best ? name : best;
      }
    }
    parent[i] = best;
  }
}

/// BfsEngine::fetch_parents for levels on devices: `level[p]` is PE p's slice.
void fetch_parents_from_devices(const PlacedGraph& graph, level_t* const* level, vertex_t source, vertex_t* to) {
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const CsrView& rows = graph.in[p];
    if (rows.count == 0) continue;
    DeviceGuard guard(graph.devices[p]);
    DeviceArray<level_t> all(graph.num_vertices, "levels of all PEs");
    for (pe_t q = 0; q < graph.n_pes(); ++q) {
      SHOAL_CUDA(cudaMemcpyPeer(all.data() + graph.out[q].first, graph.devices[p], level[q], graph.devices[q],
                                graph.out[q].count * sizeof(level_t)));
    }
    DeviceArray<vertex_t> names(graph.partition.identity() ? 0 : graph.num_vertices, "input numbers");
    if (!graph.partition.identity()) names.upload(graph.partition.input_of_placed.data(), graph.num_vertices);
    DeviceArray<vertex_t> parent(rows.count, "parents");
    parents_kernel<<<1024, 256>>>(rows, all.data(), names.data(), source, parent.data());
    SHOAL_CUDA(cudaGetLastError());
    parent.download(to + rows.first, rows.count);
  }
}

class AsyncGpu : public BfsAsync<> {
 public:
  using BfsAsync::BfsAsync;
  void fetch_parents(vertex_t source, vertex_t* to) override {
    fetch_parents_from_devices(graph_, known_.all_own().data(), source, to);
  }
  std::string verify(vertex_t source) const override {
    return verify_levels_on_devices(graph_, known_.all_own().data(), source);
  }
};

class LevelsGpu : public BfsEngine {
 public:
  LevelsGpu(const Machine& machine, const PlacedGraph& graph) : machine_(machine), graph_(graph), search_(graph) {
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      memory_.push_back(machine.allocate(p, graph.out[p].count * sizeof(level_t), "levels"));
      level_.push_back(static_cast<level_t*>(memory_.back().get()));
    }
  }
  void search(vertex_t placed_source, Report& report) override { search_.search(placed_source, level_.data(), report); }
  void fetch_levels(pe_t pe, level_t* to) const override {
    if (graph_.out[pe].count > 0) machine_.copy_out(pe, to, level_[pe], graph_.out[pe].count * sizeof(level_t));
  }
  void fetch_parents(vertex_t source, vertex_t* to) override {
    fetch_parents_from_devices(graph_, level_.data(), source, to);
  }
  std::string verify(vertex_t source) const override { return verify_levels_on_devices(graph_, level_.data(), source); }

 private:
  const Machine& machine_;
  const PlacedGraph& graph_;
  BfsLevelsGpu search_;
  std::vector<std::shared_ptr<void>> memory_;
  std::vector<level_t*> level_;
};

}  // namespace

std::unique_ptr<BfsEngine> make_bfs_async_gpu(const Machine& machine, const PlacedGraph& graph,
                                              const LaunchPlan& plan) {
  return std::make_unique<AsyncGpu>(machine, graph, plan);
}
std::unique_ptr<BfsEngine> make_bfs_levels_gpu(const Machine& machine, const PlacedGraph& graph) {
  return std::make_unique<LevelsGpu>(machine, graph);
}

}  // namespace shoal
