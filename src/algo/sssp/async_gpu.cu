#include "async.hpp"

namespace shoal {

std::unique_ptr<SsspEngine> make_sssp_async_gpu(const Machine& machine, const PlacedGraph& graph,
                                                const LaunchPlan& plan, bool wide) {
  if (wide) return std::make_unique<SsspAsync<std::uint64_t>>(machine, graph, plan);
  return std::make_unique<SsspAsync<std::uint32_t>>(machine, graph, plan);
}

}  // namespace shoal
