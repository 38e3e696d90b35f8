// Small levels on one cluster of blocks, with the cluster's hardware barrier and the frontier in its shared memory. For graphs with
// thousands of small levels (road networks), in which a barrier of the whole GPU costs more than a level. One PE only.
#pragma once
#include <cooperative_groups.h>

#include "levels.cuh"
#include "lockstep/cluster_barrier.cuh"

namespace shoal::bfs_gpu {

inline constexpr u32 kNarrowSlots = 6144;    ///< entries of a block's queue
inline constexpr u32 kNarrowLongest = 4096;  ///< a vertex with more arcs ends the narrow run
inline constexpr u32 kWide = 1u << 23;       ///< added to a (far smaller) count of vertices: leave after this level
inline constexpr std::size_t kNarrowBytes = 2 * kNarrowSlots * sizeof(u64);

struct NarrowArgs {
  Summary from;  ///< summary of the kernel before
  level_t* level;
};

/// What a block has appended for one level; other blocks read it as one 64-bit word.
struct alignas(8) NarrowCount {
  u32 vertices;  ///< plus kWide if an entry found no slot or has too many arcs: leave after this level
  u32 arcs;
};

struct NarrowShared {
  NarrowCount count[2];   ///< by depth % 2, of this block's queue
  u64 size[kMaxCluster];  ///< counts of all blocks for the current level
};

/// The state that a warp of the cluster needs to append entries. Whole warps call all members, except append().
struct NarrowSink {
  const Slice& v;
  level_t* level;
  NarrowShared& s;
  u64* queue;                                  ///< of this block: row << 16 | degree
  u32 depth;                                   ///< of the vertices that are reached
  bool check;                                  ///< whether to read a bit before setting it
  u32 late[4] = {kNone, kNone, kNone, kNone};  ///< vertices of this lane whose level is not written yet
  u32 late_depth = 0;

  /// Writes the levels that visit() deferred. The stores then overlap with the reads of the next level, and the barrier of their
  /// own level does not wait for them.
  __device__ void settle() {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (late[j] != kNone) level[late[j]] = late_depth;
      late[j] = kNone;
    }
  }

  /// Reaches up to four vertices per lane (kNone: none). Row offsets are loaded while the atomics are in flight, because the time
  /// of a level is that of its longest chain of dependent accesses.
  __device__ void visit(const u32 (&t)[4]) {
    bool fresh[4];
    u32 old[4];
    u64 row[4], end[4];
    settle();
#pragma unroll
    for (int j = 0; j < 4; ++j) old[j] = t[j] == kNone ? kAll : check ? load_relaxed(v.seen + (t[j] >> 5)) : 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const u32 bit = 1u << (t[j] & 31);
      row[j] = end[j] = 0;
      fresh[j] = (old[j] & bit) == 0;
      if (fresh[j]) {
        old[j] = atomicOr(v.seen + (t[j] >> 5), bit);
        row[j] = __ldg(v.out.offsets + t[j]);
        end[j] = __ldg(v.out.offsets + t[j] + 1);
      }
    }
    u32 arcs = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      fresh[j] = fresh[j] && (old[j] >> (t[j] & 31) & 1) == 0;
      if (fresh[j]) late[j] = t[j];
      fresh[j] = fresh[j] && end[j] != row[j];
      if (fresh[j]) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(v.out.targets + row[j]));
        arcs += static_cast<u32>(min(end[j] - row[j], u64{kNarrowLongest}));
      }
    }
    const Ballots<4> ballots(fresh);
    late_depth = depth;
    if (ballots.total == 0) return;
    arcs = __reduce_add_sync(kAll, arcs);
    u32 slot = 0;
    if (lane_id() == 0) {
      slot = atomicAdd(&s.count[depth & 1].vertices, ballots.total) & (kWide - 1);
      atomicAdd(&s.count[depth & 1].arcs, arcs);
    }
    ballots.place(slot, fresh, [&](int j, u32 at) { append(at, row[j], end[j] - row[j]); });
  }

  /// Called by one lane. An entry that does not fit the block's queue goes to the queue in global memory; the rest of the frontier
  /// follows when the cluster leaves.
  __device__ void append(u32 slot, u64 row, u64 degree) {
    const bool fits = slot < kNarrowSlots && degree <= kNarrowLongest;
    if (slot < kNarrowSlots) queue[slot] = fits ? row << 16 | degree : 0;
    if (fits) return;
    const u64 at = v.spilled->fetch_add(packed(v, 1, degree));
    v.queue[depth & 1][slots_of(v, at)] = {row, arcs_of(v, at)};
    atomicOr(&s.count[depth & 1].vertices, kWide);
  }

  /// Expands one entry per lane (0: none).
  __device__ void expand(u64 entry) {
    for_rows<kNarrowSerial>(v, entry >> 16, static_cast<u32>(entry & 0xFFFF), [&](const u32(&t)[4]) { visit(t); });
  }
};

