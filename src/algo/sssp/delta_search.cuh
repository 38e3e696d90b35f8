// The search: one cooperative kernel per PE, step after step. A step expands every pending vertex whose distance is below that of
// the nearest pending vertex plus delta. The window moves on at every step and does not wait until it is empty (the stepping
// framework of Dong, Gu, Sun, Zhang, SPAA 2021; delta-stepping, Meyer and Sanders 2003, is the variant that waits).
//
// When many vertices are pending, the queue holds only those within a few deltas of the nearest. A sweep over the own distances
// finds the others when the window comes near them. The sweep reads 4 bytes per vertex, and pushing a far vertex then costs
// nothing.
#pragma once
#include "delta_phases.cuh"
#include "delta_pull.cuh"

namespace shoal::sssp_gpu {

struct SearchArgs {
  Rules rules;
  u32 source;  ///< placed number
};

/// The state of the search between two barriers, as each block keeps it: the same in all blocks of all PEs, except for `own`.
template <class Raw>
struct Progress {
  u32 own = 0;              ///< vertices in this PE's queue
  u64 all = 0;              ///< vertices in the queues of all PEs
  Raw least = 0;            ///< smallest distance in the queues
  Raw far = ~Raw{0};        ///< the queues hold distances below this; kNone: they hold all pending vertices
  Raw least_far = ~Raw{0};  ///< lower bound of the pending vertices' distances from `far` on; kNone: there are none
  u64 beyond = 0;           ///< number of these vertices, when last counted
  double delta = 0;         ///< width of the window
  Raw low = 0,
      limit = ~Raw{0};  ///< long arcs of tails in [low, limit) are left out, to be pulled later; kNone: none are
  double range = 0;     ///< limit - low, or its previous value when no range is active
  u32 ranges = 0;       ///< ranges begun so far
  u32 step = 0, sweeps = 0;
};

/// Clears distances and puts the source into its owner's queue; or, when resuming, takes the queue as it was left.
template <class Metric, bool kMulti>
__device__ void begin_search(const Slice<Metric>& v, typename Warp<Metric, kMulti>::Team& gang, u32 source,
                             const Resume<typename Metric::Raw>& from) {
  if (from.begun == 0) {
    for (u32 i = thread_id(); i < v.n; i += num_threads()) v.distance[i] = i == source ? 0 : Metric::kNone;
  }
  if (thread_id() != 0) return;
  for (int i = 0; i < 2; ++i) v.tally->chunks[i].store(0);
  if (from.begun != 0) {
    gang.template add<0>(from.count);
    return;
  }
  v.tally->popped.store(0);
  v.tally->arcs.store(0);
  v.tally->sent.store(0);
  for (auto& ns : v.tally->phase_ns) ns.store(0);
  if (!v.rows.owns(source)) return;
  v.queue[0][0] = source;
  gang.template add<0>(1);
}

/// The barrier after a phase that may have filled the queue. @return false if the search was stopped
template <class Metric, bool kMulti>
__device__ bool close(Warp<Metric, kMulti>& w, Progress<typename Metric::Raw>& at) {
  using Raw = typename Metric::Raw;
  w.end();
  if (!w.gang.meet()) return false;
  at.own += static_cast<u32>(w.gang.template own<0>());
  at.all += static_cast<u32>(w.gang.template total<0>());
  at.least_far = min(at.least_far, static_cast<Raw>(w.gang.template total<1>()));
  at.least = min(at.least, static_cast<Raw>(w.gang.template total<2>()));
  return true;
}

/// Begins a range of distances at `low`: from now on, arcs that leave the range are left out. At the end of the range, pull() must
/// follow.
template <class Raw, class Metric>
__device__ void begin_range(const Rules& rules, Progress<Raw>& at, Raw low) {
  at.range = at.ranges == 0 ? rules.pull : at.range * rules.pull_growth;
  at.delta = max(rules.delta, at.range / rules.range_windows);
  ++at.ranges;
  at.low = low;
  at.far = at.limit = Metric::shift(low, at.range);
}

/// Moves the queue's limit `far` on, so that the window that begins at the nearest pending vertex lies below it. @return false if
/// the search was stopped
template <class Metric, bool kMulti>
__device__ bool advance(const Rules& rules, Warp<Metric, kMulti>& w, Progress<typename Metric::Raw>& at) {
  const auto from = at.far;
  if (at.least_far == Metric::kNone) {
    at.far = Metric::kNone;
    return true;
  }
  const auto nearest = max(from, min(at.least, at.least_far));
  at.far = at.beyond + at.all < rules.sweep_leave ? Metric::kNone : Metric::shift(nearest, at.delta * rules.far_widths);
  ++at.sweeps;
  at.least_far = Metric::kNone;
  w.begin(at.step & 1, at.own, at.far);
  sweep(w, from);
  if (!close(w, at)) return false;
  at.beyond = w.gang.template total<0>() >> 32;
  return true;
}

/// One step. @return false if the search was stopped
template <class Metric, bool kMulti>
__device__ bool run_step(Warp<Metric, kMulti>& w, Progress<typename Metric::Raw>& at) {
  using Raw = typename Metric::Raw;
  auto& gang = w.gang;
  const Raw edge = min(Metric::shift(at.least, at.delta), at.far);
  const u32 which = at.step & 1, next = which ^ 1;
  if (thread_id() == 0) w.v.tally->chunks[which].store(0);  // last read in the previous step
  w.begin(next, 0, at.far);
  take_queue(w, at.own, edge, at.limit);
  ++at.step;
  at.all = 0;
  at.own = 0;
  at.least = Metric::kNone;
  if (!close(w, at)) return false;
  w.lap(Phase::take);
  u64 left = gang.template total<0>();
  if (left >= kCut) {
    w.begin(next, at.own, at.far);
    take_chunks(w);
    if (!close(w, at)) return false;
    left |= gang.template total<0>();
    w.lap(Phase::chunks);
  }
  if constexpr (kMulti) {
    if ((left & (kCut - kMailed)) == 0) return true;
    send(w);
    if (!gang.meet()) return false;
    w.lap(Phase::send);
    read_mail_counts(w);
    w.begin(next, at.own, at.far);
    receive(w);
    if (!close(w, at)) return false;
    w.lap(Phase::receive);
  }
  return true;
}

/// Decides at the end of the first range whether to pull. Vertices that no arc from the range reaches look at all their in-arcs, so
/// pulling pays only if a large part of all arcs leave the range. If not, the vertices of the range go to the queue again, for all
/// of their arcs.
template <class Metric, bool kMulti>
__device__ bool worth_pulling(const Rules& rules, Warp<Metric, kMulti>& w, Progress<typename Metric::Raw>& at,
                              bool& ended) {
  const u64 arcs = warp_sum(w.row_arcs);
  if (lane_id() == 0 && arcs != 0) w.gang.template add<0>(arcs);
  ended = !w.gang.meet();
  if (ended || w.gang.template total<0>() >= rules.pull_arcs) return !ended;
  w.begin(at.step & 1, 0, at.limit);
  sweep(w, at.low);
  at.least_far = Metric::kNone;
  ended = !close(w, at);
  at.far = at.limit;
  at.beyond = w.gang.template total<0>() >> 32;
  at.limit = Metric::kNone;
  at.delta = rules.delta;
  return false;
}

/// The end of a range: every vertex beyond the limit looks for its best in-arc from a vertex of the range; those that are then
/// within the next range go to the queue. @return false if the search was stopped
template <class Metric, bool kMulti>
__device__ bool pull(const Rules& rules, Warp<Metric, kMulti>& w, Progress<typename Metric::Raw>& at) {
  const auto low = at.low, high = at.limit;
  if (at.ranges == 1) {
    bool ended = false;
    if (!worth_pulling(rules, w, at, ended)) return !ended;
  }
  if constexpr (kMulti) {
    publish(w, low, high);
    if (!w.gang.meet()) return false;
    w.lap(Phase::publish);
    read_mail_counts(w);
    copy_published(w);
    if (!w.gang.meet()) return false;
    w.lap(Phase::copy);
  }
  at.far = at.limit = at.least_far = Metric::kNone;
  at.delta = rules.delta_after;
  if (at.ranges < rules.pulls) begin_range<typename Metric::Raw, Metric>(rules, at, high);
  w.begin(at.step & 1, 0, at.far);
  pull_arcs(w, low, high);
  if (!close(w, at)) return false;
  w.lap(Phase::pull);
  return true;
}

/// Launched cooperatively on all PEs at the same time, with (blockDim.x / 32) * kBuffer words of shared memory. Outcome words for
/// the host: number of steps, number of sweeps, length of this PE's queue, smallest distance in all queues, and 1 if the search
/// continues in narrow_steps().
template <class Metric, bool kMulti>
__global__ void __launch_bounds__(kMaxThreads, 1)
    search_distances(const __grid_constant__ Slice<Metric> v, const SearchArgs args,
                     const Resume<typename Metric::Raw> from) {
  using Raw = typename Metric::Raw;
  extern __shared__ u32 buffers[];
  __shared__ Scratch s;
  if (threadIdx.x == 0) s.mailed = s.cut = 0;
  if (threadIdx.x < kPeers) s.sent[threadIdx.x] = s.told[threadIdx.x] = s.received[threadIdx.x] = 0;
  typename Warp<Metric, kMulti>::Team gang(v.team, s.gang);
  Warp<Metric, kMulti> w{{buffers + warp_in_block() * kBuffer}, v, gang, s};
  if (threadIdx.x == 0) {
    for (u64& ns : s.phase_ns) ns = 0;
    s.lap = now_ns();
  }
  begin_search<Metric, kMulti>(v, gang, args.source, from);
  bool ok = gang.meet();
  w.lap(Phase::begin);
  Progress<Raw> at;
  at.step = from.step;
  at.own = static_cast<u32>(gang.template own<0>());
  at.all = gang.template total<0>();
  at.least = from.least;
  bool narrow = false;
  u32 streak = 0;
  const Rules& rules = args.rules;
  at.delta = rules.delta;
  while (ok) {
    if (at.limit != Metric::kNone && at.all == 0) {
      ok = pull(rules, w, at);
      if (!ok) break;
    }
    if (at.far != Metric::kNone && at.limit == Metric::kNone &&
        (at.all == 0 || Metric::shift(at.least, at.delta) > at.far)) {
      ok = advance(rules, w, at);
      if (!ok) break;
      w.lap(Phase::sweep);
    }
    if (at.all == 0) {
      if (at.far == Metric::kNone) break;
      continue;
    }
    if (at.far == Metric::kNone && at.ranges == 0 && rules.pulls != 0 && at.all > rules.pull_enter) {
      begin_range<Raw, Metric>(rules, at, at.least);
    } else if (at.far == Metric::kNone && at.all > rules.sweep_enter) {
      at.far = Metric::shift(at.least, at.delta * rules.far_widths);
    }
    if (rules.narrow_after != 0) {
      streak = at.far == Metric::kNone && at.all <= rules.narrow_enter ? streak + 1 : 0;
      narrow = streak > rules.narrow_after;
      if (narrow) break;
    }
    ok = run_step(w, at);
  }
  const u64 popped = warp_sum(w.popped), arcs = warp_sum(w.arcs);
  if (lane_id() == 0 && arcs != 0) {
    v.tally->popped.fetch_add(popped);
    v.tally->arcs.fetch_add(arcs);
  }
  if (thread_id() == 0) {
    u64* word = v.team.outcome->word;
    word[0] = at.step;
    word[1] = at.sweeps;
    word[2] = at.own;
    word[3] = at.least;
    word[4] = narrow;
    for (u32 i = 0; i < kPhases; ++i) v.tally->phase_ns[i].fetch_add(s.phase_ns[i]);
    for (pe_t p = 0; kMulti && p < v.team.n_pes; ++p) v.tally->sent.fetch_add(s.sent[p]);
  }
  gang.finish();
}

}  // namespace shoal::sssp_gpu
