#define SHOAL_CODE_FOR CodeFor::gpu
#include "async.hpp"
#include "kernels/pagerank.cuh"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal {

namespace {

constexpr int kRankThreads = 512, kRankBlocks = 132 * 4;

/// Adds the findings of a block's threads, with one atomic addition for each sum.
__device__ void add_up(const PageRankSums& found, PageRankSums* to) {
  constexpr int kSums = 4, kWarps = kRankThreads / 32;
  static_assert(kSums <= kWarps && kWarps <= 32, "a warp for each sum, and a lane of it for each warp's part");
  __shared__ double of_warp[kSums][kWarps];
  const double sums[kSums] = {found.left, found.drift, found.jumps, found.ranks};
  double* const places[kSums] = {&to->left, &to->drift, &to->jumps, &to->ranks};
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  for (int k = 0; k < kSums; ++k) {
    double x = sums[k];
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xFFFFFFFFu, x, d);
    if (lane == 0) of_warp[k][warp] = x;
  }
  __syncthreads();
  if (warp < kSums) {
    double x = lane < kWarps ? of_warp[warp][lane] : 0;
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xFFFFFFFFu, x, d);
    if (lane == 0 && x != 0) atomicAdd(places[warp], x);
  }
}

__global__ void sum_up(const __grid_constant__ PageRank task, PageRankSums* sums) {
  PageRankSums found;
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < task.graph.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const double r = task.residual[i];
    found.ranks += fmax(task.y[i] + r, 0.0);
    if (task.graph.offsets[i + 1] == task.graph.offsets[i]) continue;
    found.left += fabs(r);
    found.drift += r;
    found.jumps += task.personal != nullptr ? task.personal[i] : task.uniform;
  }
  add_up(found, sums);
}

__global__ void set_log_degrees(CsrView rows, std::uint8_t* log_degrees) {
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < rows.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    log_degrees[rows.first + i] = log_of_degree(rows.offsets[i + 1] - rows.offsets[i]);
  }
}

__global__ void settle_all(const __grid_constant__ PageRank task, double scale) {
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < task.graph.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    task.y[i] = fmax(task.y[i] + task.residual[i], 0.0) * scale;
  }
}

/// Adds what the other PEs owe to the vertices of the task's PE, which has number `me`.
__global__ void collect_owed(const __grid_constant__ PageRank task, Symmetric<double> owed, pe_t me, pe_t n_pes) {
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < task.graph.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    for (pe_t q = 0; q < n_pes; ++q) {
      if (q == me) continue;
      double& its = owed.part[q][task.graph.first + i];
      if (its == 0) continue;
      task.residual[i] += its;
      its = 0;
    }
  }
}

/// Operations on all vertices of a PE, on its device.
struct RankHandsGpu {
  static constexpr double kShrink = 8;  ///< larger than on CPU threads, since each run costs launches and snapshots

  Symmetric<double> owed_of{};
  std::vector<DeviceArray<double>> all_owed;        ///< [n_pes] made when first needed
  std::vector<DeviceArray<PageRankSums>> found;     ///< [n_pes] made when first needed
  std::shared_ptr<void> found_here;                 ///< [n_pes] copies in page-locked memory
  std::vector<DeviceArray<std::uint8_t>> all_logs;  ///< [n_pes] made when first needed

  PageRankSums* here(pe_t p) const { return static_cast<PageRankSums*>(found_here.get()) + p; }
  const std::uint8_t* log_degrees(const PlacedGraph& graph, pe_t p) {
    if (all_logs.empty()) {
      for (pe_t q = 0; q < graph.n_pes(); ++q) {
        DeviceGuard guard(graph.devices[q]);
        all_logs.emplace_back(graph.num_vertices, "logarithms of out-degrees of all PEs");
        set_log_degrees<<<kRankBlocks, kRankThreads>>>(graph.out[q], all_logs[q].data());
        SHOAL_CUDA(cudaGetLastError());
        SHOAL_CUDA(cudaDeviceSynchronize());
      }
      for (pe_t q = 0; q < graph.n_pes(); ++q) {
        const CsrView& own = graph.out[q];
        for (pe_t to = 0; to < graph.n_pes(); ++to) {
          if (to == q || own.count == 0) continue;
          SHOAL_CUDA(cudaMemcpyPeer(all_logs[to].data() + own.first, graph.devices[to], all_logs[q].data() + own.first,
                                    graph.devices[q], own.count));
        }
      }
      for (const int device : graph.devices) {
        DeviceGuard guard(device);
        SHOAL_CUDA(cudaDeviceSynchronize());
      }
    }
    return all_logs[p].data();
  }
  double* owed(const PlacedGraph& graph, pe_t p) {
    DeviceGuard guard(graph.devices[p]);
    all_owed.emplace_back(graph.num_vertices, "shares for other PEs");
    return owed_of.part[p] = all_owed.back().data();
  }
  template <class Engine>
  void collect(const Engine& engine, pe_t p) {
    DeviceGuard guard(engine.graph().devices[p]);
    const PageRank& task = engine.task(p);
    if (!all_owed.empty()) collect_owed<<<kRankBlocks, kRankThreads>>>(task, owed_of, p, engine.graph().n_pes());
    SHOAL_CUDA(cudaMemsetAsync(found[p].data(), 0, sizeof(PageRankSums)));
    sum_up<<<kRankBlocks, kRankThreads>>>(task, found[p].data());
    SHOAL_CUDA(cudaGetLastError());
    SHOAL_CUDA(cudaMemcpyAsync(here(p), found[p].data(), sizeof(PageRankSums), cudaMemcpyDeviceToHost));
  }
  template <class Engine>
  void clear(const Engine& engine, pe_t p) {
    const PlacedGraph& graph = engine.graph();
    DeviceGuard guard(graph.devices[p]);
    if (found.empty()) {
      found.resize(graph.n_pes());
      found_here = pinned_memory(graph.n_pes() * sizeof(PageRankSums), "sums");
    }
    if (found[p].size() == 0) found[p] = DeviceArray<PageRankSums>(1, "sums");
    const std::size_t bytes = graph.out[p].count * sizeof(double);
    if (!all_owed.empty()) SHOAL_CUDA(cudaMemsetAsync(all_owed[p].data(), 0, graph.num_vertices * sizeof(double)));
    if (bytes > 0) {
      SHOAL_CUDA(cudaMemsetAsync(engine.task(p).y, 0, bytes));
      SHOAL_CUDA(cudaMemsetAsync(engine.task(p).residual, 0, bytes));
    }
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
  template <class Engine>
  PageRankSums sums(const Engine& engine, pe_t p) {
    DeviceGuard guard(engine.graph().devices[p]);
    SHOAL_CUDA(cudaDeviceSynchronize());
    return *here(p);
  }
  template <class Engine>
  void settle(const Engine& engine, pe_t p, double scale) const {
    DeviceGuard guard(engine.graph().devices[p]);
    settle_all<<<kRankBlocks, kRankThreads>>>(engine.task(p), scale);
    SHOAL_CUDA(cudaGetLastError());
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
};

}  // namespace

std::unique_ptr<PageRankEngine> make_pagerank_async_gpu(const Machine& machine, const PlacedGraph& graph,
                                                        const PageRankPlan& plan) {
  return std::make_unique<PageRankAsync<PageRank, RankHandsGpu>>(machine, graph, plan);
}

}  // namespace shoal
