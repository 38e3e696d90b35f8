// Level-synchronous breadth-first search on GPUs: what one PE holds, and the barrier that all blocks of all PEs meet
// at.
//
// Bitmaps number vertices "padded": the range of PE p begins at base[p], a multiple of 1,024, so that a word, and a
// 128-byte line, belongs to one PE. With one PE, padded and placed numbers are the same.
#pragma once
#include <cuda/atomic>

#include "shoal/core/atomic.hpp"
#include "shoal/core/types.hpp"
#include "shoal/data/csr.hpp"

namespace shoal::bfs_gpu {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

inline constexpr int kPeers = 8;               ///< most PEs of a search: 4 words of each fit the lanes of one warp
inline constexpr u32 kPad = 1024;              ///< PEs' ranges begin at multiples of this in bitmaps
inline constexpr u32 kTileWords = 8;           ///< words of a bitmap that a warp works on at once
inline constexpr u32 kTile = 32 * kTileWords;  ///< the same in vertices
inline constexpr u32 kBuffer = 256;            ///< vertices that a warp collects before it appends them
inline constexpr u32 kWarpWords = 360;     ///< shared memory of a warp: a buffer, or what bottom-up keeps of its tiles
inline constexpr u32 kNone = 0xFFFFFFFFu;  ///< no neighbour
inline constexpr u32 kAll = 0xFFFFFFFFu;   ///< every lane of a warp
inline constexpr int kMaxSteps = 256;      ///< steps that are remembered
inline constexpr int kMaxThreads = 1024;   ///< of a block

/// A frontier vertex: its row, and the number of frontier arcs before it. `before` ascends with the slot.
struct alignas(16) Entry {
  u64 row;
  u64 before;
};

enum class End : u32 { running = 0, done = 1, narrow = 2, wide = 3, deadline = 4 };

struct Step {
  u32 side, depth;
  u64 vertices, arcs, clock;
};

/// Words of one PE that all its blocks share; `error` and the slots are written by peers as well. All zero before the
/// first search and after a failed one.
struct Control {
  PaddedWord<u32, Scope::device> arrived;       ///< blocks that came to a barrier, ever
  PaddedWord<u32, Scope::system> error;         ///< an End; anything but running makes every block leave
  PaddedWord<u64, Scope::device> next[3];       ///< slots and arcs of the frontier at depth % 3, packed
  PaddedWord<u64, Scope::device> found[3];      ///< vertices that bottom-up found, by depth % 3
  PaddedWord<u32, Scope::device> sent[kPeers];  ///< vertices sent to each PE in this search
  Word<u64, Scope::system> slot[4][kPeers][4];  ///< [barrier % 4][from PE]: vertices, arcs, sent; 16 low bits: barrier
  Step step[kMaxSteps];
};

/// What the host reads when a kernel has ended (pinned host memory).
struct Outcome {
  u32 end, depth, barriers, steps;
  u32 levels_top_down, levels_bottom_up, levels_narrow, pad;
  u64 unexplored;
};

/// One PE as kernels see it; passed by value.
struct View {
  CsrView out, in;
  pe_t n_pes, me;
  u32 base[kPeers + 1];           ///< padded number of each PE's first vertex
  u32 shift[kPeers];              ///< padded minus placed, for vertices of each PE (wraps)
  vertex_t begin[kPeers + 1];     ///< placed ranges
  u32 words;                      ///< own words of a bitmap, a multiple of kPad / 32
  int arc_bits;                   ///< low bits of a packed counter that count arcs
  u64 total_arcs;                 ///< of the whole graph
  u64 total_vertices;             ///< of the whole graph
  const u32* unreachable;         ///< [words] own vertices without in-arcs, and padding
  u32* seen;                      ///< [all words] own: reached; others': sent to their owner
  u32* front[2];                  ///< [all words] frontiers of all PEs, for bottom-up
  const u32* head;                ///< [32 * words] padded number of the best connected in-neighbour, or kNone
  const uint4* heads;             ///< [32 * words] the four best connected; the first is `head`
  Entry* queue[2];                ///< own frontier by depth % 2, vertices with out-arcs only
  const vertex_t* inbox[kPeers];  ///< own vertices that peers reached, as local numbers, in order of sending
  vertex_t* peer_inbox[kPeers];   ///< where this PE writes at each peer
  u32* peer_front[2][kPeers];
  Control* peer_control[kPeers];
  Control* control;
};
static_assert(std::is_trivially_copyable_v<View> && sizeof(View) < 4000, "a View travels as a kernel argument");

struct Rules {
  double alpha, beta;
  int narrow_after;  ///< 0: never
  u64 narrow_enter, narrow_leave, narrow_check;
  u64 deadline_ns;
};

struct SearchArgs {
  u32 resume;  ///< 0: from `source`; 1: the frontier at `depth` lies in the queue
  u32 depth;
  u32 barriers;  ///< met so far, ever; the same on all PEs
  u32 steps;
  u64 unexplored;
  u32 source;  ///< local number at its owner, kNone elsewhere
  level_t* level;
  Outcome* outcome;
};

/// Shared memory of a block beside the warps' buffers.
struct Scratch {
  u32 ok;
  u32 found;
  u64 vertices, arcs;                  ///< of all PEs, as the last barrier said
  u64 own_vertices, own_arcs;          ///< of this PE
  u32 received[kPeers], sent[kPeers];  ///< inbox: read up to, written up to
};

inline __device__ u32 lane_id() { return threadIdx.x & 31; }
inline __device__ u32 warp_in_block() { return threadIdx.x >> 5; }
/// Warps are numbered across blocks first, so that little work spreads over all multiprocessors.
inline __device__ u32 warp_id() { return warp_in_block() * gridDim.x + blockIdx.x; }
inline __device__ u32 num_warps() { return (blockDim.x >> 5) * gridDim.x; }
inline __device__ u32 lanes_below() { return (1u << lane_id()) - 1; }
inline __device__ u64 now_ns() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
inline __device__ u32 load_relaxed(const u32* p) {
  return cuda::atomic_ref<u32, cuda::thread_scope_device>(*const_cast<u32*>(p)).load(cuda::memory_order_relaxed);
}

template <bool kMulti>
__device__ u32 padded(const View& v, vertex_t placed) {
  if constexpr (!kMulti) return placed;
  u32 shift = v.shift[0];
  for (pe_t p = 1; p < v.n_pes; ++p) {
    if (placed >= v.begin[p]) shift = v.shift[p];
  }
  return placed + shift;
}

/// Sum over a warp; every lane gets it.
inline __device__ u64 warp_sum(u64 x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(kAll, x, d);
  return x;
}

/// Ends the search on every PE.
inline __device__ void raise(const View& v, End why) {
  for (pe_t p = 0; p < v.n_pes; ++p) v.peer_control[p]->error.store(static_cast<u32>(why));
}

/// Spins until ready(). False when the search was ended, by this wait's deadline or by someone else.
template <class Ready>
__device__ bool wait(const View& v, u64 deadline_ns, Ready ready) {
  u64 start = 0;
  for (u32 spins = 1; !ready(); ++spins) {
    if ((spins & 255) != 0) continue;
    if (v.control->error.load() != 0) return false;
    const u64 t = now_ns();
    if (start == 0) start = t;
    if (t - start > deadline_ns) {
      raise(v, End::deadline);
      return false;
    }
  }
  return true;
}

/// The barrier of all blocks of all PEs; every thread calls it. What was written before it, also into peers' memory, is
/// seen after it through plain loads. Sums `counter` over PEs: its low `bits` bits into s.arcs, the rest into
/// s.vertices.
///
/// Why that holds: a block's stores are ordered before its leader's fence by the block barrier; the leader's release of
/// `arrived` is acquired by the last leader, whose warp fences at system scope and then writes the slots; each block's
/// first warp reads the slots and fences at system scope (which also drops the multiprocessor's first-level cache).
/// A slot is written again four barriers later, when every reader has long arrived at the next one.
/// @return false when the search was ended; the caller leaves the kernel
template <bool kMulti>
__device__ bool meet(const View& v, const Rules& rules, Scratch& s, u32& barriers,
                     const PaddedWord<u64, Scope::device>& counter, int bits) {
  ++barriers;
  __syncthreads();
  if (threadIdx.x < 32) {
    const u32 lane = lane_id();
    const u32 target = barriers * gridDim.x;
    bool ok = true;
    if constexpr (!kMulti) {
      if (lane == 0) {
        __threadfence();
        auto& arrived = v.control->arrived;
        if (arrived.fetch_add_acq_rel(1) + 1 != target) {
          ok = wait(v, rules.deadline_ns, [&] { return static_cast<int>(arrived.load_acquire() - target) >= 0; });
        }
        __threadfence();
        const u64 sum = counter.load();
        s.own_vertices = s.vertices = sum >> bits;
        s.own_arcs = s.arcs = sum & ((u64{1} << bits) - 1);
        s.ok = ok;
      }
    } else {
      bool last = false;
      if (lane == 0) {
        __threadfence_system();
        last = v.control->arrived.fetch_add_acq_rel(1) + 1 == target;
      }
      last = __shfl_sync(kAll, last, 0);
      const u32 pe = lane >> 2, word = lane & 3;
      const bool mine = pe < static_cast<u32>(v.n_pes) && word < 3;
      const u64 tag = barriers & 0xFFFF;
      if (last) {
        __threadfence_system();
        u64 value = 0;
        if (mine) {
          const u64 sum = counter.load();
          value = word == 0 ? sum >> bits : word == 1 ? sum & ((u64{1} << bits) - 1) : v.control->sent[pe].load();
        }
        // All values are read before one is told: the first that is lets blocks go on and change what is read here.
        __syncwarp();
        if (mine) v.peer_control[pe]->slot[barriers & 3][v.me][word].store(value << 16 | tag);
      }
      u64 got = tag;
      if (mine) {
        auto& slot = v.control->slot[barriers & 3][pe][word];
        ok = wait(v, rules.deadline_ns, [&] { return ((got = slot.load()) & 0xFFFF) == tag; });
      }
      ok = __all_sync(kAll, ok);
      __threadfence_system();
      got >>= 16;
      const u64 vertices = warp_sum(mine && word == 0 ? got : 0);
      const u64 arcs = warp_sum(mine && word == 1 ? got : 0);
      if (mine && word == 2) {
        s.received[pe] = s.sent[pe];
        s.sent[pe] = static_cast<u32>(got);
      }
      if (mine && pe == static_cast<u32>(v.me)) {
        if (word == 0) s.own_vertices = got;
        if (word == 1) s.own_arcs = got;
      }
      if (lane == 0) {
        s.vertices = vertices;
        s.arcs = arcs;
        s.ok = ok;
      }
    }
  }
  __syncthreads();
  return s.ok != 0;
}

}  // namespace shoal::bfs_gpu
