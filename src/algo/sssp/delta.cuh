// Shortest paths on GPUs in lockstep steps: how distances are stored, and the data of one PE.
//
// Every PE stores distances of all vertices. Those of its own vertices are the true ones. Those of other PEs' vertices are what it
// last told their owner, so that an arc to another PE is judged like any other and only an improvement travels. Vertices have
// placed numbers everywhere.
// placed numbers everywhere.
#pragma once
#include "lockstep/frontier.cuh"
#include "shoal/algo/sssp.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal::sssp_gpu {

using namespace lockstep;

inline constexpr u32 kNoTarget = 0xFFFFFFFFu;
inline constexpr u32 kLongRow = 128;      ///< rows of more arcs are cut into chunks for other warps
inline constexpr u32 kChunkArcs = 256;    ///< arcs of a chunk
inline constexpr u32 kShortRow = 8;       ///< one lane reads rows of at most this many arcs
inline constexpr int kMaxThreads = 1024;  ///< of a block
inline constexpr u32 kRoundMail = 4096;   ///< most messages that a cluster sends a peer in one round

// Value 0 of a barrier: the number of vertices appended to queues, plus a flag from each block that did one of these in this phase:
inline constexpr u64 kMailed = u64{1} << 32;  ///< put something into an outbox
inline constexpr u64 kCut = u64{1} << 48;     ///< cut a long row into chunks

/// How distances are stored, added and compared: the words of algo/sssp.hpp. `shift` returns d + width, which is more than d and at
/// most all ones.
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

/// The kinds of work on which a search spends time, as measured by its first block; each includes the wait at the barrier that
/// follows.
enum class Phase : u32 { begin, take, chunks, send, receive, publish, copy, pull, sweep, cluster, meet };
inline constexpr u32 kPhases = 11;

/// Counters of one PE that all its blocks share, besides those of lockstep.
struct Tally {
  PaddedWord<u32, Scope::device> chunks[2];  ///< by step % 2
  PaddedWord<u64, Scope::device> popped;     ///< vertices expanded (here) and arcs relaxed (next) in the last search
  PaddedWord<u64, Scope::device> arcs;
  PaddedWord<u32, Scope::device> spilled;  ///< vertices that the narrow kernel left in the queue in global memory
  Word<u64, Scope::device> sent;           ///< messages to peers, of the last search
  Word<u64, Scope::device> phase_ns[kPhases];
};

/// The data of one PE that kernels use; passed by value.
template <class Metric>
struct Slice {
  using Raw = typename Metric::Raw;
  lockstep::View team;
  CsrView rows;                            ///< of out-arcs; within a row in ascending order of weight if `in` is set
  const typename Metric::Weight* weights;  ///< of out-arcs
  CsrView in;                              ///< in-arcs, rows in ascending order of weight; empty if nothing is pulled
  const typename Metric::Weight* in_weights;
  u32 n;                             ///< vertices of the whole graph
  Raw* distance;                     ///< [n]
  u32* marks[3];                     ///< [n / 32 + 1] bits of vertices in queue[0], in queue[1], and in an outbox
  u32* queue[2];                     ///< [rows.count] by step % 2
  Chunk<Raw>* chunks;                ///< enough for all long rows at once
  u32* outbox[kPeers];               ///< [vertices of that PE] the vertices about which that PE must be told
  Message<Raw>* inbox[kPeers];       ///< [most rows of a PE] from each PE
  Message<Raw>* peer_inbox[kPeers];  ///< where this PE writes in each peer's inbox
  Message<Raw>* round[kPeers];       ///< [2][kRoundMail] by round % 2, messages from each PE's cluster
  Message<Raw>* peer_round[kPeers];  ///< where this PE writes in each peer's `round`
  vertex_t begin[kPeers + 1];        ///< placed ranges
  Tally* tally;
};

struct Rules {
  double delta;          ///< width of the window of distances that are expanded in one step
  double delta_after;    ///< the window's width after long arcs were pulled, when only vertices of few arcs are left
  double far_widths;     ///< while sweeping, the queue holds distances up to this many deltas beyond the nearest
  double pull;           ///< width of the first range of distances whose long arcs are pulled instead of pushed
  double pull_growth;    ///< each range is this many times as wide as the one before
  double range_windows;  ///< a range is settled in at most this many windows, none narrower than delta
  u32 pulls;             ///< most ranges; 0: nothing is pulled
  u32 pull_enter;        ///< the first range begins when more vertices than this are pending
  u64 pull_arcs;         ///< least arcs of the first range's vertices for it to be pulled; otherwise pushed
  u32 sweep_enter;       ///< with more pending vertices than this, sweeps over all distances find the far ones
  u32 sweep_leave;       ///< with fewer than this, all pending vertices wait in the queue again
  u32 narrow_after;      ///< after this many steps in a row with at most narrow_enter vertices pending,
  u32 narrow_enter;      ///< a cluster on each PE takes over; narrow_after 0: never
  u32 narrow_leave;      ///< until more than this are pending
  u32 round_steps;       ///< with several PEs: most steps that a cluster makes before it meets the others
};

/// The state with which a search continues, passed between the two kernels. One for each PE.
template <class Raw>
struct Resume {
  u32 begun = 0;  ///< 0: the search is at its beginning
  u32 step = 0;   ///< steps made by this PE; the queue is that of step % 2
  u32 count = 0;  ///< vertices in that queue
  Raw least = 0;  ///< smallest distance in the queues of all PEs
};

/// Shared memory of a block, besides the warps' buffers.
struct Scratch {
  Shared gang;
  u32 sent[kPeers];                    ///< vertices put into each outbox before the last exchange
  u32 mailed, cut;                     ///< the last phase in which this block filled an outbox, and cut a row
  u32 told[kPeers], received[kPeers];  ///< messages from each PE: up to the last exchange, and in it
  u64 lap, phase_ns[kPhases];          ///< when the current phase began; time spent in each phase so far
};

inline __device__ u32 least_of_warp(u32 x) { return __reduce_min_sync(kAll, x); }
inline __device__ u64 least_of_warp(u64 x) {
  for (int d = 16; d > 0; d /= 2) x = min(x, __shfl_xor_sync(kAll, x, d));
  return x;
}
/// Loads through the first-level cache, so it may return an older, larger distance.
inline __device__ u32 look(const u32* p) { return __ldca(p); }
inline __device__ u64 look(const u64* p) { return __ldca(reinterpret_cast<const unsigned long long*>(p)); }
/// Loads that bypass that cache.
inline __device__ u32 fresh(const u32* p) { return __ldcg(p); }
inline __device__ u64 fresh(const u64* p) { return __ldcg(reinterpret_cast<const unsigned long long*>(p)); }
inline __device__ u32 lower(u32* p, u32 x) { return atomicMin(p, x); }
inline __device__ u64 lower(u64* p, u64 x) {
  return atomicMin(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(x));
}
inline __device__ void replace(u32* p, u32 x) { atomicExch(p, x); }
inline __device__ void replace(u64* p, u64 x) { atomicExch(reinterpret_cast<unsigned long long*>(p), x); }

}  // namespace shoal::sssp_gpu
