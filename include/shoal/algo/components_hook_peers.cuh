// Connected components on several GPUs: how PEs tell each other which vertices are in their giant trees, and how the rest
// is hooked. Kernels of one PE follow each other in its stream; PEs meet in a kernel of one warp between them.
#pragma once
#include "shoal/algo/components_hook.cuh"

namespace shoal::hook_gpu {

inline __device__ u64 now_ns() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

/// One warp per PE: what all PEs wrote before their meeting, also into each other's memory, every PE sees after it.
///
/// Why that holds: a kernel's stores are complete, also those to peers, before the next kernel of its stream begins; the
/// release at system scope orders them before the word that tells; whoever acquires the word starts its next kernel later.
static __global__ void __launch_bounds__(32) meet_peers(const __grid_constant__ View v) {
  Control& mine = v.here();
  const u32 epoch = mine.epoch + 1;
  __syncwarp();
  if (threadIdx.x == 0) mine.epoch = epoch;
  if (threadIdx.x >= static_cast<u32>(v.n_pes)) return;
  __threadfence_system();
  v.control[threadIdx.x]->arrived[v.me].store_release(epoch);
  u64 start = 0;
  for (u32 spins = 1; static_cast<int>(mine.arrived[threadIdx.x].load_acquire() - epoch) < 0; ++spins) {
    if (spins % 64 != 0) continue;
    if (mine.error.load() != 0) return;
    const u64 t = now_ns();
    if (start == 0) start = t;
    if (t - start > v.deadline_ns) {
      for (pe_t p = 0; p < v.n_pes; ++p) v.control[p]->error.store(1);
      return;
    }
  }
  __threadfence_system();
}

/// Compresses own trees and tells every PE which own vertices are in the giant one. A warp makes 32 words at a time, so that
/// they travel as one line.
static __global__ void __launch_bounds__(kThreads) tell_giant(const __grid_constant__ View v) {
  const Parents<true> parents{v};
  const vertex_t giant = v.here().giant[v.me];
  const u32 num_words = (v.out.count + 31) / 32;
  u32 outside = 0;
  for (u32 w0 = thread_id() / 32 * 32; w0 < num_words; w0 += num_threads()) {
    u32 word = 0;
    for (u32 j = 0; j < 32 && w0 + j < num_words; ++j) {
      const u32 local = (w0 + j) * 32 + lane_id();
      const bool has = local < v.out.count;
      const bool in = has && parent_to_root(parents, v.out.first + local, giant) == giant;
      const u32 bits = __ballot_sync(kAll, in);
      if (lane_id() == j) word = bits;
      outside += has && !in;
    }
    if (w0 + lane_id() >= num_words) continue;
    for (pe_t p = 0; p < v.n_pes; ++p) v.in_giant[p][v.first_word[v.me] + w0 + lane_id()] = word;
  }
  count_outside(v, outside);
}

/// Whom a vertex belongs to.
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

/// What follows the arcs between giant trees, until this PE's is united with all others that there are.
struct UniteGiants {
  const View& v;
  u32 wanted;  ///< bit per PE that has a giant tree, without this one; 0 if this one has none
  u32 known;   ///< bit per PE: united, as far as this thread knows

  __device__ explicit UniteGiants(const View& view) : v(view), wanted(0), known(0) {
    if (v.here().giant[v.me] == kNoVertex) return;
    for (pe_t p = 0; p < v.n_pes; ++p) wanted |= static_cast<u32>(p != v.me && v.here().giant[p] != kNoVertex) << p;
    refresh();
  }
  __device__ void refresh() { known = load(v.here().united); }
  __device__ bool done() const { return (known & wanted) == wanted; }
  __device__ bool operator()(u32, vertex_t target) {
    const Owned t = owner_of(v, target);
    const u32 bit = 1u << t.pe;
    if ((wanted & ~known & bit) == 0 || !is_giant(v, t)) return done();
    // The first thread to say so unites them; it will have done so when the kernel has ended.
    known |= atomicOr(&v.here().united, bit);
    if ((known & bit) == 0) Parents<true>{v}.unite(v.here().giant[v.me], v.here().giant[t.pe]);
    known |= bit;
    return done();
  }
};

/// One block looks at some arcs of some giant vertices: where arcs go everywhere, that is all it takes.
static __global__ void __launch_bounds__(kThreads) unite_giants_by_sample(const __grid_constant__ View v) {
  if (v.here().error.load() != 0) return;
  UniteGiants unite(v);
  for (u32 i = 0; i < 8 && !unite.done(); ++i) {
    const u32 local = static_cast<u32>((mix64(i * kThreads + threadIdx.x + kSamples) >> 32) * v.out.count >> 32);
    if (!is_giant(v, {v.me, local})) continue;
    const Row row = row_of(v.out, local);
    const arc_t step = row.size > 16 ? row.size / 16 : 1;  // all over the row, which is sorted by PE
    for (arc_t k = 0; k < row.size && !unite.done(); k += step) unite(local, __ldg(row.at + k));
    unite.refresh();
  }
}

/// All arcs of giant vertices, until nothing is left to unite.
static __global__ void __launch_bounds__(kThreads) unite_giants(const __grid_constant__ View v) {
  if (v.here().error.load() != 0) return;
  UniteGiants unite(v);
  if (__all_sync(kAll, unite.done())) return;
  for_own_vertices(v, v.in_giant[v.me] + v.first_word[v.me], [&](u32 local, bool has) {
    if (local / 32 % kWarpWords == 0) unite.refresh();
    for_arcs(v, 1, local, has && !unite.done(), [&](u32 vertex, vertex_t target) { return unite(vertex, target); });
  });
}
static __global__ void __launch_bounds__(kThreads) unite_giant_hubs(const __grid_constant__ View v) {
  if (v.here().error.load() != 0 || v.here().num_hubs[1] == 0) return;
  UniteGiants unite(v);
  if (!unite.done()) for_hub_arcs(v, 1, [&](u32 vertex, vertex_t target) { return unite(vertex, target); });
}

/// The giant trees and their roots, looked up once per block.
struct Giants {
  vertex_t giant[kPeers], root[kPeers];
  vertex_t low[kPeers];  ///< of the giants of one tree the lowest: what the rest is hooked under
  bool one;              ///< they are all one tree

