// The search itself: one cooperative kernel per PE runs level after level, each in the direction that needs less work.
#pragma once
#include "levels_bottom_up.cuh"

namespace shoal::bfs_gpu {

/// Clears levels and bitmaps, and puts the source into the queue of depth 0. A barrier must follow.
template <bool kMulti>
__device__ void begin_search(const Slice& v, Team<kMulti>& gang, const SearchArgs& args) {
  const u32 thread = thread_id(), threads = num_threads();
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
  if (thread == 0 && source != kNone) {
    const u64 row = v.out.offsets[source], degree = v.out.offsets[source + 1] - row;
    v.queue[0][0] = {row, 0};
    if (degree != 0) gang.template add<0>(packed(v, 1, degree));
  }
}

/// The size of the frontier: what is in the queues of a depth. During bottom-up levels only `vertices` is set.
struct Frontier {
  u64 own;             ///< slots and arcs of this PE, packed
  u64 vertices, arcs;  ///< of all PEs
};
/// What was appended to the queues before the last barrier.
template <bool kMulti>
__device__ Frontier appended(const Slice& v, const Team<kMulti>& gang) {
  return {packed(v, gang.template own<0>(), gang.template own<1>()), gang.template total<0>(),
          gang.template total<1>()};
}

/// The state of the search between two barriers, as each block keeps it: the same in all blocks, and on all PEs except for `own`.
struct Progress {
  u32 depth, narrow_streak = 0;
  u64 unexplored;
  Frontier front;  ///< at `depth`
  Why why = Why::done;
};

/// What the first thread of a PE records. It is in shared memory because registers are scarce.
struct Log {
  u32 steps, top_down, bottom_up;
  u32 depth;           ///< of the frontier that is being expanded
  u64 vertices, arcs;  ///< in it
  u64 clock;
};

inline __device__ void note_frontier(Log& log, const Progress& at) {
  if (thread_id() != 0) return;
  log.depth = at.depth;
  log.vertices = at.front.vertices;
  log.arcs = at.front.arcs;
}

inline __device__ void note_step(const Slice& v, Log& log, char side) {
  if (thread_id() != 0) return;
  const u64 now = clock64();
  if (log.steps < kMaxSteps) {
    v.step[log.steps] = {static_cast<u32>(side), log.depth, log.vertices, log.arcs, now - log.clock};
  }
  ++log.steps;
  log.top_down += side == 't';
  log.bottom_up += side == 'b';
  log.clock = now;
}

/// One level top-down. @return false if the kernel was stopped
template <bool kMulti>
__device__ bool top_down_level(const Slice& v, Team<kMulti>& gang, u32* buffer, level_t* level, Log& log,
                               Progress& at) {
  note_frontier(log, at);
  at.unexplored = at.unexplored > at.front.arcs ? at.unexplored - at.front.arcs : 0;
  Sink<kMulti> sink{{buffer}, v, gang, level, at.depth + 1};
  expand<kMulti>(sink, v.queue[at.depth & 1], at.front.own);
  if (!gang.meet()) return false;
  note_step(v, log, 't');
  at.front = appended(v, gang);
  if constexpr (kMulti) {
    sink.begun = at.front.own;
    receive<kMulti>(sink);
    sink.flush();
    if (!gang.meet()) return false;
    note_step(v, log, 'r');
    const Frontier more = appended(v, gang);
    at.front = {at.front.own + more.own, at.front.vertices + more.vertices, at.front.arcs + more.arcs};
  }
  ++at.depth;
  return true;
}

/// Runs bottom-up levels until the frontier is empty or small again, then makes its queue. @return false if the kernel was stopped
template <bool kMulti>
__device__ bool bottom_up_levels(const Slice& v, const Rules& rules, Team<kMulti>& gang, u32* buffer, level_t* level,
                                 Log& log, Progress& at) {
  note_frontier(log, at);
  frontier_to_bitmap<kMulti>(v, level, at.depth);
  if (!gang.meet()) return false;
  note_step(v, log, 'f');
  for (u32 which = 0;; which ^= 1) {
    note_frontier(log, at);
    const u32 n = bottom_up<kMulti>(v, level, at.depth + 1, which, buffer);
    if (lane_id() == 0 && n != 0) gang.template add<2>(n);
    if (!gang.meet()) return false;
    note_step(v, log, 'b');
    const u64 before = at.front.vertices;
    at.front = {0, gang.template total<2>(), 0};
    ++at.depth;
    if (at.front.vertices == 0) return true;
    if (at.front.vertices >= before || rules.beta == 0 || at.front.vertices * rules.beta >= v.total_vertices) continue;
    note_frontier(log, at);
    Sink<kMulti> sink{{buffer}, v, gang, level, at.depth};
    bitmap_to_queue<kMulti>(sink, which ^ 1);
    if (!gang.meet()) return false;
    note_step(v, log, 'q');
    at.front = appended(v, gang);
    return true;
  }
}

/// Launched cooperatively on all PEs at the same time, with (blockDim.x / 32) * kWarpWords words of shared memory. Writes a
/// Summary.
template <bool kMulti>
__global__ void __launch_bounds__(kMaxThreads, 1)
    search_levels(const __grid_constant__ Slice v, const __grid_constant__ Rules rules, const SearchArgs args) {
  extern __shared__ u32 buffers[];
  __shared__ Shared s;
  __shared__ Log log;
  u32* buffer = buffers + warp_in_block() * kWarpWords;
  Team<kMulti> gang(v.team, s, v.arc_bits);
  Progress at;
  at.depth = args.depth;
  at.unexplored = args.unexplored;
  at.front = {args.frontier, slots_of(v, args.frontier), arcs_of(v, args.frontier)};  // when resuming, there is one PE
  if (thread_id() == 0) log = {args.steps, 0, 0, 0, 0, 0, static_cast<u64>(clock64())};
  bool ok = true;
  if (args.resume == 0) {
    begin_search<kMulti>(v, gang, args);
    ok = gang.meet();
    at.front = appended(v, gang);
  }
  while (ok && at.front.arcs != 0) {
    // A pass over the bitmaps pays only when the frontier has enough arcs.
    if (at.front.arcs * rules.alpha > at.unexplored && at.front.arcs * 128 > v.total_vertices) {
      ok = bottom_up_levels<kMulti>(v, rules, gang, buffer, args.level, log, at);
      continue;
    }
    if (!kMulti && rules.narrow_after != 0) {
      at.narrow_streak = at.front.arcs <= rules.narrow_enter ? at.narrow_streak + 1 : 0;
      if (at.narrow_streak > rules.narrow_after) {
        at.why = Why::narrow;
        break;
      }
    }
    ok = top_down_level<kMulti>(v, gang, buffer, args.level, log, at);
  }
  if (thread_id() == 0) {
    tell(v, {at.why, at.depth, log.steps, log.top_down, log.bottom_up, 0, at.unexplored, at.front.own});
  }
  gang.finish();
}

}  // namespace shoal::bfs_gpu
