// Level-synchronous breadth-first search on GPUs: what one PE holds, and what its kernels are told and tell. The barrier
// between two levels is lockstep's (src/lockstep/lockstep.cuh).
//
// Bitmaps number vertices "padded": the range of PE p begins at base[p], a multiple of 1,024, so that a word, and a
// 128-byte line, belongs to one PE. With one PE, padded and placed numbers are the same.
#pragma once
#include "lockstep/frontier.cuh"
#include "shoal/graph/csr.hpp"

namespace shoal::bfs_gpu {

using namespace lockstep;

inline constexpr u32 kPad = 1024;              ///< PEs' ranges begin at multiples of this in bitmaps
inline constexpr u32 kTileWords = 8;           ///< words of a bitmap that a warp works on at once
inline constexpr u32 kTile = 32 * kTileWords;  ///< the same in vertices
inline constexpr u32 kWarpWords = 360;     ///< shared memory of a warp: a buffer, or what bottom-up keeps of its tiles
inline constexpr u32 kNone = 0xFFFFFFFFu;  ///< no neighbour
inline constexpr int kMaxSteps = 256;      ///< steps that are remembered
inline constexpr int kMaxThreads = 1024;   ///< of a block

/// What a barrier gathers: slots of the queue that is being filled and the arcs in them (a counter of both parts, the
/// low Slice::arc_bits bits count arcs), and vertices that bottom-up found.
template <bool kMulti>
using Team = Gang<kMulti, Op::high_part, Op::low_part, Op::sum>;

/// A frontier vertex: its row, and the number of frontier arcs before it. `before` ascends with the slot.
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

/// What a kernel leaves in the words of its outcome.
struct Summary {
  Why why;
  u64 depth;                        ///< of the frontier that was not expanded
  u64 steps;                        ///< made so far in the search
  u64 top_down, bottom_up, narrow;  ///< levels of this kernel
  u64 unexplored;                   ///< arcs of vertices that no frontier held yet, nearly
  u64 frontier;                     ///< slots and arcs in the queue of `depth`, packed; from narrow_levels, and to it
};
static_assert(sizeof(Summary) == sizeof(Outcome::word));

/// One PE as kernels see it; passed by value.
struct Slice {
  lockstep::View team;  ///< PEs whose memory is reached from here: all, or this one alone (lockstep/apart.cuh)
  pe_t n_pes, me;       ///< of all
  CsrView out, in;
  u32 base[kPeers + 1];          ///< padded number of each PE's first vertex
  u32 shift[kPeers];             ///< padded minus placed, for vertices of each PE (wraps)
  vertex_t begin[kPeers + 1];    ///< placed ranges
  u32 words;                     ///< own words of a bitmap, a multiple of kPad / 32
  int arc_bits;                  ///< low bits of a packed counter that count arcs
  u64 total_arcs;                ///< of the whole graph
  u64 total_vertices;            ///< of the whole graph
  u32* unreachable;              ///< [words] own vertices without in-arcs, and padding
  u32* seen;                     ///< [all words] own: reached; others': sent to their owner
  u32* front[2];                 ///< [all words] frontiers of all PEs, for bottom-up
  u32* head;                     ///< [32 * words] padded number of the best connected in-neighbour, or kNone
  uint4* heads;                  ///< [32 * words] the four best connected; the first is `head`
  Entry* queue[2];               ///< own frontier by depth % 2, vertices with out-arcs only
  vertex_t* inbox[kPeers];       ///< [count] own vertices that peers reached, as local numbers, in order of sending
  vertex_t* peer_inbox[kPeers];  ///< where this PE writes for each peer: there, or, if it is not reached, here
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
  u32 resume;  ///< 0: from `source`; 1: the frontier at `depth` lies in the queue
  u32 depth;
  u32 steps;
  u64 unexplored;
  u64 frontier;  ///< packed, if it goes on
  u32 source;    ///< local number at its owner, kNone elsewhere
  level_t* level;
};

/// Slots and arcs as one word of a counter.
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

/// Reads a row of each lane (degree 0: none), and calls visit with up to four of the placed numbers there (kNone: none). A
/// row of more than kSerial arcs is read by all lanes.
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

/// What the host is told; one thread of the PE, before the kernel ends.
inline __device__ void tell(const Slice& v, const Summary& summary) {
  memcpy(v.team.outcome->word, &summary, sizeof(summary));
}

}  // namespace shoal::bfs_gpu
