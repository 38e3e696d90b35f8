// The channel: a bounded queue from one PE to another, written with one-sided puts.
//
// The slots and the receiver's counters are in the receiver's memory. `tail` and `credits` are in the
// sender's memory, so a sender reserves with local atomics and never waits for the network. A sender need not check
// whether a ticket's slot is free: each ticket costs a credit, and the receiver returns a credit only after it has read
// a slot.
//
// Receiving. A worker checks which tickets have arrived, from `drain` on, and claims them by one compare-and-swap. So
// several workers can drain one channel, and no worker waits for a ticket that it has claimed. A worker that loses the
// race claims those of the arrived tickets that are left.
//
// Returning credits. Tickets are used in order, but a credit is not tied to a slot. If the credit of a later slot were
// returned first, the sender's next ticket could overwrite an earlier slot that is still being read. So credits are returned
// in ticket order, one share (a quarter of the channel) at a time. `read` counts the tickets of each share that were read.
// The worker that counts the last ticket of a share marks the share as complete, and returns all complete shares from the
// oldest on. `home` holds both the marks and the number of returned shares in one word, so if two workers finish
// at the same time, one of them sees the other's mark.
//
// Why senders cannot starve: a credit that is not in `credits` belongs to a ticket that is in flight and will be drained,
// or to a share that is not yet complete, which has fewer slots than the channel. If `credits` is positive, some sender
// gets a credit (ChannelSender::reserve). Why a credit never comes too early: credits come in order, as above, and the
// worker that returns a share has acquired every read of it (models/channel.pml).
//
// Source: Gravel, 4 (producer/consumer queue between devices). Differs: one-sided, no CPU in the path, credits in place
// of ticks.
#pragma once
#include "shoal/core/spin.hpp"
#include "shoal/queue/slot_ring.hpp"
#include "shoal/transport/transport.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal {

/// The sender's end of one channel, in the sender's memory.
struct ChannelSendCounters {
  PaddedWord<ticket_t, Scope::system> tail;         ///< tickets given to this PE's workers
  PaddedWord<std::int64_t, Scope::system> credits;  ///< free credits; the receiver adds to it
  PaddedWord<std::uint64_t, Scope::device> messages;
};

/// Credits are returned one share at a time: a quarter of the channel, or one slot of a tiny channel.
inline constexpr lane_t kMostShares = 4;
SHOAL_FN constexpr ticket_t credit_share(ticket_t capacity) { return capacity < 8 ? 1 : capacity / kMostShares; }

/// The contents of `home`: the number of shares that were returned so far and, in the lowest bits, one mark for each
/// share that is complete and not returned yet.
struct HomeWord {
  static constexpr std::uint64_t kShare = std::uint64_t{1} << kMostShares;  ///< one returned share
  static SHOAL_FN std::uint64_t given_back(std::uint64_t word) { return word / kShare; }
  static SHOAL_FN std::uint64_t complete(std::uint64_t share) { return std::uint64_t{1} << share; }
};

/// The receiver's end of one channel, in the receiver's memory.
struct ChannelReceiveCounters {
  PaddedWord<ticket_t, Scope::device> drain;              ///< the next ticket to be claimed
  PaddedWord<ticket_t, Scope::device> read[kMostShares];  ///< read[s]: tickets read so far in shares s, s + shares, ...
  PaddedWord<std::uint64_t, Scope::device> home;          ///< a HomeWord

  SHOAL_FN ticket_t head() const { return drain.load(); }
  /// Tickets that were claimed and are not read yet.
  SHOAL_FN ticket_t unread() const {
    ticket_t sum = 0;
    for (const auto& of_share : read) sum += of_share.load();
    return drain.load() - sum;
  }
};

/// What the sender's workers need. Trivially copyable.
/// @tparam kSeveral  whether the transport has put_signals
/// @tparam kOrders   see SlotRing
template <class T, bool kSeveral = true, bool kOrders = true>
struct ChannelSender {
  RemoteSlot<T>* slots = nullptr;  ///< at the receiver
  ticket_t capacity = 0;
  ChannelSendCounters* counters = nullptr;  ///< here

  /// True if slots are written and read as one word. Such a slot is one memory location, whose coherence order is enough to
  /// order the sender's store after the receiver's load of the old value: counters and credits can be relaxed. Otherwise
  /// counters and credits must order the sender's writes after the receiver's reads.
  static constexpr bool kWhole = kSeveral && kWholeSlot<T>;

