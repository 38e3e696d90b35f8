// The search itself: one cooperative kernel per PE, level after level, each from the side that promises less work.
#pragma once
#include "shoal/algo/bfs_levels_bottom_up.cuh"

namespace shoal::bfs_gpu {

/// Clears levels and bitmaps, and puts the source into the queue of depth 0.
template <bool kMulti>
__device__ void begin_search(const View& v, const SearchArgs& args) {
  const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  const u32 count = v.out.count, source = args.source;
  auto* four = reinterpret_cast<uint4*>(args.level);
  for (u32 i = thread; i < count / 4; i += threads) {
    uint4 x = {kUnreached, kUnreached, kUnreached, kUnreached};
    if (source / 4 == i) (source % 4 == 0 ? x.x : source % 4 == 1 ? x.y : source % 4 == 2 ? x.z : x.w) = 0;
    four[i] = x;
  }
  if (thread < count % 4) {
    const u32 i = count / 4 * 4 + thread;
    args.level[i] = i == source ? 0 : kUnreached;
  }
  const u32 first_word = v.base[v.me] / 32, all_words = v.base[v.n_pes] / 32;
  for (u32 i = thread; i < all_words; i += threads) {
    const u32 own = i - first_word;
    u32 word = own < v.words ? v.unreachable[own] : 0;
    if (source != kNone && own == source / 32) word |= 1u << (source & 31);
    v.seen[i] = word;
  }
  if (thread == 0) {
    u64 degree = 0;
    if (source != kNone) {
      const u64 row = v.out.offsets[source];
      degree = v.out.offsets[source + 1] - row;
      v.queue[0][0] = {row, 0};
    }
    v.control->next[0].store(degree != 0 ? (u64{1} << v.arc_bits) + degree : 0);
  }
  if (thread < kPeers) v.control->sent[thread].store(0);
  if (thread < 3) {
    if (thread != 0) v.control->next[thread].store(0);
    v.control->found[thread].store(0);
  }
}

/// What a block knows of the search between two barriers; the same in all blocks of all PEs.
struct Progress {
  u32 depth, barriers, steps, narrow_streak = 0, levels_top_down = 0, levels_bottom_up = 0;
  u64 unexplored;
  u64 vertices, arcs;  ///< of the frontier at `depth`, all PEs
  u64 clock;
  End end = End::running;
};

inline __device__ void note_step(const View& v, Progress& at, char side) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    const u64 now = clock64();
    if (at.steps < kMaxSteps) {
      v.control->step[at.steps] = {static_cast<u32>(side), at.depth, at.vertices, at.arcs, now - at.clock};
    }
    at.clock = now;
  }
  ++at.steps;
}

/// One level top-down. @return false when the search was ended
template <bool kMulti>
__device__ bool top_down_level(const View& v, const Rules& rules, Scratch& s, u32* buffer, level_t* level,
                               Progress& at) {
  auto& next = v.control->next[(at.depth + 1) % 3];
  if (blockIdx.x == 0 && threadIdx.x == 0) v.control->next[(at.depth + 2) % 3].store(0);
  Sink<kMulti> sink{v, level, buffer, at.depth + 1};
  const Entry* queue = v.queue[at.depth & 1];
  const u32 n = static_cast<u32>(s.own_vertices);
  const u64 arcs = s.own_arcs;
  if (arcs > 8 * static_cast<u64>(n)) {
    expand_shares<kMulti>(sink, queue, n, arcs);
  } else {
    expand_rows<kMulti>(sink, queue, n, arcs);
  }
  sink.flush();
  if constexpr (kMulti) {
    if (!meet<kMulti>(v, rules, s, at.barriers, next, v.arc_bits)) return false;
    note_step(v, at, 't');
    receive<kMulti>(sink, s);
    sink.flush();
  }
  if (!meet<kMulti>(v, rules, s, at.barriers, next, v.arc_bits)) return false;
  note_step(v, at, kMulti ? 'r' : 't');
  at.unexplored = at.unexplored > at.arcs ? at.unexplored - at.arcs : 0;
  at.vertices = s.vertices;
  at.arcs = s.arcs;
  ++at.depth;
  ++at.levels_top_down;
  return true;
}

