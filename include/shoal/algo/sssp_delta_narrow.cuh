// Small steps on one cluster of blocks, with the cluster's barrier in hardware and the queue in its shared memory. For
// graphs of thousands of small steps (roads), where a barrier of the whole GPU costs more than a step. One PE only.
#pragma once
#include <cooperative_groups.h>

#include "shoal/algo/sssp_delta.cuh"

namespace shoal::sssp_gpu {

inline constexpr int kMaxCluster = 16;
inline constexpr u32 kNarrowSerial = 16;       ///< rows of more arcs are read by all lanes of a warp
inline constexpr u32 kNarrowLongest = 0xFFFF;  ///< a vertex with more arcs ends the narrow run
inline constexpr u32 kWide = 1u << 30;         ///< added to a count: an entry found no room; leave after this step
inline constexpr std::size_t kNarrowBytes = 192 << 10;  ///< shared memory of a block: two queues

/// A vertex that waits. Its row comes along, so that its arcs can be read at once.
template <class Raw>
struct NarrowEntry {
  u64 row;  ///< first arc << 16 | arcs
  Raw distance;
  u32 vertex;
};
template <class Raw>
inline constexpr u32 kNarrowSlots = kNarrowBytes / 2 / sizeof(NarrowEntry<Raw>);  ///< entries of a block's queue

/// What a block has appended for one step; other blocks read it.
template <class Raw>
struct NarrowCount {
  u32 entries;  ///< and kWide
  Raw least;
};

template <class Raw>
struct NarrowShared {
  NarrowCount<Raw> count[2];         ///< by step % 2, of this block's queue
  NarrowCount<Raw> of[kMaxCluster];  ///< of all blocks, for the step that runs
};

/// What a warp of the cluster needs; all members are called by whole warps.
template <class Metric>
struct NarrowWarp {
  using Raw = typename Metric::Raw;
  using Entry = NarrowEntry<Raw>;

  const Slice<Metric>& v;
  NarrowShared<Raw>& s;
  Entry* queue = nullptr;  ///< of this block, for the next step
  u32 next = 0;            ///< its step % 2
  u64 popped = 0, arcs = 0;

