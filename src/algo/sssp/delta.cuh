// Shortest paths on GPUs in lockstep steps: how distances are kept, and what one PE holds.
//
// Every PE keeps distances of all vertices. Those of its own are the truth; those of others say what it has already told
// their owner, so that an arc to another PE is judged like any other and only an improvement travels. Vertices have
// placed numbers everywhere.
#pragma once
#include "lockstep/frontier.cuh"
#include "shoal/algo/sssp.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal::sssp_gpu {

using namespace lockstep;

inline constexpr u32 kNoTarget = 0xFFFFFFFFu;
inline constexpr u32 kLongRow = 128;      ///< rows of more arcs are cut into chunks for other warps
inline constexpr u32 kChunkArcs = 256;    ///< of a chunk
inline constexpr u32 kShortRow = 8;       ///< rows of at most so many arcs are read by one lane
inline constexpr int kMaxThreads = 1024;  ///< of a block
inline constexpr u32 kRoundMail = 4096;   ///< messages of a cluster to a peer in one round

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

/// What a search spends its time on, as its first block sees it: the work, and the wait at the barrier after it.
enum class Phase : u32 { begin, take, chunks, send, receive, publish, copy, pull, sweep, cluster, meet };
inline constexpr u32 kPhases = 11;

/// Counters of one PE that all its blocks share, beside those of the lockstep.
struct Tally {
  PaddedWord<u32, Scope::device> chunks[2];  ///< by step % 2
  PaddedWord<u64, Scope::device> popped;     ///< vertices expanded, and arcs relaxed: of the last search
  PaddedWord<u64, Scope::device> arcs;
  PaddedWord<u32, Scope::device> spilled;  ///< vertices that the narrow kernel left in memory
  Word<u64, Scope::device> sent;           ///< messages to peers, of the last search
  Word<u64, Scope::device> phase_ns[kPhases];
};

/// One PE as kernels see it; passed by value.
template <class Metric>
struct Slice {
  using Raw = typename Metric::Raw;
  lockstep::View team;
  CsrView rows;                            ///< of out-arcs; those of a row in ascending order of weight if `in` is set
  const typename Metric::Weight* weights;  ///< of out-arcs
  CsrView in;                              ///< in-arcs in ascending order of weight; empty when nothing is pulled
  const typename Metric::Weight* in_weights;
  u32 n;                             ///< vertices of the whole graph
  Raw* distance;                     ///< [n]
  u32* marks[3];                     ///< [n / 32 + 1] by step % 2: waits in the queue; and the last: in an outbox
  u32* queue[2];                     ///< [rows.count] by step % 2
  Chunk<Raw>* chunks;                ///< enough for all long rows at once
  u32* outbox[kPeers];               ///< [vertices of the PE] that it is to be told about
  Message<Raw>* inbox[kPeers];       ///< [most rows of a PE] from each PE
  Message<Raw>* peer_inbox[kPeers];  ///< where this PE writes at each peer
  Message<Raw>* round[kPeers];       ///< [2][kRoundMail] by round % 2, from each PE's cluster
  Message<Raw>* peer_round[kPeers];  ///< where this PE writes at each peer
  vertex_t begin[kPeers + 1];        ///< placed ranges
  Tally* tally;
};

struct Rules {
  double delta;          ///< width of the window of distances that are expanded in one step
  double delta_after;    ///< the same after long arcs were pulled, when only vertices of few arcs are left
  double far_widths;     ///< sweeping: the queue holds distances up to so many deltas
  double pull;           ///< width of the first range of distances whose long arcs are pulled, not pushed
  double pull_growth;    ///< each range is so many times as wide as the one before
  double range_windows;  ///< windows that a range is settled in, or fewer: none is narrower than delta
  u32 pulls;             ///< most ranges; 0: none
  u32 pull_enter;        ///< more vertices pending: the first one begins
  u64 pull_arcs;         ///< of the first one's vertices, at least; fewer are pushed
  u32 sweep_enter;       ///< more vertices pending: the far ones are found by sweeps over all distances
  u32 sweep_leave;       ///< fewer: they wait in the queue again
  u32 narrow_after;  ///< so many steps in a row with at most narrow_enter vertices pending, then a cluster on each PE
  u32 narrow_enter;  ///< takes over; 0: never
  u32 narrow_leave;  ///< and gives back when there are more than this
  u32 round_steps;   ///< with several PEs: steps at most that a cluster makes before it meets the others
};

/// Where a search goes on, passed between the two kernels. One for each PE.
template <class Raw>
struct Resume {
  u32 begun = 0;  ///< 0: the search begins
  u32 step = 0;   ///< steps made by this PE; the queue is that of step % 2
  u32 count = 0;  ///< vertices in it
  Raw least = 0;  ///< of the distances in the queues of all PEs
};

/// Shared memory of a block beside the warps' buffers.
struct Scratch {
  Shared gang;
  u32 sent[kPeers];                    ///< vertices put into each outbox before the last exchange
  u32 mailed, cut;                     ///< the last phase in which this block put something into an outbox, cut a row
  u32 told[kPeers], received[kPeers];  ///< messages of each PE up to the last exchange, and in it
  u64 lap, phase_ns[kPhases];          ///< when the running phase began; time in each so far
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
inline __device__ void replace(u32* p, u32 x) { atomicExch(p, x); }
inline __device__ void replace(u64* p, u64 x) { atomicExch(reinterpret_cast<unsigned long long*>(p), x); }

}  // namespace shoal::sssp_gpu
