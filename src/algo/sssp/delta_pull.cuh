// Pulls long arcs that leave the dense middle of a search. Where most vertices have similar distances (skewed graphs), nearly all
// arcs lead from there to vertices that are already settled, or that one of a few short arcs settles. So while a range of distances
// is being settled, only arcs that stay within it are pushed. Then every vertex beyond the range looks for its best in-arc from the
// range, in ascending order of weight. A few ranges follow each other, each wider than the one before.
//
// Source: Chakaravarthy, Checconi, Murali, Petrini, Sabharwal, "Scalable single source shortest path algorithms for massively
// parallel systems" (IPDPS 2014): pruning by push and pull, short and long edges. Differences: for a few growing ranges instead of
// every bucket, with rows sorted by weight.
#pragma once
#include "delta_phases.cuh"

namespace shoal::sssp_gpu {

inline constexpr u32 kSerialArcs = 64;  ///< arcs that one lane reads alone before the warp takes the rest of the row

/// Sends the vertices that a warp has collected to every peer.
template <class Metric>
__device__ void broadcast(Warp<Metric, true>& w) {
  const Slice<Metric>& v = w.v;
  const u32 lane = lane_id();
  __syncwarp();
  u32 slot = 0;
  if (w.fill != 0 && lane < static_cast<u32>(v.team.n_pes) && lane != static_cast<u32>(v.team.me)) {
    slot = w.gang.mail(lane).fetch_add(w.fill) - w.s.sent[lane];
  }
  for (pe_t p = 0; p < v.team.n_pes; ++p) {
    const u32 first = __shfl_sync(kAll, slot, p);
    if (p == v.team.me) continue;
    for (u32 i = lane; i < w.fill; i += 32) v.peer_inbox[p][first + i] = {v.distance[w.buffer[i]], w.buffer[i]};
  }
  __syncwarp();
  w.fill = 0;
}

/// Sends the own distances in [low, high) to all peers. The messages are fewer bytes than the memory lines that contain these
/// distances.
template <class Metric>
__device__ void publish(Warp<Metric, true>& w, typename Metric::Raw low, typename Metric::Raw high) {
  const Slice<Metric>& v = w.v;
  for (u32 first = warp_id() * 128; first < v.rows.count; first += num_warps() * 128) {
    typename Metric::Raw d[4];
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
      const u32 i = first + j * 32 + lane_id();
      d[j] = i < v.rows.count ? v.distance[v.rows.first + i] : Metric::kNone;
    }
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
      w.collect(v.rows.first + first + j * 32 + lane_id(), d[j] >= low && d[j] < high);
    }
    if (w.fill > kBuffer - 128) broadcast(w);
  }
  broadcast(w);
}

/// Call after the barrier: copies what peers published into this PE's distances.
template <class Metric>
__device__ void copy_published(Warp<Metric, true>& w) {
  const Slice<Metric>& v = w.v;
  for (pe_t p = 0; p < v.team.n_pes; ++p) {
    for (u32 i = thread_id(); i < w.s.received[p]; i += num_threads()) {
      const auto m = v.inbox[p][i];
      v.distance[m.vertex] = m.distance;
    }
  }
  note_sent(w);
}

/// The distance that in-arc `arc` offers if its tail is nearer than `high`, otherwise kNone. Sets `open` to false when no arc from
/// here on can offer less than `best`.
template <class Metric>
__device__ typename Metric::Raw offer(const Slice<Metric>& v, u64 arc, typename Metric::Raw low,
                                      typename Metric::Raw high, typename Metric::Raw best, bool& open) {
  const auto weight = __ldg(v.in_weights + arc);
  if (Metric::plus(low, weight) >= best) {
    open = false;
    return Metric::kNone;
  }
  const auto tail = look(v.distance + __ldg(v.in.targets + arc));
  return tail < high ? Metric::plus(tail, weight) : Metric::kNone;
}

/// Gives every own vertex at `high` or beyond the best offer of its in-arcs from vertices in [low, high). Nearer tails have made
/// their offers before, and a repeated offer does no harm. Vertices that are then nearer than w.far go to the queue.
template <class Metric, bool kMulti>
__device__ void pull_arcs(Warp<Metric, kMulti>& w, typename Metric::Raw low, typename Metric::Raw high) {
  using Raw = typename Metric::Raw;
  const Slice<Metric>& v = w.v;
  const u32 lane = lane_id();
  for (u32 first = warp_id() * 32; first < v.in.count; first += num_warps() * 32) {
    const u32 i = first + lane;
    Raw before = 0;
    u64 arc = 0, end = 0;
    if (i < v.in.count) {
      before = v.distance[v.rows.first + i];
      if (before >= high) {
        arc = static_cast<u64>(__ldg(v.in.offsets + i));
        end = static_cast<u64>(__ldg(v.in.offsets + i + 1));
      }
    }
    Raw best = before;
    bool open = arc < end;
    const u64 stop = min(end, arc + kSerialArcs);
    for (; open && arc < stop; arc += 4) {
      Raw found[4];
#pragma unroll
      for (u32 j = 0; j < 4; ++j) {
        found[j] = arc + j < stop ? offer(v, arc + j, low, high, best, open) : Metric::kNone;
      }
#pragma unroll
      for (u32 j = 0; j < 4; ++j) best = min(best, found[j]);
      w.arcs += min(stop - arc, u64{4});
    }
    __syncwarp();
    for (u32 longs = __ballot_sync(kAll, open && arc < end); longs != 0; longs &= longs - 1) {
      const int from = __ffs(longs) - 1;
      const u64 to = __shfl_sync(kAll, end, from);
      Raw least = __shfl_sync(kAll, best, from);
      bool more = true;
      for (u64 a = __shfl_sync(kAll, arc, from); more && a < to; a += 32) {
        bool useful = true;
        const Raw found = a + lane < to ? offer(v, a + lane, low, high, least, useful) : Metric::kNone;
        least = min(least, least_of_warp(found));
        more = __all_sync(kAll, useful);
        if (lane == 0) w.arcs += 32;
      }
      if (lane == static_cast<u32>(from)) best = least;
    }
    if (best < before) v.distance[v.rows.first + i] = best;
    const bool near = before >= high && best < w.far;
    if (near) {
      w.least = min(w.least, best);
    } else if (before >= high) {
      w.least_far = min(w.least_far, best);
    }
    w.collect(v.rows.first + i, near);
    if (w.fill > kBuffer - 128) w.flush();
  }
}

}  // namespace shoal::sssp_gpu
