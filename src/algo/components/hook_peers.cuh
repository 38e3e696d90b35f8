// Connected components on several GPUs: how PEs exchange which vertices are in their giant trees, and how the remaining vertices
// are hooked. The kernels of one PE follow each other in its stream; between them, PEs meet in kernels of one block.
#pragma once
#include "hook.cuh"

namespace shoal::hook_gpu {

inline __device__ u64 now_ns() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

/// A barrier of all PEs, called by one warp of each. What PEs wrote before it, also to each other's memory, is visible to every PE
/// after it.
///
/// Why that holds: a kernel's stores, also those to peers, are complete before the next kernel of its stream begins. The release at
/// system scope orders them before the word that announces the arrival. A PE that acquires this word reads, or starts its next
/// kernel, after that.
inline __device__ void meet(const View& v) {
  Control& mine = v.here();
  const u32 epoch = mine.epoch + 1;
  __syncwarp();
  if (lane_id() == 0) mine.epoch = epoch;
  if (lane_id() < static_cast<u32>(v.n_pes)) {
    __threadfence_system();
    v.control[lane_id()]->arrived[v.me].store_release(epoch);
    u64 start = 0;
    for (u32 spins = 1; static_cast<int>(mine.arrived[lane_id()].load_acquire() - epoch) < 0; ++spins) {
      if (spins % 64 != 0) continue;
      if (mine.error.load() != 0) break;
      const u64 t = now_ns();
      if (start == 0) start = t;
      if (t - start > v.deadline_ns) {
        for (pe_t p = 0; p < v.n_pes; ++p) v.control[p]->error.store(1);
        break;
      }
    }
    __threadfence_system();
  }
  __syncwarp();
}
static __global__ void __launch_bounds__(32) meet_peers(const __grid_constant__ View v) { meet(v); }

/// Compresses own trees and sends every PE the bits of own vertices that are in the giant tree. The words of a warp are stored
/// together, 32 of them as one line.
static __global__ void __launch_bounds__(kThreads) tell_giant(const __grid_constant__ View v) {
  const Parents<true> parents{v};
  const vertex_t giant = v.here().giant[v.me];
  const u32 num_words = (v.out.count + 31) / 32;
  u32 outside = 0;
  const u32 at_once = words_at_once(num_words, 4, 32);
  for (u32 w0 = thread_id() / 32 * at_once; w0 < num_words; w0 += num_threads() / 32 * at_once) {
    u32 word = 0;
    for (u32 j = 0; j < at_once && w0 + j < num_words; ++j) {
      const u32 local = (w0 + j) * 32 + lane_id();
      const bool has = local < v.out.count;
      const bool in = has && parent_to_root(parents, v.out.first + local, giant) == giant;
      const u32 bits = __ballot_sync(kAll, in);
      if (lane_id() == j) word = bits;
      outside += has && !in;
    }
    if (lane_id() >= at_once || w0 + lane_id() >= num_words) continue;
    for (pe_t p = 0; p < v.n_pes; ++p) v.in_giant[p][v.first_word[v.me] + w0 + lane_id()] = word;
  }
  count_outside(v, outside);
}

/// The owner of a vertex, and the vertex's local number there.
struct Owned {
  pe_t pe;
  u32 local;
};
inline __device__ Owned owner_of(const View& v, vertex_t x) {
  if (x - v.out.first < v.out.count) return {v.me, x - v.out.first};
  pe_t p = 0;
  while (x >= v.begin[p + 1]) ++p;
  return {p, x - v.begin[p]};
}
/// True if the vertex is in its PE's giant tree.
inline __device__ bool is_giant(const View& v, Owned x) {
  return v.in_giant[v.me][v.first_word[x.pe] + x.local / 32] >> x.local % 32 & 1;
}

/// One bit per PE whose giant tree is united with that of p, directly or through others.
inline __device__ u32 joined_with(u64 pairs, pe_t p) {
  u32 joined = 1u << p;
  for (u32 before = 0; before != joined;) {
    before = joined;
    for (int q = 0; q < kPeers; ++q) joined |= before >> q & 1 ? static_cast<u32>(pairs >> kPeers * q & 0xFF) : 0;
  }
  return joined;
}
using Pairs = gpu::AtomicRef<u64, /*kSystem=*/true>;
inline __device__ u64 load_pairs(const View& v) { return Pairs(v.here().pairs).load(gpu::kRelaxed); }
/// One bit per PE that has a giant tree.
inline __device__ u32 with_giants(const View& v) {
  u32 with = 0;
  for (pe_t p = 0; p < v.n_pes; ++p) with |= static_cast<u32>(v.here().giant[p] != kNoVertex) << p;
  return with;
}

/// Follows the arcs between giant trees until this PE's giant tree is united with all others. A PE that finds that two trees must
/// be united informs all PEs: in a road network a PE has arcs only to its neighbours, and it need not find a path to the others
/// itself.
struct UniteGiants {
  const View& v;
  u32 wanted;   ///< bit per PE that has a giant tree; 0 if this one has none
  u32 missing;  ///< those of them that this thread does not know to be united with this PE's

