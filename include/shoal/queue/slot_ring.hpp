// The ring: a bounded queue with many pushers and many poppers, in which each slot has its own sequence number.
//
//   tail   tickets given to pushers          credits  free slots that nobody has reserved
//   head   tickets given to poppers          slot     {sequence, value}; ticket t uses slot t mod capacity
//
//   sequence == t             empty; waits for the value of ticket t
//   sequence == t + 1         holds the value of ticket t
//   sequence == t + capacity  emptied; waits for the value of the ticket one lap later
//
// push: take k credits (or as many as there are, if fewer; this never waits) and as many tickets. For each ticket,
//       wait until its slot is empty, write the value, and publish the sequence.
// pop, in one of two ways, which must not be mixed on one ring at the same time:
//   claim  take tickets below tail, by compare-and-swap, and copy each value out at once. For few poppers: CPU threads,
//          spill.
//   hold   take tickets ahead of time, by fetch-and-add, and poll their slots until they are filled. So no shared
//          counter is polled and no compare-and-swap fails, which is what thousands of idle GPU workers need. A holder
//          must copy a value out as soon as it can, even while it waits for something else: every wait calls poll().
// Either way, copy the value out, mark the slot empty, then return the credit.
//
// Why a pusher's wait for an empty slot ends: a credit stands for an emptied slot, and tickets are popped in ticket order.
// So when a pusher waits to fill ticket t, ticket t - capacity has been claimed or is held. A claimed value is copied out
// by straight-line code. A held value is copied out by its holder's next poll, possibly only after a pusher with a smaller
// ticket has filled the slot. Each link of this chain leads to a smaller ticket, so there is no cycle (models/ring.pml).
//
// In a round of a discrete run, workers have shares of the filled tickets without claiming them, and may copy them out in any order.
// Each does so before it pushes anything, so a pusher does not wait for long for a slot of another worker's share, and never for one
// of its own (Scheduler::run_in).
//
// Source: Atos, Listing 6 (reserve once per worker). Differs: Atos has one counter below which all slots count as
// written; it can expose an unwritten slot, and starves under load. A sequence per slot (after Vyukov's bounded
// queue) does neither.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/core/spin.hpp"
#include "shoal/transport/whole_slot.hpp"

namespace shoal {

/// Aligned so that a GPU can read and write a slot with a small value in one 16-byte access (transport/whole_slot.hpp).
template <class T>
struct alignas(kSlotAlignment<T>) Slot {
  Word<ticket_t, Scope::device> sequence;
  T value;
};

/// Tickets [first, first + count); count may be less than was wanted.
struct Tickets {
  ticket_t first = 0;
  lane_t count = 0;
};

/// One lane's place for a held ticket. It holds a ticket, or has a value that was copied out, or neither.
template <class T>
struct Hand {
  ticket_t ticket = 0;
  bool holds = false;
  bool has = false;
  T value;
};

/// The counters of a ring, each on its own cache line. Other PEs read `tail` when they look for quiescence.
struct RingCounters {
  PaddedWord<ticket_t, Scope::system> tail;
  PaddedWord<ticket_t, Scope::device> head;
  PaddedWord<std::int64_t, Scope::device> credits;
};

/// View of a ring; trivially copyable. Calls are not worker-collective: one thread makes each of them, a worker's leader
/// or a lane for its own ticket.
/// @tparam kOrders  true: the popper sees what the pusher wrote before its push. False: on GPUs this is not guaranteed for
///                  values of up to 8 bytes, which saves memory fences
template <class T, bool kOrders = true>
struct SlotRing {
  Slot<T>* slots = nullptr;
  ticket_t capacity = 0;  ///< a power of two, at least 2: with 1, t + 1 and t + capacity would be the same sequence
  RingCounters* counters = nullptr;
  lane_t advance = 0;  ///< extra credits that reserve() takes, for later pushes; small compared to capacity / workers
  /// The slots of tickets below this are empty when they are reserved, because every value of a lap before has been popped when the run
  /// began. Their pushers need not look.
  ticket_t empty_below = 0;

  /// Prepares slot i. Call it for every i in [0, capacity) before the first use, and after a run that was aborted.
  SHOAL_FN void reset_slot(ticket_t i) const { slots[i].sequence.store(i); }
  SHOAL_FN void reset_counters() const {
    counters->tail.store(0);
    counters->head.store(0);
    counters->credits.store(static_cast<std::int64_t>(capacity));
  }

