#include "pull_apart.cuh"

#include <algorithm>
#include <chrono>

#include "shoal/device/cuda_check.cuh"

namespace shoal {

namespace pagerank_gpu {

namespace {

constexpr int kCopyThreads = 256;

/// What a PE reports at the end of a step.
struct Told {
  double residual, sum, dangling;
  u64 failed;  ///< not 0: its kernel was stopped
};

struct SweepStep {
  Rules rules;
  Course at;
  u32 sweep;
  Told* told;
};

unsigned blocks_to_copy(std::int64_t n) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((n + kCopyThreads - 1) / kCopyThreads, 1, 132 * 8));
}

template <class Share>
__global__ void pack(const Share* share, const vertex_t* places, std::int64_t n, Share* out) {
  for (std::int64_t i = blockIdx.x * std::int64_t{kCopyThreads} + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * kCopyThreads) {
    out[i] = share[places[i]];
  }
}
template <class Share>
__global__ void unpack(const Share* in, const vertex_t* places, std::int64_t n, Share* share) {
  for (std::int64_t i = blockIdx.x * std::int64_t{kCopyThreads} + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * kCopyThreads) {
    share[places[i]] = in[i];
  }
}

using ApartGang = lockstep::Gang<false, lockstep::Op::sum_double, lockstep::Op::sum_double, lockstep::Op::sum_double>;

/// The barrier; afterwards writes the sums of what all blocks found.
inline __device__ void tell(ApartGang& gang, const Found& found, Told* told) {
  const double residual = warp_sum(found.residual), sum = warp_sum(found.sum), dangling = warp_sum(found.dangling);
  if (lane_id() == 0) {
    gang.add_double<0>(residual);
    gang.add_double<1>(sum);
    gang.add_double<2>(dangling);
  }
  const bool ok = gang.meet();
  if (lockstep::thread_id() == 0) {
    *told = {gang.total_double<0>(), gang.total_double<1>(), gang.total_double<2>(), ok ? 0u : 1u};
  }
  gang.finish();
}

template <class Share>
__global__ void __launch_bounds__(kThreads<false>, kBlocksPerSm<false>)
    begin_apart(const __grid_constant__ View<Share> v, const __grid_constant__ SweepStep step) {
  __shared__ lockstep::Shared shared;
  ApartGang gang(v.team, shared);
  if (blockIdx.x == 0 && threadIdx.x < 6) v.taken[threadIdx.x] = 0;
  tell(gang, begin_rows(v, step.rules), step.told);
}

template <class Share>
__global__ void __launch_bounds__(kThreads<false>, kBlocksPerSm<false>)
    sweep_apart(const __grid_constant__ View<Share> v, const __grid_constant__ SweepStep step) {
  __shared__ lockstep::Shared shared;
  __shared__ double partial[kThreads<false> / 32];
  ApartGang gang(v.team, shared);
  if (blockIdx.x == 0 && threadIdx.x < 2) v.taken[(step.sweep + 1) % 3 * 2 + threadIdx.x] = 0;
  Found found;
  u32* const taken = v.taken + step.sweep % 3 * 2;
  const u32 from = step.sweep & 1;
  const Gives<false, Share> gives{v.share[from], nullptr, 0};
  const ChangeRow<Share> change{v, step.rules, step.at, from, found};
  sweep_blocks(v, gives, change, partial);
  sweep_warps<false>(v, gives, change, v.rows.num_slices, taken);
  tell(gang, found, step.told);
}

template <class Share>
__global__ void end_apart(const __grid_constant__ View<Share> v, const __grid_constant__ SweepStep step) {
  write_ranks(v, step.rules, step.at.sum);
}

/// Sums over all PEs, in the order of PEs, so the bits are equal in every process.
Told sum_of(const std::vector<Told>& all) {
  Told sum{};
  for (const Told& its : all) {
    sum.residual += its.residual;
    sum.sum += its.sum;
    sum.dangling += its.dangling;
  }
  return sum;
}

}  // namespace

}  // namespace pagerank_gpu

using namespace pagerank_gpu;

