// The top-down direction of a level: the frontier's arcs are divided evenly among all warps; new vertices become queue entries.
#pragma once
#include "levels.cuh"

namespace shoal::bfs_gpu {

inline constexpr u32 kLongRow = 32;     ///< rows of more arcs are read by all lanes of a warp
inline constexpr u32 kShareArcs = 128;  ///< fewest arcs that are worth a warp

/// Collects the vertices that one warp reached and appends up to 256 of them with one atomic. All lanes of the warp call every
/// member.
template <bool kMulti>
struct Sink : Collector {
  const Slice& v;
  Team<kMulti>& gang;
  level_t* level;
  u32 depth;      ///< level of the vertices that are collected
  u64 begun = 0;  ///< content of the queue of `depth` at the last barrier, packed

  /// Appends the own vertices that have out-arcs to the queue of `depth`, and sends other PEs' vertices to their owners.
  __device__ void flush() {
    if (fill == 0) return;
    __syncwarp();
    const u32 lane = lane_id(), first = v.base[v.me];
    u32 degree[kBuffer / 32];  // row indices are read again later: keeping them would cost 16 registers
    u64 mine = 0;
#pragma unroll
    for (u32 j = 0; j < kBuffer / 32; ++j) {
      const u32 i = j * 32 + lane;
      degree[j] = 0;
      if (i < fill) {
        const u32 local = buffer[i] - first;
        if (!kMulti || local < v.out.count) {
          degree[j] = static_cast<u32>(__ldg(v.out.offsets + local + 1) - __ldg(v.out.offsets + local));
        }
      }
    }
#pragma unroll
    for (u32 j = 0; j < kBuffer / 32; ++j) {
      if (degree[j] != 0) mine += packed(v, 1, degree[j]);
    }
    const u64 upto = warp_prefix(mine);
    const u64 total = __shfl_sync(kAll, upto, 31);
    if (total != 0) {
      u64 at = 0;
      if (lane == 0) at = begun + gang.template counter<0>().fetch_add(total);
      at = __shfl_sync(kAll, at, 0) + upto - mine;
      u64 slot = slots_of(v, at), before = arcs_of(v, at);
      Entry* queue = v.queue[depth & 1];
#pragma unroll
      for (u32 j = 0; j < kBuffer / 32; ++j) {
        if (degree[j] == 0) continue;
        queue[slot++] = {static_cast<u64>(__ldg(v.out.offsets + (buffer[j * 32 + lane] - first))), before};
        before += degree[j];
      }
    }
    if constexpr (kMulti) {
      for (pe_t p = 0; p < v.n_pes; ++p) {
        if (p == v.me) continue;
        bool theirs[kBuffer / 32];
#pragma unroll
        for (u32 j = 0; j < kBuffer / 32; ++j) {
          const u32 i = j * 32 + lane;
          theirs[j] = i < fill && buffer[i] >= v.base[p] && buffer[i] < v.base[p + 1];
        }
        const Ballots<kBuffer / 32> ballots(theirs);
        if (ballots.total == 0) continue;
        u32 slot = 0;
        if (lane == 0) slot = gang.mail(p).fetch_add(ballots.total);
        ballots.place(slot, theirs, [&](u32 j, u32 at) { v.peer_inbox[p][at] = buffer[j * 32 + lane] - v.base[p]; });
      }
    }
    __syncwarp();
    fill = 0;
  }

  /// Reaches up to four vertices of each lane (kNone: none); the first to set a vertex's bit keeps it.
  __device__ void visit(const u32 (&vertex)[4]) {
    u32 word[4];
    bool fresh[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) word[j] = vertex[j] != kNone ? load_relaxed(v.seen + (vertex[j] >> 5)) : kAll;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const u32 bit = 1u << (vertex[j] & 31);
      fresh[j] = (word[j] & bit) == 0 && (atomicOr(v.seen + (vertex[j] >> 5), bit) & bit) == 0;
    }
    const u32 first = v.base[v.me];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (fresh[j] && (!kMulti || vertex[j] - first < v.out.count)) level[vertex[j] - first] = depth;
      collect(vertex[j], fresh[j]);
    }
    if (fill > kBuffer - 128) flush();
  }
  /// The same with placed numbers, which are converted to padded ones in place.
  __device__ void visit_placed(u32 (&vertex)[4]) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (vertex[j] != kNone) vertex[j] = padded<kMulti>(v, vertex[j]);
    }
    visit(vertex);
  }
};