  /// Leader only. Takes up to `want` tickets; never waits.
  ///
  /// Loads the credits before it takes any. An attempt subtracts all that it wants and then adds back what was not there. In
  /// between, credits that the receiver returns are hidden from all other workers. Thousands of workers that retry
  /// again and again would hide them forever. Because of the load, a worker tries only if there are credits, so some worker
  /// succeeds (models/channel.pml, -DLIVE; docs/decisions/0017-credits-are-looked-at.md).
  SHOAL_FN Tickets reserve(lane_t want) const {
    if (counters->credits.load() <= 0) return {};
    const std::int64_t had = kWhole ? counters->credits.fetch_sub(want) : counters->credits.fetch_sub_acquire(want);
    const std::int64_t got = had >= want ? want : had > 0 ? had : 0;
    if (got < want) counters->credits.fetch_add(want - got);
    if (got == 0) return {};
    counters->messages.fetch_add(1);
    const auto taken = static_cast<ticket_t>(got);
    // Acquires and releases, because another worker of this PE may have taken the credit that freed this ticket's slot.
    const ticket_t first = kWhole ? counters->tail.fetch_add(taken) : counters->tail.fetch_add_acq_rel(taken);
    return {first, static_cast<lane_t>(got)};
  }
  /// One lane alone: sends those items of its own tickets that have `now` set. False if the transport failed.
  template <lane_t kSome, class Tr>
  SHOAL_FN bool put_some(const Tr& transport, pe_t to, const bool (&now)[kSome], const ticket_t (&ticket)[kSome],
                         const T (&value)[kSome]) const {
    if constexpr (kSeveral) {
      RemoteSlot<T>* slot[kSome];
      ticket_t signal[kSome];
      for (lane_t k = 0; k < kSome; ++k) {
        slot[k] = now[k] ? slots + (ticket[k] & (capacity - 1)) : nullptr;
        signal[k] = ticket[k] + 1;
      }
      return transport.template put_signals<kOrders>(to, slot, value, signal);
    } else {
      bool sent = true;
      for (lane_t k = 0; k < kSome; ++k) {
        if (!now[k]) continue;
        sent &= transport.put_signal(to, slots + (ticket[k] & (capacity - 1)), value[k], ticket[k] + 1);
      }
      return sent;
    }
  }
};

/// What a worker has claimed: tickets [first_ticket, first_ticket + count). Their items are items[skip, skip + count)
/// of the array that claim_arrived() filled.
struct Claim {
  ticket_t first_ticket = 0;
  lane_t skip = 0;
  lane_t count = 0;
};

/// What the receiver's workers need. Trivially copyable.
template <class T, bool kSeveral = true, bool kOrders = true>
struct ChannelReceiver {
  static constexpr bool kWhole = ChannelSender<T, kSeveral, kOrders>::kWhole;
  RemoteSlot<T>* slots = nullptr;  ///< here
  ticket_t capacity = 0;
  ChannelReceiveCounters* counters = nullptr;                  ///< here
  PaddedWord<std::int64_t, Scope::system>* credits = nullptr;  ///< at the sender

  /// One lane alone: whether an item has arrived. A hint. `head` becomes the item's ticket, for claim_arrived().
  SHOAL_FN bool waiting(ticket_t& head) const {
    head = counters->drain.load();
    if constexpr (kWhole) {  // stored as 16 bytes, so loaded as 16 bytes: the memory model does not cover mixed sizes
      return load_whole<T, false, Scope::system>(&slot(head)).stamp == head + 1;
    } else {
      return slot(head).signal.load() == head + 1;
    }
  }

