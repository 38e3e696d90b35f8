#include "pagerank_async.hpp"
#include "shoal/core/cuda_check.cuh"

namespace shoal {
namespace {

constexpr int kThreads = 256, kBlocks = 132 * 8;

__device__ void add_up(double x, double* to) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xFFFFFFFFu, x, d);
  if ((threadIdx.x & 31) == 0 && x != 0) atomicAdd(to, x);
}

__global__ void sum_up(const __grid_constant__ PageRank task, PageRankSums* sums) {
  double left = 0, drift = 0, jumps = 0, ranks = 0;
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < task.graph.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const double r = task.residual[i];
    ranks += fmax(task.y[i] + r, 0.0);
    if (task.graph.offsets[i + 1] == task.graph.offsets[i]) continue;
    left += fabs(r);
    drift += r;
    jumps += task.personal != nullptr ? task.personal[i] : task.uniform;
  }
  add_up(left, &sums->left);
  add_up(drift, &sums->drift);
  add_up(jumps, &sums->jumps);
  add_up(ranks, &sums->ranks);
}

__global__ void settle_all(const __grid_constant__ PageRank task, double scale) {
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < task.graph.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    task.y[i] = fmax(task.y[i] + task.residual[i], 0.0) * scale;
  }
}

/// All vertices of a PE, on its device.
struct HandsGpu {
  std::vector<DeviceArray<PageRankSums>> found;  ///< [n_pes] made when first needed

  template <class Engine>
  void clear(const Engine& engine, pe_t p) {
    const PlacedGraph& graph = engine.graph();
    DeviceGuard guard(graph.devices[p]);
    if (found.empty()) found.resize(graph.n_pes());
    if (found[p].size() == 0) found[p] = DeviceArray<PageRankSums>(1, "sums");
    const std::size_t bytes = graph.out[p].count * sizeof(double);
    if (bytes == 0) return;
    SHOAL_CUDA(cudaMemsetAsync(engine.task(p).y, 0, bytes));
    SHOAL_CUDA(cudaMemsetAsync(engine.task(p).residual, 0, bytes));
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
  template <class Engine>
  PageRankSums sums(const Engine& engine, pe_t p) {
    DeviceGuard guard(engine.graph().devices[p]);
    found[p].fill_bytes(0);
    sum_up<<<kBlocks, kThreads>>>(engine.task(p), found[p].data());
    SHOAL_CUDA(cudaGetLastError());
    PageRankSums sums;
    found[p].download(&sums, 1);
    return sums;
  }
  template <class Engine>
  void settle(const Engine& engine, pe_t p, double scale) const {
    DeviceGuard guard(engine.graph().devices[p]);
    settle_all<<<kBlocks, kThreads>>>(engine.task(p), scale);
    SHOAL_CUDA(cudaGetLastError());
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
  static PageRankCheck check(const Machine&, const PlacedGraph& graph, const double* ranks, double alpha,
                             const double* personal) {
    return check_pagerank_on_devices(graph, ranks, alpha, personal);
  }
};

}  // namespace

std::unique_ptr<PageRankEngine> make_pagerank_async_gpu(const Machine& machine, const PlacedGraph& graph,
                                                        const LaunchPlan& plan, const PageRankRules& rules) {
  return std::make_unique<PageRankAsync<PageRank, HandsGpu>>(machine, graph, plan, rules);
}

}  // namespace shoal