  /// Every thread of the block; ends with a barrier. Roots move while others hook, so they are followed until none has moved
  /// since the last look: two trees that were one all along would make every thread look at all of its arcs.
  __device__ void look_up(const View& v) {
    if (threadIdx.x < 32) {
      const bool has = threadIdx.x < static_cast<u32>(v.n_pes);
      const vertex_t mine = has ? v.here().giant[threadIdx.x] : kNoVertex;
      vertex_t top = mine;
      for (bool moved = true; __any_sync(kAll, moved);) {
        const vertex_t before = top;
        if (top != kNoVertex) top = Parents<true>{v}.root_of(top);
        moved = top != before;
      }
      if (threadIdx.x < kPeers) giant[threadIdx.x] = mine, root[threadIdx.x] = top;
    }
    __syncthreads();
    if (threadIdx.x < kPeers) {
      vertex_t lowest = kNoVertex;
      for (int p = 0; p < kPeers; ++p) {
        if (root[p] == root[threadIdx.x]) lowest = giant[p] < lowest ? giant[p] : lowest;
      }
      low[threadIdx.x] = lowest;
    }
    if (threadIdx.x == 0) {
      vertex_t any = kNoVertex;
      one = true;
      for (int p = 0; p < kPeers; ++p) {
        if (root[p] == kNoVertex) continue;
        one = one && (any == kNoVertex || any == root[p]);
        any = root[p];
      }
    }
    __syncthreads();
  }
  __device__ bool is_root(vertex_t x) const {
    bool is = false;
    for (int p = 0; p < kPeers; ++p) is |= x == root[p];
    return is;
  }
  /// The root of x's tree if x is a giant, else x.
  __device__ vertex_t beyond(vertex_t x) const {
    for (int p = 0; p < kPeers; ++p) {
      if (x == giant[p]) return root[p];
    }
    return x;
  }
};

/// Several PEs: all arcs of the vertices that are not in giant trees. A neighbour in a giant tree is known from the bitmap,
/// and what to hook under from the table: neither its PE nor the giant, which everybody would ask, is touched. All hook under
/// the same giant, also when it is no root any more: a few vertices are lower, and whoever joins one of them moves the root
/// while others hook. (Under whatever the root is just then, kron:24 on four H200 took 1.1 to 1.5 ms; so 0.63 to 0.75, 2026-11-22:
/// bench/results/components_parts_4xh200.txt.)
///
/// A vertex may stop in a giant tree only if there is one giant tree in all: vertices of the others do not look at their
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
static __global__ void __launch_bounds__(kThreads) join_rest_peers(const __grid_constant__ View v) {
  __shared__ Giants giants;
  if (__syncthreads_or(v.here().error.load() != 0)) return;
  giants.look_up(v);
  const JoinPeers join{v, giants};
  const u32* const in_giant = v.in_giant[v.me] + v.first_word[v.me];
  for_own_vertices(v, nullptr, [&](u32 local, bool has) {
    const u32 bits = in_giant[local / 32];
    if (bits != kAll) for_arcs(v, 0, local, has && (bits >> lane_id() & 1) == 0, join);
  });
}
static __global__ void __launch_bounds__(kThreads) join_hubs_peers(const __grid_constant__ View v) {
  __shared__ Giants giants;
  if (__syncthreads_or(v.here().error.load() != 0 || v.here().num_hubs[0] == 0)) return;
  giants.look_up(v);
  for_hub_arcs(v, 0, JoinPeers{v, giants});
}

static __global__ void __launch_bounds__(kThreads) compress_peers(const __grid_constant__ View v) {
  __shared__ Giants giants;
  if (__syncthreads_or(v.here().error.load() != 0)) return;
  giants.look_up(v);
  const Parents<true> parents{v};
  for (u32 local = thread_id(); local < v.out.count; local += num_threads()) {
    const vertex_t x = v.out.first + local, up = parents.load(x);
    if (up == x) continue;
    vertex_t to = giants.beyond(up);
    while (!giants.is_root(to)) {
      const vertex_t next = parents.load(to);
      if (next == to) break;
      to = next;
    }
    if (to != up) parents.store(x, to);
  }
}

/// After a run: how many arcs between PEs its hooks had to follow over the wire.
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
