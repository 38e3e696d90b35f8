// The channel: a bounded queue from one PE to another, written with one-sided puts.
//
// Slots and `drain` live in the receiver's memory; `tail` and `room` in the sender's, so that a sender reserves with local
// atomics and never waits for the network. The receiver drains under a try-lock, in ticket order. Credits go back a share of
// the channel at a time; a sender's ticket therefore always finds its slot free, without looking.
//
// `drain` is the ticket to be drained next and the lock in one word: one compare-and-swap takes the lock and knows the
// ticket, one release moves on and opens the lock. Credits go back when the drained tickets pass a multiple of the share, by
// whoever drained the last of them, after the lock is open. Why a sender cannot starve: credits that are not at home belong to
// tickets that are on their way, which will be drained, or were kept back, which are fewer than a share, hence fewer than the
// channel has. Why a credit never comes too early: the lock opens after all reads, so whoever passes a multiple has
// acquired every read before it (models/channel.pml).
//
// Source: Gravel, 4 (producer/consumer queue between devices). Differs: one-sided, no CPU in the path, credits instead of ticks.
#pragma once
#include "shoal/core/spin.hpp"
#include "shoal/queue/slot_ring.hpp"
#include "shoal/transport/transport.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal {

/// The sender's end of one channel, in the sender's memory.
struct ChannelSendCounters {
  PaddedWord<ticket_t, Scope::system> tail;      ///< tickets given to this PE's workers
  PaddedWord<std::int64_t, Scope::system> room;  ///< credits; the receiver adds
  PaddedWord<std::uint64_t, Scope::device> messages;
};

/// The receiver's end of one channel, in the receiver's memory.
struct ChannelReceiveCounters {
  PaddedWord<ticket_t, Scope::device> drain;  ///< twice the ticket to be drained next, plus 1 while a worker drains

  SHOAL_FN ticket_t head() const { return drain.load() / 2; }
  SHOAL_FN bool locked() const { return drain.load() % 2 != 0; }
};

/// Credits go back this many at a time.
SHOAL_FN constexpr ticket_t credit_share(ticket_t capacity) { return capacity < 8 ? 1 : capacity / 4; }

/// What the sender's workers need. Trivially copyable.
template <class T>
struct ChannelSender {
  RemoteSlot<T>* slots = nullptr;  ///< at the receiver
  ticket_t capacity = 0;
  ChannelSendCounters* counters = nullptr;  ///< here

  /// Leader only. Takes up to `want` tickets; never waits.
  SHOAL_FN Tickets reserve(lane_t want) const {
    const std::int64_t had = counters->room.fetch_sub_acquire(want);  // after the receiver's reads
    const std::int64_t got = had >= want ? want : had > 0 ? had : 0;
    if (got < want) counters->room.fetch_add(want - got);
    if (got == 0) return {};
    counters->messages.fetch_add(1);
    // Acquire and release: my ticket's slot may have been freed by a credit that another worker of this PE took.
    return {counters->tail.fetch_add_acq_rel(static_cast<ticket_t>(got)), static_cast<lane_t>(got)};
  }
  /// One lane, its own ticket.
  template <class Tr>
  SHOAL_FN bool put(const Tr& transport, pe_t to, ticket_t ticket, const T& value) const {
    return transport.put_signal(to, slots + (ticket & (capacity - 1)), value, ticket + 1);
  }
};

/// What the receiver's workers need. Trivially copyable.
template <class T>
struct ChannelReceiver {
  RemoteSlot<T>* slots = nullptr;  ///< here
  ticket_t capacity = 0;
  ChannelReceiveCounters* counters = nullptr;               ///< here
  PaddedWord<std::int64_t, Scope::system>* room = nullptr;  ///< at the sender

  /// This lane alone: does an item wait that nobody drains? A hint. `head`: its ticket, for try_lock.
  SHOAL_FN bool waiting(ticket_t& head) const {
    const ticket_t drain = counters->drain.load();
    head = drain / 2;
    return drain % 2 == 0 && slots[head & (capacity - 1)].signal.load() == head + 1;
  }
  /// Leader only: true if this worker may drain now, from `head` on; false if `head` is not the next ticket any more.
  SHOAL_FN bool try_lock(ticket_t head) const {
    ticket_t open = 2 * head;
    return counters->drain.compare_swap_acquire(open, 2 * head + 1);
  }

  /// Worker-collective; this worker has the lock. Copies what has arrived to `items`, in ticket order, up to the first gap.
  /// @param items  [most] shared by the lanes; lane i writes the items i, i + size, ...
  /// @return how many, on every lane
  template <Worker W>
  SHOAL_FN lane_t copy_arrived(const W& w, ticket_t head, T* items, lane_t most) const {
    constexpr lane_t kAtOnce = W::kMaxLanes > 32  ? 1
                               : sizeof(T) > 16   ? 2
                               : W::kMaxLanes > 1 ? 4
                                                  : 8;  // loads of one lane in flight
    const lane_t first = most < w.size() ? most : w.size();
    lane_t gap = first;  // one slot for each lane: all there is when little is going on
    if (w.lane() < first && slot(head + w.lane()).signal.load_acquire() != head + w.lane() + 1) gap = w.lane();
    lane_t n = w.smallest(gap);
    for (lane_t base = first; base < most && n == base; base += kAtOnce * w.size()) {
      ticket_t signal[kAtOnce];
      for (lane_t k = 0; k < kAtOnce; ++k) {
        const lane_t i = base + k * w.size() + w.lane();
        signal[k] = i < most ? slot(head + i).signal.load_one_of_several() : head + i + 1;
      }
      gap = most - base < kAtOnce * w.size() ? most : base + kAtOnce * w.size();
      for (lane_t k = 0; k < kAtOnce; ++k) {
        const lane_t i = base + k * w.size() + w.lane();
        if (signal[k] != head + i + 1 && i < gap) gap = i;
      }
      n = w.smallest(gap);
    }
    if (n > first) acquire_several<Scope::system>();
    for (lane_t base = w.lane(); base < n; base += kAtOnce * w.size()) {
      T value[kAtOnce];
      for (lane_t k = 0; k < kAtOnce; ++k) {
        const lane_t i = base + k * w.size();
        if (i < n) value[k] = plain_read(slot(head + i).value);
      }
      for (lane_t k = 0; k < kAtOnce; ++k) {
        const lane_t i = base + k * w.size();
        if (i < n) items[i] = value[k];
      }
    }
    return n;
  }

  /// Leader only, after every lane has copied: moves on, opens the lock, and gives back the credits that are due.
  template <class Tr>
  SHOAL_FN bool finish(const Tr& transport, pe_t from, ticket_t head, lane_t taken) const {
    const ticket_t next = head + taken, below_share = credit_share(capacity) - 1;
    const ticket_t due = (next & ~below_share) - (head & ~below_share);
    counters->drain.store_release(2 * next);
    return due == 0 || transport.add(from, room, static_cast<std::int64_t>(due));
  }
  SHOAL_FN RemoteSlot<T>& slot(ticket_t ticket) const { return slots[ticket & (capacity - 1)]; }
};

}  // namespace shoal
