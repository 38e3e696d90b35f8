// Phases: what happens when no item that may run is left, but the run may not be over. Either the priority threshold
// moves, or a sweep begins, in which every worker looks through its part of the PE's data with idle(). Worker 0 of PE 0
// (with several processes: of each process's first PE) orders a phase, usually at a moment of quiescence; every worker of every PE
// carries it out. Between two rounds of a discrete run nobody works, and whoever ends the round orders.
//
// A phase is counted like items. One token per worker is created before the phase can be seen. A worker completes its token
// after it has done its part of the phase, which may take many batches, and after all pushes that followed from it are
// counted. So the run is never found quiescent while a phase is in progress. A run ends when it is quiescent, no item is
// parked, and the last sweep of all workers pushed nothing.
//
// If View::overlap is set, the threshold moves by one bucket as soon as few stays are left, so that workers without items need not wait
// for the last ones of a bucket. Nothing gets lost by that:
// - The order waits until all workers have carried out the last phase: they have taken all parked items that it reached
//   (PeControl::carried_out). So until they see the new phase, all of them park by the same one, and no worker misses a phase. They
//   count with release, so all that they recorded before is seen, and cleared if it is outdated.
// - An item that is parked while the order is made is beyond the last threshold. If the new one reaches it, its worker finds it when it
//   carries out the new phase, as it looks through all chunks that it has filled. If not, its record in PeControl::nearest stays, because
//   only those of slots are cleared that the new phase reaches.
// - A run ends at quiescence only.
//
// Source: the threshold is Groute's soft priority, but decided on the GPU. The sweep is Atos's f2. "A complete sweep found
// nothing" is the condition for the end that Atos's listing intends, though Atos approximates it by counting idle polls.
#pragma once
#include "shoal/worklist/phase.hpp"
#include "shoal/worklist/quiescence.hpp"
#include "shoal/worklist/view.hpp"