  /// Takes up to `want` tickets for pushing. `credit` is the number of credits that the caller has, from its pops and earlier
  /// calls; it is used first, and updated.
  SHOAL_FN Tickets reserve(lane_t want, lane_t& credit) const {
    if (credit < want) {
      const std::int64_t asked = want - credit + advance;
      const std::int64_t had = counters->credits.fetch_sub(asked);
      const std::int64_t got = had >= asked ? asked : had > 0 ? had : 0;
      if (got < asked) counters->credits.fetch_add(asked - got);
      credit += static_cast<lane_t>(got);
    }
    const lane_t count = want < credit ? want : credit;
    credit -= count;
    if (count == 0) return {};
    return {counters->tail.fetch_add(count), count};
  }

  /// Writes the value of a reserved ticket if its slot is empty; otherwise returns false.
  SHOAL_FN bool try_put(ticket_t ticket, const T& value) const {
    Slot<T>& slot = slots[ticket & (capacity - 1)];
    if constexpr (kWholeSlot<T>) {
      if (ticket >= empty_below && load_whole<T, false>(&slot).stamp != ticket) return false;
      store_whole<kOrders>(&slot, ticket + 1, value);
    } else {
      if (ticket >= empty_below && slot.sequence.load_acquire() != ticket) return false;
      plain_write(slot.value, value);
      slot.sequence.store_release(ticket + 1);
    }
    return true;
  }
  /// For each reserved ticket with `waits` whose slot is empty: writes the value and clears `waits`. With slots of one 16-byte
  /// word (kWholeSlot), the loads of all slots are in flight together.
  template <lane_t kSome>
  SHOAL_FN void try_put_some(bool (&waits)[kSome], const ticket_t (&ticket)[kSome], const T (&value)[kSome]) const {
    if constexpr (kWholeSlot<T>) {
      bool empty[kSome];
      for (lane_t k = 0; k < kSome; ++k) {
        empty[k] = waits[k];
        if (waits[k] && ticket[k] >= empty_below) {
          empty[k] = load_whole<T, false>(&slots[ticket[k] & (capacity - 1)]).stamp == ticket[k];
        }
      }
      for (lane_t k = 0; k < kSome; ++k) {
        if (empty[k]) store_whole<kOrders>(&slots[ticket[k] & (capacity - 1)], ticket[k] + 1, value[k]);
        waits[k] = waits[k] && !empty[k];
      }
    } else {
      for (lane_t k = 0; k < kSome; ++k) waits[k] = waits[k] && !try_put(ticket[k], value[k]);
    }
  }
  /// Waits until the slot of a reserved ticket is empty and writes the value. Only for pushers that hold no ticket for popping,
  /// because the wait does not call poll(). False if the run ended first.
  SHOAL_FN bool put(ticket_t ticket, const T& value, const StateWord& state) const {
    return spin_wait(state, [&] { return try_put(ticket, value); });
  }

  /// Claims up to `want` pushed tickets for popping; `waiting` becomes the number of pushed tickets that were not claimed. May
  /// miss some: the two counters are read one after the other, and either may be outdated.
  SHOAL_FN Tickets claim(lane_t want, ticket_t& waiting) const {
    ticket_t head = counters->head.load();
    for (;;) {
      const ticket_t tail = counters->tail.load();  // read again after a lost race: head may have passed the old tail
      waiting = tail > head ? tail - head : 0;
      if (waiting == 0) return {};
      const lane_t count = waiting < want ? static_cast<lane_t>(waiting) : want;
      if (counters->head.compare_swap(head, head + count)) return {head, count};
    }
  }

  /// Claims the next ticket for popping, whether it has been pushed or not, and sets `pushed` accordingly: false only if at some
  /// moment of the call all pushed tickets had been claimed. It is one fetch-and-add, so callers that claim at the same time do
  /// not make each other retry.
  SHOAL_FN ticket_t claim_next(bool& pushed) const {
    const ticket_t ticket = counters->head.fetch_add(1);
    pushed =
        ticket < counters->tail.load() || ticket < counters->tail.fetch_add(0);  // adding zero reads the newest value
    return ticket;
  }
  /// Takes a ticket for pushing, without a credit. Only for a ring that has a slot for every value that exists.
  SHOAL_FN ticket_t reserve_freely() const { return counters->tail.fetch_add(1); }

