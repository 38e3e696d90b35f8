// Connected components on GPUs: the kernels that stay within one PE. The steps, and why they are correct, are in hook.hpp.
#pragma once
#include "shoal/device/wake_wires.cuh"
#include "trees.cuh"

namespace shoal::hook_gpu {

/// One block per tile. Afterwards every parent of this PE is set, and marks show the vertices with first arcs that the tiles left
/// open.
template <bool kMulti>
__global__ void __launch_bounds__(kTileThreads) unite_tiles(const __grid_constant__ View v) {
  extern __shared__ u32 tree[];
  const TileTrees trees{tree};
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    v.here().num_hubs[0] = v.here().num_hubs[1] = 0;
    v.here().outside = v.here().pairs = 0;
  }
  if (kMulti && blockIdx.x == 0 && v.out.count != 0) {
    for (pe_t p = 0; p < v.n_pes; ++p) {  // to where this PE will send the others its bits
      if (p != v.me) wake_wires(v.in_giant[p] + v.first_word[v.me], (v.out.count + 31) / 32);
    }
  }
  const u32 base = blockIdx.x * v.tile;
  if (base >= v.out.count) return;
  const u32 size = v.out.count - base < v.tile ? v.out.count - base : v.tile;
  const vertex_t first = v.out.first + base;
  vertex_t* const parent = v.parent[v.me] + base;
  for (u32 i = threadIdx.x; i < size; i += kTileThreads) tree[i] = i;
  __syncthreads();
  const bool directed = !v.symmetric();
  for (u32 i0 = 0; i0 < size; i0 += kTileThreads) {
    const u32 i = i0 + threadIdx.x;
    vertex_t outside = kNoVertex;
    vertex_t target[kTileArcs];
    bool mark = false, before = false;
    Row row{nullptr, 0};
    if (i < size) row = row_of(v.out, base + i);
    const arc_t begin = kMulti && row.size != 0 ? first_own_arc(v, row) : 0;
#pragma unroll
    for (int k = 0; k < kTileArcs; ++k) {
      target[k] = begin + k < row.size ? __ldg(row.at + begin + k) : kNoVertex;
      before |= lane_id() != 0 && target[k] == first + i - 1;
    }
    // Consecutive lanes that are each joined to the previous vertex are hooked under the first of them, not into a chain.
    const u32 chain = __ballot_sync(kAll, before);
    const u32 head = i - lane_id() + (31 - __clz(~chain & (2u << lane_id()) - 1));
    if (i < size) {
#pragma unroll
      for (int k = 0; k < kTileArcs; ++k) {
        const vertex_t u = target[k];
        if (u == kNoVertex || (kMulti && u - v.out.first >= v.out.count)) continue;
        if (u - first < size) {
          // A symmetric arc is handled at its larger end.
          if (u - first < i || directed) trees.unite(before && u - first == i - 1 ? head : u - first, i);
        } else if (k == 0 && u < first) {
          outside = u;
        } else {
          mark |= k < kFirstArcs;
        }
      }
      parent[i] = outside;  // stored here until the tile's trees are complete
    }
    const u32 word = __ballot_sync(kAll, mark);
    if (lane_id() == 0 && i < size) v.marks[(base + i) / 32] = word;
  }
  __syncthreads();
  for (u32 i0 = 0; i0 < size; i0 += kTileThreads) {
    const u32 i = i0 + threadIdx.x;
    bool mark = false;
    if (i < size) {
      u32 root = trees.tree[i];
      for (u32 up; (up = trees.tree[root]) != root; root = up) trees.shorten(i, up);
      // No other thread of the tile hooks a root, so it may be hooked to a vertex outside the tile without a compare-and-swap.
      const vertex_t outside = parent[i];
      mark = root != i && outside != kNoVertex;
      parent[i] = root == i && outside != kNoVertex ? outside : first + root;
    }
    const u32 word = __ballot_sync(kAll, mark);
    if (lane_id() == 0 && word != 0) v.marks[(base + i) / 32] |= word;
  }
}

