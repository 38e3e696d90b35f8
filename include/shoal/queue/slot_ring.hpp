// The ring: a bounded queue with many pushers and many poppers, in which each slot has a sequence number of its own.
//
//   tail   tickets given to pushers          credits  free slots that nobody has reserved
//   head   tickets given to poppers          slot     {sequence, value}; ticket t uses slot t mod capacity
//
//   sequence == t             empty; waits for the value of ticket t
//   sequence == t + 1         holds the value of ticket t
//   sequence == t + capacity  emptied; waits for the ticket one lap later
//
// push: take credits for k slots (or for fewer, if there are fewer; this never waits) and k tickets. For each ticket,
//       wait until its slot is empty, write the value, and publish the sequence.
// pop, in one of two ways, which must not be mixed on one ring at the same time:
//   claim  tickets below tail, by compare-and-swap, and copy each value out at once. For few poppers: CPU threads,
//          spill.
//   hold   tickets that are taken ahead of time, by addition, and poll their slots until they are filled. No shared
//          word is polled and no compare-and-swap fails, which is what thousands of idle GPU workers need. A holder
//          must copy a value out as soon as it can, even while it waits for something else: every wait calls poll().
// Either way, copy the value out, mark the slot empty, then return the credit.
//
// Why a pusher's wait for an empty slot ends: a credit stands for an emptied slot, and tickets are popped in order. So
// a pusher that waits to fill ticket t knows that ticket t - capacity has been claimed or is held. A claimed value is
// copied out by straight-line code. A held one is copied out by its holder's next poll, possibly after a pusher with a
// smaller ticket has filled the slot. Each link of this chain leads to a smaller ticket, so there is no cycle
// (models/ring.pml).
//
// Source: Atos, Listing 6 (reserve once per worker). Differs: Atos has a counter that says "all before here is
// written", which can expose an unwritten slot, and starves under load. A sequence per slot (after Vyukov's bounded
// queue) does neither.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/core/spin.hpp"
#include "shoal/transport/whole_slot.hpp"

namespace shoal {

/// Aligned so that a GPU can read and write a slot with a small value as one word.
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

/// One lane's place for a held ticket. It has a ticket, or a value that was copied out, or neither.
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

/// View of a ring; trivially copyable. A single thread makes each call: a worker's leader, or a lane for its own
/// ticket.
/// @tparam kOrders  true: the popper sees what the pusher wrote before its push. False: not guaranteed on GPUs for
///                  values of up to 8 bytes, which saves memory fences there
template <class T, bool kOrders = true>
struct SlotRing {
  Slot<T>* slots = nullptr;
  ticket_t capacity = 0;  ///< a power of two, at least 2: with 1, t + 1 and t + capacity would be the same sequence
  RingCounters* counters = nullptr;
  lane_t advance = 0;  ///< extra credits taken at a time, for the next pushes; small compared to capacity / workers

  /// Prepares slot i. Call it for every i in [0, capacity) before the first use, and after a run that was aborted.
  SHOAL_FN void reset_slot(ticket_t i) const { slots[i].sequence.store(i); }
  SHOAL_FN void reset_counters() const {
    counters->tail.store(0);
    counters->head.store(0);
    counters->credits.store(static_cast<std::int64_t>(capacity));
  }

  /// Takes up to `want` tickets for pushing. `credit` is the caller's own number of credits, from its pops.
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

  /// Writes the value of a reserved ticket if its slot is empty.
  SHOAL_FN bool try_put(ticket_t ticket, const T& value) const {
    Slot<T>& slot = slots[ticket & (capacity - 1)];
    if constexpr (kWholeSlot<T>) {
      if (load_whole<T, false>(&slot).stamp != ticket) return false;
      store_whole<kOrders>(&slot, ticket + 1, value);
    } else {
      if (slot.sequence.load_acquire() != ticket) return false;
      plain_write(slot.value, value);
      slot.sequence.store_release(ticket + 1);
    }
    return true;
  }
  /// Writes the values of those reserved tickets whose slots are empty, and clears their `waits`. The loads of all
  /// slots are in flight together.
  template <lane_t kSome>
  SHOAL_FN void try_put_some(bool (&waits)[kSome], const ticket_t (&ticket)[kSome], const T (&value)[kSome]) const {
    if constexpr (kWholeSlot<T>) {
      bool empty[kSome];
      for (lane_t k = 0; k < kSome; ++k) {
        empty[k] = waits[k] && load_whole<T, false>(&slots[ticket[k] & (capacity - 1)]).stamp == ticket[k];
      }
      for (lane_t k = 0; k < kSome; ++k) {
        if (empty[k]) store_whole<kOrders>(&slots[ticket[k] & (capacity - 1)], ticket[k] + 1, value[k]);
        waits[k] = waits[k] && !empty[k];
      }
    } else {
      for (lane_t k = 0; k < kSome; ++k) waits[k] = waits[k] && !try_put(ticket[k], value[k]);
    }
  }
  /// Waits for the slot of a reserved ticket and writes the value, for pushers that hold no ticket. False if the run
  /// ended first.
  SHOAL_FN bool put(ticket_t ticket, const T& value, const StateWord& state) const {
    return spin_wait(state, [&] { return try_put(ticket, value); });
  }

