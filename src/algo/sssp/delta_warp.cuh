// The work of one warp in a step of the search for shortest paths: it relaxes arcs, and collects the vertices that came nearer.
#pragma once
#include "delta.cuh"

namespace shoal::sssp_gpu {

/// The state of one warp in a step. All lanes call the members.
template <class Metric, bool kMulti>
struct Warp : Collector {
  using Raw = typename Metric::Raw;
  using Team = Gang<kMulti, Op::sum, Op::min, Op::min>;

  const Slice<Metric>& v;
  Team& gang;
  Scratch& s;
  u32 next = 0;       ///< the queue that is filled: (step + 1) % 2
  u32 tail = 0;       ///< length of that queue when this phase began
  Raw far = 0;        ///< vertices at this distance or beyond do not go to the queue; kNone: all do
  Raw least = 0;      ///< smallest distance that this lane put into the queue
  Raw least_far = 0;  ///< smallest distance at `far` or beyond that this lane found
  u32 phase = 0;      ///< number of phases so far; the same in all warps of a block
  u64 arcs = 0, popped = 0;
  u64 row_arcs = 0;  ///< arcs of the vertices expanded in the first range, including arcs that were left out

  __device__ void begin(u32 which, u32 from, Raw limit) {
    ++phase;
    next = which;
    tail = from;
    far = limit;
    least = least_far = Metric::kNone;
  }

  /// Appends what was collected, and contributes the minima to the barrier. The last call of a phase.
  __device__ void end() {
    flush();
    const Raw near = least_of_warp(least), beyond = least_of_warp(least_far);
    if (lane_id() == 0) {
      if (near != Metric::kNone) gang.template add<2>(near);
      if (beyond != Metric::kNone) gang.template add<1>(beyond);
    }
  }

  /// Adds the time since the last call to the phase `of`.
  __device__ void lap(Phase of) {
    if (thread_id() != 0) return;
    const u64 now = now_ns();
    s.phase_ns[static_cast<u32>(of)] += now - s.lap;
    s.lap = now;
  }

  __device__ u32 owner(u32 vertex) const {
    u32 p = 0;
    while (vertex >= v.begin[p + 1]) ++p;
    return p;
  }

  /// Appends own vertices to the queue, and others to the outboxes of their owners. All slots are reserved at once: lane p reserves
  /// those of PE p.
  __device__ void flush() {
    if (fill == 0) return;
    __syncwarp();
    const u32 lane = lane_id(), n_pes = kMulti ? v.team.n_pes : 1, me = kMulti ? v.team.me : 0;
    u32 count = kMulti ? 0 : fill, slot = 0;
    for (u32 first = 0; kMulti && first < fill; first += 32) {
      const u32 to = first + lane < fill ? owner(buffer[first + lane]) : kNoTarget;
      for (u32 p = 0; p < n_pes; ++p) {
        const u32 n = __popc(__ballot_sync(kAll, to == p));
        if (lane == p) count += n;
      }
    }
    if (lane < n_pes && count != 0) {
      if (lane == me) {
        slot = tail + static_cast<u32>(gang.template counter<0>().fetch_add(count));
      } else {
        slot = gang.mail(static_cast<pe_t>(lane)).fetch_add(count) - s.sent[lane];
        if (atomicExch(&s.mailed, phase) != phase) gang.template add<0>(kMailed);
      }
    }
    __syncwarp();
    for (u32 first = 0; first < fill; first += 32) {
      const bool have = first + lane < fill;
      const u32 to = !have ? kNoTarget : kMulti ? owner(buffer[first + lane]) : 0;
      u32 at = 0;
      for (u32 p = 0; p < n_pes; ++p) {
        const u32 votes = __ballot_sync(kAll, to == p), begin = __shfl_sync(kAll, slot, p);
        if (to == p) at = begin + __popc(votes & lanes_below());
        if (lane == p) slot += __popc(votes);
      }
      if (have) (to == me ? v.queue[next] : v.outbox[to])[at] = buffer[first + lane];
    }
    __syncwarp();
    fill = 0;
  }

  /// True for the first caller that marks the vertex in this step.
  __device__ bool mark(u32 vertex) {
    const u32 bit = 1u << (vertex & 31);
    u32* marks = v.marks[!kMulti || v.rows.owns(vertex) ? next : 2];
    return (atomicOr(marks + (vertex >> 5), bit) & bit) == 0;
  }