/// Calls f(local, has), with one vertex per lane, for the own vertices whose bit in `words` differs from that in `besides`, or for
/// all own vertices if `words` is null. The lanes of a warp call f together; `has` is false in lanes without a vertex.
template <class F>
__device__ void for_own_vertices(const View& v, const u32* words, u32 besides, F f) {
  const u32 num_words = (v.out.count + 31) / 32;
  const u32 at_once = words_at_once(num_words, 1, kWarpWords);
  for (u32 w0 = thread_id() / 32 * at_once; w0 < num_words; w0 += num_threads() / 32 * at_once) {
    u32 mine = kAll;
    if (words != nullptr && lane_id() < at_once && w0 + lane_id() < num_words) mine = words[w0 + lane_id()] ^ besides;
    for (u32 j = 0; j < at_once && w0 + j < num_words; ++j) {
      const u32 bits = __shfl_sync(kAll, mine, j);
      if (bits == 0) continue;
      const u32 local = (w0 + j) * 32 + lane_id();
      f(local, (bits >> lane_id() & 1) != 0 && local < v.out.count);
    }
  }
}

/// Unites along the first arcs that the tiles left open.
template <bool kMulti>
__global__ void __launch_bounds__(kThreads) link_marked(const __grid_constant__ View v) {
  const Parents<kMulti> parents{v};
  for_own_vertices(v, v.marks, 0, [&](u32 local, bool has) {
    if (!has) return;
    const Row row = row_of(v.out, local);
    const arc_t begin = kMulti ? first_own_arc(v, row) : 0;
    vertex_t target[kFirstArcs];
#pragma unroll
    for (int k = 0; k < kFirstArcs; ++k) target[k] = begin + k < row.size ? __ldg(row.at + begin + k) : kNoVertex;
#pragma unroll
    for (int k = 0; k < kFirstArcs; ++k) {
      if (target[k] == kNoVertex || (kMulti && target[k] - v.out.first >= v.out.count)) continue;
      parents.unite(v.out.first + local, target[k]);
    }
  });
}

/// The value that most threads of a block of kSamples hold, by votes counted in a hash table. Every thread of the block calls it.
/// Not kNoVertex, unless all threads hold that.
inline __device__ vertex_t most_common(vertex_t mine) {
  constexpr u32 kSlots = 2 * kSamples;
  __shared__ vertex_t held[kSlots];
  __shared__ u32 votes[kSlots];
  __shared__ u32 best;  // number of votes, then the slot
  static_assert(kSamples < 1 << 16 && kSlots <= 1 << 16);
  for (u32 s = threadIdx.x; s < kSlots; s += kSamples) held[s] = kNoVertex, votes[s] = 0;
  if (threadIdx.x == 0) best = 0;
  __syncthreads();
  const u32 same = __match_any_sync(kAll, mine);
  u32 slot = static_cast<u32>(mix64(mine)) % kSlots;
  if (mine != kNoVertex && lane_id() == __ffs(same) - 1) {
    for (vertex_t there; (there = atomicCAS(&held[slot], kNoVertex, mine)) != kNoVertex && there != mine;) {
      slot = (slot + 1) % kSlots;
    }
    atomicAdd(&votes[slot], __popc(same));
  }
  __syncthreads();
  u32 most = 0;
  for (u32 s = threadIdx.x; s < kSlots; s += kSamples) most = max(most, votes[s] << 16 | s);
  most = __reduce_max_sync(kAll, most);
  if (lane_id() == 0) atomicMax(&best, most);
  __syncthreads();
  return held[best & 0xFFFF];
}

/// One block of kSamples threads: finds the tree that contains most of this PE's sampled vertices, and writes its root to every PE.
template <bool kMulti>
__global__ void __launch_bounds__(kSamples) find_giant(const __grid_constant__ View v) {
  const u32 n = v.out.count;
  vertex_t root = kNoVertex;
  if (n != 0 && v.giant) {
    root = Parents<kMulti>{v}.find(v.out.first + static_cast<u32>((mix64(threadIdx.x) >> 32) * n >> 32));
  }
  const vertex_t giant = most_common(root);
  if (threadIdx.x < static_cast<u32>(v.n_pes)) v.control[threadIdx.x]->giant[v.me] = giant;
}

