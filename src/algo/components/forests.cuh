// Connected components on several GPUs where most arcs lead to other PEs and no PE has a giant tree among its own arcs. Nearly
// every hook would then be a chain of remote reads that ends at the same few roots. Instead, each PE keeps a parent for every
// vertex of the graph, unites the ends of its own arcs there, and then, once, reads what the other PEs found: a forest has as many
// words as the graph has vertices, whatever the number of arcs. Every PE ends with all trees, so labels need no second exchange.
//
// After the meeting, the forest that others read does not change, and merging continues in a copy. With one array the result would
// be wrong: another PE might read a root before it is hooked, and all its children after their paths were shortened beyond it; then
// nothing that was read would say that the root belongs to them.
//
// Source: Groute's connected components (Ben-Nun et al., PPoPP 2017), which merges parent arrays of PEs in a tree. Difference: all
// PEs merge all forests at the same time, instead of one after the other and a broadcast.
#pragma once
#include "hook_peers.cuh"

namespace shoal::hook_gpu {

/// The parents of all vertices in one array.
template <Scope kScope>
struct Forest : Trees<Forest<kScope>, kScope> {
  vertex_t* parent;

  __device__ explicit Forest(vertex_t* at) : parent(at) {}
  __device__ vertex_t& slot(vertex_t x) const { return parent[x]; }
};
using SharedForest = Forest<Scope::system>;  ///< a forest that peers read
using OwnForest = Forest<Scope::device>;

/// Makes every vertex its own tree, except own vertices whose first arc leads to a smaller vertex: no other thread hooks those yet,
/// so they are hooked without atomics.
static __global__ void __launch_bounds__(kThreads) plant_forest(const __grid_constant__ View v) {
  if (thread_id() == 0) v.here().num_hubs[0] = 0;
  const SharedForest forest(v.forest[v.me]);
  for (u32 x = thread_id(); x < forest_words(v.begin[v.n_pes]); x += num_threads()) {
    vertex_t up = x;
    if (x - v.out.first < v.out.count) {
      const Row row = row_of(v.out, x - v.out.first);
      if (row.size != 0) up = min(x, __ldg(row.at));
    }
    forest.store(x, up);
  }
}

/// Both ends of an arc see it, and one of them unites it: the larger end if both are of one PE; otherwise either end, each in half
/// of the cases.
struct UniteOnce {
  const View& v;
  const SharedForest forest;

  __device__ explicit UniteOnce(const View& view) : v(view), forest(view.forest[view.me]) {}
  __device__ bool operator()(u32 local, vertex_t target) const {
    const vertex_t x = v.out.first + local;
    const bool larger = x > target, own = target - v.out.first < v.out.count;
    if (own ? larger : ((x ^ target) & 1) == static_cast<u32>(larger)) forest.unite(x, target);
    return false;
  }
};
static __global__ void __launch_bounds__(kThreads) grow_forest(const __grid_constant__ View v) {
  const UniteOnce unite(v);
  for_own_vertices(v, nullptr, 0, [&](u32 local, bool has) { for_arcs(v, 0, local, has, unite); });
}
static __global__ void __launch_bounds__(kThreads) grow_hubs(const __grid_constant__ View v) {
  for_hub_arcs(v, 0, UniteOnce(v));
}

/// Makes the copy in which to merge, with shorter paths. The number of steps per vertex is bounded, since few chains are long.
static __global__ void __launch_bounds__(kThreads) copy_forest(const __grid_constant__ View v) {
  const SharedForest forest(v.forest[v.me]);
  const OwnForest merged(v.merged);
  for (u32 x = thread_id(); x < v.begin[v.n_pes]; x += num_threads()) {
    vertex_t up = forest.load(x);
    for (u32 step = 0; step < kCopySteps && up != x; ++step) {
      const vertex_t next = forest.load(up);
      if (next == up) break;
      up = next;
    }
    merged.store(x, up);
  }
}

/// Unites the vertices that are in one tree in any other PE's forest. Nobody writes shared forests any more, so they are read with
/// plain wide loads: each load of system scope would cross the wire alone. Most vertices are their own parents, so a warp gathers
/// the others until there is one for each lane.
static __global__ void __launch_bounds__(kThreads) merge_forests(const __grid_constant__ View v) {
  struct Pair {
    vertex_t x, up;
  };
  __shared__ Pair gathered[kThreads / 32][32 * 5];
  if (v.here().error.load() != 0) return;
  Pair* const pairs = gathered[threadIdx.x / 32];
  const OwnForest merged(v.merged);
  const u64 n = v.begin[v.n_pes];
  u32 waiting = 0;  // at most 31 between rounds, and at most 128 more within one
  for (pe_t turn = 1; turn < v.n_pes; ++turn) {
    const pe_t p = v.me + turn < v.n_pes ? v.me + turn : v.me + turn - v.n_pes;
    const uint4* const theirs = reinterpret_cast<const uint4*>(v.forest[p]);
    for (u64 i0 = thread_id() - lane_id(); i0 * 4 < n; i0 += num_threads()) {
      const u64 i = i0 + lane_id();
      const vertex_t x = static_cast<vertex_t>(i * 4);
      uint4 up = {x, x + 1, x + 2, x + 3};
      if (i * 4 < n) up = theirs[i];
      const vertex_t ups[4] = {up.x, up.y, up.z, up.w};
#pragma unroll
      for (u32 k = 0; k < 4; ++k) {
        const u32 bits = __ballot_sync(kAll, ups[k] != x + k);
        if (ups[k] != x + k) pairs[waiting + __popc(bits & ((1u << lane_id()) - 1))] = {x + k, ups[k]};
        waiting += __popc(bits);
      }
      __syncwarp();
      while (waiting >= 32) {
        waiting -= 32;
        const Pair pair = pairs[waiting + lane_id()];
        merged.unite(pair.x, pair.up);
      }
      __syncwarp();
    }
  }
  if (lane_id() < waiting) merged.unite(pairs[lane_id()].x, pairs[lane_id()].up);
}

static __global__ void __launch_bounds__(kThreads) label_from_forest(const __grid_constant__ View v) {
  if (v.here().error.load() != 0) return;
  const OwnForest merged(v.merged);
  for (u32 local = thread_id(); local < v.out.count; local += num_threads()) {
    v.parent[v.me][local] = merged.root_of(v.out.first + local);
  }
}

}  // namespace shoal::hook_gpu