/// The slot whose row holds frontier arc number `arc`: the last slot with before <= arc. Called by one warp; n >= 1.
inline __device__ u32 find_entry(const Entry* queue, u32 n, u64 arc) {
  u32 low = 0, high = n;
  while (high - low > 1) {
    const u32 step = (high - low + 31) / 32, i = low + lane_id() * step;
    const u32 votes = __ballot_sync(kAll, i < high && queue[i].before <= arc);
    low += (31 - __clz(votes)) * step;  // lane 0 always votes, since `before` of slot `low` is at most `arc`
    high = min(low + step, high);
  }
  return low;
}

/// Expands a frontier with long or uneven rows: each warp takes an equal share of the arcs.
template <bool kMulti>
__device__ void expand_shares(Sink<kMulti>& sink, const Entry* queue, u32 n, u64 arcs) {
  const Slice& v = sink.v;
  const u32 lane = lane_id();
  const u64 share = max(u64{kShareArcs}, (arcs / num_warps() + 128) / 128 * 128);
  u64 arc = warp_id() * share;
  const u64 end = min(arc + share, arcs);
  if (arc >= end) return;
  u32 slot = find_entry(queue, n, arc);
  while (arc < end) {
    // A window of 32 entries, one per lane. Every entry has arcs, so the window holds at least 32 - (arcs before `arc`).
    const u32 i = slot + lane;
    const Entry entry = i < n ? queue[i] : Entry{0, arcs};
    u64 after = __shfl_down_sync(kAll, entry.before, 1);
    if (lane == 31) after = i + 1 < n ? queue[i + 1].before : arcs;
    const u64 stop = min(end, __shfl_sync(kAll, after, 31));
    const u64 origin = arc;
    const u32 rel = entry.before <= origin ? 0 : static_cast<u32>(min(entry.before - origin, u64{0x7FFFFFFF}));
    const u64 to_target = entry.row - entry.before;  // target index = arc + to_target
    while (arc < stop) {
      u32 t[4];
      u64 at[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const u32 x = static_cast<u32>(arc - origin) + j * 32 + lane;
        u32 k = 0;
#pragma unroll
        for (u32 s = 16; s > 0; s /= 2) {
          const u32 r = __shfl_sync(kAll, rel, k + s);
          if (r <= x) k += s;
        }
        at[j] = __shfl_sync(kAll, to_target, k) + origin + x;
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) t[j] = arc + j * 32 + lane < stop ? __ldg(v.out.targets + at[j]) : kNone;
      sink.visit_placed(t);
      arc = min(arc + 128, stop);
    }
    slot += __popc(__ballot_sync(kAll, i < n && after <= arc));
  }
}

/// Expands a frontier of short rows: each lane takes a vertex; the warp reads an occasional long row together.
template <bool kMulti>
__device__ void expand_rows(Sink<kMulti>& sink, const Entry* queue, u32 n, u64 arcs) {
  const Slice& v = sink.v;
  const u32 lane = lane_id();
  for (u32 first = warp_id() * 32; first < n; first += num_warps() * 32) {
    const u32 i = first + lane;
    u64 row = 0;
    u32 degree = 0;
    if (i < n) {
      const Entry entry = queue[i];
      row = entry.row;
      degree = static_cast<u32>((i + 1 < n ? queue[i + 1].before : arcs) - entry.before);
    }
    for_rows<kLongRow>(v, row, degree, [&](u32(&t)[4]) { sink.visit_placed(t); });
  }
}

/// Judges the vertices that peer p sent, entries [before, upto) of its inbox here: keeps those that were not reached before.
template <bool kMulti>
__device__ void receive_from(Sink<kMulti>& sink, pe_t p, u32 before, u32 upto) {
  const Slice& v = sink.v;
  for (u32 first = before + warp_id() * 128; first < upto; first += num_warps() * 128) {
    u32 t[4];
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
      const u32 i = first + j * 32 + lane_id();
      t[j] = i < upto ? __ldcv(v.inbox[p] + i) + v.base[v.me] : kNone;
    }
    sink.visit(t);
  }
}

/// The same for all peers: what they sent since the last level.
template <bool kMulti>
__device__ void receive(Sink<kMulti>& sink) {
  const Slice& v = sink.v;
  for (pe_t p = 0; p < v.n_pes; ++p) {
    if (p != v.me) receive_from<kMulti>(sink, p, sink.gang.mail_before(p), sink.gang.mail_upto(p));
  }
}

/// Expands the own part of a frontier. @param own  content of the queue, packed
template <bool kMulti>
__device__ void expand(Sink<kMulti>& sink, const Entry* queue, u64 own) {
  const u32 n = static_cast<u32>(slots_of(sink.v, own));
  const u64 arcs = arcs_of(sink.v, own);
  if (arcs > 8 * static_cast<u64>(n)) {
    expand_shares<kMulti>(sink, queue, n, arcs);
  } else {
    expand_rows<kMulti>(sink, queue, n, arcs);
  }
  sink.flush();
}

}  // namespace shoal::bfs_gpu
