// The gate: the memory that the lanes of a block share while they queue and send items together, with one reservation for each
// PE. If each warp sent on its own, thousands of warps would add to the counters of a channel, for a few items at a time
// (docs/decisions/0051-blocks-send-together.md).
#pragma once
#include "shoal/worklist/view.hpp"

namespace shoal {

/// Lies in shared memory of the block. Between two uses all counts are zero.
struct Gate {
  lane_t count[kMaxPes];     ///< items for each PE
  Tickets tickets[kMaxPes];  ///< tickets of the channel to each PE; at this PE's place, tickets of its ring
};
/// Whether a worker has a gate: blocks have one, in runs on several PEs.
template <class W, class View>
inline constexpr bool kSendsWhole = HasParts<W> && !kAlone<View>;

/// The result of count_at_gate().
struct GateCount {
  lane_t stay, before;  ///< items that stay on this PE: of all lanes, and of the lanes before this one
  bool any_leave;       ///< whether any lane has an item for another PE
};
/// Worker-collective: counts the items that stay, and for each other PE those that travel there. An item that travels gets its
/// rank among those for its PE. The task's owner() is called again: a lane has no registers to remember the owners of its items.
template <Worker W, class View, lane_t kSome>
SHOAL_FN GateCount count_at_gate(const W& w, const View& view, Gate& gate, const bool (&keep)[kSome],
                                 const bool (&travels)[kSome], const typename View::Item (&item)[kSome],
                                 lane_t (&rank)[kSome]) {
  lane_t staying = 0, leaving = 0;
  for (lane_t k = 0; k < kSome; ++k) staying += keep[k], leaving += travels[k];
  if (typename W::Part().any(leaving > 0)) {
    for (lane_t k = 0; k < kSome; ++k) {
      const auto owner = static_cast<lane_t>(owner_if(view, travels[k], item[k]));
      rank[k] = w.count_in(gate.count, owner, travels[k]);
    }
  }
  // Both sums packed into one: a lane has at most kOffers of either.
  constexpr lane_t kLeaving = 1u << 16;
  static_assert(W::kMaxLanes * kSome < kLeaving);
  const Scan scan = w.exclusive_sum(staying + leaving * kLeaving);
  return {scan.total % kLeaving, scan.before % kLeaving, scan.total >= kLeaving};
}

/// Worker-collective, after count_at_gate(), whose final collective makes all counts visible: reserves tickets of the ring for
/// the items that stay, and of the channels for those that leave.
/// @param credit  on the leader: its credits for the ring
/// @param index   this worker's number
/// @return whether there were fewer tickets than items
template <Worker W, class View>
SHOAL_FN bool reserve_at_gate(const W& w, const View& view, Gate& gate, const GateCount& count, lane_t& credit,
                              lane_t index) {
  bool lacks = false;
  // One lane for each PE, in different warps if possible, so that the atomics for which they wait are in flight together.
  constexpr lane_t kApart = W::kMaxLanes > 32 ? 32 : 1;
  if (w.lane() % kApart == 0) {
    const auto n_pes = count.any_leave ? static_cast<lane_t>(view.n_pes) : 1;
    for (lane_t step = w.lane() / kApart; step < n_pes; step += (w.size() + kApart - 1) / kApart) {
      Tickets t;
      if (step == 0) {
        if (count.stay > 0) t = view.ring.reserve(count.stay, credit);
        lacks = lacks || t.count < count.stay;
        gate.tickets[view.me] = t;
        continue;
      }
      const pe_t to = step_from(view, step);
      const lane_t n = gate.count[to];
      if (n == 0) continue;
      gate.count[to] = 0;
      t = view.sender(view.channel(to, index)).reserve(n);
      lacks = lacks || t.count < n;
      gate.tickets[to] = t;
    }
  }
  return w.any(lacks);
}

/// This lane alone, after reserve_at_gate(): sends those of its items for which there are tickets, and clears their `travels`.
template <class View, lane_t kSome>
SHOAL_FN void send_through_gate(const View& view, const Gate& gate, lane_t index, const lane_t (&rank)[kSome],
                                bool (&travels)[kSome], const typename View::Item (&item)[kSome]) {
  for (lane_t step = 1; step < static_cast<lane_t>(view.n_pes); ++step) {
    const pe_t to = step_from(view, step);
    bool now[kSome], any = false;
    ticket_t ticket[kSome];
    for (lane_t k = 0; k < kSome; ++k) {
      now[k] = travels[k] && view.task.owner(item[k]) == to;
      if (now[k]) {
        const Tickets t = gate.tickets[to];
        ticket[k] = t.first + rank[k];
        now[k] = rank[k] < t.count;
        travels[k] = !now[k];
      }
      any = any || now[k];
    }
    if (any && !view.sender(view.channel(to, index)).put_some(view.transport, to, now, ticket, item)) {
      view.stop_all(RunState::transport_failed);
    }
  }
}

}  // namespace shoal