/// Levels bottom-up until the frontier is empty or small again; then its queue is made. @return false when ended
template <bool kMulti>
__device__ bool bottom_up_levels(const View& v, const Rules& rules, Scratch& s, u32* buffer, level_t* level,
                                 Progress& at) {
  const bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
  // Counters of the last run of levels; each was last read before the barrier that ended the last level but one.
  if (first_thread) v.control->found[(at.depth + 1) % 3].store(0);
  if (threadIdx.x == 0) s.found = 0;
  frontier_to_bitmap<kMulti>(v, level, at.depth);
  if (!meet<kMulti>(v, rules, s, at.barriers, v.control->next[at.depth % 3], v.arc_bits)) return false;
  note_step(v, at, 'f');
  for (u32 which = 0;; which ^= 1) {
    auto& found = v.control->found[(at.depth + 1) % 3];
    if (first_thread) {
      v.control->found[(at.depth + 2) % 3].store(0);
      for (int i = 0; i < 3; ++i) v.control->next[i].store(0);  // for the queue to come
    }
    const u32 n = bottom_up<kMulti>(v, level, at.depth + 1, which, buffer);
    if (lane_id() == 0 && n != 0) atomicAdd(&s.found, n);
    __syncthreads();
    if (threadIdx.x == 0) {
      // An exchange, which only this thread executes: a plain read would be hoisted above the test, into every thread.
      const u32 of_block = atomicExch(&s.found, 0);
      if (of_block != 0) found.fetch_add(of_block);
    }
    if (!meet<kMulti>(v, rules, s, at.barriers, found, 0)) return false;
    note_step(v, at, 'b');
    const u64 before = at.vertices;
    at.vertices = s.vertices;
    at.arcs = 0;
    ++at.depth;
    ++at.levels_bottom_up;
    if (at.vertices == 0) return true;
    if (at.vertices >= before || rules.beta == 0 || at.vertices * rules.beta >= v.total_vertices) continue;
    Sink<kMulti> sink{v, level, buffer, at.depth};
    bitmap_to_queue<kMulti>(sink, which ^ 1);
    if (!meet<kMulti>(v, rules, s, at.barriers, v.control->next[at.depth % 3], v.arc_bits)) return false;
    note_step(v, at, 'q');
    at.vertices = s.vertices;
    at.arcs = s.arcs;
    return true;
  }
}

/// Launched cooperatively on every PE at once, with (blockDim.x / 32) * kWarpWords words of shared memory.
template <bool kMulti>
__global__ void __launch_bounds__(kMaxThreads, 1)
    search_levels(const __grid_constant__ View v, const __grid_constant__ Rules rules, const SearchArgs args) {
  extern __shared__ u32 buffers[];
  __shared__ Scratch s;
  u32* buffer = buffers + warp_in_block() * kWarpWords;
  Progress at;
  at.depth = args.depth;
  at.barriers = args.barriers;
  at.steps = args.steps;
  at.unexplored = args.unexplored;
  at.clock = clock64();
  if (threadIdx.x < kPeers) s.received[threadIdx.x] = s.sent[threadIdx.x] = 0;
  if (args.resume == 0) begin_search<kMulti>(v, args);
  bool ok = meet<kMulti>(v, rules, s, at.barriers, v.control->next[at.depth % 3], v.arc_bits);
  if (threadIdx.x < kPeers) s.received[threadIdx.x] = s.sent[threadIdx.x] = 0;
  __syncthreads();
  at.vertices = s.vertices;
  at.arcs = s.arcs;
  while (ok && at.arcs != 0) {
    // A pass over the bitmaps is worth it only when the frontier has arcs enough to pay for it.
    if (at.arcs * rules.alpha > at.unexplored && at.arcs * 128 > v.total_vertices) {
      ok = bottom_up_levels<kMulti>(v, rules, s, buffer, args.level, at);
      continue;
    }
    if (!kMulti && rules.narrow_after != 0) {
      at.narrow_streak = at.arcs <= rules.narrow_enter ? at.narrow_streak + 1 : 0;
      if (at.narrow_streak > rules.narrow_after) {
        at.end = End::narrow;
        break;
      }
    }
    ok = top_down_level<kMulti>(v, rules, s, buffer, args.level, at);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    Outcome& o = *args.outcome;
    const u32 error = v.control->error.load();
    o.end = error != 0 ? error : static_cast<u32>(at.end == End::running ? End::done : at.end);
    o.depth = at.depth;
    o.barriers = at.barriers;
    o.steps = at.steps;
    o.levels_top_down += at.levels_top_down;
    o.levels_bottom_up += at.levels_bottom_up;
    o.unexplored = at.unexplored;
  }
}

}  // namespace shoal::bfs_gpu
