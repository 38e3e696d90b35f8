// PageRank by sweeps over all vertices, on GPUs: one cooperative kernel per PE, a barrier per sweep.
//
// For every vertex, a sweep computes r = alpha * sum of what in-neighbours give + c p - y, the difference between the rank that it
// should have and the one that it has (reference.hpp), and changes the rank by  d = w r + (w - 1) d_before.  There are two copies
// of what vertices give, one read in this sweep and one written for the next, so that r is exact for the ranks before the sweep,
// and its sum bounds their error.
//
//   every arc has its reverse: the eigenvalues of alpha A' are real, and w follows Chebyshev's recursion for [-rho, rho] with
//     c fixed. rho starts with the value for graphs with many arcs per vertex, and is raised to alpha, which is always safe, if
//     changes shrink more slowly than this rho promises.
//   otherwise: w = 1, and c keeps the sum at 1: power iteration.
//
// Source: Golub, Varga, "Chebyshev semi-iterative methods ...", 1961. Difference: rho follows the observed rate.
#pragma once
#include "lockstep/lockstep.cuh"
#include "rows.cuh"
#include "sweep_course.hpp"

namespace shoal::pagerank_gpu {

using lockstep::lane_id;
using lockstep::u32;
using lockstep::u64;
using lockstep::warp_sum;

/// With copies of the contributions of hot places there is one block on each multiprocessor, so that all its warps share one copy.
template <bool kHot>
inline constexpr int kThreads = kHot ? 1024 : 512;
template <bool kHot>
inline constexpr int kBlocksPerSm = kHot ? 1 : 3;
inline constexpr u32 kSlicesAtOnce = 4;
/// With several PEs, one block in this many begins with short rows. Short rows are most of what is sent, long rows most of what is
/// read: done side by side, they use links and memory at the same time (kron:26 on four H200: 56.9 ms, 59.5 one after the other).
inline constexpr u32 kSendersAmong = 4;

/// The data of one PE that kernels use; passed by value.
template <class Share>
struct View {
  lockstep::View team;
  PageRankRows rows;
  double* y;        ///< [count] by row: ranks before division by their sum
  Share* step;      ///< [count] d of the previous sweep
  Share* share[2];  ///< [n + 1] by place: y over out-degree, by sweep % 2, where own rows read it; the last entry is 0
  Share* peer_share[2][lockstep::kPeers];
  u32 num_hot;                  ///< number of places, from the first, whose contributions every block copies; 0: none
  const std::uint8_t* readers;  ///< [count] peers that read a row's place (readers.cuh); null: one PE
  u32* taken;                   ///< [3][2] units and slices handed out, by sweep % 3; zero at the start
  const double* personal;       ///< [count] by local placed vertex; null: uniform
  double uniform;               ///< 1 / n
  double* rank;                 ///< [count] by local placed vertex: the result
};

/// Indices into Outcome::word: number of sweeps, bound (float64 bits), final rho (float64 bits), whether the tolerance was reached;
/// with phases, whether they ended because changes shrink slowly.
enum Word { kSweeps, kBound, kRho, kSettled, kSlowly };

/// The contributions that entries stand for in a sweep. Those of hot places come from a copy in shared memory, which serves all
/// lanes of a warp at once, whereas a first-level cache looks up their lines one after the other.
template <bool kHot, class Share>
struct Gives {
  const Share* share;
  const Share* hot;
  u32 num_hot;
  __device__ Share operator[](vertex_t entry) const {
    if constexpr (kHot) {
      if (entry < num_hot) return hot[entry];
    }
    return share[entry];
  }
};

/// Copies the contributions of hot places for the sweep that begins. Block-collective.
template <bool kHot, class Share>
__device__ Gives<kHot, Share> gives_of(const View<Share>& v, u32 from, Share* hot) {
  if constexpr (kHot) {
    for (u32 i = threadIdx.x; i < v.num_hot; i += blockDim.x) hot[i] = v.share[from][i];
    __syncthreads();
  }
  return {v.share[from], hot, v.num_hot};
}

/// The findings of a lane in a sweep.
struct Found {
  double residual = 0, sum = 0, dangling = 0;
};

/// Writes a row's contribution into copy `to`, here and directly in the memory of the peers that read it.
template <class Share>
__device__ void publish(const View<Share>& v, u32 to, u32 row, Share share) {
  const u32 place = v.rows.place(row);
  v.share[to][place] = share;
  if (v.readers == nullptr) return;
  for (u32 left = v.readers[row]; left != 0; left &= left - 1) v.peer_share[to][__ffs(left) - 1][place] = share;
}

template <class Share>
__device__ double jump_to(const View<Share>& v, u32 row) {
  if (v.personal == nullptr) return v.uniform;
  return v.personal[v.rows.order != nullptr ? v.rows.order[row] : row];
}

/// Changes one row by the sum of its in-neighbours' contributions, in the sweep that reads copy `from`. Called by the row's lane
/// alone.
template <class Share>
struct ChangeRow {
  const View<Share>& v;
  const Rules& rules;
  const Course& at;
  u32 from;
  Found& found;

