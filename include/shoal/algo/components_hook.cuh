// Connected components on GPUs: what one PE holds, trees of parents, and the kernels that stay within one PE.
//
// A parent is a smaller vertex of the same component, or the vertex itself; only roots are hooked, by compare-and-swap, and
// whoever follows parents may replace one that is no root by one of its ancestors. So every value that a vertex's parent
// ever has is an ancestor, reads may be as old as they like, and all accesses are relaxed. No loop waits for anybody: a hook
// that fails has been overtaken by one that did not.
#pragma once
#include <cuda/atomic>

#include "shoal/core/atomic.hpp"
#include "shoal/core/types.hpp"
#include "shoal/data/csr.hpp"
#include "shoal/data/edge_functions.hpp"

namespace shoal::hook_gpu {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

inline constexpr int kPeers = 8;          ///< most PEs
inline constexpr u32 kAll = 0xFFFFFFFFu;  ///< every lane of a warp
inline constexpr int kFirstArcs = 2;      ///< of each row: sampled
inline constexpr int kTileArcs = 4;       ///< of each row: looked at within a tile
inline constexpr int kTileThreads = 512;  ///< of a block that unites a tile
inline constexpr int kThreads = 256;      ///< of a block elsewhere
inline constexpr int kSamples = 1024;     ///< vertices that vote for the giant tree, one per thread of a block
inline constexpr u32 kWarpWords = 8;      ///< words of 32 vertices that a warp takes at once
inline constexpr arc_t kLaneArcs = 32;    ///< rows up to this are left to one lane

/// Words of one PE. `arrived`, `error` and `giant` are written by peers. All zero before the first run and after a failed one.
struct Control {
  vertex_t giant[kPeers];                    ///< root of each PE's giant tree when it was sampled; kNoVertex: none
  u32 num_hubs[2];                           ///< rows in `hubs`, of each stage
  u32 united;                                ///< bit q: the giant trees of PE q and of this PE are one
  u32 epoch;                                 ///< meetings so far
  u64 outside;                               ///< vertices that were not in the giant tree after the first arcs
  Word<u32, Scope::system> arrived[kPeers];  ///< the last meeting that each PE came to
  Word<u32, Scope::system> error;            ///< not zero: a PE waited in vain, and every kernel leaves at once
};

/// One PE's view, passed by value.
struct View {
  CsrView out;
  CsrView in;  ///< no vertices when the graph is symmetric
  pe_t n_pes, me;
  vertex_t begin[kPeers + 1];  ///< PE p owns placed vertices [begin[p], begin[p + 1])
  vertex_t* parent[kPeers];    ///< [own count] by local number, at each PE
  u32* marks;                  ///< bit i % 32 of word i / 32: local vertex i has first arcs that its tile left open
  u32 first_word[kPeers + 1];  ///< where a PE's bits begin in `in_giant`
  u32* in_giant[kPeers];       ///< at each PE: bit per vertex of every PE, set if it is in its PE's giant tree
  vertex_t* hubs[2];           ///< own vertices with long rows: outside of the giant tree; several PEs: in it
  Control* control[kPeers];    ///< at each PE
  u32 tile;
  bool giant;  ///< whether to look for a giant tree at all
  arc_t hub_arcs;
  u64 deadline_ns;

  __device__ Control& here() const { return *control[me]; }
  __device__ bool symmetric() const { return in.count == 0; }
};
static_assert(std::is_trivially_copyable_v<View> && sizeof(View) < 4000, "a View travels as a kernel argument");

inline __device__ u32 lane_id() { return threadIdx.x & 31; }
inline __device__ u32 thread_id() { return blockIdx.x * blockDim.x + threadIdx.x; }
inline __device__ u32 num_threads() { return gridDim.x * blockDim.x; }

/// The parents of all vertices, by placed number. With one PE its vertices begin at 0.
template <bool kMulti>
struct Parents {
  const View& v;
  using Ref = cuda::atomic_ref<vertex_t, kMulti ? cuda::thread_scope_system : cuda::thread_scope_device>;

  __device__ vertex_t& slot(vertex_t x) const {
    if constexpr (!kMulti) return v.parent[0][x];
    const vertex_t mine = x - v.out.first;
    if (mine < v.out.count) return v.parent[v.me][mine];
    pe_t p = 0;
    while (x >= v.begin[p + 1]) ++p;
    return v.parent[p][x - v.begin[p]];
  }
  __device__ vertex_t load(vertex_t x) const { return Ref(slot(x)).load(cuda::memory_order_relaxed); }
  __device__ void store(vertex_t x, vertex_t to) const { Ref(slot(x)).store(to, cuda::memory_order_relaxed); }
  /// Hooks `root` under `low`, if it is still a root; else `root` becomes what its parent is now.
  __device__ bool hook(vertex_t& root, vertex_t low) const {
    return Ref(slot(root)).compare_exchange_strong(root, low, cuda::memory_order_relaxed, cuda::memory_order_relaxed);
  }

