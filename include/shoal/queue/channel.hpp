// The channel: a bounded queue from one PE to another, written with one-sided puts.
//
// Slots and `head` live in the receiver's memory; `tail` and `room` in the sender's, so that a sender reserves with local
// atomics and never waits for the network. The receiver drains under a try-lock, in ticket order, and gives credits back in
// that order; a sender's ticket therefore always finds its slot free, without looking.
//
// Source: Gravel, 4 (producer/consumer queue between devices). Differs: one-sided, no CPU in the path, credits instead of ticks.
#pragma once
#include "shoal/core/spin.hpp"
#include "shoal/queue/slot_ring.hpp"
#include "shoal/transport/transport.hpp"

namespace shoal {

/// The sender's end of one channel, in the sender's memory.
struct ChannelSendCounters {
  PaddedWord<ticket_t, Scope::system> tail;      ///< tickets given to this PE's workers
  PaddedWord<std::int64_t, Scope::system> room;  ///< credits; the receiver adds
  PaddedWord<std::uint64_t, Scope::device> messages;
};

/// The receiver's end of one channel, in the receiver's memory.
struct ChannelReceiveCounters {
  PaddedWord<ticket_t, Scope::device> head;
  PaddedWord<std::uint32_t, Scope::device> lock;
};

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

  /// This lane alone: does an item wait that nobody drains? A hint.
  SHOAL_FN bool waiting() const {
    const ticket_t head = counters->head.load();
    return slots[head & (capacity - 1)].signal.load() == head + 1 && counters->lock.load() == 0;
  }
  /// Leader only: true if this worker may drain now.
  SHOAL_FN bool try_lock() const {
    std::uint32_t open = 0;
    return counters->lock.compare_swap_acquire(open, 1);
  }
  SHOAL_FN bool ready(ticket_t ticket) const {
    return slots[ticket & (capacity - 1)].signal.load_acquire() == ticket + 1;
  }
  SHOAL_FN T read(ticket_t ticket) const { return plain_read(slots[ticket & (capacity - 1)].value); }

  /// Leader only, after every lane has read its slot: moves head, gives the credits back, opens the lock.
  template <class Tr>
  SHOAL_FN bool finish(const Tr& transport, pe_t from, ticket_t head, lane_t taken) const {
    counters->head.store(head + taken);
    const bool sent = taken == 0 || transport.add(from, room, taken);
    counters->lock.store_release(0);
    return sent;
  }
};

}  // namespace shoal
