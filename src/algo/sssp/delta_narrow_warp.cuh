// The work of one warp of the cluster in a small step (delta_narrow.cuh).
#pragma once
#include "delta.cuh"

namespace shoal::sssp_gpu {

inline constexpr u32 kNarrowLongest = 0xFFFF;  ///< a vertex with more arcs ends the narrow run
inline constexpr u32 kFull = 1u << 29;         ///< flag in a count: a message found no slot; end the round
inline constexpr u32 kWide = 1u << 30;         ///< flag in a count: an entry found no slot, or its row is too long
inline constexpr u32 kStop = 1u << 31;         ///< flag in a count: the search was stopped
inline constexpr std::size_t kNarrowBytes = 192 << 10;  ///< shared memory of a block: two queues

/// A pending vertex. It includes the vertex's row, so that its arcs can be loaded at once.
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
  u32 entries;  ///< number of entries, plus kFull, kWide, kStop
  Raw least;
};

template <class Raw>
struct NarrowShared {
  NarrowCount<Raw> count[2];         ///< by step % 2, of this block's queue
  NarrowCount<Raw> of[kMaxCluster];  ///< counts of all blocks, for the current step
  Shared gang;                       ///< with several PEs
  u32 sent[kPeers];                  ///< messages sent to each peer before this round
};

// Value 1 of the barrier of several PEs: the number of messages, plus this for each PE whose queue outgrew the cluster.
inline constexpr u64 kOutgrown = u64{1} << 32;

/// The state that a warp of the cluster needs. Whole warps call all members, except where one lane is said to.
template <class Metric, bool kMulti>
struct NarrowWarp {
  using Raw = typename Metric::Raw;
  using Entry = NarrowEntry<Raw>;
  using Team = Gang<kMulti, Op::sum, Op::sum, Op::min>;  ///< vertices pending, messages, smallest distance of both

  const Slice<Metric>& v;
  NarrowShared<Raw>& s;
  Team& gang;
  Entry* queue;   ///< this block's queue to append to: of the next step or, while messages are read, of this one
  u32 next;       ///< step % 2 of that queue
  u32 round = 0;  ///< number of rounds so far
  u64 popped = 0, arcs = 0;