  /// The root of x's tree, or `stop` if that lies on the way. Shortens long paths.
  __device__ vertex_t find(vertex_t x, vertex_t stop = kNoVertex) const {
    if (x == stop) return x;
    vertex_t up = load(x);
    while (up != x && up != stop) {
      const vertex_t next = load(up);
      if (next == up) break;
      store(x, next);
      x = up;
      up = next;
    }
    return up;
  }

  /// The root of x's tree, changing nothing. The last step of a run needs it: a shortened path might come after the root.
  __device__ vertex_t root_of(vertex_t x) const {
    for (vertex_t up; (up = load(x)) != x;) x = up;
    return x;
  }

  /// Makes one tree of those of a and b; the smaller root stays one.
  __device__ void unite(vertex_t a, vertex_t b) const {
    vertex_t p = load(a), q = load(b);
    while (p != q) {
      const vertex_t high = p > q ? p : q, low = p > q ? q : p;
      vertex_t up = load(high);
      if (up == low) return;
      if (up == high && hook(up, low)) return;
      p = load(up), q = load(low);
      if (p != up) store(high, p);
    }
  }
};

/// Points x to the root of its tree, or to `giant` if that lies on the way, and returns where it points now.
template <bool kMulti>
__device__ vertex_t parent_to_root(const Parents<kMulti>& parents, vertex_t x, vertex_t giant) {
  const vertex_t up = parents.load(x);
  if (up == x || up == giant || x == giant) return x == giant ? giant : up;
  const vertex_t root = parents.find(up, giant);
  if (root != up) parents.store(x, root);
  return root;
}

/// The trees of a tile in shared memory, by number within the tile.
struct TileTrees {
  volatile u32* tree;