  /// Claims up to `want` pushed tickets for popping; `waiting` becomes the number that there were. May miss some: the
  /// two counters are read one after the other, and either may be outdated.
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

  /// Claims the next ticket for popping, pushed or not. `pushed` becomes whether it was; false only if at some moment of
  /// the call all that were pushed had been claimed. It is one addition, so many who claim at the same time do not make
  /// each other try again.
  SHOAL_FN ticket_t claim_next(bool& pushed) const {
    const ticket_t ticket = counters->head.fetch_add(1);
    pushed =
        ticket < counters->tail.load() || ticket < counters->tail.fetch_add(0);  // adding zero reads the newest value
    return ticket;
  }
  /// A ticket for pushing, without a credit: for a ring that has a slot for every value there is.
  SHOAL_FN ticket_t reserve_freely() const { return counters->tail.fetch_add(1); }

  /// Pushes a value to such a ring, for take_below(). There, `credits` is the number of values that were pushed and that
  /// nobody is entitled to yet; the host makes it 0.
  SHOAL_FN void put_for_all(const T& value, const StateWord& state) const {
    put(reserve_freely(), value, state);
    counters->credits.fetch_add(1);
  }
  /// Pops a value. False only if the first `limit` of all values were popped, or the run ended. Who takes one from
  /// `credits` is entitled to a ticket, so `head` never passes `tail`; who finds none there looks whether that is the
  /// end, since others who found none may not have put back theirs. All are additions, so many who pop at the same time do
  /// not make each other try again, as they would if each compared and swapped.
  SHOAL_FN bool take_below(ticket_t limit, T& value, const StateWord& state) const {
    bool entitled = false, took = false;
    ticket_t ticket = 0;
    spin_wait(state, [&] {  // all of it within the wait: see take()
      if (!entitled) {
        if (counters->head.load() >= limit) return true;
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

  /// Copies out the value of a claimed ticket and empties its slot, if the slot is filled.
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
  /// Slots are filled and emptied within the wait, not after it. If GPU threads are workers of their own, a thread
  /// whose wait is over may be parked until the other threads of its warp are through with theirs; and these may wait,
  /// through other warps, for the very slot that it has not emptied yet.
  SHOAL_FN bool take(ticket_t ticket, T& value, const StateWord& state) const {
    return spin_wait(state, [&] { return try_take(ticket, value); });
  }

  /// Takes the next `n` tickets for popping, pushed or not, to be held. Returns the first.
  SHOAL_FN ticket_t claim_ahead(lane_t n) const { return counters->head.fetch_add(n); }

  /// Copies out the value of a held ticket and empties its slot, if the slot is filled.
  SHOAL_FN void poll(Hand<T>& hand) const {
    if (!hand.holds) return;
    Slot<T>& slot = slots[hand.ticket & (capacity - 1)];
    if constexpr (kWholeSlot<T>) {
      const WholeSlot<T> found = load_whole<T, kOrders>(&slot);
      if (found.stamp != hand.ticket + 1) return;
      hand.value = found.value;
      store_whole<false>(&slot, hand.ticket + capacity, hand.value);
    } else {
      // Acquires only if the slot is filled: a GPU's acquiring load invalidates the first-level cache of all workers.
      if (slot.sequence.load() != hand.ticket + 1 || slot.sequence.load_acquire() != hand.ticket + 1) return;
      hand.value = plain_read(slot.value);
      slot.sequence.store_release(hand.ticket + capacity);
    }
    hand.holds = false;
    hand.has = true;
  }

  /// Returns credits to the ring. Their slots are empty already.
  SHOAL_FN void release(lane_t& credit) const {
    if (credit > 0) counters->credits.fetch_add(credit);
    credit = 0;
  }
};

}  // namespace shoal
