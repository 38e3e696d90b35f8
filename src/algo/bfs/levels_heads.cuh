// Preparation for the bottom-up direction: the four best connected in-neighbours of every vertex. In a skewed graph one of them is
// nearly always in the frontier, so that a vertex's row need not be read. They are only a hint: levels do not depend on which
// neighbours are chosen.
#pragma once
#include "levels.cuh"

namespace shoal::bfs_gpu {

inline constexpr u32 kSampledArcs = 4096;  ///< of a longer row, about this many evenly spread arcs are sampled

/// degrees[own] = in-degree of own vertices; `unreachable` marks those without in-arcs, and padding; *with_out counts own vertices
/// with out-arcs. One thread per padded vertex.
__global__ void describe_rows(const __grid_constant__ Slice v, u32* degrees, u32* unreachable, u64* with_out) {
  const u32 local = blockIdx.x * blockDim.x + threadIdx.x;  // a whole warp lies within or beyond the padded range
  if (local >= v.words * 32) return;
  u32 in = 0, out = 0;
  if (local < v.out.count) {
    in = static_cast<u32>(v.in.offsets[local + 1] - v.in.offsets[local]);
    out = static_cast<u32>(v.out.offsets[local + 1] - v.out.offsets[local]);
  }
  degrees[v.base[v.me] + local] = in;
  const u32 none = __ballot_sync(kAll, in == 0), some = __ballot_sync(kAll, out != 0);
  if (lane_id() == 0) {
    unreachable[local / 32] = none;
    if (some != 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(with_out), static_cast<unsigned long long>(__popc(some)));
  }
}

/// Chooses head and heads of own vertices from the in-degrees of all vertices (padded numbers). A warp handles 32 rows, one after
/// another.
template <bool kMulti>
__global__ void choose_heads(const __grid_constant__ Slice v, const u32* degrees, u32* head, uint4* heads) {
  const u32 lane = lane_id();
  for (u32 first = warp_id() * 32; first < v.words * 32; first += num_warps() * 32) {
    const u32 local = first + lane;
    u64 begin = 0, end = 0;
    if (local < v.out.count) {
      begin = v.in.offsets[local];
      end = v.in.offsets[local + 1];
    }
    uint4 mine = {kNone, kNone, kNone, kNone};
    for (u32 rows = __ballot_sync(kAll, end > begin); rows != 0; rows &= rows - 1) {
      const u32 from = __ffs(rows) - 1, self = v.base[v.me] + first + from;
      const u64 row = __shfl_sync(kAll, begin, from), arcs = __shfl_sync(kAll, end, from) - row;
      const u64 stride = (arcs + kSampledArcs - 1) / kSampledArcs;
      u32 best[4] = {kNone, kNone, kNone, kNone}, degree[4] = {0, 0, 0, 0};  // of this lane, best first
      for (u64 k = lane * stride; k < arcs; k += 32 * stride) {
        u32 t = padded<kMulti>(v, v.in.targets[row + k]);
        if (t == self) continue;  // a loop never helps
        u32 d = degrees[t] + 1;   // + 1: a neighbour without in-arcs still counts, since it may be the source
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          if (d > degree[j]) {
            const u32 t_out = best[j], d_out = degree[j];
            best[j] = t;
            degree[j] = d;
            t = t_out;
            d = d_out;
          }
        }
      }
      u32 chosen[4] = {kNone, kNone, kNone, kNone};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const u32 top = __reduce_max_sync(kAll, degree[0]);
        if (top == 0) break;
        const u32 winner = __ffs(__ballot_sync(kAll, degree[0] == top)) - 1;
        chosen[j] = __shfl_sync(kAll, best[0], winner);
        if (lane == winner) {
#pragma unroll
          for (int i = 0; i < 3; ++i) {
            best[i] = best[i + 1];
            degree[i] = degree[i + 1];
          }
          best[3] = kNone;
          degree[3] = 0;
        }
      }
      if (lane == from) mine = {chosen[0], chosen[1], chosen[2], chosen[3]};
    }
    head[local] = mine.x;
    heads[local] = mine;
  }
}

}  // namespace shoal::bfs_gpu
