// The channel: a bounded queue from one PE to another, written with one-sided puts.
//
// Slots and what receivers count live in the receiver's memory; `tail` and `room` in the sender's, so that a sender reserves
// with local atomics and never waits for the network. A sender's ticket always finds its slot free, without looking: a ticket
// needs a credit, and credits come back when slots have been read.
//
// Receiving: a worker looks which tickets have arrived, from `drain` on, and claims them by one compare-and-swap; so several
// workers drain one channel, and nobody ever waits for a ticket that he has claimed. Whoever loses the race claims what is
// left of what he saw.
//
// Giving back: tickets are in order, credits are not told apart. A credit for a later slot would let the next ticket overwrite
// an earlier one that is still being read, so credits go back in ticket order: tickets that were read are counted by shares of
// the channel; who counts the last of a share notes that it is complete and gives back what is complete from the oldest share
// on (`home`: both in one word, so that one of two who finish at once sees the other). Why senders cannot starve: credits that are
// not at home belong to tickets that are on their way, which will be drained, or to a share that is not full, which is fewer
// than the channel has; one of those at home is found by somebody (ChannelSender::reserve). Why a credit never comes too early:
// see above, and whoever gives a share back has acquired every read of it (models/channel.pml).
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

/// Credits go back a share at a time: a quarter of the channel, and one of a tiny channel.
inline constexpr lane_t kMostShares = 4;
SHOAL_FN constexpr ticket_t credit_share(ticket_t capacity) { return capacity < 8 ? 1 : capacity / kMostShares; }

/// What `home` packs: how many shares were given back so far and, below that, a bit for each share that is complete and not
/// given back yet.
struct HomeWord {
  static constexpr std::uint64_t kShare = std::uint64_t{1} << kMostShares;  ///< one share given back
  static SHOAL_FN std::uint64_t given_back(std::uint64_t word) { return word / kShare; }
  static SHOAL_FN std::uint64_t complete(std::uint64_t share) { return std::uint64_t{1} << share; }
};

/// The receiver's end of one channel, in the receiver's memory.
struct ChannelReceiveCounters {
  PaddedWord<ticket_t, Scope::device> drain;  ///< the ticket to be claimed next
  PaddedWord<ticket_t, Scope::device>
      read[kMostShares];                          ///< tickets read of share s, s + shares, ... since the beginning
  PaddedWord<std::uint64_t, Scope::device> home;  ///< a HomeWord

  SHOAL_FN ticket_t head() const { return drain.load(); }
  /// Tickets that were claimed and not yet read.
  SHOAL_FN ticket_t unread() const {
    ticket_t sum = 0;
    for (const auto& of_share : read) sum += of_share.load();
    return drain.load() - sum;
  }
};

/// What the sender's workers need. Trivially copyable.
/// @tparam kSeveral  the transport has put_signals
/// @tparam kOrders   see SlotRing
template <class T, bool kSeveral = true, bool kOrders = true>
struct ChannelSender {
  RemoteSlot<T>* slots = nullptr;  ///< at the receiver
  ticket_t capacity = 0;
  ChannelSendCounters* counters = nullptr;  ///< here

  /// Slots are written, and read, as one word. It is one location, and a store over what was read needs no order but its own:
  /// counters and credits of such slots are relaxed. Those of others are ordered after the receiver's reads.
  static constexpr bool kWhole = kSeveral && kWholeSlot<T>;

  /// Leader only. Takes up to `want` tickets; never waits.
  ///
  /// Looks before it takes: until a try in vain has put back what it took too much, credits that came home are hidden from all
  /// others, and thousands of workers that try again and again would hide them for ever. Who looks tries only where there is
  /// room, so that somebody succeeds (models/channel.pml, -DLIVE).
  SHOAL_FN Tickets reserve(lane_t want) const {
    if (counters->room.load() <= 0) return {};
    const std::int64_t had = kWhole ? counters->room.fetch_sub(want) : counters->room.fetch_sub_acquire(want);
    const std::int64_t got = had >= want ? want : had > 0 ? had : 0;
    if (got < want) counters->room.fetch_add(want - got);
    if (got == 0) return {};
    counters->messages.fetch_add(1);
    const auto taken = static_cast<ticket_t>(got);
    // Acquire and release: my ticket's slot may have been freed by a credit that another worker of this PE took.
    const ticket_t first = kWhole ? counters->tail.fetch_add(taken) : counters->tail.fetch_add_acq_rel(taken);
    return {first, static_cast<lane_t>(got)};
  }
  /// One lane: its own tickets, those with `now`.
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

/// What a worker claimed: tickets [first_ticket, first_ticket + count). Their items are items[skip, skip + count) of those that
/// it copied.
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
  ChannelReceiveCounters* counters = nullptr;               ///< here
  PaddedWord<std::int64_t, Scope::system>* room = nullptr;  ///< at the sender

  /// This lane alone: does an item wait? A hint. `head`: its ticket, for claim_arrived.
  SHOAL_FN bool waiting(ticket_t& head) const {
    head = counters->drain.load();
    if constexpr (kWhole) {  // one word is always read alike
      return load_whole<T, false, Scope::system>(&slot(head)).stamp == head + 1;
    } else {
      return slot(head).signal.load() == head + 1;
    }
  }

  /// Worker-collective. Claims what has arrived from ticket `head` on, up to the first gap and as far as nobody else has, and
  /// copies it out. Every lane's copies are seen by the others after the next collective.
  /// @tparam kAtOnce  loads of one lane in flight
  /// @param head   the same on every lane; from waiting()
  /// @param items  [most] shared by the lanes
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
      head = first;  // others were faster: on behind what they claimed
    }
    return {};
  }

  /// Leader only, after every lane has copied: counts what was read, and gives back the credits that are due.
  template <class Tr>
  SHOAL_FN bool give_back(const Tr& transport, pe_t from, const Claim& claim) const {
    const ticket_t share = credit_share(capacity), shares = capacity / share;
    const ticket_t end = claim.first_ticket + claim.count;
    std::int64_t credits = 0;
    for (ticket_t at = claim.first_ticket; at < end;) {
      const ticket_t left = share - (at & (share - 1)), n = left < end - at ? left : end - at;
      const lane_t number = static_cast<lane_t>(at / share & (shares - 1));
      const ticket_t before =
          kWhole ? counters->read[number].fetch_add(n) : counters->read[number].fetch_add_acq_rel(n);
      if (((before + n) & (share - 1)) == 0) credits += static_cast<std::int64_t>(complete(number, shares) * share);
      at += n;
    }
    return credits == 0 || transport.add(from, room, credits);
  }

 private:
  static constexpr lane_t kTries = 4;                        ///< others may be faster so many times
  static constexpr bool kAcquires = kOrders && kOrdersEach;  ///< else the fence after all looks does it

  SHOAL_FN RemoteSlot<T>& slot(ticket_t ticket) const { return slots[ticket & (capacity - 1)]; }

  /// How many tickets have arrived from `head` on, up to the first gap, on every lane. Slots that are read whole are copied.
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

  /// Share `number` has been read: notes it. How many shares may go home.
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