  /// Appends up to four entries per lane: those for which `take` is true.
  template <int kCount>
  __device__ void append(const bool (&take)[kCount], const Entry (&entry)[kCount]) {
    const Ballots<kCount> ballots(take);
    if (ballots.total == 0) return;
    Raw least = Metric::kNone;
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      if (take[j]) least = min(least, entry[j].distance);
    }
    least = least_of_warp(least);
    u32 slot = 0;
    if (lane_id() == 0) {
      slot = atomicAdd(&s.count[next].entries, ballots.total) & (kFull - 1);
      lower(&s.count[next].least, least);
    }
    ballots.place(slot, take, [&](int j, u32 at) {
      if (at < kNarrowSlots<Raw>) queue[at] = entry[j];
      if (at >= kNarrowSlots<Raw> || (entry[j].row & 0xFFFF) == kNarrowLongest) {
        atomicOr(&s.count[next].entries, kWide);
      }
      if (at >= kNarrowSlots<Raw>) spill(entry[j].vertex);
    });
  }

  /// Called by one lane: moves a vertex to the queue in global memory.
  __device__ void spill(u32 vertex) {
    const u32 bit = 1u << (vertex & 31);
    if ((atomicOr(v.marks[next] + (vertex >> 5), bit) & bit) == 0)
      v.queue[next][v.tally->spilled.fetch_add(1)] = vertex;
  }

  /// First arc << 16 | number of arcs, of an own vertex.
  __device__ u64 row_of(u32 vertex) const {
    const u64 row = static_cast<u64>(__ldg(v.rows.offsets + (vertex - v.rows.first)));
    const u64 end = static_cast<u64>(__ldg(v.rows.offsets + (vertex - v.rows.first) + 1));
    return row << 16 | min(end - row, u64{kNarrowLongest});
  }

  /// Called by one lane: tells a peer that its vertex came nearer. @return false if there was no slot in this round. The vertex's
  /// distance here is then reset, as if nothing had been told, and the arc must be relaxed again.
  __device__ bool send(u32 vertex, Raw distance) {
    pe_t p = 0;
    while (vertex >= v.begin[p + 1]) ++p;
    const u32 slot = gang.mail(p).fetch_add(1) - s.sent[p];
    if (slot >= kRoundMail) {
      replace(v.distance + vertex, Metric::kNone);
      return false;
    }
    v.peer_round[p][(round & 1) * kRoundMail + slot] = {distance, vertex};
    gang.template add<1>(1);
    gang.template add<2>(distance);
    return true;
  }

  /// Judges what peers sent in the round that ended: improvements go to the queue of the current step. All warps share the work.
  __device__ void receive() {
    for (pe_t p = 0; p < v.team.n_pes; ++p) {
      if (p == v.team.me) continue;
      const u32 n = min(gang.mail_upto(p) - gang.mail_before(p), kRoundMail);
      for (u32 first = warp_id() * 32; first < n; first += num_warps() * 32) {
        bool won[1] = {false};
        Entry entry[1] = {};
        if (first + lane_id() < n) {
          const Message<Raw> m = v.round[p][(round & 1) * kRoundMail + first + lane_id()];
          won[0] = m.distance < lower(v.distance + m.vertex, m.distance);
          if (won[0]) entry[0] = {row_of(m.vertex), m.distance, m.vertex};
          won[0] = won[0] && (entry[0].row & 0xFFFF) != 0;
        }
        append(won, entry);
      }
    }
  }

  /// Offers up to four distances per lane (kNoTarget: none). Row offsets are loaded while the atomics are in flight, because the
  /// time of a step is that of its longest chain of dependent accesses.
  /// @return true in lanes for which a message found no slot
  __device__ bool relax(const u32 (&t)[4], const Raw (&d)[4]) {
    Raw old[4];
    u64 row[4], end[4];
    bool won[4], again = false;
    Entry entry[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) old[j] = t[j] != kNoTarget ? fresh(v.distance + t[j]) : 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      won[j] = d[j] < old[j];
      row[j] = end[j] = 0;
      if (won[j]) {
        old[j] = lower(v.distance + t[j], d[j]);
        if (!kMulti || v.rows.owns(t[j])) {
          row[j] = static_cast<u64>(__ldg(v.rows.offsets + (t[j] - v.rows.first)));
          end[j] = static_cast<u64>(__ldg(v.rows.offsets + (t[j] - v.rows.first) + 1));
        }
      }
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      won[j] = won[j] && d[j] < old[j];
      if constexpr (kMulti) {
        if (won[j] && !v.rows.owns(t[j])) again |= !send(t[j], d[j]);
      }
      won[j] = won[j] && row[j] != end[j];
      if (won[j]) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(v.rows.targets + row[j]));
        asm volatile("prefetch.global.L2 [%0];" ::"l"(v.weights + row[j]));
      }
      entry[j] = {row[j] << 16 | min(end[j] - row[j], u64{kNarrowLongest}), d[j], t[j]};
    }
    append(won, entry);
    return again;
  }

  /// Expands one entry per lane if it is nearer than `edge` and its vertex has not come nearer since; if it is not nearer than
  /// `edge`, keeps it for the next step.
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
    for (u32 j = 0; j < 4; ++j) {  // loaded before it is known whether the entry is still current
      t[j] = j < first ? __ldg(v.rows.targets + row + j) : kNoTarget;
      weight[j] = j < first ? __ldg(v.weights + row + j) : 0;
    }
    if (now < entry.distance) degree = 0;
    if (degree != 0) ++popped;
    arcs += degree;
    bool again[1] = {false};
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
      again[0] |= relax(t, d);
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
        const bool all_told = !relax(t, d);
        if (kMulti && !__all_sync(kAll, all_told) && lane_id() == static_cast<u32>(from)) again[0] = true;
      }
    }
    if (kMulti && __any_sync(kAll, again[0])) {
      append(again, kept);
      if (lane_id() == 0) atomicOr(&s.count[next].entries, kFull);
    }
  }
};

}  // namespace shoal::sssp_gpu
