// Shortest paths on GPUs in lockstep steps: what one PE holds, and how a warp relaxes arcs.
//
// Every PE keeps distances of all vertices. Those of its own are the truth; those of others say what it has already told
// their owner, so that an arc to another PE is judged like any other and only an improvement travels. Vertices have
// placed numbers everywhere.
#pragma once
#include "shoal/algo/sssp.hpp"
#include "shoal/data/csr.hpp"
#include "shoal/runtime/lockstep.cuh"

namespace shoal::sssp_gpu {

using namespace lockstep;

inline constexpr u32 kNoTarget = 0xFFFFFFFFu;
inline constexpr u32 kBuffer = 256;       ///< vertices that a warp collects before it appends them
inline constexpr u32 kLongRow = 128;      ///< rows of more arcs are cut into chunks for other warps
inline constexpr u32 kChunkArcs = 256;    ///< of a chunk
inline constexpr u32 kShortRow = 8;       ///< rows of at most so many arcs are read by one lane
inline constexpr int kMaxThreads = 1024;  ///< of a block

// Value 0 of a barrier: vertices appended to queues, and, in each block that did it, a flag for each of
inline constexpr u64 kMailed = u64{1} << 32;  ///< something is in an outbox
inline constexpr u64 kCut = u64{1} << 48;     ///< a long row was left in chunks

/// How distances are kept, added and compared: the words of algo/sssp.hpp. `shift` is d + width, more than d, and at most
/// all ones.
struct NarrowMetric {
  using Raw = u32;
  using Weight = std::int32_t;
  static constexpr Raw kNone = kUnreachedDistance<Raw>;
  static __device__ Raw plus(Raw d, Weight w) {
    const Raw weight = static_cast<Raw>(w);
    return min(d, kTooFar - weight) + weight;
  }
  static __device__ Raw shift(Raw d, double width) {
    const double sum = d + max(floor(width), 1.0);
    return sum < kNone ? static_cast<Raw>(sum) : kNone;
  }
};
struct WideMetric {
  using Raw = u64;
  using Weight = std::int32_t;
  static constexpr Raw kNone = kUnreachedDistance<Raw>;
  static __device__ Raw plus(Raw d, Weight w) { return d + static_cast<Raw>(w); }
  static __device__ Raw shift(Raw d, double width) {
    const Raw by = static_cast<Raw>(max(min(width, 4e18), 1.0));
    return by < kNone - d ? d + by : kNone;
  }
};
struct RealMetric {
  using Raw = u64;
  using Weight = double;
  static constexpr Raw kNone = kUnreachedDistance<Raw>;
  static __device__ Raw plus(Raw d, Weight w) { return bits(number(d) + w); }
  static __device__ Raw shift(Raw d, double width) { return d == kNone ? kNone : max(bits(number(d) + width), d + 1); }
  static __device__ double number(Raw d) { return __longlong_as_double(static_cast<long long>(d)); }
  static __device__ Raw bits(double d) { return static_cast<Raw>(__double_as_longlong(d)); }
};

/// A piece of a long row.
template <class Raw>
struct alignas(16) Chunk {
  u64 row;  ///< first arc << 16 | arcs
  Raw distance;
};

template <class Raw>
struct alignas(2 * sizeof(Raw)) Message {
  Raw distance;
  u32 vertex;
};

/// Counters of one PE that all its blocks share, beside those of the lockstep.
struct Tally {
  PaddedWord<u32, Scope::device> chunks[2];  ///< by step % 2
  PaddedWord<u64, Scope::device> popped;     ///< vertices expanded, and arcs relaxed: of the last search
  PaddedWord<u64, Scope::device> arcs;
  PaddedWord<u32, Scope::device> spilled;  ///< vertices that the narrow kernel left in memory
};

/// One PE as kernels see it; passed by value.
template <class Metric>
struct Slice {
  using Raw = typename Metric::Raw;
  lockstep::View team;
  lockstep::View alone;                    ///< of this PE for itself; with several PEs
  CsrView rows;                            ///< of out-arcs; those of a row in ascending order of weight if `in` is set
  const typename Metric::Weight* weights;  ///< of out-arcs
  CsrView in;                              ///< in-arcs in ascending order of weight; empty when nothing is pulled
  const typename Metric::Weight* in_weights;
  u32 n;                             ///< vertices of the whole graph
  Raw* distance;                     ///< [n]
  Raw* peer_distance[kPeers];        ///< the same at each PE
  u32* marks[3];                     ///< [n / 32 + 1] by step % 2: waits in the queue; and the last: in an outbox
  u32* queue[2];                     ///< [rows.count] by step % 2
  Chunk<Raw>* chunks;                ///< enough for all long rows at once
  u32* outbox[kPeers];               ///< [vertices of the PE] that it is to be told about
  Message<Raw>* inbox[kPeers];       ///< [rows.count] from each PE
  Message<Raw>* peer_inbox[kPeers];  ///< where this PE writes at each peer
  vertex_t begin[kPeers + 1];        ///< placed ranges
  Tally* tally;
};

struct Rules {
  double delta;       ///< width of the window of distances that are expanded in one step
  double far_widths;  ///< sweeping: the queue holds distances up to so many deltas
  double pull;        ///< width of the range of distances whose long arcs are pulled, not pushed; 0: never
  u32 sweep_enter;    ///< more vertices pending: the far ones are found by sweeps over all distances
  u32 sweep_leave;    ///< fewer: they wait in the queue again
  u32 alone_most;     ///< with several PEs: while so many vertices are pending, or fewer,
  u32 alone_steps;    ///< a PE makes up to so many steps before it meets the others
  u32 narrow_after;   ///< one PE: so many steps in a row with at most narrow_enter vertices pending, then the cluster
  u32 narrow_enter;   ///< takes over; 0: never
  u32 narrow_leave;   ///< and gives back when there are more than this
};

/// Where a search goes on, passed between the two kernels.
template <class Raw>
struct Resume {
  u32 step = 0;   ///< steps made; the queue is that of step % 2
  u32 count = 0;  ///< vertices in it; 0: the search begins
  Raw least = 0;  ///< of their distances
};

/// Shared memory of a block beside the warps' buffers.
struct Scratch {
  Shared gang, alone;
  u32 sent[kPeers];                    ///< vertices put into each outbox before the last exchange
  u32 mailed, cut;                     ///< the last phase in which this block put something into an outbox, cut a row
  u32 told[kPeers], received[kPeers];  ///< messages of each PE up to the last exchange, and in it
};

inline __device__ u32 least_of_warp(u32 x) { return __reduce_min_sync(kAll, x); }
inline __device__ u64 least_of_warp(u64 x) {
  for (int d = 16; d > 0; d /= 2) x = min(x, __shfl_xor_sync(kAll, x, d));
  return x;
}
/// Through the first-level cache: what is read may be an older, larger distance.
inline __device__ u32 look(const u32* p) { return __ldca(p); }
inline __device__ u64 look(const u64* p) { return __ldca(reinterpret_cast<const unsigned long long*>(p)); }
/// Past that cache.
inline __device__ u32 fresh(const u32* p) { return __ldcg(p); }
inline __device__ u64 fresh(const u64* p) { return __ldcg(reinterpret_cast<const unsigned long long*>(p)); }
inline __device__ u32 lower(u32* p, u32 x) { return atomicMin(p, x); }
inline __device__ u64 lower(u64* p, u64 x) {
  return atomicMin(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(x));
}

/// What one warp does in a step. Members are called by all its lanes. `buffer` is shared memory of the warp (kBuffer
/// words).
template <class Metric, bool kMulti>
struct Warp {
  using Raw = typename Metric::Raw;
  using Team = Gang<kMulti, Op::sum, Op::min, Op::min>;
  using Alone = Gang<false, Op::sum, Op::min, Op::min>;