namespace shoal {

/// Whether a task needs phases. For other tasks none of this is compiled.
template <class TaskT>
inline constexpr bool kPhased = HasPriority<TaskT> || HasIdle<TaskT>;

/// Decides the next phase at a moment of quiescence.
/// @param least    the nearest bucket that may be parked in any slot of any PE
/// @param created  the sum of everything created, which equals the sum of everything completed
/// @param tokens   the number of workers on all PEs
/// @return false: the run is over; true: orders.word is the new phase
template <class TaskT>
SHOAL_FN bool next_phase(PhaseOrders& orders, const Buckets& buckets, lane_t least, std::uint64_t created,
                         std::uint64_t tokens) {
  lane_t near = Phase::near(orders.word);
  bool turn = Phase::turn(orders.word), sweep = false;
  if (HasPriority<TaskT> && least != kNoBucket) {
    near = least;
    // Items that were parked in the turn's slot since the turn changed are at least `lists` buckets beyond the threshold
    // of that time. So none of them can be reached before the threshold has moved that far.
    if (near - orders.turned_at >= buckets.lists) {
      turn = !turn;
      orders.turned_at = near;
    }
  } else if (HasIdle<TaskT>) {
    sweep = !orders.swept || created != orders.created;
    orders.swept = true;
    orders.created = created + tokens;
  }
  if (least == kNoBucket && !sweep) return false;
  orders.word = Phase::pack(Phase::number(orders.word) + 1, turn, sweep, near);
  return true;
}

/// The nearest bucket beyond the threshold of which items may be parked in a slot, at a moment of quiescence after the phase
/// `now`; kNoBucket if there is none.
///
/// This is not always the minimum that the workers have recorded (`told`), because a record can be outdated. An item may
/// arrive from another PE before the phase in which it was pushed does. The worker then parks it according to the previous
/// phase. When the worker carries out the phase, it takes the item back, but the record remains, and hides larger values that
/// are recorded later. If the slot is 0 or 1 and not that of the turn, such a record has no meaning, because every worker has
/// emptied the slot. A slot from 2 on can hold only one bucket at a time, so that bucket is the answer.
/// @param told  PeControl::nearest of the slot
SHOAL_FN inline lane_t may_be_parked(const Buckets& buckets, lane_t slot, lane_t told, std::uint64_t now) {
  const lane_t near = Phase::near(now);
  if (told == kNoBucket || near >= kLastBucket) return kNoBucket;
  if (slot < 2) return slot == static_cast<lane_t>(Phase::turn(now)) ? told : kNoBucket;
  if (told > near) return told;
  return buckets.bucket_of(slot, near);
}

/// True if the record of a slot (PeControl::nearest) can be cleared in the phase `word`, which follows `before`: all workers
/// empty the slot in this phase, or have done so before.
SHOAL_FN inline bool spent(const Buckets& buckets, lane_t slot, lane_t told, std::uint64_t before, std::uint64_t word) {
  if (told == kNoBucket) return false;
  if (slot < 2) return Phase::turn(before) != Phase::turn(word) || slot != static_cast<lane_t>(Phase::turn(word));
  return may_be_parked(buckets, slot, told, before) <= Phase::near(word);
}

/// Worker-collective, at a moment of quiescence: the nearest bucket of which items may be parked on the PEs that this one
/// reaches; kNoBucket if there is none.
/// @param before  the last phase
template <Worker W, class View>
SHOAL_FN lane_t nearest_parked(const W& w, const View& view, std::uint64_t before) {
  const Buckets& buckets = view.far.buckets;
  const lane_t slots = buckets.lists > 0 ? buckets.slots() : 0,
               all = slots * static_cast<lane_t>(view.end_near - view.first_near);
  lane_t least = kNoBucket;
  for (lane_t i = w.lane(); i < all; i += w.size()) {
    const pe_t q = view.first_near + static_cast<pe_t>(i / slots);
    const lane_t told = view.transport.get(q, &view.control[q]->nearest[i % slots]);
    const lane_t there = may_be_parked(buckets, i % slots, told, before);
    if (there < least) least = there;
  }
  return w.smallest(least);
}

/// Worker-collective: whether all workers of all PEs have carried out their parts of all phases.
template <Worker W, class View>
SHOAL_FN bool all_carried_out(const W& w, const View& view) {
  bool late = false;
  for (pe_t q = view.first_near + static_cast<pe_t>(w.lane()); q < view.end_near; q += static_cast<pe_t>(w.size())) {
    late |= view.transport.get(q, &view.control[q]->carried_out) != view.transport.get(q, &view.control[q]->tokens);
  }
  return !w.any(late);
}

/// Worker-collective: begins the phase `word`, which follows `before`, on the PEs that this one reaches.
template <Worker W, class View>
SHOAL_FN void begin_phase(const W& w, const View& view, std::uint64_t before, std::uint64_t word) {
  const Buckets& buckets = view.far.buckets;
  const lane_t slots = buckets.lists > 0 ? buckets.slots() : 0,
               all = slots * static_cast<lane_t>(view.end_near - view.first_near);
  bool sent = true;
  for (lane_t i = w.lane(); i < all; i += w.size()) {
    const pe_t q = view.first_near + static_cast<pe_t>(i / slots);
    auto* nearest = &view.control[q]->nearest[i % slots];
    if (spent(buckets, i % slots, view.transport.get(q, nearest), before, word)) {
      sent &= view.transport.set(q, nearest, kNoBucket);
    }
  }
  for (pe_t q = view.first_near + static_cast<pe_t>(w.lane()); q < view.end_near; q += static_cast<pe_t>(w.size())) {
    sent &= view.transport.add(q, &view.control[q]->tokens, static_cast<std::int64_t>(view.n_workers));
  }
  view.transport.progress();
  w.sync();  // every PE's tokens exist before any worker can see the phase
  for (pe_t q = view.first_near + static_cast<pe_t>(w.lane()); q < view.end_near; q += static_cast<pe_t>(w.size())) {
    sent &= view.transport.set(q, &view.control[q]->phase, word);
  }
  if (!sent) view.stop_all(RunState::transport_failed);
}

/// Worker-collective, for whoever finds a moment of quiescence in a run of one process: worker 0 of PE 0 in persistent runs, one warp of
/// the last block in rounds on GPUs, the host between rounds on CPUs. Orders the next phase on every PE. False: the run is over.
/// @param left  Left::little: orders nothing unless the next bucket may begin; never false
template <Worker W, class View>
SHOAL_FN bool order_phase(const W& w, const View& view, PhaseOrders& orders, std::uint64_t created,
                          Left left = Left::none) {
  using TaskT = typename View::Task;
  if constexpr (!kPhased<TaskT>) {
    return false;
  } else {
    const std::uint64_t before = orders.word;
    const bool early = left == Left::little;
    if (early && !all_carried_out(w, view)) return true;
    const lane_t least = nearest_parked(w, view, before);
    if (early && (least == kNoBucket || least - Phase::near(before) > 1)) return true;
    if (!next_phase<TaskT>(orders, view.far.buckets, least, created,
                           static_cast<std::uint64_t>(view.n_workers) * static_cast<std::uint64_t>(view.n_pes))) {
      return false;
    }
    begin_phase(w, view, before, orders.word);
    return true;
  }
}

}  // namespace shoal