/// Appends one entry per lane (0: none) to the queue of `depth` in global memory. Called by one warp.
inline __device__ void append_entries(const Slice& v, u64 entry, u32 depth) {
  const u64 degree = entry & 0xFFFF;
  const u64 mine = degree != 0 ? packed(v, 1, degree) : 0;
  const u64 upto = warp_prefix(mine);
  u64 at = 0;
  if (lane_id() == 31 && upto != 0) at = v.spilled->fetch_add(upto);
  at = __shfl_sync(kAll, at, 31) + upto - mine;
  if (degree != 0) v.queue[depth & 1][slots_of(v, at)] = {entry >> 16, arcs_of(v, at)};
}

/// Runs levels, beginning with the queue of `depth`, until the frontier is empty or wide. Launched as one cluster; the number of
/// warps of a block is a multiple of the number of blocks; needs kNarrowBytes of shared memory. Writes a Summary; a wide frontier
/// is left in the queue of its depth.
__global__ void __launch_bounds__(kMaxThreads, 1)
    narrow_levels(const __grid_constant__ Slice v, const __grid_constant__ Rules rules, const NarrowArgs args) {
  namespace cg = cooperative_groups;
  extern __shared__ u64 narrow_queue[];  // [2][kNarrowSlots]
  __shared__ NarrowShared s;
  auto cluster = cg::this_cluster();
  const u32 lane = lane_id(), warp = warp_in_block(), me = cluster.block_rank(), blocks = cluster.num_blocks();
  u32 depth = static_cast<u32>(args.from.depth);
  u64 explored = 0;

  // The frontier in global memory is distributed over the blocks. A narrow run begins with at most kNarrowSlots * blocks arcs, and
  // at most 65,535, so slots and degrees fit.
  const u32 n = static_cast<u32>(slots_of(v, args.from.frontier));
  const u64 arcs = arcs_of(v, args.from.frontier);
  if (thread_id() == 0) v.spilled->store(0);
  if (threadIdx.x < 2) s.count[threadIdx.x] = {0, 0};
  __syncthreads();
  for (u32 i = threadIdx.x * blocks + me; i < n; i += blockDim.x * blocks) {
    const Entry entry = v.queue[depth & 1][i];
    const u64 degree = (i + 1 < n ? v.queue[depth & 1][i + 1].before : arcs) - entry.before;
    narrow_queue[(depth & 1) * kNarrowSlots + i / blocks] = entry.row << 16 | degree;
    atomicAdd(&s.count[depth & 1].vertices, 1u);
    atomicAdd(&s.count[depth & 1].arcs, static_cast<u32>(degree));
  }

  NarrowSink sink{v, args.level, s, nullptr, 0, false};
  const ClusterShare share(me, blocks);
  static_assert(kMaxThreads <= kNarrowSlots, "every warp's first chunk lies in the queue, filled or not");
  const ClusterAddress first_entry(narrow_queue + share.first_chunk * 32 + lane, share.block);
  const ClusterAddress counts(s.count, min(lane, blocks - 1));
  u32 levels = 0;
  Why why = Why::done;
  for (;; ++depth, ++levels) {
    meet_cluster();
    // The first entry is loaded before it is known whether there is one, so that this load overlaps with the loads of the counts.
    const u32 half = (depth & 1) * kNarrowSlots * sizeof(u64);
    u64 entry = first_entry.load(half);
    if (warp == 0) {
      if (lane < blocks) s.size[lane] = counts.load((depth & 1) * sizeof(NarrowCount));
      if (lane == 0) s.count[(depth + 1) & 1] = {0, 0};  // other blocks last read it before this level's barrier
    }
    sink.settle();
    __syncthreads();
    const u64 size = lane < blocks ? s.size[lane] : 0;
    const u32 vertices = static_cast<u32>(size);
    const u32 all = __reduce_add_sync(kAll, vertices);
    const u32 level_arcs = __reduce_add_sync(kAll, min(static_cast<u32>(size >> 32), 1u << 27));
    if (all == 0 || all >= kWide || level_arcs > rules.narrow_leave) {
      if (all != 0) why = Why::wide;
      break;
    }
    explored += level_arcs;
    sink.queue = narrow_queue + ((depth + 1) & 1) * kNarrowSlots;
    sink.depth = depth + 1;
    sink.check = all >= rules.narrow_check;
    const u32 have = __shfl_sync(kAll, vertices, share.block);
    for (u32 chunk = share.first_chunk; chunk * 32 < have; chunk += blockDim.x / 32) {
      const u32 i = chunk * 32 + lane;
      const u32 further = (chunk - share.first_chunk) * 32 * sizeof(u64);
      if (further != 0) entry = i < have ? first_entry.load(half + further) : 0;
      sink.expand(i < have ? entry : 0);
    }
  }
  sink.settle();
  if (why == Why::wide) {
    const u32 held = min(static_cast<u32>(s.size[me]) & (kWide - 1), kNarrowSlots);
    for (u32 first = warp * 32; first < held; first += blockDim.x) {
      const u32 i = first + lane;
      append_entries(v, i < held ? narrow_queue[(depth & 1) * kNarrowSlots + i] : 0, depth);
    }
  }
  cluster.sync();  // no block may exit while others read its shared memory; now all entries are in the queue
  if (thread_id() == 0) {
    const u64 left = args.from.unexplored > explored ? args.from.unexplored - explored : 0;
    tell(v, {why, depth, args.from.steps, 0, 0, levels, left, v.spilled->load()});
  }
}

}  // namespace shoal::bfs_gpu
