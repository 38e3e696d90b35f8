#include "async.hpp"

namespace shoal {

// Compiled in sources of their own (cmake/Kernels.cmake).
extern template struct gpu::Kernels<GpuBlock, gpu::DirectView<Bfs>>;
extern template struct gpu::Kernels<GpuWarp, gpu::DirectView<Bfs>>;
extern template struct gpu::Kernels<GpuThread, gpu::DirectView<Bfs>>;

std::unique_ptr<BfsEngine> make_bfs_async_gpu(const Machine& machine, const PlacedGraph& graph, const BfsPlan& plan) {
  return std::make_unique<BfsAsync<>>(machine, graph, plan);
}

}  // namespace shoal