  /// Worker-collective. Claims the items that have arrived from ticket `head` on, up to the first gap, except those that other
  /// workers have claimed, and copies them out. The lanes see each other's copies after the next collective.
  /// @tparam kAtOnce  how many loads of one lane are in flight together
  /// @param head   the same on every lane; from waiting()
  /// @param items  [most] the copies; shared by the lanes
  template <lane_t kAtOnce = 8, Worker W>
  SHOAL_FN Claim claim_arrived(const W& w, ticket_t head, T* items, lane_t most) const {
    for (lane_t tries = 0; tries < kTries; ++tries) {
      const lane_t n = look<kAtOnce>(w, head, items, most);
      if (n == 0) return {};
      ticket_t first = head;
      if (w.lane() == 0) {
        while (!counters->drain.compare_swap(first, head + n) && first < head + n) {
        }
      }
      first = w.from_leader(first);
      if (first < head + n) {
        const Claim claim{first, static_cast<lane_t>(first - head), static_cast<lane_t>(head + n - first)};
        if constexpr (!kWhole) {
          for (lane_t i = claim.skip + w.lane(); i < n; i += w.size()) items[i] = plain_read(slot(head + i).value);
        }
        return claim;
      }
      head = first;  // other workers were faster: look again, after the tickets that they claimed
    }
    return {};
  }

  /// Leader only, after every lane has copied its items: counts the tickets as read, and returns the credits that are due to
  /// PE `from`. False if the transport failed.
  template <class Tr>
  SHOAL_FN bool give_back(const Tr& transport, pe_t from, const Claim& claim) const {
    const ticket_t share = credit_share(capacity), shares = capacity / share;
    const ticket_t end = claim.first_ticket + claim.count;
    std::int64_t due = 0;
    for (ticket_t at = claim.first_ticket; at < end;) {
      const ticket_t left = share - (at & (share - 1)), n = left < end - at ? left : end - at;
      const lane_t number = static_cast<lane_t>(at / share & (shares - 1));
      const ticket_t before =
          kWhole ? counters->read[number].fetch_add(n) : counters->read[number].fetch_add_acq_rel(n);
      if (((before + n) & (share - 1)) == 0) due += static_cast<std::int64_t>(complete(number, shares) * share);
      at += n;
    }
    return due == 0 || transport.add(from, credits, due);
  }

 private:
  static constexpr lane_t kTries = 4;                        ///< attempts, if other workers claim first each time
  static constexpr bool kAcquires = kOrders && kOrdersEach;  ///< false: one fence after all loads acquires

  SHOAL_FN RemoteSlot<T>& slot(ticket_t ticket) const { return slots[ticket & (capacity - 1)]; }

  /// Worker-collective. Returns the number of tickets that have arrived from `head` on, up to the first gap; the same on every
  /// lane. Also copies the values, if slots are read as one word.
  template <lane_t kAtOnce, Worker W>
  SHOAL_FN lane_t look(const W& w, ticket_t head, T* items, lane_t most) const {
    lane_t n = 0;
    for (lane_t base = 0; base < most && n == base; base += kAtOnce * w.size()) {
      lane_t gap = most - base < kAtOnce * w.size() ? most : base + kAtOnce * w.size();
      WholeSlot<T> found[kAtOnce];
      for (lane_t k = 0; k < kAtOnce; ++k) {
        const lane_t i = base + k * w.size() + w.lane();
        found[k].stamp = 0;
        if (i >= most) continue;
        if constexpr (kWhole) {
          found[k] = load_whole<T, kAcquires, Scope::system>(&slot(head + i));
        } else {
          found[k].stamp = slot(head + i).signal.load_one_of_several();
        }
      }
      for (lane_t k = 0; k < kAtOnce; ++k) {
        const lane_t i = base + k * w.size() + w.lane();
        if (i >= gap) continue;
        if (found[k].stamp != head + i + 1) {
          gap = i;
        } else if constexpr (kWhole) {
          items[i] = found[k].value;
        }
      }
      n = w.smallest(gap);
    }
    if ((!kWhole || kOrders) && n > 0) acquire_several<Scope::system>();
    return n;
  }

  /// Marks share `number` as complete. Returns the number of shares whose credits are to be returned now.
  SHOAL_FN ticket_t complete(lane_t number, ticket_t shares) const {
    std::uint64_t was = counters->home.load();
    for (;;) {
      std::uint64_t now = was | HomeWord::complete(number);
      for (;;) {
        const std::uint64_t oldest = HomeWord::complete(HomeWord::given_back(now) & (shares - 1));
        if ((now & oldest) == 0) break;
        now = now - oldest + HomeWord::kShare;
      }
      const bool done = kWhole ? counters->home.compare_swap(was, now) : counters->home.compare_swap_acq_rel(was, now);
      if (done) return HomeWord::given_back(now) - HomeWord::given_back(was);
    }
  }
};

}  // namespace shoal
