// PageRank by sweeps in phases, on GPUs: a sweep of all rows, then sweeps of the short rows alone, which read the newest
// contributions of the others.
//
// Where most arcs lead to hubs (R-MAT graphs), ranks settle fast except those of short rows: many vertices with few arcs, in chains
// and small trees. So after each sweep of all rows, short rows are swept kShortSweeps more times. Long and short rows each have two
// copies of their contributions, one that is read and one that is written, and switch copies separately: no phase reads what it
// writes.
//
//   rows of the largest component: r = alpha * sum of what in-neighbours give + c p - y, with a c that follows their sum and
//     changes with the phases; in the end they are multiplied by (1 - alpha) / c. All other rows keep c = 1 - alpha.
//   the bound: after a phase of all rows and one of short rows, a row that is not short lacks alpha times what others have
//     changed in both phases; a short row lacks alpha times what others have changed since it was swept:
//     residual <= s (alpha * change + |c' - c| p), s = (1 - alpha) / c'.
//
// pull_cpu.cpp does the same, with over-relaxation in addition (docs/decisions/0052-sweeps-on-cpu-threads.md,
// 0063-sweeps-in-phases.md).
#pragma once
#include "phase_course.hpp"
#include "short_rows.hpp"
#include "sweep.cuh"

namespace shoal::pagerank_gpu {

/// The contributions that entries stand for: those of long rows from copy `of_long`, those of short rows from copy `of_short`.
template <bool kHot, class Share>
struct PhaseGives {
  const Share* of_long;
  const Share* of_short;
  u32 long_places;
  const Share* hot;
  u32 num_hot;
  __device__ Share operator[](vertex_t entry) const {
    if constexpr (kHot) {
      if (entry < num_hot) return hot[entry];
    }
    return (entry < long_places ? of_long : of_short)[entry];
  }
};

/// @tparam kAll  true in the phase of all rows; the ranks of short rows are not counted then, because they change once more
template <bool kAll, class Share>
struct ChangeInPhase {
  const View<Share>& v;
  const Rules& rules;
  double c;
  u32 to_long, to_short;  ///< the copies to write
  PhaseTold& found;

  __device__ void operator()(u32 row, double sum) const {
    const bool tied = row < v.rows.tied, is_long = kAll && row < v.rows.first_short;
    const double y = v.y[row];
    const double now = (tied ? c : 1 - rules.alpha) * jump_to(v, row) + rules.alpha * sum;
    v.y[row] = now;
    // A row that is swept has in-arcs, and their reverse, so its degree is not 0.
    publish(v, is_long ? to_long : to_short, row, static_cast<Share>(now / v.rows.degree[row]));
    found.change += rules.alpha * fabs(now - y);
    if (is_long || !kAll) (tied ? found.tied : found.other) += now;
  }
};

/// Launched cooperatively on all PEs at the same time; needs rows with places apart for short ones (PageRankRowsGpu::tied()).
template <bool kMulti, bool kHot, class Share>
__global__ void __launch_bounds__(kThreads<kHot>, kBlocksPerSm<kHot>)
    phases_kernel(const __grid_constant__ View<Share> v, const __grid_constant__ Rules rules) {
  using lockstep::Op;
  __shared__ lockstep::Shared shared;
  __shared__ double partial[kThreads<kHot> / 32];
  extern __shared__ double hot_memory[];
  Share* const hot = reinterpret_cast<Share*>(hot_memory);
  lockstep::Gang<kMulti, Op::sum_double, Op::sum_double, Op::sum_double> gang(v.team, shared);
  const auto tell = [&](const PhaseTold& found) {
    const double change = warp_sum(found.change), tied = warp_sum(found.tied), other = warp_sum(found.other);
    if (lane_id() != 0) return;
    gang.template add_double<0>(change);
    gang.template add_double<1>(tied);
    gang.template add_double<2>(other);
  };
  const auto told = [&] {
    return PhaseTold{gang.template total_double<0>(), gang.template total_double<1>(), gang.template total_double<2>()};
  };
  if (blockIdx.x == 0 && threadIdx.x < 2) v.taken[threadIdx.x] = 0;
  PhaseTold begun{};
  begun.other = begin_rows(v, rules).residual;
  for (u32 row = lockstep::thread_id(); row < v.rows.tied; row += lockstep::num_threads())
    begun.tied += jump_to(v, row);
  tell(begun);
  bool ok = gang.meet(), settled = false;
  PhaseCourse at{};
  at.c = 1 - rules.alpha;
  at.tied = told().tied;
  at.still = told().other;
  bool slow = at.tied < kPageRankLeastTied;
  const u32 first_slice =  // the first slice of short rows
      v.rows.first_short < v.rows.count ? (v.rows.first_short - v.rows.num_long) / 32 : v.rows.num_slices;
  u32 of_long = 0, of_short = 0;
  auto gives = [&] {
    return PhaseGives<kHot, Share>{v.share[of_long], v.share[of_short], v.rows.long_places, hot, v.num_hot};
  };
  const auto copy_hot = [&] {
    if constexpr (kHot) {
      for (u32 i = threadIdx.x; i < v.num_hot; i += blockDim.x) hot[i] = v.share[of_long][i];
      __syncthreads();
    }
  };
  copy_hot();
  while (ok && !settled && !slow && at.sweeps < rules.most_sweeps) {
    if (blockIdx.x == 0 && threadIdx.x < 2) v.taken[(at.sweeps + 1) % 3 * 2 + threadIdx.x] = 0;
    PhaseTold found{};
    const ChangeInPhase<true, Share> change{v, rules, at.c, of_long ^ 1, of_short ^ 1, found};
    sweep_blocks(v, gives(), change, partial);
    sweep_warps<kMulti>(v, gives(), change, v.rows.num_slices, v.taken + at.sweeps % 3 * 2);
    tell(found);
    ok = gang.meet();
    if (!ok) break;
    at.of_all = told();
    of_long ^= 1;
    of_short ^= 1;
    copy_hot();
#pragma unroll 1
    for (u32 turn = 0; turn < kShortSweeps; ++turn) {
      PhaseTold of_turn{};
      const ChangeInPhase<false, Share> change_short{v, rules, at.c, 0, of_short ^ 1, of_turn};
      for (u32 s = first_slice + lockstep::warp_id(); s < v.rows.num_slices; s += lockstep::num_warps())
        sweep_slice(v, gives(), change_short, s);
      if (turn == 0) tell(of_turn);
      ok = gang.meet();
      if (!ok) break;
      of_short ^= 1;
      if (turn > 0) continue;
      settled = end_phases(rules, told(), at);
      slow = is_slow(rules, at);
      if (settled || slow) break;
    }
  }
  if (settled) {
    for (u32 row = lockstep::thread_id(); row < v.rows.count; row += lockstep::num_threads()) {
      const double factor = row < v.rows.tied ? at.scale : 1;
      v.rank[v.rows.order != nullptr ? v.rows.order[row] : row] = v.y[row] * factor / at.sum;
    }
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    u64* const word = v.team.outcome->word;
    word[kSweeps] = at.sweeps;
    word[kBound] = static_cast<u64>(__double_as_longlong(at.bound));
    word[kSlowly] = slow;
    word[kSettled] = settled;
  }
  gang.finish();
}

}  // namespace shoal::pagerank_gpu