/// Calls f(local vertex, target) for the arcs of the lanes' vertices until f returns true for a vertex. A lane reads a short row
/// alone, the warp reads a longer row together, and rows of more than v.hub_arcs are put into v.hubs[stage]. Every lane of the warp
/// must call this.
template <class F>
__device__ void for_arcs(const View& v, int stage, u32 local, bool has, F f) {
  const Row out = has ? row_of(v.out, local) : Row{nullptr, 0};
  const Row in = has && !v.symmetric() ? row_of(v.in, local) : Row{nullptr, 0};
  const arc_t arcs = out.size + in.size;
  if (arcs <= kLaneArcs) {
    bool done = false;
    for (arc_t k = 0; k < out.size && !done; ++k) done = f(local, __ldg(out.at + k));
    for (arc_t k = 0; k < in.size && !done; ++k) done = f(local, __ldg(in.at + k));
  } else if (arcs > v.hub_arcs) {
    v.hubs[stage][atomicAdd(&v.here().num_hubs[stage], 1)] = local;
  }
  u32 rest = __ballot_sync(kAll, arcs > kLaneArcs && arcs <= v.hub_arcs);
  for (; rest != 0; rest &= rest - 1) {
    const int from = __ffs(rest) - 1;
    const u32 vertex = __shfl_sync(kAll, local, from);
    bool done = false;
    for (int side = 0; side < (v.symmetric() ? 1 : 2) && !done; ++side) {
      const Row row = row_of(side == 0 ? v.out : v.in, vertex);
      for (arc_t k0 = 0; k0 < row.size && !done; k0 += 32) {
        const arc_t k = k0 + lane_id();
        done = __any_sync(kAll, k < row.size && f(vertex, __ldg(row.at + k)));
      }
    }
  }
}

/// The same for the rows in v.hubs[stage], by all threads of the grid; each thread leaves a row when f returns true.
template <class F>
__device__ void for_hub_arcs(const View& v, int stage, F f) {
  const u32 n = v.here().num_hubs[stage];
  for (u32 h = 0; h < n; ++h) {
    const u32 local = v.hubs[stage][h];
    bool done = false;
    for (int side = 0; side < (v.symmetric() ? 1 : 2); ++side) {
      const Row row = row_of(side == 0 ? v.out : v.in, local);
      for (arc_t k = thread_id(); k < row.size && !done; k += num_threads()) done = f(local, __ldg(row.at + k));
    }
  }
}

/// Adds `mine` of all threads to the PE's counter.
inline __device__ void count_outside(const View& v, u32 mine) {
  mine = __reduce_add_sync(kAll, mine);
  if (lane_id() == 0 && mine != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&v.here().outside), u64{mine});
}

/// One PE: unites along all arcs of the vertices that are not in the giant tree.
struct JoinTrees {
  const Parents<false> parents;
  vertex_t giant;

  __device__ bool operator()(u32 vertex, vertex_t target) const {
    parents.unite(vertex, target);
    return parents.find(vertex, giant) == giant;
  }
};
static __global__ void __launch_bounds__(kThreads) join_rest(const __grid_constant__ View v) {
  const JoinTrees join{{v}, v.here().giant[0]};
  u32 outside = 0;
  for_own_vertices(v, nullptr, 0, [&](u32 local, bool has) {
    bool alone = false;
    if (has) {
      alone = parent_to_root(join.parents, local, join.giant) != join.giant;
    }
    outside += alone;
    if (__any_sync(kAll, alone)) for_arcs(v, 0, local, alone, join);
  });
  count_outside(v, outside);
}
static __global__ void __launch_bounds__(kThreads) join_hubs(const __grid_constant__ View v) {
  for_hub_arcs(v, 0, JoinTrees{{v}, v.here().giant[0]});
}

/// One PE: makes every vertex point to its root.
static __global__ void __launch_bounds__(kThreads) compress(const __grid_constant__ View v) {
  const Parents<false> parents{v};
  __shared__ vertex_t giant, root;
  if (threadIdx.x == 0) {
    giant = v.here().giant[0];
    root = giant == kNoVertex ? giant : parents.root_of(giant);
  }
  __syncthreads();
  for (u32 x = thread_id(); x < v.out.count; x += num_threads()) {
    const vertex_t up = parents.load(x);
    if (up == x) continue;
    const vertex_t to = up == giant ? root : parents.root_of(up);
    if (to != up) parents.store(x, to);
  }
}

}  // namespace shoal::hook_gpu
