// The phases of a step, each between two barriers. All warps of a PE share the work of a phase.
#pragma once
#include "delta_warp.cuh"

namespace shoal::sssp_gpu {

/// Finds the own vertices with distances in [from, w.far), appends them to the queue that w fills, and counts those beyond.
template <class Metric, bool kMulti>
__device__ void sweep(Warp<Metric, kMulti>& w, typename Metric::Raw from) {
  using Raw = typename Metric::Raw;
  const Slice<Metric>& v = w.v;
  u32 beyond = 0;
  for (u32 first = warp_id() * 128; first < v.rows.count; first += num_warps() * 128) {
    Raw d[4];
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
      const u32 i = first + j * 32 + lane_id();
      d[j] = i < v.rows.count ? v.distance[v.rows.first + i] : Metric::kNone;
    }
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
      const bool near = d[j] >= from && d[j] < w.far;
      if (near) w.least = min(w.least, d[j]);
      if (d[j] >= w.far && d[j] != Metric::kNone) {
        w.least_far = min(w.least_far, d[j]);
        ++beyond;
      }
      w.collect(v.rows.first + first + j * 32 + lane_id(), near);
    }
    if (w.fill > kBuffer - 128) w.flush();
  }
  beyond = __reduce_add_sync(kAll, beyond);
  if (lane_id() == 0 && beyond != 0) w.gang.template add<0>(u64{beyond} << 32);
}

/// The end of the arcs of a row (sorted by weight) that lead from `distance` to less than `limit`. There are few of them, so the
/// search starts at the beginning of the row.
template <class Metric>
__device__ u64 light_end(const Slice<Metric>& v, u64 row, u64 end, typename Metric::Raw distance,
                         typename Metric::Raw limit) {
  for (u64 reach = 4; row < end; reach *= 2) {
    const u64 last = min(row + reach, end) - 1;
    if (Metric::plus(distance, __ldg(v.weights + last)) >= limit) {
      end = last;
      break;
    }
    row = last + 1;
  }
  while (row < end) {
    const u64 middle = row + (end - row) / 2;
    if (Metric::plus(distance, __ldg(v.weights + middle)) < limit) {
      row = middle + 1;
    } else {
      end = middle;
    }
  }
  return end;
}

/// First half of a step: takes every vertex of the queue, expands those nearer than `edge`, and keeps the others.
/// @param limit  arcs that lead to this distance or beyond are left out; kNone: no arc is
template <class Metric, bool kMulti>
__device__ void take_queue(Warp<Metric, kMulti>& w, u32 n, typename Metric::Raw edge, typename Metric::Raw limit) {
  using Raw = typename Metric::Raw;
  const Slice<Metric>& v = w.v;
  const u32 which = w.next ^ 1;
  for (u32 first = warp_id() * 32; first < n; first += num_warps() * 32) {
    const u32 i = first + lane_id();
    u64 row = 0, end = 0;
    u32 vertex = 0;
    Raw d = Metric::kNone;
    bool keep = false;
    if (i < n) {
      vertex = v.queue[which][i];
      atomicAnd(v.marks[which] + (vertex >> 5), ~(1u << (vertex & 31)));
      d = look(v.distance + vertex);
      row = static_cast<u64>(__ldg(v.rows.offsets + (vertex - v.rows.first)));
      end = static_cast<u64>(__ldg(v.rows.offsets + (vertex - v.rows.first) + 1));
      if (d >= edge) {
        end = row;
        if (d < w.far) {
          w.least = min(w.least, d);
          keep = w.mark(vertex);
        } else {
          w.least_far = min(w.least_far, d);
        }
      } else {
        if (limit != Metric::kNone) {
          w.row_arcs += end - row;
          end = light_end(v, row, end, d, limit);
        }
        ++w.popped;
        w.arcs += end - row;
      }
    }
    w.collect(vertex, keep);
    if (w.fill > kBuffer - 128) w.flush();
    w.expand(row, static_cast<u32>(end - row), d);
  }
}

/// Second half of a step, if rows were cut: relaxes the chunks of long rows.
template <class Metric, bool kMulti>
__device__ void take_chunks(Warp<Metric, kMulti>& w) {
  const u32 n = w.v.tally->chunks[w.next].load();
  for (u32 i = warp_id(); i < n; i += num_warps()) {
    const auto chunk = w.v.chunks[i];
    w.relax_run(chunk.row >> 16, static_cast<u32>(chunk.row & 0xFFFF), chunk.distance);
  }
}

/// Records how much was sent so far, all of which has been written. Block-collective; nothing may be sent before the next barrier.
template <class Metric>
__device__ void note_sent(Warp<Metric, true>& w) {
  __syncthreads();
  if (threadIdx.x < static_cast<u32>(w.v.team.n_pes)) w.s.sent[threadIdx.x] = w.gang.mail(threadIdx.x).load();
}

/// Sends every peer the distances of the vertices in its outbox, and empties the outbox.
template <class Metric>
__device__ void send(Warp<Metric, true>& w) {
  const Slice<Metric>& v = w.v;
  for (pe_t p = 0; p < v.team.n_pes; ++p) {
    const u32 n = w.gang.mail(p).load() - w.s.sent[p];
    for (u32 i = thread_id(); i < n; i += num_threads()) {
      const u32 vertex = v.outbox[p][i];
      atomicAnd(v.marks[2] + (vertex >> 5), ~(1u << (vertex & 31)));
      v.peer_inbox[p][i] = {v.distance[vertex], vertex};
    }
  }
  note_sent(w);
}

/// Call after the barrier: computes how many messages each peer sent. Block-collective.
template <class Metric>
__device__ void read_mail_counts(Warp<Metric, true>& w) {
  if (threadIdx.x < static_cast<u32>(w.v.team.n_pes)) {
    w.s.received[threadIdx.x] = w.gang.mail_upto(threadIdx.x) - w.s.told[threadIdx.x];
    w.s.told[threadIdx.x] = w.gang.mail_upto(threadIdx.x);
  }
  __syncthreads();
}

/// Judges the messages from peers: improvements go to the queue.
template <class Metric>
__device__ void receive(Warp<Metric, true>& w) {
  using Raw = typename Metric::Raw;
  const Slice<Metric>& v = w.v;
  for (pe_t p = 0; p < v.team.n_pes; ++p) {
    const u32 n = w.s.received[p];
    for (u32 first = warp_id() * 32; first < n; first += num_warps() * 32) {
      const u32 i = first + lane_id();
      u32 vertex = 0;
      bool keep = false;
      if (i < n) {
        const Message<Raw> m = v.inbox[p][i];
        vertex = m.vertex;
        if (m.distance < lower(v.distance + vertex, m.distance)) {
          if (m.distance < w.far) {
            w.least = min(w.least, m.distance);
            keep = w.mark(vertex);
          } else {
            w.least_far = min(w.least_far, m.distance);
          }
        }
      }
      w.collect(vertex, keep);
      if (w.fill > kBuffer - 128) w.flush();
    }
  }
}

}  // namespace shoal::sssp_gpu