  /// Offers up to four distances per lane (kNoTarget: none).
  __device__ void relax(const u32 (&t)[4], const Raw (&d)[4]) {
    Raw old[4];
    bool won[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) old[j] = t[j] != kNoTarget ? look(v.distance + t[j]) : 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      won[j] = d[j] < old[j];
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (won[j]) old[j] = lower(v.distance + t[j], d[j]);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      won[j] = won[j] && d[j] < old[j];
      if (won[j] && d[j] >= far && (!kMulti || v.rows.owns(t[j]))) {
        least_far = min(least_far, d[j]);
        won[j] = false;
      }
      if (won[j]) {
        if (!kMulti || v.rows.owns(t[j])) least = min(least, d[j]);
        won[j] = mark(t[j]);
      }
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) collect(t[j], won[j]);
    if (fill > kBuffer - 128) flush();
  }

  /// Relaxes `count` (at most 2^16) arcs that begin at `row`, for a tail at `distance`; arguments are the same in all lanes.
  __device__ void relax_run(u64 row, u32 count, Raw distance) {
    const u32 lane = lane_id();
    for (u32 k = 0; k < count; k += 128) {
      u32 t[4];
      Raw d[4];
#pragma unroll
      for (u32 j = 0; j < 4; ++j) {
        const u32 x = k + j * 32 + lane;
        t[j] = x < count ? __ldcs(v.rows.targets + row + x) : kNoTarget;
        d[j] = x < count ? Metric::plus(distance, __ldcs(v.weights + row + x)) : Metric::kNone;
      }
      relax(t, d);
    }
  }

  /// Expands one vertex per lane: `degree` arcs that begin at `row` (0: none).
  __device__ void expand(u64 row, u32 degree, Raw distance) {
    const u32 lane = lane_id();
    for (u32 longs = __ballot_sync(kAll, degree > kLongRow); longs != 0; longs &= longs - 1) {
      const int from = __ffs(longs) - 1;
      cut(__shfl_sync(kAll, row, from), __shfl_sync(kAll, degree, from), __shfl_sync(kAll, distance, from));
    }
    if (degree > kLongRow) degree = 0;
    const u32 widest = __reduce_max_sync(kAll, degree);
    if (widest <= kShortRow) {
      for (u32 k = 0; k < widest; k += 4) {
        u32 t[4];
        Raw d[4];
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
          t[j] = k + j < degree ? __ldg(v.rows.targets + row + k + j) : kNoTarget;
          d[j] = k + j < degree ? Metric::plus(distance, __ldg(v.weights + row + k + j)) : Metric::kNone;
        }
        relax(t, d);
      }
      return;
    }
    // The lanes share all arcs, numbered in a common order in which those of lane L begin at its `before`.
    const u32 upto = warp_prefix(degree);
    const u32 total = __shfl_sync(kAll, upto, 31), before = upto - degree;
    const u64 to_arc = row - before;
    for (u32 k = 0; k < total; k += 128) {
      u32 t[4];
      Raw d[4];
#pragma unroll
      for (u32 j = 0; j < 4; ++j) {
        const u32 x = k + j * 32 + lane;
        u32 at = 0;
#pragma unroll
        for (u32 step = 16; step > 0; step /= 2) {
          if (__shfl_sync(kAll, before, at + step) <= x) at += step;
        }
        const u64 arc = __shfl_sync(kAll, to_arc, at) + x;
        const Raw from = __shfl_sync(kAll, distance, at);
        t[j] = x < total ? __ldcs(v.rows.targets + arc) : kNoTarget;
        d[j] = x < total ? Metric::plus(from, __ldcs(v.weights + arc)) : Metric::kNone;
      }
      relax(t, d);
    }
  }

  /// Cuts a long row into chunks for the second half of the step.
  __device__ void cut(u64 row, u32 degree, Raw distance) {
    const u32 pieces = (degree + kChunkArcs - 1) / kChunkArcs;
    u32 slot = 0;
    if (lane_id() == 0) {
      slot = v.tally->chunks[next].fetch_add(pieces);
      if (atomicExch(&s.cut, phase) != phase) gang.template add<0>(kCut);
    }
    slot = __shfl_sync(kAll, slot, 0);
    for (u32 i = lane_id(); i < pieces; i += 32) {
      const u32 first = i * kChunkArcs;
      v.chunks[slot + i] = {(row + first) << 16 | min(degree - first, kChunkArcs), distance};
    }
  }
};

}  // namespace shoal::sssp_gpu
