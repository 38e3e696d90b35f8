// The ring: a bounded queue of many pushers and many poppers in which every slot is ready by itself.
//
//   tail   tickets given to pushers          room   free slots promised to nobody (credits)
//   head   tickets given to poppers          slot   {sequence, value}; ticket t lives in slot t mod capacity
//
//   sequence == t             empty, waiting for the value of ticket t
//   sequence == t + 1         holds the value of ticket t
//   sequence == t + capacity  emptied; waits for the ticket one lap later
//
// push: take credits for k slots (fewer if there are fewer, never waiting), take k tickets, and for each: wait until the
//       slot is empty, write the value, publish the sequence.
// pop, in one of two ways, never mixed on one ring at one time:
//   claim  tickets below tail, by compare-and-swap; copy each value out at once. For few poppers (CPU threads, spill).
//   hold   take tickets blindly, by addition, and watch the own slots until they are filled: nobody polls a shared word and
//          no compare-and-swap is lost, which is what thousands of idle GPU workers need. A holder must copy a value out as
//          soon as it can, also while it waits for something else (Hand::poll in every wait).
// Either way: copy out, mark the slot empty, then hand the credit back.
//
// Why a pusher's wait for an empty slot ends: credits count emptied slots and tickets are popped in order, so whoever waits
// to fill ticket t knows that t - capacity has been claimed or is held. A claimed value is copied out by straight-line code,
// a held one by its holder's next poll, or after a pusher with a smaller ticket has filled it. The chain goes down in
// tickets, so there is no cycle (models/ring.pml).
//
// Source: Atos, Listing 6 (reserve once per worker). Differs: no counter says "all before here is written", which can expose
// an unwritten slot and starves under load; sequences per slot (after Vyukov's bounded queue) do not.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/core/spin.hpp"
#include "shoal/transport/whole_slot.hpp"

namespace shoal {

/// Aligned so that a GPU can read and write a slot of a small value as one word.
template <class T>
struct alignas(kSlotAlignment<T>) Slot {
  Word<ticket_t, Scope::device> sequence;
  T value;
};

/// Tickets [first, first + count); count may be less than was asked for.
struct Tickets {
  ticket_t first = 0;
  lane_t count = 0;
};

/// A popper's held ticket: one per lane. It has a ticket, or a value that it has copied out, or neither.
template <class T>
struct Hand {
  ticket_t ticket = 0;
  bool holds = false;
  bool has = false;
  T value;
};

/// The counters of a ring, each on its own line. `tail` is read by other PEs when they look for quiescence.
struct RingCounters {
  PaddedWord<ticket_t, Scope::system> tail;
  PaddedWord<ticket_t, Scope::device> head;
  PaddedWord<std::int64_t, Scope::device> room;
};

/// View of a ring; trivially copyable. All calls are for one thread (a worker's leader, or a lane for its own ticket).
/// @tparam kOrders  what a pusher wrote before its push is visible to the popper. False leaves that out where it costs
///                  something: on GPUs, for values of up to 8 bytes
template <class T, bool kOrders = true>
struct SlotRing {
  Slot<T>* slots = nullptr;
  ticket_t capacity = 0;  ///< a power of two, at least 2 (with 1, `filled` and `emptied` would be the same number)
  RingCounters* counters = nullptr;
  lane_t advance = 0;  ///< credits taken beyond a shortage, for the next pushes; small against capacity / workers

  /// Prepares slot i; to be called for every i in [0, capacity) before the first use, and after a run that was aborted.
  SHOAL_FN void reset_slot(ticket_t i) const { slots[i].sequence.store(i); }
  SHOAL_FN void reset_counters() const {
    counters->tail.store(0);
    counters->head.store(0);
    counters->room.store(static_cast<std::int64_t>(capacity));
  }

  /// Takes up to `want` tickets for pushing. `credit` is the caller's own count of free slots (returned by pops).
  SHOAL_FN Tickets reserve(lane_t want, lane_t& credit) const {
    if (credit < want) {
      const std::int64_t asked = want - credit + advance;
      const std::int64_t had = counters->room.fetch_sub(asked);
      const std::int64_t got = had >= asked ? asked : had > 0 ? had : 0;
      if (got < asked) counters->room.fetch_add(asked - got);
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
  /// Writes the values of several reserved tickets whose slots are empty, and clears `waits` where it did. Their look-ups are in
  /// flight together.
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
  /// Writes the value of a reserved ticket, for pushers that hold no ticket. False when the run was aborted while waiting for the slot.
  SHOAL_FN bool put(ticket_t ticket, const T& value, const StateWord& state) const {
    return spin_wait(state, [&] { return try_put(ticket, value); });
  }

  /// Claims up to `want` given-out tickets for popping. `waiting` says how many there were. May
  /// miss some: the two counters are read one after the other, and either may be old.
  SHOAL_FN Tickets claim(lane_t want, ticket_t& waiting) const {
    ticket_t head = counters->head.load();
    for (;;) {
      const ticket_t tail = counters->tail.load();  // again after every lost race: head may have passed the old one
      waiting = tail > head ? tail - head : 0;
      if (waiting == 0) return {};
      const lane_t count = waiting < want ? static_cast<lane_t>(waiting) : want;
      if (counters->head.compare_swap(head, head + count)) return {head, count};
    }
  }

  /// Claims one given-out ticket; none only if there was none at some moment of the call. Dearer: reads by adding zero, which
  /// finds the newest value.
  SHOAL_FN Tickets claim_one_surely() const {
    for (;;) {
      ticket_t head = counters->head.fetch_add(0);
      if (head >= counters->tail.fetch_add(0)) return {};
      if (counters->head.compare_swap(head, head + 1)) return {head, 1};
    }
  }

  /// Copies out the value of a claimed ticket and empties its slot, if it is there.
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
  /// The same, as soon as it is there. False when the run was aborted while waiting.
  ///
  /// Slots are filled and emptied within the wait, not after it: where lanes of a GPU are workers of their own, one whose wait
  /// is over may be parked until those of the others of its warp are, and they may wait, through other warps, for the very
  /// slot that it has not emptied yet.
  SHOAL_FN bool take(ticket_t ticket, T& value, const StateWord& state) const {
    return spin_wait(state, [&] { return try_take(ticket, value); });
  }

  /// Takes `n` tickets for popping, given out or not: the first of them. To be held.
  SHOAL_FN ticket_t claim_ahead(lane_t n) const { return counters->head.fetch_add(n); }

  /// Copies out the value of a held ticket if it is there, and empties its slot.
  SHOAL_FN void poll(Hand<T>& hand) const {
    if (!hand.holds) return;
    Slot<T>& slot = slots[hand.ticket & (capacity - 1)];
    if constexpr (kWholeSlot<T>) {
      const WholeSlot<T> found = load_whole<T, kOrders>(&slot);
      if (found.stamp != hand.ticket + 1) return;
      hand.value = found.value;
      store_whole<false>(&slot, hand.ticket + capacity, hand.value);
    } else {
      // Acquired only when it is there: a GPU's acquiring load empties the first-level cache of all workers.
      if (slot.sequence.load() != hand.ticket + 1 || slot.sequence.load_acquire() != hand.ticket + 1) return;
      hand.value = plain_read(slot.value);
      slot.sequence.store_release(hand.ticket + capacity);
    }
    hand.holds = false;
    hand.has = true;
  }

  /// Hands credits back to everybody. The slots they stand for are empty already.
  SHOAL_FN void release(lane_t& credit) const {
    if (credit > 0) counters->room.fetch_add(credit);
    credit = 0;
  }
};

}  // namespace shoal