  __device__ void operator()(u32 row, double sum) const;
};

template <class Share>
__device__ void ChangeRow<Share>::operator()(u32 row, double sum) const {
  const double y = v.y[row];
  const double r = at.c * jump_to(v, row) + rules.alpha * sum - y;
  double d = at.w * r;
  if (at.m != 0) d += at.m * static_cast<double>(v.step[row]);
  if (rules.rho != 0) {  // the stored step is exactly what is added, so that the last step can be undone
    const Share kept = static_cast<Share>(d);
    v.step[row] = kept;
    d = static_cast<double>(kept);
  }
  const double now = y + d;
  const u32 degree = v.rows.degree[row];
  v.y[row] = now;
  publish(v, from ^ 1, row, static_cast<Share>(degree != 0 ? now / degree : 0));
  found.residual += fabs(r);
  found.sum += now;
  found.dangling += degree != 0 ? 0 : now;
}

/// Sums the contributions of a row's entries begin, begin + step, ... before `end`, for one of the lanes or threads that share the
/// row.
template <class Gives>
__device__ double sum_entries(const Gives& gives, const vertex_t* entries, arc_t begin, arc_t end, u32 step) {
  double sum = 0;
  arc_t k = begin;
  for (; k + 3 * step < end; k += 4 * step) {
    vertex_t t[4];
#pragma unroll
    for (u32 j = 0; j < 4; ++j) t[j] = __ldcs(entries + k + j * step);
    decltype(gives[0]) x[4];
#pragma unroll
    for (u32 j = 0; j < 4; ++j) x[j] = gives[t[j]];
#pragma unroll
    for (u32 j = 0; j < 4; ++j) sum += static_cast<double>(x[j]);
  }
  for (; k < end; k += step) sum += static_cast<double>(gives[__ldcs(entries + k)]);
  return sum;
}

/// Sweeps the longest rows, one block per row. Block-collective.
/// @param change  called with (row, sum of its in-neighbours' contributions), by one lane
template <class Share, class Gives, class Change>
__device__ void sweep_blocks(const View<Share>& v, const Gives& gives, const Change& change, double* partial) {
  for (u32 row = blockIdx.x; row < v.rows.num_block; row += gridDim.x) {
    double sum =
        sum_entries(gives, v.rows.targets, v.rows.offsets[row] + threadIdx.x, v.rows.offsets[row + 1], blockDim.x);
    sum = warp_sum(sum);
    if (lane_id() == 0) partial[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
      sum = warp_sum(threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0);
      if (threadIdx.x == 0) change(row, sum);
    }
    __syncthreads();
  }
}

/// Hands out [0, n) to warps, `most` at a time; returns the first index. Warp-collective.
inline __device__ u32 take(u32* counter, u32 most) {
  u32 first = 0;
  if (lane_id() == 0) first = atomicAdd(counter, most);
  return __shfl_sync(lockstep::kAll, first, 0);
}

/// Sweeps long rows, each with a warp; up to 32 of them are changed together.
template <class Share, class Gives, class Change>
__device__ void sweep_units(const View<Share>& v, const Gives& gives, const Change& change, u32* counter) {
  const u32 lane = lane_id();
  for (u32 u; (u = take(counter, 1)) < v.rows.num_units;) {
    const u32 end = v.rows.unit[u + 1];
    for (u32 base = v.rows.unit[u]; base < end; base += 32) {
      double mine = 0;
      const u32 rows = min(end - base, 32u);
      arc_t begin = v.rows.offsets[base];
      for (u32 j = 0; j < rows; ++j) {
        const arc_t stop = v.rows.offsets[base + j + 1];
        const double sum = warp_sum(sum_entries(gives, v.rows.targets, begin + lane, stop, 32));
        if (lane == j) mine = sum;
        begin = stop;
      }
      if (lane < rows) change(base + lane, mine);
      __syncwarp();
    }
  }
}

/// Sweeps slice s: short rows, one lane per row. Warp-collective.
template <class Share, class Gives, class Change>
__device__ void sweep_slice(const View<Share>& v, const Gives& gives, const Change& change, u32 s) {
  const u32 lane = lane_id();
  const double sum = sum_entries(gives, v.rows.slice_targets, v.rows.slice[s] + lane, v.rows.slice[s + 1], 32);
  const u32 row = v.rows.num_long + 32 * s + lane;
  if (row < v.rows.active) change(row, sum);
}

/// Sweeps slices [0, n).
template <class Share, class Gives, class Change>
__device__ void sweep_slices(const View<Share>& v, const Gives& gives, const Change& change, u32 n, u32* counter) {
  for (u32 s; (s = take(counter, kSlicesAtOnce)) < n;) {
    const u32 end = min(s + kSlicesAtOnce, n);
    for (; s < end; ++s) sweep_slice(v, gives, change, s);
  }
}

/// Sweeps long rows, and slices [0, n). With several PEs, some blocks begin with slices.
template <bool kMulti, class Share, class Gives, class Change>
__device__ void sweep_warps(const View<Share>& v, const Gives& gives, const Change& change, u32 n, u32* taken) {
  if constexpr (kMulti) {
    const u32 first = blockIdx.x % kSendersAmong == 0;
#pragma unroll 1
    for (u32 part = 0; part < 2; ++part) {
      if (part == first) {
        sweep_units(v, gives, change, taken);
      } else {
        sweep_slices(v, gives, change, n, taken + 1);
      }
    }
  } else {
    sweep_units(v, gives, change, taken);
    sweep_slices(v, gives, change, n, taken + 1);
  }
}

/// The first guess: as if nothing moved along arcs, which gives the right sum for each component without dangling vertices. In the
/// largest component, or where all vertices are much alike: jumps, plus the rest in proportion to arcs. Also sums what a sweep will
/// not: rows that are not swept, and dangling vertices.
template <class Share>
__device__ Found begin_rows(const View<Share>& v, const Rules& rules) {
  Found found;
  for (u32 row = lockstep::thread_id(); row < v.rows.count; row += lockstep::num_threads()) {
    const u32 degree = v.rows.degree[row];
    const double p = jump_to(v, row), jumps = (1 - rules.alpha) * p;
    const double y = rules.per_arc != 0 && row < v.rows.tied ? jumps + rules.per_arc * degree
                     : degree != 0 || rules.fixed_c == 0     ? p
                                                             : jumps;
    v.y[row] = y;
    if (rules.rho != 0) v.step[row] = 0;
    publish(v, 0, row, static_cast<Share>(degree != 0 ? y / degree : 0));
    if (row >= v.rows.active) found.residual += y;  // the sum of rows that are not swept
    found.sum += y;
    found.dangling += degree != 0 ? 0 : y;
  }
  return found;
}

/// Writes the final ranks. @param sum  of all ranks before they are divided by it
template <class Share>
__device__ void write_ranks(const View<Share>& v, const Rules& rules, double sum) {
  for (u32 row = lockstep::thread_id(); row < v.rows.count; row += lockstep::num_threads()) {
    double y = v.y[row];
    if (rules.rho != 0 && row < v.rows.active) y -= static_cast<double>(v.step[row]);
    v.rank[v.rows.order != nullptr ? v.rows.order[row] : row] = y / sum;
  }
}

/// Launched cooperatively on all PEs at the same time.
/// @tparam kHot  launched with num_hot * sizeof(Share) bytes of shared memory; one PE only
template <bool kMulti, bool kHot, class Share>
__global__ void __launch_bounds__(kThreads<kHot>, kBlocksPerSm<kHot>)
    rank_kernel(const __grid_constant__ View<Share> v, const __grid_constant__ Rules rules) {
  using lockstep::Op;
  __shared__ lockstep::Shared shared;
  __shared__ double partial[kThreads<kHot> / 32];
  extern __shared__ double hot_memory[];  // one name for every type of contribution
  lockstep::Gang<kMulti, Op::sum_double, Op::sum_double, Op::sum_double> gang(v.team, shared);
  const auto tell = [&](const Found& found) {
    const double residual = warp_sum(found.residual), sum = warp_sum(found.sum), dangling = warp_sum(found.dangling);
    if (lane_id() != 0) return;
    gang.template add_double<0>(residual);
    gang.template add_double<1>(sum);
    gang.template add_double<2>(dangling);
  };
  if (blockIdx.x == 0 && threadIdx.x < 2) v.taken[threadIdx.x] = 0;
  tell(begin_rows(v, rules));
  bool ok = gang.meet(), settled = false;
  const double still = gang.template total_double<0>();  // the sum of rows that are not swept
  Course at{};
  at.sum = gang.template total_double<1>();
  at.dangling = gang.template total_double<2>();
  at.rho = rules.rho;
  at.w = 1;
  u32 sweep = 0;
  double bound = 0;
  while (ok && !settled && sweep < rules.most_sweeps) {
    const double next_c = begin_sweep(rules, at);
    if (blockIdx.x == 0 && threadIdx.x < 2) v.taken[(sweep + 1) % 3 * 2 + threadIdx.x] = 0;
    Found found;
    u32* const taken = v.taken + sweep % 3 * 2;
    const auto gives = gives_of<kHot>(v, sweep & 1, reinterpret_cast<Share*>(hot_memory));
    const ChangeRow<Share> change{v, rules, at, sweep & 1, found};
    sweep_blocks(v, gives, change, partial);
    sweep_warps<kMulti>(v, gives, change, v.rows.num_slices, taken);
    tell(found);
    ok = gang.meet();
    ++sweep;
    settled = end_sweep(rules, still, next_c, gang.template total_double<0>(), gang.template total_double<1>(),
                        gang.template total_double<2>(), at, bound);
  }
  write_ranks(v, rules, at.sum);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    u64* const word = v.team.outcome->word;
    word[kSweeps] = sweep;
    word[kBound] = static_cast<u64>(__double_as_longlong(bound));
    word[kRho] = static_cast<u64>(__double_as_longlong(at.rho));
    word[kSettled] = settled;
  }
  gang.finish();
}

}  // namespace shoal::pagerank_gpu
