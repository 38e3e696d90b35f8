// Small steps on one cluster of blocks, with the cluster's hardware barrier and the queue in its shared memory. For graphs with
// thousands of small steps (road networks), in which a barrier of the whole GPU costs more than a step.
//
// With several PEs, steps are made in rounds: a cluster makes a few steps within the window, as long as it has vertices there; then
// all clusters meet and read the messages that they sent each other. A wavefront that crosses from one PE to another waits half a
// round; meeting after every step would cost as much as the step.
#pragma once
#include <cooperative_groups.h>

#include "delta_narrow_warp.cuh"
#include "lockstep/cluster_barrier.cuh"

namespace shoal::sssp_gpu {

/// The state of the cluster's queues between two barriers, as each block knows it.
template <class Raw>
struct NarrowState {
  u32 all = 0;           ///< entries in the cluster's queues
  Raw least = ~Raw{0};   ///< smallest distance among them
  bool full = false;     ///< a message found no slot
  bool wide = false;     ///< an entry found no slot, or its row is too long
  bool stopped = false;  ///< the search was stopped
};

/// Reads what the blocks of the cluster have appended for `step`. The block's first warp calls it between the cluster's barrier and
/// a barrier of the block.
template <class Raw, class Cluster>
__device__ void read_counts(NarrowShared<Raw>& s, const Cluster& cluster, u32 step) {
  const u32 lane = lane_id();
  if (lane < cluster.num_blocks()) s.of[lane] = *cluster.map_shared_rank(&s.count[step & 1], lane);
  if (lane == 0) s.count[(step + 1) & 1] = {0, ~Raw{0}};  // other blocks last read it before this step's barrier
}
template <class Raw>
__device__ NarrowState<Raw> sum_counts(const NarrowShared<Raw>& s, u32 blocks) {
  const NarrowCount<Raw> of = lane_id() < blocks ? s.of[lane_id()] : NarrowCount<Raw>{0, ~Raw{0}};
  NarrowState<Raw> out;
  out.all = __reduce_add_sync(kAll, of.entries & (kFull - 1));
  out.least = least_of_warp(of.least);
  out.full = __any_sync(kAll, (of.entries & kFull) != 0);
  out.wide = __any_sync(kAll, (of.entries & kWide) != 0);
  out.stopped = __any_sync(kAll, (of.entries & kStop) != 0);
  return out;
}

/// The end of a round: all PEs exchange what is pending, and read the messages sent to them.
/// @return the sum over all PEs of pending vertices and messages, plus kOutgrown for each PE whose queue outgrew the cluster
template <class Metric>
__device__ u64 end_round(NarrowWarp<Metric, true>& w, const NarrowState<typename Metric::Raw>& at) {
  if (thread_id() == 0) {
    w.gang.template add<0>(at.all);
    if (at.wide) w.gang.template add<1>(kOutgrown);
    if (at.all != 0) w.gang.template add<2>(at.least);
  }
  if (!w.gang.meet()) {
    if (threadIdx.x == 0) atomicOr(&w.s.count[w.next].entries, kStop);
    return 0;
  }
  if (threadIdx.x < static_cast<u32>(w.v.team.n_pes)) w.s.sent[threadIdx.x] = w.gang.mail(threadIdx.x).load();
  w.receive();
  ++w.round;
  return w.gang.template total<0>() + w.gang.template total<1>();
}

/// Makes steps, beginning with the queue in global memory, until no vertex is pending or too many are; those are then left in that
/// queue. Launched as one cluster on each PE; the number of warps of a block is a multiple of the number of blocks; needs
/// kNarrowBytes of shared memory. The queue must hold at most kNarrowSlots entries for each block. Outcome words for the host:
/// number of steps, 0, entries left, smallest distance of the entries left on all PEs.
template <class Metric, bool kMulti>
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