  __device__ u32 find(u32 x) const {
    u32 up = tree[x];
    while (up != x) {
      const u32 next = tree[up];
      if (next != up) tree[x] = next;
      x = up;
      up = next;
    }
    return x;
  }
  __device__ void unite(u32 a, u32 b) const {
    a = find(a), b = find(b);
    while (a != b) {
      const u32 high = a > b ? a : b, low = a > b ? b : a;
      const u32 old = atomicCAS(const_cast<u32*>(tree) + high, high, low);
      if (old == high) return;
      a = find(old), b = find(low);
    }
  }
};

struct Row {
  const vertex_t* at;
  arc_t size;
};
inline __device__ Row row_of(const CsrView& rows, u32 local) {
  const arc_t begin = __ldg(rows.offsets + local);
  return {rows.targets + begin, __ldg(rows.offsets + local + 1) - begin};
}

/// Where the arcs to this PE's own vertices begin in a row, which is sorted; about there if it is not (a sample then misses
/// some, no more). A PE's share of all arcs says where to look first.
inline __device__ arc_t first_own_arc(const View& v, Row row) {
  arc_t low = 0, high = row.size;
  if (row.size > 8) {
    const arc_t guess = row.size * v.me / v.n_pes;
    arc_t step = 2;
    if (__ldg(row.at + guess) < v.out.first) {
      low = guess + 1;
      while (low + step < row.size && __ldg(row.at + low + step) < v.out.first) low += step + 1, step *= 2;
      high = low + step < row.size ? low + step : row.size;
    } else {
      high = guess;
      while (high > step && __ldg(row.at + high - step) >= v.out.first) high -= step, step *= 2;
      low = high > step ? high - step : 0;
    }
  }
  while (low < high) {
    const arc_t middle = (low + high) / 2;
    if (__ldg(row.at + middle) < v.out.first) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// One block per tile. Afterwards every parent of this PE is set, and marks say what the tiles left open.
template <bool kMulti>
__global__ void __launch_bounds__(kTileThreads) unite_tiles(const __grid_constant__ View v) {
  extern __shared__ u32 tree[];
  const TileTrees trees{tree};
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    v.here().num_hubs[0] = v.here().num_hubs[1] = v.here().united = 0;
    v.here().outside = 0;
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
    bool mark = false;
    if (i < size) {
      const Row row = row_of(v.out, base + i);
      const arc_t begin = kMulti ? first_own_arc(v, row) : 0;
      vertex_t target[kTileArcs];
#pragma unroll
      for (int k = 0; k < kTileArcs; ++k) target[k] = begin + k < row.size ? __ldg(row.at + begin + k) : kNoVertex;
#pragma unroll
      for (int k = 0; k < kTileArcs; ++k) {
        const vertex_t u = target[k];
        if (u == kNoVertex || (kMulti && u - v.out.first >= v.out.count)) continue;
        if (u - first < size) {
          // A symmetric arc is seen from its larger end.
          if (u - first < i || directed) trees.unite(u - first, i);
        } else if (k == 0 && u < first) {
          outside = u;
        } else {
          mark |= k < kFirstArcs;
        }
      }
      parent[i] = outside;  // kept there until the tile's trees are complete
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
      for (u32 up; (up = trees.tree[root]) != root; root = up) trees.tree[i] = up;
      // A root has nobody in the tile to hook it, so it may be hooked out of the tile without asking.
      const vertex_t outside = parent[i];
      mark = root != i && outside != kNoVertex;
      parent[i] = root == i && outside != kNoVertex ? outside : first + root;
    }
    const u32 word = __ballot_sync(kAll, mark);
    if (lane_id() == 0 && word != 0) v.marks[(base + i) / 32] |= word;
  }
}

/// Calls f(local) on lanes for the own vertices whose bit is set in `words`, or for all when it is null; the lanes of a warp
/// come together, with `has` false where there is nothing to do: f(local, has).
template <class F>
__device__ void for_own_vertices(const View& v, const u32* words, F f) {
  const u32 num_words = (v.out.count + 31) / 32;
  const u32 warps = num_threads() / 32;
  for (u32 w0 = thread_id() / 32 * kWarpWords; w0 < num_words; w0 += warps * kWarpWords) {
    u32 mine = kAll;
    if (words != nullptr && lane_id() < kWarpWords) mine = w0 + lane_id() < num_words ? words[w0 + lane_id()] : 0;
    for (u32 j = 0; j < kWarpWords && w0 + j < num_words; ++j) {
      const u32 bits = __shfl_sync(kAll, mine, j);
      if (bits == 0) continue;
      const u32 local = (w0 + j) * 32 + lane_id();
      f(local, (bits >> lane_id() & 1) != 0 && local < v.out.count);
    }
  }
}

/// Follows the first arcs that the tiles left open.
template <bool kMulti>
__global__ void __launch_bounds__(kThreads) link_marked(const __grid_constant__ View v) {
  const Parents<kMulti> parents{v};
  for_own_vertices(v, v.marks, [&](u32 local, bool has) {
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

/// One block of kSamples threads: finds the tree that most of this PE's sampled vertices are in, and tells every PE.
template <bool kMulti>
__global__ void __launch_bounds__(kSamples) find_giant(const __grid_constant__ View v) {
  __shared__ vertex_t root[kSamples];
  __shared__ u64 best;
  if (threadIdx.x == 0) best = kNoVertex;
  const u32 n = v.out.count;
  vertex_t mine = kNoVertex;
  if (n != 0 && v.giant) {
    mine = Parents<kMulti>{v}.find(v.out.first + static_cast<u32>((mix64(threadIdx.x) >> 32) * n >> 32));
  }
  root[threadIdx.x] = mine;
  __syncthreads();
  u32 votes = 0;
  for (int i = 0; i < kSamples; ++i) votes += root[i] == mine;
  if (n != 0 && v.giant) atomicMax(reinterpret_cast<unsigned long long*>(&best), u64{votes} << 32 | mine);
  __syncthreads();
  if (threadIdx.x < static_cast<u32>(v.n_pes)) v.control[threadIdx.x]->giant[v.me] = static_cast<vertex_t>(best);
}

/// Calls f(local vertex, target) for the arcs of the lanes' vertices until it says true: lanes take short rows alone, the
/// warp takes longer ones together, and rows beyond v.hub_arcs are left in v.hubs[stage]. Every lane of the warp calls this.
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

/// The same for the rows in v.hubs[stage], by all threads of the grid; each leaves a row when f says true to it.
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

/// Adds up `mine` over the block into the PE's counter.
inline __device__ void count_outside(const View& v, u32 mine) {
  mine = __reduce_add_sync(kAll, mine);
  if (lane_id() == 0 && mine != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&v.here().outside), u64{mine});
}

/// One PE: all arcs of the vertices that are not in the giant tree.
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
  for_own_vertices(v, nullptr, [&](u32 local, bool has) {
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

/// One PE: every vertex points to its root.
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
