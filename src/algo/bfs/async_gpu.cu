#define SHOAL_CODE_FOR CodeFor::gpu
#include "async.hpp"
#include "kernels/bfs.cuh"

namespace shoal {

std::unique_ptr<BfsEngine> make_bfs_async_gpu(const Machine& machine, const PlacedGraph& graph, const BfsPlan& plan) {
  return std::make_unique<BfsAsync<>>(machine, graph, plan);
}

}  // namespace shoal
