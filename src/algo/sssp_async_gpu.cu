#include "shoal/core/cuda_check.cuh"
#include "sssp_async.hpp"

namespace shoal {
namespace {

/// Unreached is all ones, so clearing is a memset, on all devices at once.
struct ClearGpu {
  template <class Word>
  void operator()(const Machine& machine, const PlacedGraph& graph, const std::vector<Word*>& known) const {
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      DeviceGuard guard(machine.devices()[p]);
      SHOAL_CUDA(cudaMemsetAsync(known[p], 0xFF, graph.num_vertices * sizeof(Word), 0));
    }
    for (const int device : machine.devices()) {
      DeviceGuard guard(device);
      SHOAL_CUDA(cudaStreamSynchronize(0));
    }
  }
};

}  // namespace

std::unique_ptr<SsspEngine> make_sssp_async_gpu(const Machine& machine, const PlacedGraph& graph,
                                                const LaunchPlan& plan, bool wide) {
  if (wide) return std::make_unique<SsspAsync<std::uint64_t, ClearGpu>>(machine, graph, plan, ClearGpu{});
  return std::make_unique<SsspAsync<std::uint32_t, ClearGpu>>(machine, graph, plan, ClearGpu{});
}

}  // namespace shoal
