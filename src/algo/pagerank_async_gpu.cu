#include "pagerank_async.hpp"

namespace shoal {
namespace {

struct CheckGpu {
  PageRankCheck operator()(const Machine&, const PlacedGraph& graph, const double* ranks, double alpha,
                           const double* personal) const {
    return check_pagerank_on_devices(graph, ranks, alpha, personal);
  }
};

}  // namespace

std::unique_ptr<PageRankEngine> make_pagerank_async_gpu(const Machine& machine, const PlacedGraph& graph,
                                                        const LaunchPlan& plan, const PageRankRules& rules) {
  return std::make_unique<PageRankAsync<PageRank, CheckGpu>>(machine, graph, plan, rules);
}

}  // namespace shoal