  __device__ explicit UniteGiants(const View& view) : v(view), wanted(with_giants(view)) {
    if ((wanted >> v.me & 1) == 0) wanted = 0;
    refresh();
  }
  __device__ void refresh() { missing = wanted & ~joined_with(load_pairs(v), v.me); }
  __device__ bool done() const { return missing == 0; }
  __device__ bool operator()(u32, vertex_t target) {
    const Owned t = owner_of(v, target);
    if ((missing >> t.pe & 1) == 0 || !is_giant(v, t)) return done();
    const u64 pair = u64{1} << (kPeers * v.me + t.pe) | u64{1} << (kPeers * t.pe + v.me);
    // The first thread that sets this pair unites the two trees, and has done so by the time all PEs have finished their hooks.
    if ((Pairs(v.here().pairs).fetch_or(pair, gpu::kRelaxed) & pair) == 0) {
      for (pe_t p = 0; p < v.n_pes; ++p) {
        if (p != v.me) Pairs(v.control[p]->pairs).fetch_or(pair, gpu::kRelaxed);
      }
      Parents<true>{v}.unite(v.here().giant[v.me], v.here().giant[t.pe]);
    }
    refresh();
    return done();
  }
};

/// One block meets the other PEs, then looks at some arcs of some giant vertices: the first and the last vertices, which are near
/// those of other PEs if numbers follow locations, and random ones, which suffice if arcs lead everywhere.
static __global__ void __launch_bounds__(kSamples) unite_giants_by_sample(const __grid_constant__ View v) {
  constexpr u32 kEnd = kSamples / 4;
  if (threadIdx.x < 32) meet(v);
  __syncthreads();
  if (v.here().error.load() != 0) return;
  UniteGiants unite(v);
  const u32 t = threadIdx.x, n = v.out.count;
  u32 local = static_cast<u32>((mix64(t + kSamples) >> 32) * n >> 32);
  if (t < 2 * kEnd) local = t < kEnd ? t : n - 1 - (t - kEnd);
  if (local >= n || unite.done() || !is_giant(v, {v.me, local})) return;
  const Row row = row_of(v.out, local);
  const arc_t step = row.size > 16 ? row.size / 16 : 1;  // spread over the row, which is sorted by PE
  for (arc_t k = 0; k < row.size && !unite.done(); k += step) unite(local, __ldg(row.at + k));
}

/// What a block knows about the giant trees while it hooks the remaining vertices.
struct Giants {
  vertex_t low[kPeers];  ///< by PE: lowest of the giants united with that PE's; the other vertices are hooked under it
  bool one;              ///< whether all giant trees are one, or will be

  /// Called by every thread of the block; ends with a barrier.
  __device__ void look_up(const View& v) {
    if (threadIdx.x < kPeers) {
      const pe_t p = static_cast<pe_t>(threadIdx.x);
      const u32 joined = joined_with(load_pairs(v), p), all = with_giants(v);
      vertex_t lowest = kNoVertex;
      for (pe_t q = 0; q < v.n_pes; ++q) {
        if (joined >> q & 1) lowest = min(lowest, v.here().giant[q]);
      }
      low[p] = lowest;
      if (p == (all == 0 ? 0 : __ffs(all) - 1)) one = (all & ~joined) == 0;
    }
    __syncthreads();
  }
};

/// Several PEs: handles all arcs of the vertices that are not in giant trees. The bitmap shows whether a neighbour is in a giant
/// tree, and `giants.low` says under what to hook. So neither the neighbour's PE is accessed, nor the giant, which all threads
/// would access. All threads hook under the same giant, even if it is no root any more: a few vertices are lower, and each time one
/// of them is joined the root moves while others hook. (When hooking under the current root, kron:24 on four H200 took 1.1 to 1.5
/// ms; this way 0.63 to 0.75, 2026-11-22: bench/results/components_parts_4xh200.txt.)
///
/// A vertex may stop in a giant tree only if there is one giant tree in all: vertices of the other giant trees do not look at their
/// arcs to it.
struct JoinPeers {
  const View& v;
  const Giants& giants;

