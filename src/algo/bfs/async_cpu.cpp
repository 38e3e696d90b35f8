#include "async.hpp"

namespace shoal {

std::unique_ptr<BfsEngine> make_bfs_async_cpu(const Machine& machine, const PlacedGraph& graph, const BfsPlan& plan) {
  return std::make_unique<BfsAsync<>>(machine, graph, plan);
}

}  // namespace shoal