  /// Appends up to four entries of each lane, where `take` says so.
  template <int kCount>
  __device__ void append(const bool (&take)[kCount], const Entry (&entry)[kCount]) {
    u32 votes[kCount], total = 0;
    Raw least = Metric::kNone;
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      votes[j] = __ballot_sync(kAll, take[j]);
      total += __popc(votes[j]);
      if (take[j]) least = min(least, entry[j].distance);
    }
    if (total == 0) return;
    least = least_of_warp(least);
    u32 slot = 0;
    if (lane_id() == 0) {
      slot = atomicAdd(&s.count[next].entries, total) & (kWide - 1);
      lower(&s.count[next].least, least);
    }
    slot = __shfl_sync(kAll, slot, 0);
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      const u32 at = slot + __popc(votes[j] & lanes_below());
      if (take[j]) {
        if (at < kNarrowSlots<Raw>) queue[at] = entry[j];
        if (at >= kNarrowSlots<Raw> || (entry[j].row & 0xFFFF) == kNarrowLongest)
          atomicOr(&s.count[next].entries, kWide);
        if (at >= kNarrowSlots<Raw>) spill(entry[j].vertex);
      }
      slot += __popc(votes[j]);
    }
  }

  /// One lane: a vertex goes to the queue in memory.
  __device__ void spill(u32 vertex) {
    const u32 bit = 1u << (vertex & 31);
    if ((atomicOr(v.marks[next] + (vertex >> 5), bit) & bit) == 0)
      v.queue[next][v.tally->spilled.fetch_add(1)] = vertex;
  }

  /// Tries up to four distances of each lane (kNoTarget: none). Rows are looked up while the atomics are under way: a step
  /// costs what its longest chain of dependent accesses costs.
  __device__ void relax(const u32 (&t)[4], const Raw (&d)[4]) {
    Raw old[4];
    u64 row[4], end[4];
    bool won[4];
    Entry entry[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) old[j] = t[j] != kNoTarget ? fresh(v.distance + t[j]) : 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      won[j] = d[j] < old[j];
      row[j] = end[j] = 0;
      if (won[j]) {
        old[j] = lower(v.distance + t[j], d[j]);
        row[j] = static_cast<u64>(__ldg(v.rows.offsets + t[j]));
        end[j] = static_cast<u64>(__ldg(v.rows.offsets + t[j] + 1));
      }
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      won[j] = won[j] && d[j] < old[j] && row[j] != end[j];
      if (won[j]) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(v.rows.targets + row[j]));
        asm volatile("prefetch.global.L2 [%0];" ::"l"(v.weights + row[j]));
      }
      entry[j] = {row[j] << 16 | min(end[j] - row[j], u64{kNarrowLongest}), d[j], t[j]};
    }
    append(won, entry);
  }

  /// Expands one entry of each lane, if it is nearer than `edge` and nobody has overtaken it; keeps it for the next step
  /// if it is not.
  __device__ void take(bool have, const Entry& entry, Raw edge) {
    const bool keep[1] = {have && entry.distance >= edge};
    const Entry kept[1] = {entry};
    append(keep, kept);
    const bool mine = have && !keep[0];
    const Raw now = mine ? fresh(v.distance + entry.vertex) : Metric::kNone;
    const u64 row = entry.row >> 16;
    u32 degree = mine ? static_cast<u32>(entry.row & 0xFFFF) : 0, first = min(degree, 4u);
    if (degree > kNarrowSerial) first = 0;
    u32 t[4];
    typename Metric::Weight weight[4];
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {  // read before it is known whether the entry still counts
      t[j] = j < first ? __ldg(v.rows.targets + row + j) : kNoTarget;
      weight[j] = j < first ? __ldg(v.weights + row + j) : 0;
    }
    if (now < entry.distance) degree = 0;
    if (degree != 0) ++popped;
    arcs += degree;
    u32 longs = __ballot_sync(kAll, degree > kNarrowSerial);
    const u32 serial = degree > kNarrowSerial ? 0 : degree;
    for (u32 k = 0; __any_sync(kAll, k < serial); k += 4) {
      Raw d[4];
#pragma unroll
      for (u32 j = 0; j < 4; ++j) {
        if (k != 0) {
          t[j] = k + j < serial ? __ldg(v.rows.targets + row + k + j) : kNoTarget;
          weight[j] = k + j < serial ? __ldg(v.weights + row + k + j) : 0;
        } else if (serial == 0) {
          t[j] = kNoTarget;
        }
        d[j] = t[j] != kNoTarget ? Metric::plus(entry.distance, weight[j]) : Metric::kNone;
      }
      relax(t, d);
    }
    for (; longs != 0; longs &= longs - 1) {
      const int from = __ffs(longs) - 1;
      const u64 r = __shfl_sync(kAll, row, from);
      const u32 n = __shfl_sync(kAll, degree, from);
      const Raw distance = __shfl_sync(kAll, entry.distance, from);
      for (u32 k = 0; k < n; k += 128) {
        Raw d[4];
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
          const u32 x = k + j * 32 + lane_id();
          t[j] = x < n ? __ldg(v.rows.targets + r + x) : kNoTarget;
          d[j] = x < n ? Metric::plus(distance, __ldg(v.weights + r + x)) : Metric::kNone;
        }
        relax(t, d);
      }
    }
  }
};