  __device__ bool operator()(u32 local, vertex_t target) const {
    const Parents<true> parents{v};
    const vertex_t x = v.out.first + local;
    const Owned t = owner_of(v, target);
    if (!is_giant(v, t)) {
      parents.unite(x, target);
      return false;
    }
    const vertex_t low = giants.low[t.pe];
    vertex_t root = parents.find(x, low);
    while (root > low) {
      if (parents.hook(root, low)) return giants.one;
      root = parents.find(root, low);
    }
    if (root < low) parents.unite(root, low);
    return giants.one;
  }
};

/// Handles what the sample left open: all arcs of giant vertices, until these trees are one, then all arcs of the other vertices.
/// The launch bound makes room for eight blocks on a multiprocessor, as many as are launched: with six, uniform:24,degree=2 took
/// half as long again.
static __global__ void __launch_bounds__(kThreads, 8) join_peers(const __grid_constant__ View v) {
  __shared__ Giants giants;
  if (__syncthreads_or(v.here().error.load() != 0)) return;
  const u32* const in_giant = v.in_giant[v.me] + v.first_word[v.me];
  UniteGiants unite(v);
  if (!__all_sync(kAll, unite.done())) {
    for_own_vertices(v, in_giant, 0, [&](u32 local, bool has) {
      unite.refresh();
      for_arcs(v, 1, local, has && !unite.done(), unite);
    });
  }
  giants.look_up(v);
  const JoinPeers join{v, giants};
  for_own_vertices(v, in_giant, kAll, [&](u32 local, bool has) { for_arcs(v, 0, local, has, join); });
}
/// The same for the long rows, if there are any.
static __global__ void __launch_bounds__(kThreads) join_hubs_peers(const __grid_constant__ View v) {
  __shared__ Giants giants;
  if (__syncthreads_or(v.here().error.load() != 0)) return;
  UniteGiants unite(v);
  if (!unite.done()) for_hub_arcs(v, 1, unite);
  giants.look_up(v);
  for_hub_arcs(v, 0, JoinPeers{v, giants});
}

/// One warp meets the other PEs, after which no more hooks are made, and finds the roots of the giants.
static __global__ void __launch_bounds__(32) meet_and_find_roots(const __grid_constant__ View v) {
  meet(v);
  if (v.here().error.load() != 0 || lane_id() >= static_cast<u32>(v.n_pes)) return;
  const vertex_t giant = v.here().giant[lane_id()];
  v.here().root[lane_id()] = giant == kNoVertex ? giant : Parents<true>{v}.root_of(giant);
}

/// Makes every own vertex point to its root. The roots of giants are taken from the table, because all threads would read those
/// parents.
static __global__ void __launch_bounds__(kThreads) compress_peers(const __grid_constant__ View v) {
  __shared__ vertex_t giant[kPeers], root[kPeers];
  if (__syncthreads_or(v.here().error.load() != 0)) return;
  if (threadIdx.x < kPeers) {
    const bool has = threadIdx.x < static_cast<u32>(v.n_pes);
    giant[threadIdx.x] = has ? v.here().giant[threadIdx.x] : kNoVertex;
    root[threadIdx.x] = has ? v.here().root[threadIdx.x] : kNoVertex;
  }
  __syncthreads();
  const Parents<true> parents{v};
  for (u32 local = thread_id(); local < v.out.count; local += num_threads()) {
    const vertex_t x = v.out.first + local, up = parents.load(x);
    vertex_t to = up;
    for (vertex_t at = x; to != at;) {
      at = to;
      bool known = false;
      for (int p = 0; p < kPeers; ++p) {
        if (at == giant[p] || at == root[p]) to = root[p], known = true;
      }
      if (known) break;
      to = parents.load(at);
    }
    if (to != up) parents.store(x, to);
  }
}

/// Counts, after a run, the arcs between PEs that its hooks had to follow over the wire.
static __global__ void __launch_bounds__(kThreads) count_open_arcs(const __grid_constant__ View v) {
  const u32* const in_giant = v.in_giant[v.me] + v.first_word[v.me];
  u64 open = 0;
  for (u32 local = thread_id(); local < v.out.count; local += num_threads()) {
    if (in_giant[local / 32] >> local % 32 & 1) continue;
    const Row row = row_of(v.out, local);
    for (arc_t k = 0; k < row.size; ++k) {
      const Owned target = owner_of(v, __ldg(row.at + k));
      open += target.pe != v.me && !is_giant(v, target);
    }
  }
  if (open != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&v.here().open_arcs), open);
}

}  // namespace shoal::hook_gpu
