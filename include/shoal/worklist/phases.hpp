// What happens when no item is left that may run, and the run may not be over: the priority threshold moves on, or every
// worker looks through its part of the PE's data once more (idle). Both are phases: ordered by worker 0 of PE 0 at a moment
// of quiescence, carried out by every worker of every PE, counted like items.
//
// A phase creates one token per worker before it can be seen, and a worker completes its token after it has done its part
// and everything that came of it is counted. So the run cannot be found quiescent between the order and its end, and
// quiescence keeps its one meaning. A run ends when it is quiescent, nothing is parked, and the last look of all workers
// created nothing.
//
// Source: the threshold is Groute's soft priority, decided on the GPU; the look is Atos's f2, and "a complete sweep found
// nothing" the end that its listing means (it guesses with a count of idle polls).
#pragma once
#include "shoal/worklist/pe_worklist.hpp"

namespace shoal {

/// Tasks that need phases; for others none of this is compiled.
template <class TaskT>
inline constexpr bool kPhased = HasPriority<TaskT> || HasIdle<TaskT>;

/// What the one who orders phases remembers between them.
struct PhaseOrders {
  std::uint64_t word = 0;     ///< the last phase
  lane_t turned_at = 0;       ///< its `near` when the turn changed last
  bool swept = false;         ///< since the run began
  std::uint64_t created = 0;  ///< when the last sweep was ordered, its tokens included
};

/// Decides the next phase at a moment of quiescence.
/// @param least    the nearest bucket that may be parked in any slot of any PE
/// @param created  the sum that was found equal to what is completed
/// @param tokens   workers of all PEs
/// @return false: the run is over. Else orders.word is the new phase
template <class TaskT>
SHOAL_FN bool next_phase(PhaseOrders& orders, const Buckets& buckets, lane_t least, std::uint64_t created,
                         std::uint64_t tokens) {
  lane_t near = Phase::near(orders.word);
  bool turn = Phase::turn(orders.word), sweep = false;
  if (HasPriority<TaskT> && least != kNoBucket) {
    near = least;
    // What was parked in the last slot since the turn changed lies at least `lists` beyond where `near` was then.
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

/// The nearest bucket that may be parked in a slot at a moment of quiescence after the phase `now`; beyond its `near`.
///
/// Not always what was told: an item may come from another PE sooner than the phase comes to this one, and its worker then
/// parks by the phase before. What it parked it brings when it carries the phase out, but what it told stays, and hides what
/// was told later. In the slot that is not the turn's that means nothing: everybody has emptied it. In the slot of a near
/// bucket it leaves one bucket that can be there.
/// @param told  PeControl::nearest of the slot
SHOAL_FN inline lane_t may_be_parked(const Buckets& buckets, lane_t slot, lane_t told, std::uint64_t now) {
  const lane_t near = Phase::near(now);
  if (told == kNoBucket || near >= kLastBucket) return kNoBucket;
  if (slot < 2) return slot == static_cast<lane_t>(Phase::turn(now)) ? told : kNoBucket;
  if (told > near) return told;
  const lane_t next = near + 1;
  return next + (slot - 2 + buckets.lists - next % buckets.lists) % buckets.lists;
}

/// True if what was told of a slot is spent with the phase `word`, which follows `before`: all workers empty the slot in it,
/// or have done so before.
SHOAL_FN inline bool spent(const Buckets& buckets, lane_t slot, lane_t told, std::uint64_t before, std::uint64_t word) {
  if (told == kNoBucket) return false;
  if (slot < 2) return Phase::turn(before) != Phase::turn(word) || slot != static_cast<lane_t>(Phase::turn(word));
  return may_be_parked(buckets, slot, told, before) <= Phase::near(word);
}

/// Worker-collective; worker 0 of PE 0, at a moment of quiescence: orders the next phase on every PE. False: the run is over.
template <Worker W, class View>
SHOAL_FN bool order_phase(const W& w, const View& view, PhaseOrders& orders, std::uint64_t created) {
  using TaskT = typename View::Task;
  if constexpr (!kPhased<TaskT>) {
    return false;
  } else {
    const Buckets& buckets = view.far.buckets;
    const lane_t slots = buckets.lists > 0 ? buckets.slots() : 0, all = slots * static_cast<lane_t>(view.n_pes);
    const std::uint64_t before = orders.word;
    lane_t least = kNoBucket;
    for (lane_t i = w.lane(); i < all; i += w.size()) {
      const pe_t q = static_cast<pe_t>(i / slots);
      const lane_t told = view.transport.get(q, &view.control[q]->nearest[i % slots]);
      const lane_t there = may_be_parked(buckets, i % slots, told, before);
      if (there < least) least = there;
    }
    least = w.smallest(least);
    if (!next_phase<TaskT>(orders, buckets, least, created,
                           static_cast<std::uint64_t>(view.n_workers) * static_cast<std::uint64_t>(view.n_pes))) {
      return false;
    }
    bool sent = true;
    for (lane_t i = w.lane(); i < all; i += w.size()) {
      const pe_t q = static_cast<pe_t>(i / slots);
      auto* nearest = &view.control[q]->nearest[i % slots];
      if (spent(buckets, i % slots, view.transport.get(q, nearest), before, orders.word)) {
        sent &= view.transport.set(q, nearest, kNoBucket);
      }
    }
    for (pe_t q = static_cast<pe_t>(w.lane()); q < view.n_pes; q += static_cast<pe_t>(w.size())) {
      sent &= view.transport.add(q, &view.control[q]->tokens, static_cast<std::int64_t>(view.n_workers));
    }
    view.transport.progress();
    w.sync();  // every PE's tokens exist before any worker can see the phase
    for (pe_t q = static_cast<pe_t>(w.lane()); q < view.n_pes; q += static_cast<pe_t>(w.size())) {
      sent &= view.transport.set(q, &view.control[q]->phase, orders.word);
    }
    if (!sent) view.stop_all(RunState::transport_failed);
    return true;
  }
}

}  // namespace shoal