  const Slice<Metric>& v;
  Team& gang;
  Scratch& s;
  u32* buffer;
  Alone* alone = nullptr;  ///< whom this phase tells instead of the team
  u32 next = 0;            ///< the queue that is filled: (step + 1) % 2
  u32 tail = 0;            ///< what it held when this phase began
  Raw far = 0;             ///< vertices of this distance or more do not go to the queue; kNone: all do
  Raw least = 0;           ///< of the distances put into the queue by this lane
  Raw least_far = 0;       ///< of those beyond
  u32 fill = 0;
  u32 phase = 0;  ///< counts; the same in all warps of a block
  u64 arcs = 0, popped = 0;

  template <int kIndex>
  __device__ void tell(u64 x) {
    if (kMulti && alone != nullptr) {
      alone->template add<kIndex>(x);
    } else {
      gang.template add<kIndex>(x);
    }
  }
  __device__ u64 append(u32 n) {
    if (kMulti && alone != nullptr) return alone->template counter<0>().fetch_add(n);
    return gang.template counter<0>().fetch_add(n);
  }

  __device__ void begin(u32 which, u32 from, Raw limit) {
    ++phase;
    next = which;
    tail = from;
    far = limit;
    least = least_far = Metric::kNone;
  }

  /// Appends what was collected, and hands over the minima. The last call of a phase.
  __device__ void end() {
    flush();
    const Raw near = least_of_warp(least), beyond = least_of_warp(least_far);
    if (lane_id() == 0) {
      if (near != Metric::kNone) tell<2>(near);
      if (beyond != Metric::kNone) tell<1>(beyond);
    }
  }