/// The cluster's barrier. Only the first warp of a block releases: what the others wrote is ordered before it by the
/// block barrier, and one fence of the whole multiprocessor's stores is dearer than that barrier.
inline __device__ void meet_cluster() {
  __syncthreads();
  if (warp_in_block() == 0) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  } else {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  }
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Makes steps from a queue in memory on until no vertex is pending, or too many are; those are then left in the queue in
/// memory. One cluster; as many warps a block as blocks, or a multiple; kNarrowBytes of shared memory. The queue holds at
/// most kNarrowSlots entries for each block. The host finds in the outcome's words: steps, 0, entries left, their least
/// distance.
template <class Metric>
__global__ void __launch_bounds__(kMaxThreads, 1)
    narrow_steps(const __grid_constant__ Slice<Metric> v, const Rules rules, const Resume<typename Metric::Raw> from) {
  namespace cg = cooperative_groups;
  using Raw = typename Metric::Raw;
  using Entry = NarrowEntry<Raw>;
  extern __shared__ u64 narrow_queue[];  // two queues of kNarrowSlots entries
  __shared__ NarrowShared<Raw> s;
  auto cluster = cg::this_cluster();
  const u32 lane = lane_id(), warp = warp_in_block(), me = cluster.block_rank(), blocks = cluster.num_blocks();
  auto* queues = reinterpret_cast<Entry*>(narrow_queue);
  u32 step = from.step;

  // The queue in memory is dealt out to the blocks.
  if (threadIdx.x < 2) s.count[threadIdx.x] = {0, Metric::kNone};
  if (thread_id() == 0) v.tally->spilled.store(0);
  __syncthreads();
  for (u32 i = threadIdx.x * blocks + me; i < from.count; i += blockDim.x * blocks) {
    const u32 vertex = v.queue[step & 1][i];
    atomicAnd(v.marks[step & 1] + (vertex >> 5), ~(1u << (vertex & 31)));
    const u64 row = static_cast<u64>(v.rows.offsets[vertex]), end = static_cast<u64>(v.rows.offsets[vertex + 1]);
    const u64 degree = min(end - row, u64{kNarrowLongest});
    queues[(step & 1) * kNarrowSlots<Raw> + i / blocks] = {row << 16 | degree, v.distance[vertex], vertex};
    atomicAdd(&s.count[step & 1].entries, 1u);
    if (degree == kNarrowLongest) atomicOr(&s.count[step & 1].entries, kWide);
  }
  if (threadIdx.x == 0) s.count[step & 1].least = from.least;

  NarrowWarp<Metric> w{v, s};
  // Chunks of 32 entries of block b go to the blocks in turn, beginning with b itself.
  const u32 b = warp & (blocks - 1), first_chunk = ((me - b) & (blocks - 1)) + blocks * (warp / blocks);
  const Entry* theirs = cluster.map_shared_rank(queues, b);
  u32 all = 0;
  Raw least = Metric::kNone;
  for (;; ++step) {
    meet_cluster();
    // The first entry is read before it is known whether there is one; the counts are under way at the same time.
    const Entry* queue = theirs + (step & 1) * kNarrowSlots<Raw>;
    Entry entry = queue[min(first_chunk * 32 + lane, kNarrowSlots<Raw> - 1)];
    if (warp == 0) {
      if (lane < blocks) s.of[lane] = *cluster.map_shared_rank(&s.count[step & 1], lane);
      if (lane == 0) s.count[(step + 1) & 1] = {0, Metric::kNone};  // last read by others before this step's barrier
    }
    __syncthreads();
    const NarrowCount<Raw> of = lane < blocks ? s.of[lane] : NarrowCount<Raw>{0, Metric::kNone};
    all = __reduce_add_sync(kAll, of.entries & (kWide - 1));
    least = least_of_warp(of.least);
    if (all == 0 || all > rules.narrow_leave || __any_sync(kAll, of.entries >= kWide)) break;
    w.queue = queues + ((step + 1) & 1) * kNarrowSlots<Raw>;
    w.next = (step + 1) & 1;
    const Raw edge = Metric::shift(least, rules.delta);
    const u32 have = __shfl_sync(kAll, of.entries, b);
    for (u32 chunk = first_chunk; chunk * 32 < have; chunk += blockDim.x / 32) {
      const u32 i = chunk * 32 + lane;
      if (chunk != first_chunk) entry = queue[min(i, kNarrowSlots<Raw> - 1)];
      w.take(i < have, entry, edge);
    }
  }
  w.next = step & 1;
  const u32 held = min(s.of[me].entries & (kWide - 1), kNarrowSlots<Raw>);
  for (u32 i = threadIdx.x; i < held; i += blockDim.x) w.spill(queues[(step & 1) * kNarrowSlots<Raw> + i].vertex);
  const u64 popped = warp_sum(w.popped), arcs = warp_sum(w.arcs);
  if (lane == 0 && popped != 0) {
    v.tally->popped.fetch_add(popped);
    v.tally->arcs.fetch_add(arcs);
  }
  cluster.sync();  // nobody leaves while its shared memory may be read; all is spilled
  if (thread_id() == 0) {
    Outcome& o = *v.team.outcome;
    o.word[0] = step;
    o.word[2] = v.tally->spilled.load();
    o.word[3] = least;
  }
}

}  // namespace shoal::sssp_gpu
