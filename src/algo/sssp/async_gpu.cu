#define SHOAL_CODE_FOR CodeFor::gpu
#include "async.hpp"
#include "kernels/sssp_narrow.cuh"
#include "kernels/sssp_wide.cuh"

namespace shoal {

std::unique_ptr<SsspEngine> make_sssp_async_gpu(const Machine& machine, const PlacedGraph& graph,
                                                const SsspPlan& plan) {
  if (plan.wide) return std::make_unique<SsspAsync<std::uint64_t>>(machine, graph, plan);
  return std::make_unique<SsspAsync<std::uint32_t>>(machine, graph, plan);
}

}  // namespace shoal