  /// Pushes a value to such a ring, for take_below(). In rings that are used this way, `credits` has another meaning: the number of
  /// pushed values that no popper is entitled to yet. The host sets it to 0.
  SHOAL_FN void put_for_all(const T& value, const StateWord& state) const {
    put(reserve_freely(), value, state);
    counters->credits.fetch_add(1);
  }
  /// Pops a value. False only if the first `limit` of all values were popped, or the run ended. A popper that takes one from
  /// `credits` is entitled to a ticket, so `head` never passes `tail`. A popper that finds none there tries again until `head`
  /// has reached `limit`: other poppers that found none may have subtracted from `credits` and not yet added back. It subtracts
  /// again only after it has read a number above 0. If a thousand poppers subtracted and added all the time, `credits` would stay
  /// below 0 while there are values, for ever. All steps are fetch-and-adds, so many poppers at the same time do not make each other
  /// retry, as they would with compare-and-swap.
  SHOAL_FN bool take_below(ticket_t limit, T& value, const StateWord& state) const {
    bool entitled = false, took = false, tried = false;
    ticket_t ticket = 0;
    spin_wait(state, [&] {  // everything is inside the wait: see take()
      if (!entitled) {
        if (counters->head.load() >= limit) return true;
        if (tried && counters->credits.load() <= 0) return false;
        tried = true;
        entitled = counters->credits.fetch_sub(1) > 0;
        if (!entitled) counters->credits.fetch_add(1);
        if (!entitled) return false;
        ticket = counters->head.fetch_add(1);
      }
      took = try_take(ticket, value);
      return took;
    });
    return took;
  }

  /// If the slot of a claimed ticket is filled: copies out the value, empties the slot, and returns true.
  SHOAL_FN bool try_take(ticket_t ticket, T& value) const {
    Slot<T>& slot = slots[ticket & (capacity - 1)];
    if constexpr (kWholeSlot<T>) {
      const WholeSlot<T> found = load_whole<T, kOrders>(&slot);
      if (found.stamp != ticket + 1) return false;
      value = found.value;
      store_whole<false>(&slot, ticket + capacity, value);
    } else {
      if (slot.sequence.load_acquire() != ticket + 1) return false;
      value = plain_read(slot.value);
      slot.sequence.store_release(ticket + capacity);
    }
    return true;
  }
  /// The same, waiting until the slot is filled. False if the run ended first.
  ///
  /// Slots are filled and emptied inside the wait loop, not after it. If each GPU thread is a worker, a thread that has left
  /// the loop may have to wait for reconvergence until the other threads of its warp have left theirs. These may wait,
  /// through other warps, for the very slot that the first thread has not emptied yet.
  SHOAL_FN bool take(ticket_t ticket, T& value, const StateWord& state) const {
    return spin_wait(state, [&] { return try_take(ticket, value); });
  }

  /// Takes the next `n` tickets for popping, whether pushed or not, to be held. Returns the first.
  SHOAL_FN ticket_t claim_ahead(lane_t n) const { return counters->head.fetch_add(n); }

  /// Loads the slot of the held ticket, for the next poll(). That call need not wait then, if the thread does something else in between.
  /// Slots that are no whole words are loaded in that call.
  SHOAL_FN WholeSlot<T> peek(const Hand<T>& hand) const {
    if constexpr (kWholeSlot<T>) {
      if (hand.holds) return load_whole<T, kOrders>(&slots[hand.ticket & (capacity - 1)]);
    }
    return {};  // the stamp 0: that of no filled slot
  }
  /// If the slot of the held ticket is filled: copies out the value and empties the slot.
  SHOAL_FN void poll(Hand<T>& hand) const { poll(hand, peek(hand)); }
  /// @param found  what peek() has returned for this ticket
  SHOAL_FN void poll(Hand<T>& hand, [[maybe_unused]] const WholeSlot<T>& found) const {
    if (!hand.holds) return;
    Slot<T>& slot = slots[hand.ticket & (capacity - 1)];
    if constexpr (kWholeSlot<T>) {
      if (found.stamp != hand.ticket + 1) return;
      hand.value = found.value;
      store_whole<false>(&slot, hand.ticket + capacity, hand.value);
    } else {
      // Acquires only if the slot is filled: on a GPU, an acquiring load invalidates the L1 cache for all workers on it.
      if (slot.sequence.load() != hand.ticket + 1 || slot.sequence.load_acquire() != hand.ticket + 1) return;
      hand.value = plain_read(slot.value);
      slot.sequence.store_release(hand.ticket + capacity);
    }
    hand.holds = false;
    hand.has = true;
  }

  /// Returns credits to the ring, whose slots must be empty already.
  SHOAL_FN void release(lane_t& credit) const {
    if (credit > 0) counters->credits.fetch_add(credit);
    credit = 0;
  }
};

}  // namespace shoal