  /// Own vertices go to the queue, others to the outbox of their owner.
  __device__ void flush() {
    if (fill == 0) return;
    __syncwarp();
    const u32 lane = lane_id();
    for (pe_t p = 0; p < (kMulti ? v.team.n_pes : 1); ++p) {
      u32 votes[kBuffer / 32], n = 0;
#pragma unroll
      for (u32 j = 0; j < kBuffer / 32; ++j) {
        const u32 i = j * 32 + lane;
        const bool take = i < fill && (!kMulti || (buffer[i] >= v.begin[p] && buffer[i] < v.begin[p + 1]));
        votes[j] = __ballot_sync(kAll, take);
        n += __popc(votes[j]);
      }
      if (n == 0) continue;
      const bool own = !kMulti || p == v.team.me;
      u32 slot = 0;
      if (lane == 0) {
        if (own) {
          slot = tail + static_cast<u32>(append(n));
        } else {
          slot = gang.mail(p).fetch_add(n) - s.sent[p];
          if (atomicExch(&s.mailed, phase) != phase) tell<0>(kMailed);
        }
      }
      slot = __shfl_sync(kAll, slot, 0);
      u32* to = own ? v.queue[next] : v.outbox[p];
#pragma unroll
      for (u32 j = 0; j < kBuffer / 32; ++j) {
        if (votes[j] >> lane & 1) to[slot + __popc(votes[j] & lanes_below())] = buffer[j * 32 + lane];
        slot += __popc(votes[j]);
      }
    }
    __syncwarp();
    fill = 0;
  }

  /// Takes one vertex of each lane that has one.
  __device__ void collect(u32 vertex, bool have) {
    const u32 votes = __ballot_sync(kAll, have);
    if (have) buffer[fill + __popc(votes & lanes_below())] = vertex;
    fill += __popc(votes);
  }

  /// True for the first who marks the vertex in this step.
  __device__ bool mark(u32 vertex) {
    const u32 bit = 1u << (vertex & 31);
    u32* marks = v.marks[!kMulti || v.rows.owns(vertex) ? next : 2];
    return (atomicOr(marks + (vertex >> 5), bit) & bit) == 0;
  }

  /// Tries up to four distances of each lane (kNoTarget: none).
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

  /// Relaxes `count` (at most 2^16) arcs from `row` on, for a tail at `distance`; the same in all lanes.
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

  /// Expands one vertex of each lane: `degree` arcs from `row` on (0: none).
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
    // The lanes share all arcs: lane L's begin at `before` in a common order.
    u32 upto = degree;
    for (int k = 1; k < 32; k *= 2) {
      const u32 left = __shfl_up_sync(kAll, upto, k);
      if (lane >= static_cast<u32>(k)) upto += left;
    }
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

  /// Leaves a long row in chunks for the second half of the step.
  __device__ void cut(u64 row, u32 degree, Raw distance) {
    const u32 pieces = (degree + kChunkArcs - 1) / kChunkArcs;
    u32 slot = 0;
    if (lane_id() == 0) {
      slot = v.tally->chunks[next].fetch_add(pieces);
      if (atomicExch(&s.cut, phase) != phase) tell<0>(kCut);
    }
    slot = __shfl_sync(kAll, slot, 0);
    for (u32 i = lane_id(); i < pieces; i += 32) {
      const u32 first = i * kChunkArcs;
      v.chunks[slot + i] = {(row + first) << 16 | min(degree - first, kChunkArcs), distance};
    }
  }
};

}  // namespace shoal::sssp_gpu
