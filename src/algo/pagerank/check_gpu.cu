// One step of PageRank on GPUs, in float64, computed directly from the placed graph, with which a result is checked.
#include <cmath>

#include "algo/words_gpu.cuh"
#include "check.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/device_memory.cuh"

namespace shoal {
namespace {

constexpr int kResidualThreads = 256, kResidualBlocks = 132 * 8;

struct Found {
  double sum, dangling, residual;
  unsigned long long worst;  ///< high half: float bits of the largest difference; low: complement of the local row
};

/// Adds x of all threads of the block to *to; every thread calls it.
__device__ void add_block(double x, double* to) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xFFFFFFFFu, x, d);
  if ((threadIdx.x & 31) == 0) atomicAdd(to, x);
}

__global__ void give(CsrView out, const double* rank, double* share, Found* found) {
  double sum = 0, dangling = 0;
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < out.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const auto degree = static_cast<double>(out.offsets[i + 1] - out.offsets[i]);
    sum += rank[i];
    dangling += degree == 0 ? rank[i] : 0;
    share[i] = degree > 0 ? rank[i] / degree : 0;
  }
  add_block(sum, &found->sum);
  add_block(dangling, &found->dangling);
}

/// One warp per row.
__global__ void take(CsrView in, const double* rank, const double* all_shares, const double* personal, double uniform,
                     double alpha, double jumps, Found* found) {
  const std::int64_t lane = threadIdx.x & 31, warp = (blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x) >> 5;
  double residual = 0;
  unsigned long long worst = 0;
  for (std::int64_t i = warp; i < in.count; i += std::int64_t{gridDim.x} * blockDim.x >> 5) {
    double sum = 0;
    for (arc_t a = in.offsets[i] + lane; a < in.offsets[i + 1]; a += 32) sum += all_shares[in.targets[a]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, d);
    if (lane != 0) continue;
    const double off = fabs(alpha * sum + jumps * (personal != nullptr ? personal[i] : uniform) - rank[i]);
    residual += off;
    const unsigned long long packed = static_cast<unsigned long long>(__float_as_uint(static_cast<float>(off))) << 32 |
                                      (0xFFFFFFFFu - static_cast<unsigned>(i));
    worst = packed > worst ? packed : worst;
  }
  __syncwarp();
  add_block(residual, &found->residual);
  if (lane == 0 && worst != 0) atomicMax(&found->worst, worst);
}

/// The new rank of row i after one step. One thread.
__global__ void step_of(CsrView in, std::int64_t i, const double* all_shares, const double* personal, double uniform,
                        double alpha, double jumps, double* step) {
  double sum = 0;
  for (arc_t a = in.offsets[i]; a < in.offsets[i + 1]; ++a) sum += all_shares[in.targets[a]];
  *step = alpha * sum + jumps * (personal != nullptr ? personal[i] : uniform);
}

}  // namespace

PageRankCheck check_pagerank_on_devices(const PlacedGraph& graph, const double* ranks, double alpha,
                                        const double* personal, World* world) {
  PageRankCheck check;
  const std::int64_t n = graph.num_vertices;
  for (std::int64_t v = 0; v < n; ++v) {
    if (ranks[v] >= 0 && std::isfinite(ranks[v])) continue;
    check.bad = static_cast<vertex_t>(v);
    check.worst_is = ranks[v];
    return check;
  }
  struct Pe {
    DeviceArray<double> rank, share, personal;
    DeviceArray<Found> found;
    Found got{};
  };
  std::vector<Pe> pes(graph.n_pes());
  double dangling = 0;
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const CsrView& rows = graph.out[p];
    DeviceGuard guard(graph.devices[p]);
    Pe& pe = pes[p];
    pe.rank = DeviceArray<double>(rows.count, "ranks to check");
    pe.rank.upload(ranks + rows.first, rows.count);
    pe.share = DeviceArray<double>(n, "contributions of all PEs");
    pe.personal = DeviceArray<double>(personal != nullptr ? rows.count : 0, "personalization");
    if (personal != nullptr) pe.personal.upload(personal + rows.first, rows.count);
    pe.found = DeviceArray<Found>(1, "sums");
    pe.found.fill_bytes(0);
    give<<<kResidualBlocks, kResidualThreads>>>(rows, pe.rank.data(), pe.share.data() + rows.first, pe.found.data());
    SHOAL_CUDA(cudaGetLastError());
    pe.found.download(&pe.got, 1);
    check.sum += pe.got.sum;
    dangling += pe.got.dangling;
  }
  if (world != nullptr) {
    struct Sums {
      double ranks = 0, dangling = 0;
    } all;
    for (const Sums& its : of_processes(world, Sums{check.sum, dangling})) {
      all.ranks += its.ranks;
      all.dangling += its.dangling;
    }
    check.sum = all.ranks;
    dangling = all.dangling;
    std::vector<double*> shares;
    for (Pe& pe : pes) shares.push_back(pe.share.data());
    complete_on_devices(*world, graph, shares, [&graph](pe_t q) { return graph.partition.owner.begin[q]; });
  }
  const double jumps = (1 - alpha) * check.sum + alpha * dangling;
  const double uniform = n > 0 ? 1.0 / static_cast<double>(n) : 0;
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const CsrView& rows = graph.in[p];
    DeviceGuard guard(graph.devices[p]);
    Pe& pe = pes[p];
    for (pe_t q = 0; q < graph.n_pes(); ++q) {
      const CsrView& theirs = graph.out[q];
      if (p == q || theirs.count == 0 || world != nullptr) continue;
      SHOAL_CUDA(cudaMemcpyPeer(pe.share.data() + theirs.first, graph.devices[p], pes[q].share.data() + theirs.first,
                                graph.devices[q], theirs.count * sizeof(double)));
    }
    take<<<kResidualBlocks, kResidualThreads>>>(rows, pe.rank.data(), pe.share.data(), pe.personal.data(), uniform,
                                                alpha, jumps, pe.found.data());
    SHOAL_CUDA(cudaGetLastError());
    pe.found.download(&pe.got, 1);
    check.residual += pe.got.residual;
    if (pe.got.worst == 0 || rows.count == 0) continue;
    const std::int64_t row = 0xFFFFFFFFu - static_cast<unsigned>(pe.got.worst);
    DeviceArray<double> step(1, "a step");
    step_of<<<1, 1>>>(rows, row, pe.share.data(), pe.personal.data(), uniform, alpha, jumps, step.data());
    SHOAL_CUDA(cudaGetLastError());
    double should = 0;
    step.download(&should, 1);
    const double is = ranks[rows.first + row];
    if (check.worst == kNoVertex || std::abs(should - is) > std::abs(check.worst_should - check.worst_is)) {
      check.worst = rows.first + static_cast<vertex_t>(row);
      check.worst_is = is;
      check.worst_should = should;
    }
  }
  if (world == nullptr) return check;
  PageRankCheck all;
  all.sum = check.sum;
  for (const PageRankCheck& its : of_processes(world, check)) add_rows(all, its);
  return all;
}

}  // namespace shoal
