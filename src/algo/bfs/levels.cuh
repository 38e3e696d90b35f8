// Level-synchronous breadth-first search on GPUs: the data of one PE, and the inputs and outputs of its kernels. The barrier
// between two levels is in src/lockstep/lockstep.cuh.
//
// Bitmaps use "padded" vertex numbers: the range of PE p begins at base[p], a multiple of 1,024, so that each word and each
// 128-byte line belongs to one PE. With one PE, padded and placed numbers are the same.
#pragma once
#include "lockstep/frontier.cuh"
#include "shoal/graph/csr.hpp"

namespace shoal::bfs_gpu {

using namespace lockstep;

inline constexpr u32 kPad = 1024;              ///< in bitmaps, the range of each PE begins at a multiple of this
inline constexpr u32 kTileWords = 8;           ///< words of a bitmap that a warp works on at once
inline constexpr u32 kTile = 32 * kTileWords;  ///< vertices of these words
inline constexpr u32 kWarpWords = 360;         ///< words of shared memory per warp: a buffer, or bottom-up's tile data
inline constexpr u32 kNone = 0xFFFFFFFFu;      ///< no neighbour
inline constexpr int kMaxSteps = 256;          ///< steps that are recorded
inline constexpr int kMaxThreads = 1024;       ///< of a block

/// The values that a barrier gathers: slots of the queue that is being filled and the arcs in them (one counter with two parts,
/// whose low Slice::arc_bits bits count arcs), and the number of vertices that bottom-up found.
template <bool kMulti>
using Team = Gang<kMulti, Op::high_part, Op::low_part, Op::sum>;

/// A frontier vertex: the index of its row in the targets, and the number of frontier arcs before it. `before` ascends with the
/// slot.
struct alignas(16) Entry {
  u64 row;
  u64 before;
};

struct Step {
  u32 side, depth;
  u64 vertices, arcs, clock;
};

/// Why a kernel ended.
enum class Why : u64 { done, narrow, wide };

/// What a kernel writes to Outcome::word.
struct Summary {
  Why why;
  u64 depth;                        ///< of the frontier that was not expanded
  u64 steps;                        ///< steps recorded so far in the search
  u64 top_down, bottom_up, narrow;  ///< levels that this kernel ran
  u64 unexplored;                   ///< arcs of vertices that have not been in a frontier, approximately
  u64 frontier;                     ///< slots and arcs in the queue of `depth`, packed; narrow_levels' input and output
};
static_assert(sizeof(Summary) == sizeof(Outcome::word));

/// The data of one PE that kernels use; passed by value.
struct Slice {
  lockstep::View team;  ///< PEs whose memory this PE can access: all of them, or itself alone (lockstep/apart.cuh)
  pe_t n_pes, me;       ///< counted over all PEs
  CsrView out, in;
  u32 base[kPeers + 1];          ///< padded number of each PE's first vertex
  u32 shift[kPeers];             ///< padded minus placed, for vertices of each PE (wraps)
  vertex_t begin[kPeers + 1];    ///< placed ranges
  u32 words;                     ///< words of a bitmap for the own vertices, a multiple of kPad / 32
  int arc_bits;                  ///< low bits of a packed counter that count arcs
  u64 total_arcs;                ///< of the whole graph
  u64 total_vertices;            ///< of the whole graph
  u32* unreachable;              ///< [words] own vertices without in-arcs, and padding
  u32* seen;                     ///< [all words] own vertices: reached; other PEs' vertices: sent to their owner
  u32* front[2];                 ///< [all words] frontiers of all PEs, for bottom-up
  u32* head;                     ///< [32 * words] padded number of the best connected in-neighbour, or kNone
  uint4* heads;                  ///< [32 * words] the four best connected; the first is `head`
  Entry* queue[2];               ///< own frontier by depth % 2, vertices with out-arcs only
  vertex_t* inbox[kPeers];       ///< [count] own vertices that peers reached: local numbers, in the order of sending
  vertex_t* peer_inbox[kPeers];  ///< where this PE writes for each peer: its inbox or, if out of reach, an outbox
  u32* peer_front[2][kPeers];
  PaddedWord<u64, Scope::device>* spilled;  ///< slots and arcs that narrow_levels left in the queue, packed
  Step* step;                               ///< [kMaxSteps] of the last search
};
static_assert(std::is_trivially_copyable_v<Slice> && sizeof(Slice) < 4000, "a Slice travels as a kernel argument");

struct Rules {
  double alpha, beta;
  int narrow_after;  ///< 0: never
  u64 narrow_enter, narrow_leave, narrow_check;
};

struct SearchArgs {
  u32 resume;  ///< 0: begin at `source`; 1: continue with the frontier at `depth`, which is in the queue
  u32 depth;
  u32 steps;
  u64 unexplored;
  u64 frontier;  ///< packed; used when resuming
  u32 source;    ///< local number at its owner; kNone on other PEs
  level_t* level;
};

/// Slots and arcs packed into one word of a counter.
inline __device__ u64 packed(const Slice& v, u64 slots, u64 arcs) { return (slots << v.arc_bits) + arcs; }
inline __device__ u64 slots_of(const Slice& v, u64 packed) { return packed >> v.arc_bits; }
inline __device__ u64 arcs_of(const Slice& v, u64 packed) { return packed & ((u64{1} << v.arc_bits) - 1); }

inline __device__ u32 load_relaxed(const u32* p) { return load(*p); }

template <bool kMulti>
__device__ u32 padded(const Slice& v, vertex_t placed) {
  if constexpr (!kMulti) return placed;
  u32 shift = v.shift[0];
  for (pe_t p = 1; p < v.n_pes; ++p) {
    if (placed >= v.begin[p]) shift = v.shift[p];
  }
  return placed + shift;
}

/// Each lane has a row (degree 0: none). Calls visit with up to four placed numbers of targets per lane (kNone: none). All lanes
/// together read a row of more than kSerial arcs.
template <u32 kSerial, class Visit>
__device__ void for_rows(const Slice& v, u64 row, u32 degree, Visit&& visit) {
  const u32 lane = lane_id();
  u32 longs = __ballot_sync(kAll, degree > kSerial);
  const u32 mine = degree > kSerial ? 0 : degree;
  for (u32 k = 0; __any_sync(kAll, k < mine); k += 4) {
    u32 t[4];
#pragma unroll
    for (u32 j = 0; j < 4; ++j) t[j] = k + j < mine ? __ldg(v.out.targets + row + k + j) : kNone;
    visit(t);
  }
  for (; longs != 0; longs &= longs - 1) {
    const int from = __ffs(longs) - 1;
    const u64 r = __shfl_sync(kAll, row, from);
    const u32 d = __shfl_sync(kAll, degree, from);
    for (u32 k = 0; k < d; k += 128) {
      u32 t[4];
#pragma unroll
      for (u32 j = 0; j < 4; ++j) {
        const u32 x = k + j * 32 + lane;
        t[j] = x < d ? __ldg(v.out.targets + r + x) : kNone;
      }
      visit(t);
    }
  }
}

/// Writes the summary for the host. Called by one thread of the PE, before the kernel ends.
inline __device__ void tell(const Slice& v, const Summary& summary) {
  memcpy(v.team.outcome->word, &summary, sizeof(summary));
}

}  // namespace shoal::bfs_gpu
