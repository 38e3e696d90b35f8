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
// pop:  claim tickets below tail by compare-and-swap (never more than are given out), and for each: wait until the value is
//       published, copy it out at once, mark the slot empty; then hand the credits back.
// Neither waits for long: a ticket below head is claimed and a claimed value is copied out by straight-line code, so a
// pusher's wait for an empty slot ends; a popper's wait ends because a ticket below tail belongs to a pusher that holds
// credits. Each wait is for a smaller ticket or an earlier step, so there is no cycle (models/ring.pml).
//
// Source: Atos, Listing 6 (reserve once per worker). Differs: no counter says "all before here is written", which can expose
// an unwritten slot and starves under load; sequences per slot (after Vyukov's bounded queue) do not.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/core/spin.hpp"

namespace shoal {

template <class T>
struct Slot {
  Word<ticket_t, Scope::device> sequence;
  T value;
};

/// Tickets [first, first + count); count may be less than was asked for.
struct Tickets {
  ticket_t first = 0;
  lane_t count = 0;
};

/// The counters of a ring, each on its own line. `tail` is read by other PEs when they look for quiescence.
struct RingCounters {
  PaddedWord<ticket_t, Scope::system> tail;
  PaddedWord<ticket_t, Scope::device> head;
  PaddedWord<std::int64_t, Scope::device> room;
};

/// View of a ring; trivially copyable. All calls are for one thread (a worker's leader, or a lane for its own ticket).
template <class T>
struct SlotRing {
  Slot<T>* slots = nullptr;
  ticket_t capacity = 0;  ///< a power of two, at least 1
  RingCounters* counters = nullptr;

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
      const std::int64_t shortage = want - credit;
      const std::int64_t had = counters->room.fetch_sub(shortage);
      const std::int64_t got = had >= shortage ? shortage : had > 0 ? had : 0;
      if (got < shortage) counters->room.fetch_add(shortage - got);
      credit += static_cast<lane_t>(got);
    }
    const lane_t count = want < credit ? want : credit;
    credit -= count;
    if (count == 0) return {};
    return {counters->tail.fetch_add(count), count};
  }

  /// Writes the value of a reserved ticket. False when the run was aborted while waiting for the slot.
  SHOAL_FN bool put(ticket_t ticket, const T& value, const StateWord& state) const {
    Slot<T>& slot = slots[ticket & (capacity - 1)];
    if (slot.sequence.load_acquire() != ticket &&
        !spin_wait(state, [&] { return slot.sequence.load_acquire() == ticket; })) {
      return false;
    }
    plain_write(slot.value, value);
    slot.sequence.store_release(ticket + 1);
    return true;
  }

  /// Claims up to `want` given-out tickets below `limit` for popping. `waiting` says how many there were. Comes back with
  /// none only when there was none to claim at some moment of the call (spill relies on it).
  SHOAL_FN Tickets claim(lane_t want, ticket_t limit, ticket_t& waiting) const {
    ticket_t head = counters->head.load();
    for (;;) {
      ticket_t tail = counters->tail.load();  // again after every lost race: head may have passed the old one
      if (tail > limit) tail = limit;
      waiting = tail > head ? tail - head : 0;
      if (waiting == 0) return {};
      const lane_t count = waiting < want ? static_cast<lane_t>(waiting) : want;
      if (counters->head.compare_swap(head, head + count)) return {head, count};
    }
  }

  /// Copies out the value of a claimed ticket and empties its slot. False when the run was aborted while waiting.
  SHOAL_FN bool take(ticket_t ticket, T& value, const StateWord& state) const {
    Slot<T>& slot = slots[ticket & (capacity - 1)];
    if (slot.sequence.load_acquire() != ticket + 1 &&
        !spin_wait(state, [&] { return slot.sequence.load_acquire() == ticket + 1; })) {
      return false;
    }
    value = plain_read(slot.value);
    slot.sequence.store_release(ticket + capacity);
    return true;
  }

  /// Hands credits back to everybody. The slots they stand for are empty already.
  SHOAL_FN void release(lane_t& credit) const {
    if (credit > 0) counters->room.fetch_add(credit);
    credit = 0;
  }
};

}  // namespace shoal