template <class Share>
PageRankSweepsApart<Share>::PageRankSweepsApart(const PlacedGraph& graph, LockstepTeam& team, Apart& apart,
                                                const PageRankReadersGpu& readers)
    : graph_(graph), team_(team), apart_(apart), readers_(readers), memory_(graph.devices) {
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    out_.push_back(memory_.array<Share>(p, readers.sent_by(p).begin.back(), "contributions to be sent"));
    in_.push_back(memory_.array<Share>(p, readers.received_by(p).begin.back(), "contributions received"));
  }
  const auto prepare = [&](const void* kernel) {
    return team.prepare(kernel, kThreads<false>, 0, kBlocksPerSm<false>);
  };
  begin_blocks_ = prepare(reinterpret_cast<const void*>(begin_apart<Share>));
  sweep_blocks_ = prepare(reinterpret_cast<const void*>(sweep_apart<Share>));
  end_blocks_ = prepare(reinterpret_cast<const void*>(end_apart<Share>));
}

/// Exchanges the contributions of other PEs that the next sweep reads. @param which  sweep % 2
template <class Share>
void PageRankSweepsApart<Share>::send(const std::vector<View<Share>>& views, std::uint32_t which) {
  std::vector<WirePart> sent, received;
  const auto add = [&](std::vector<WirePart>& parts, pe_t p, Share* data, const PageRankReadersGpu::List& list) {
    for (pe_t q = 0; q < graph_.all_pes(); ++q) {
      const std::int64_t begin = list.begin[q], n = list.begin[q + 1] - begin;
      if (n > 0) parts.push_back({p, q, data + begin, static_cast<std::size_t>(n) * sizeof(Share)});
    }
  };
  for (pe_t p = 0; p < graph_.n_pes(); ++p) {
    const PageRankReadersGpu::List& list = readers_.sent_by(p);
    add(sent, p, out_[p], list);
    add(received, p, in_[p], readers_.received_by(p));
    const std::int64_t n = list.begin.back();
    if (n == 0) continue;
    DeviceGuard guard(team_.device(p));
    pack<<<blocks_to_copy(n), kCopyThreads, 0, team_.stream(p)>>>(views[p].share[which], list.places.data(), n,
                                                                  out_[p]);
    SHOAL_CUDA(cudaGetLastError());
  }
  apart_.exchange(sent, received);
  for (pe_t p = 0; p < graph_.n_pes(); ++p) {
    const PageRankReadersGpu::List& list = readers_.received_by(p);
    const std::int64_t n = list.begin.back();
    if (n == 0) continue;
    DeviceGuard guard(team_.device(p));
    unpack<<<blocks_to_copy(n), kCopyThreads, 0, team_.stream(p)>>>(in_[p], list.places.data(), n,
                                                                    views[p].share[which]);
    SHOAL_CUDA(cudaGetLastError());
  }
}

template <class Share>
PageRankReached PageRankSweepsApart<Share>::rank(std::vector<View<Share>>& views, const Rules& rules, Report& report) {
  PageRankReached reached;
  apart_.together(report, [&](Report& mine) {
    const auto start = std::chrono::steady_clock::now();
    SweepStep step{rules, {}, 0, nullptr};
    const auto launch = [&](const void* kernel, const std::vector<int>& blocks) {
      for (pe_t p = 0; p < graph_.n_pes(); ++p) {
        step.told = apart_.told<Told>(p);
        apart_.launch(p, kernel, blocks[p], kThreads<false>, 0, {&views[p], &step});
      }
    };
    launch(reinterpret_cast<const void*>(begin_apart<Share>), begin_blocks_);
    Told last = sum_of(apart_.hear<Told>());
    const double still = last.residual;
    Course& at = step.at;
    at.sum = last.sum;
    at.dangling = last.dangling;
    at.rho = rules.rho;
    at.w = 1;
    while (!reached.settled && step.sweep < rules.most_sweeps) {
      const double next_c = begin_sweep(rules, at);
      send(views, step.sweep & 1);
      launch(reinterpret_cast<const void*>(sweep_apart<Share>), sweep_blocks_);
      last = sum_of(apart_.hear<Told>());
      ++step.sweep;
      reached.settled = end_sweep(rules, still, next_c, last.residual, last.sum, last.dangling, at, reached.bound);
    }
    launch(reinterpret_cast<const void*>(end_apart<Share>), end_blocks_);
    apart_.wait();
    reached.sweeps = step.sweep;
    reached.rho = at.rho;
    mine.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  return reached;
}

template class PageRankSweepsApart<float>;
template class PageRankSweepsApart<double>;

}  // namespace shoal