  // The queue in global memory is distributed over the blocks.
  if (threadIdx.x < 2) s.count[threadIdx.x] = {0, Metric::kNone};
  if (threadIdx.x < kPeers) s.sent[threadIdx.x] = 0;
  if (thread_id() == 0) v.tally->spilled.store(0);
  typename NarrowWarp<Metric, kMulti>::Team gang(v.team, s.gang);
  NarrowWarp<Metric, kMulti> w{v, s, gang, queues + (step & 1) * kNarrowSlots<Raw>, step & 1};
  for (u32 i = threadIdx.x * blocks + me; i < from.count; i += blockDim.x * blocks) {
    const u32 vertex = v.queue[step & 1][i];
    atomicAnd(v.marks[step & 1] + (vertex >> 5), ~(1u << (vertex & 31)));
    const u64 row = w.row_of(vertex);
    const Raw distance = v.distance[vertex];
    queues[(step & 1) * kNarrowSlots<Raw> + i / blocks] = {row, distance, vertex};
    atomicAdd(&s.count[step & 1].entries, 1u);
    lower(&s.count[step & 1].least, distance);
    if ((row & 0xFFFF) == kNarrowLongest) atomicOr(&s.count[step & 1].entries, kWide);
  }

  const ClusterShare share(me, blocks);
  const Entry* theirs = cluster.map_shared_rank(queues, share.block);
  NarrowState<Raw> at;
  Raw least = from.least, edge = Metric::shift(from.least, rules.delta);
  u32 made = 0;  // steps made in this round
  bool leave = false;
  u64 since = now_ns(), meeting = 0;
  const u64 begin = since;
  for (;;) {
    meet_cluster();
    // The first entry is loaded before it is known whether there is one, so that this load overlaps with the loads of the counts.
    const Entry* queue = theirs + (step & 1) * kNarrowSlots<Raw>;
    Entry entry = queue[min(share.first_chunk * 32 + lane, kNarrowSlots<Raw> - 1)];
    if (warp == 0) read_counts(s, cluster, step);
    __syncthreads();
    at = sum_counts(s, blocks);
    if (leave || at.stopped) break;
    if constexpr (kMulti) {
      if (made == rules.round_steps || at.all == 0 || at.least >= edge || at.wide || (at.full && made != 0)) {
        since = now_ns();
        const u64 open = end_round(w, at);
        meeting += now_ns() - since;
        least = static_cast<Raw>(gang.template total<2>());
        edge = Metric::shift(least, rules.delta);
        leave = open == 0 || open > rules.narrow_leave;  // kOutgrown exceeds narrow_leave
        made = 0;
        continue;
      }
      ++made;
    } else {
      if (at.all == 0 || at.all > rules.narrow_leave || at.wide) break;
      least = at.least;
      edge = Metric::shift(least, rules.delta);
    }
    ++step;
    w.next = step & 1;
    w.queue = queues + w.next * kNarrowSlots<Raw>;
    const u32 have = __shfl_sync(kAll, lane < blocks ? s.of[lane].entries & (kFull - 1) : 0, share.block);
    for (u32 chunk = share.first_chunk; chunk * 32 < have; chunk += blockDim.x / 32) {
      const u32 i = chunk * 32 + lane;
      if (chunk != share.first_chunk) entry = queue[min(i, kNarrowSlots<Raw> - 1)];
      w.take(i < have, entry, edge);
    }
  }
  const u32 held = min(s.of[me].entries & (kFull - 1), kNarrowSlots<Raw>);
  for (u32 i = threadIdx.x; i < held; i += blockDim.x) w.spill(queues[(step & 1) * kNarrowSlots<Raw> + i].vertex);
  const u64 popped = warp_sum(w.popped), arcs = warp_sum(w.arcs);
  if (lane == 0 && popped != 0) {
    v.tally->popped.fetch_add(popped);
    v.tally->arcs.fetch_add(arcs);
  }
  cluster.sync();  // no block may exit while others may read its shared memory; after this, all entries are spilled
  if (thread_id() == 0) {
    Outcome& o = *v.team.outcome;
    o.word[0] = step;
    o.word[2] = v.tally->spilled.load();
    o.word[3] = kMulti ? least : at.least;
    v.tally->phase_ns[static_cast<u32>(Phase::meet)].fetch_add(meeting);
    v.tally->phase_ns[static_cast<u32>(Phase::cluster)].fetch_add(now_ns() - begin - meeting);
    for (pe_t p = 0; kMulti && p < v.team.n_pes; ++p) v.tally->sent.fetch_add(s.sent[p]);
  }
  if (kMulti) gang.finish();
}

}  // namespace shoal::sssp_gpu
