#define SHOAL_CODE_FOR CodeFor::gpu
#include "async.hpp"
#include "kernels/pagerank.cuh"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal {

namespace {

constexpr int kRankThreads = 512, kRankBlocks = 132 * 4;

/// Writes the sums of what a block's threads have found.
__device__ void add_up(const PageRankSums& found, PageRankSums& to) {
  constexpr int kSums = 4, kWarps = kRankThreads / 32;
  static_assert(kSums <= kWarps && kWarps <= 32, "a warp for each sum, and a lane of it for each warp's part");
  __shared__ double of_warp[kSums][kWarps];
  const double sums[kSums] = {found.left, found.drift, found.jumps, found.ranks};
  double* const places[kSums] = {&to.left, &to.drift, &to.jumps, &to.ranks};
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
    if (lane == 0) *places[warp] = x;
  }
}

/// Adds what the other PEs owe to the residuals of the task's PE, which has number `me`, and sums up. The sums that are owed stay as
/// they are: zeros would have to be written to the other PEs' memory.
/// @param owed   of every PE, if `gathers`
/// @param found  [kRankBlocks] the sums of each block
__global__ void collect_and_sum(const __grid_constant__ PageRank task, const __grid_constant__ Symmetric<double> owed,
                                bool gathers, pe_t me, pe_t n_pes, PageRankSums* found) {
  PageRankSums mine;
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < task.graph.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    double r = task.residual[i];
    if (gathers) {
      double due = 0;
      for (pe_t q = 0; q < n_pes; ++q) due += q == me ? 0 : owed.part[q][task.graph.first + i];
      if (due != 0) task.residual[i] = r += due;
    }
    mine.ranks += fmax(task.y[i] + r, 0.0);
    if (task.graph.offsets[i + 1] == task.graph.offsets[i]) continue;
    mine.left += fabs(r);
    mine.drift += r;
    mine.jumps += task.personal != nullptr ? task.personal[i] : task.uniform;
  }
  add_up(mine, found[blockIdx.x]);
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

/// Operations on all vertices of a PE, on its device.
struct RankHandsGpu {
  static constexpr double kShrink = 8;  ///< larger than on CPU threads, since each run costs launches and copies
  /// Several GPUs need one run less so, as a run takes longer there. On one, kron:20 takes 0.91 of the time with 2, uniform:22 0.90, but
  /// community:22 1.14 and road:2048 1.03 (docs/decisions/0086-what-a-run-costs.md).
  static double first(pe_t n_pes) { return n_pes > 1 ? 2 : 4; }

  Symmetric<double> owed_of{};
  std::vector<DeviceArray<double>> all_owed;  ///< [n_pes] made when first needed
  std::shared_ptr<void> found;                ///< [n_pes * kRankBlocks] the host's, for kernels; made when first needed
  std::vector<DeviceArray<std::uint8_t>> all_logs;  ///< [n_pes] made when first needed

  /// [kRankBlocks] what the blocks of PE p have found
  PageRankSums* found_by(pe_t p) const { return static_cast<PageRankSums*>(found.get()) + p * kRankBlocks; }
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
    collect_and_sum<<<kRankBlocks, kRankThreads>>>(engine.task(p), owed_of, !all_owed.empty(), p,
                                                   engine.graph().n_pes(), found_by(p));
    SHOAL_CUDA(cudaGetLastError());
  }
  template <class Engine>
  void forget_owed(const Engine& engine, pe_t p) {
    if (all_owed.empty()) return;
    DeviceGuard guard(engine.graph().devices[p]);
    SHOAL_CUDA(cudaMemsetAsync(all_owed[p].data(), 0, all_owed[p].size_bytes()));
  }
  template <class Engine>
  void clear(const Engine& engine, pe_t p) {
    const PlacedGraph& graph = engine.graph();
    DeviceGuard guard(graph.devices[p]);
    if (!found) found = pinned_memory(graph.n_pes() * kRankBlocks * sizeof(PageRankSums), "sums");
    const std::size_t bytes = graph.out[p].count * sizeof(double);
    forget_owed(engine, p);
    if (bytes == 0) return;
    SHOAL_CUDA(cudaMemsetAsync(engine.task(p).y, 0, bytes));
    SHOAL_CUDA(cudaMemsetAsync(engine.task(p).residual, 0, bytes));
  }
  template <class Engine>
  PageRankSums sums(const Engine& engine, pe_t p) {
    DeviceGuard guard(engine.graph().devices[p]);
    SHOAL_CUDA(cudaDeviceSynchronize());
    PageRankSums all;
    for (int block = 0; block < kRankBlocks; ++block) all += found_by(p)[block];
    return all;
  }
  template <class Engine>
  void settle(const Engine& engine, pe_t p, double scale) const {
    DeviceGuard guard(engine.graph().devices[p]);
    settle_all<<<kRankBlocks, kRankThreads>>>(engine.task(p), scale);
    SHOAL_CUDA(cudaGetLastError());
  }
};

}  // namespace

std::unique_ptr<PageRankEngine> make_pagerank_async_gpu(const Machine& machine, const PlacedGraph& graph,
                                                        const PageRankPlan& plan) {
  return std::make_unique<PageRankAsync<PageRank, RankHandsGpu>>(machine, graph, plan);
}

}  // namespace shoal
