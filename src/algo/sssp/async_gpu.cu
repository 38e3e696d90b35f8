#include "async.hpp"

namespace shoal {

// Compiled in sources of their own (cmake/Kernels.cmake).
extern template struct gpu::Kernels<GpuBlock, gpu::DirectView<Sssp<std::uint32_t>>>;
extern template struct gpu::Kernels<GpuWarp, gpu::DirectView<Sssp<std::uint32_t>>>;
extern template struct gpu::Kernels<GpuThread, gpu::DirectView<Sssp<std::uint32_t>>>;
extern template struct gpu::Kernels<GpuBlock, gpu::DirectView<Sssp<std::uint64_t>>>;
extern template struct gpu::Kernels<GpuWarp, gpu::DirectView<Sssp<std::uint64_t>>>;
extern template struct gpu::Kernels<GpuThread, gpu::DirectView<Sssp<std::uint64_t>>>;

std::unique_ptr<SsspEngine> make_sssp_async_gpu(const Machine& machine, const PlacedGraph& graph,
                                                const SsspPlan& plan) {
  if (plan.wide) return std::make_unique<SsspAsync<std::uint64_t>>(machine, graph, plan);
  return std::make_unique<SsspAsync<std::uint32_t>>(machine, graph, plan);
}

}  // namespace shoal
