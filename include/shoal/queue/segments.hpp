// Segments: a bounded queue from one PE to another, in which items are packed and published in batches.
//
// The items are in the receiver's memory, in a ring of segments of equal size. Tickets number the items: a sender
// reserves tickets against credits, as in a channel, and all lanes of the worker store their items side by side. Then one lane
// adds their number to the segment's `filled`. If all reserved items of the segment are filled, this lane publishes to the
// receiver how many items may be read: it raises `written`, so these items are always a prefix of the segment. Otherwise
// another worker has reserved items and not filled them yet, and the last such worker publishes. So under load one raise of
// `written` publishes many items, and a single item is published at once.
//
// The receiver's workers claim items by one compare-and-swap, independently for each segment, and copy them out. The worker that
// copies the last items of a segment gives the segment back: it raises the segment's `home`, which is in the sender's memory. The
// sender's workers turn segments that were given back into credits, in order.
//
// `filled`, `written`, `claimed`, `read` and `home` only grow, and each of them is changed by workers of only one PE. A prefix is
// never published too early, every item is published, and no item is overwritten before it is read: for the reasons see
// docs/decisions/0026-segments.md and models/segments.pml.
//
// Source: Atos, III-A3 (aggregator), and its Listing 6 for the test of completeness; Gravel, 4. Differs: no batch is closed or
// copied; a batch grows while it is written.
#pragma once
#include "shoal/core/clock.hpp"
#include "shoal/queue/channel.hpp"

namespace shoal {

/// The receiver's counters of one segment, in the receiver's memory. Items are counted over all laps of the ring.
struct alignas(kCacheLine) SegmentEnd {
  Word<ticket_t, Scope::system> written;  ///< items that may be read; raised by the sender's PE
  Word<ticket_t, Scope::device> claimed;  ///< items that workers have taken
  Word<ticket_t, Scope::device> read;     ///< items that workers have copied out
  Word<ticket_t, Scope::device> oldest;   ///< in segment 0 only: all segments before this one are claimed; a hint
};

/// The sender's counters of one segment, in the sender's memory.
struct alignas(kCacheLine) SegmentStart {
  Word<ticket_t, Scope::system> filled;      ///< items stored. System scope: it orders stores to another GPU
  Word<ticket_t, Scope::device> told;        ///< the last `written` that was sent, if messages may be put off
  Word<ticket_t, Scope::system> home;        ///< how often the segment was given back; raised by the receiver's PE
  Word<ticket_t, Scope::device> granted;     ///< in segment 0 only: segments that have been turned into credits
  Word<lane_t, Scope::device> put_off;       ///< in segment 0 only: decisions whether to put off a message
  Word<std::uint64_t, Scope::device> since;  ///< in segment 0 only: clock_us() when a part began to wait, or 0
};

/// How many segments are collected, or passed, in one step. On GPUs their words are loaded together: a step takes about a microsecond
/// however many segments it covers, and the steps of all workers follow one another. Elsewhere more loads would cost more.
inline constexpr lane_t kSegmentsAtOnce = kOrdersEach ? 2 : 8;

/// The sizes of a queue's segments, the same at both ends.
struct SegmentShape {
  lane_t log_items = 0;     ///< a segment has 2^log_items items
  lane_t log_segments = 0;  ///< the ring has 2^log_segments segments
  lane_t wait = 0;          ///< how many of wait + 1 messages about a part of a segment are put off, until an offer()
  lane_t wait_us = 0;       ///< or for how many microseconds, even if offered; `wait` or `wait_us` is 0
  bool on = false;          ///< false: the run uses channels

  SHOAL_FN bool puts_off() const { return wait > 0 || by_clock(); }
  /// Whether `wait_us` applies. GPUs do not wait by the clock: there this is a constant, so that kernels have no code for it.
  SHOAL_FN bool by_clock() const {
#if defined(__CUDA_ARCH__)
    return false;
#else
    return wait_us > 0;
#endif
  }
  SHOAL_FN ticket_t items() const { return ticket_t{1} << log_items; }
  SHOAL_FN ticket_t segments() const { return ticket_t{1} << log_segments; }
  SHOAL_FN ticket_t capacity() const { return ticket_t{1} << (log_items + log_segments); }
  SHOAL_FN ticket_t slot(ticket_t segment) const { return segment & (segments() - 1); }
  SHOAL_FN ticket_t lap(ticket_t segment) const { return segment >> log_segments; }
  /// The values of a segment's item counters (`filled`, `written`, `claimed`, `read`) when its lap begins, and when it ends.
  SHOAL_FN ticket_t begin(ticket_t segment) const { return lap(segment) << log_items; }
  SHOAL_FN ticket_t end(ticket_t segment) const { return begin(segment) + items(); }
};

/// What the sender's workers need. Trivially copyable.
template <class T>
struct SegmentSender {
  SegmentEnd* ends = nullptr;               ///< [segments] at the receiver
  T* items = nullptr;                       ///< [capacity] at the receiver
  SegmentStart* starts = nullptr;           ///< [segments] here
  ChannelSendCounters* counters = nullptr;  ///< here; only this PE changes the credits
  SegmentShape shape;

  /// Leader only. Takes up to `want` tickets; never waits. Loads the credits before it takes any, for the reason
  /// that ChannelSender::reserve() gives.
  SHOAL_FN Tickets reserve(lane_t want) const {
    if (counters->credits.load() < static_cast<std::int64_t>(want)) collect();
    if (counters->credits.load() <= 0) return {};
    const std::int64_t had = counters->credits.fetch_sub_acquire(want);
    const std::int64_t got = had >= want ? want : had > 0 ? had : 0;
    if (got < want) counters->credits.fetch_add(want - got);
    if (got == 0) return {};
    // Acquires and releases, because another worker of this PE may have taken the credit that freed this ticket's place.
    const ticket_t first = counters->tail.fetch_add_acq_rel(static_cast<ticket_t>(got));
    return {first, static_cast<lane_t>(got)};
  }
  /// Whether reserve() may succeed now.
  SHOAL_FN bool has_credits() const {
    if (counters->credits.load() > 0) return true;
    const ticket_t next = starts->granted.load();
    return start(next).home.load() > shape.lap(next);
  }

  /// One lane alone: stores those items of its own tickets that have `now` set.
  template <lane_t kSome>
  SHOAL_FN void put_some(const bool (&now)[kSome], const ticket_t (&ticket)[kSome], const T (&value)[kSome]) const {
    for (lane_t k = 0; k < kSome; ++k) {
      if (now[k]) plain_write(items[ticket[k] & (shape.capacity() - 1)], value[k]);
    }
  }

  /// Leader only, after all lanes have stored their items and a collective: counts the items of these tickets as filled, and
  /// publishes to PE `to` the prefixes that are complete. False if the transport failed.
  template <class Tr>
  SHOAL_FN bool publish(const Tr& transport, pe_t to, Tickets t) const {
    bool sent = true;
    const ticket_t end = t.first + t.count;
    for (ticket_t at = t.first; at < end;) {
      const ticket_t segment = at >> shape.log_items, next = (segment + 1) << shape.log_items;
      const ticket_t n = (next < end ? next : end) - at;
      const ticket_t filled = start(segment).filled.fetch_add_acq_rel(n) + n;
      if (filled == shape.end(segment)) {
        sent &= tell(transport, to, segment, filled);
      } else if (is_complete(segment, filled) && !put_off()) {
        sent &= tell(transport, to, segment, filled);
      }
      at += n;
    }
    return sent;
  }

  /// Leader only, if messages may be put off: publishes the complete prefix of the open segment, unless that was done already. If
  /// the part has to wait longer by the clock, a later offer publishes it. False if the transport failed.
  template <class Tr>
  SHOAL_FN bool offer(const Tr& transport, pe_t to) const {
    const ticket_t tail = counters->tail.load();
    if ((tail & (shape.items() - 1)) == 0) return true;  // none is open; whoever filled the last one has published it
    const ticket_t segment = tail >> shape.log_items;
    const ticket_t filled = start(segment).filled.load_acquire();
    if (filled <= start(segment).told.load() || !is_complete(segment, filled)) return true;
    if (shape.by_clock() && !is_due()) return true;
    return tell(transport, to, segment, filled);
  }

 private:
  SHOAL_FN SegmentStart& start(ticket_t segment) const { return starts[shape.slot(segment)]; }

  /// Whether `filled`, which this thread has acquired, covers all reserved items of the segment. The tail is read
  /// afterwards: workers whose items are counted in `filled` had added to the tail before.
  SHOAL_FN bool is_complete(ticket_t segment, ticket_t filled) const {
    const ticket_t reserved = counters->tail.load() - (segment << shape.log_items);
    return filled == shape.begin(segment) + reserved;
  }
  /// Whether a message about a part of a segment is to be put off.
  SHOAL_FN bool put_off() const {
    if (shape.by_clock()) return !is_due();
    return shape.wait > 0 && starts->put_off.fetch_add(1) % (shape.wait + 1) < shape.wait;
  }

  /// Whether a part has waited for `wait_us`; if no part waits yet, the wait begins now. The time orders no memory and may be
  /// outdated: a worker that reads the time of a part which was published meanwhile publishes too early, and if a time is lost, the
  /// wait begins again with the next offer.
  SHOAL_FN bool is_due() const {
    const std::uint64_t since = starts->since.load(), now = clock_us();
    if (since == 0) starts->since.store(now > 0 ? now : 1);
    return since != 0 && now >= since + shape.wait_us;
  }

  /// Publishes the first items of a segment, up to count `filled`, to the receiver, unless that was done already.
  template <class Tr>
  SHOAL_FN bool tell(const Tr& transport, pe_t to, ticket_t segment, ticket_t filled) const {
    if (shape.puts_off() && start(segment).told.fetch_max(filled) >= filled) return true;
    if (shape.by_clock()) starts->since.store(0);
    counters->messages.fetch_add(1);
    return transport.raise(to, &ends[shape.slot(segment)].written, filled);
  }

  /// Leader only: turns the segments that were given back into credits. In order, because a credit is not tied to a segment:
  /// a worker that adds the credits of a segment has acquired the return of all segments before it, too, though another worker
  /// may not have added the credits of those yet.
  SHOAL_FN void collect() const {
    ticket_t next = starts->granted.load();
    while (const lane_t n = given_back(next)) {
      if (!starts->granted.compare_swap_acq_rel(next, next + n)) continue;  // `next` is now what another worker made it
      counters->credits.fetch_add_release(static_cast<std::int64_t>(n * shape.items()));
      next += n;
    }
  }
  /// How many segments from `next` on were given back, of those that are looked at together; acquires their return.
  SHOAL_FN lane_t given_back(ticket_t next) const {
    ticket_t home[kSegmentsAtOnce];
    for (lane_t k = 0; k < kSegmentsAtOnce; ++k) home[k] = start(next + k).home.load_one_of_several();
    lane_t n = 0;
    for (lane_t k = 0; k < kSegmentsAtOnce; ++k) {
      const bool is_back = home[k] > shape.lap(next + k);
      if (n == k && is_back) ++n;
    }
    if (n > 0) acquire_several<Scope::system>();  // only if there is something to acquire
    return n;
  }
};

/// What a worker has claimed: items [first, first + count) of a segment, counted over all laps.
struct SegmentClaim {
  ticket_t segment = 0;
  ticket_t first = 0;
  lane_t count = 0;
};

/// What the receiver's workers need. Trivially copyable.
template <class T>
struct SegmentReceiver {
  SegmentEnd* ends = nullptr;                  ///< [segments] here
  const T* items = nullptr;                    ///< [capacity] here
  SegmentStart* starts = nullptr;              ///< [segments] at the sender
  ChannelReceiveCounters* counters = nullptr;  ///< here: sums over all segments, for the host
  SegmentShape shape;

  /// One lane alone: whether there are items to claim in the segment that is `ahead` segments after the oldest one. A hint.
  /// `segment` becomes its number, for claim_arrived().
  SHOAL_FN bool waiting(lane_t ahead, ticket_t& segment) const {
    const ticket_t oldest = ends->oldest.load();
    segment = oldest + ahead;
    const ticket_t end = shape.end(segment), claimed = here(segment).claimed.load();
    if (claimed < end) return claimed < here(segment).written.load();
    if (ahead == 0) move_on(oldest);  // perhaps no other worker will
    return false;
  }

  /// Worker-collective. Claims items of a segment that no other worker has claimed, and copies them out. The lanes see each
  /// other's copies after the next collective.
  /// @tparam kAtOnce  how many loads of one lane are in flight together
  /// @param segment  the same on every lane; from waiting()
  /// @param to  [most] the copies; shared by the lanes
  template <lane_t kAtOnce = 8, Worker W>
  SHOAL_FN SegmentClaim claim_arrived(const W& w, ticket_t segment, T* to, lane_t most) const {
    SegmentClaim claim;
    if (w.lane() == 0) claim = claim_some(segment, most);
    claim.first = w.from_leader(claim.first);
    claim.count = w.from_leader(claim.count);
    claim.segment = segment;
    const T* const from = items + (shape.slot(segment) << shape.log_items) + (claim.first & (shape.items() - 1));
    for (lane_t base = w.lane(); base < claim.count; base += kAtOnce * w.size()) {
      T value[kAtOnce];
      for (lane_t k = 0; k < kAtOnce; ++k) {
        const lane_t i = base + k * w.size();
        if (i < claim.count) value[k] = plain_read(from[i]);
      }
      for (lane_t k = 0; k < kAtOnce; ++k) {
        const lane_t i = base + k * w.size();
        if (i < claim.count) to[i] = value[k];
      }
    }
    return claim;
  }

  /// Leader only, after every lane has copied its items: counts them as read, and gives the segment back to PE `from` if all of its
  /// items were read. False if the transport failed.
  template <class Tr>
  SHOAL_FN bool give_back(const Tr& transport, pe_t from, const SegmentClaim& claim) const {
    counters->read[0].fetch_add(claim.count);
    const ticket_t read = here(claim.segment).read.fetch_add_acq_rel(claim.count) + claim.count;
    if (read < shape.end(claim.segment)) return true;
    return transport.raise(from, &starts[shape.slot(claim.segment)].home, shape.lap(claim.segment) + 1);
  }

 private:
  SHOAL_FN SegmentEnd& here(ticket_t segment) const { return ends[shape.slot(segment)]; }

  SHOAL_FN SegmentClaim claim_some(ticket_t segment, lane_t most) const {
    SegmentEnd& words = here(segment);
    const ticket_t end = shape.end(segment);
    ticket_t claimed = words.claimed.load();
    for (;;) {
      const ticket_t written = words.written.load(), ready = written < end ? written : end;
      if (claimed >= ready) return {};
      const ticket_t n = ready - claimed < most ? ready - claimed : most;
      if (!words.claimed.compare_swap(claimed, claimed + n)) continue;
      words.written.load_acquire();  // no less than the load above; acquires only if there is something to read
      counters->drain.fetch_add(n);
      if (claimed + n == end) move_on(ends->oldest.load());
      return {segment, claimed, static_cast<lane_t>(n)};
    }
  }

  /// Moves the hint `oldest` past segments of which all items are claimed.
  SHOAL_FN void move_on(ticket_t oldest) const {
    while (const lane_t n = claimed_from(oldest)) {
      if (ends->oldest.compare_swap(oldest, oldest + n)) oldest += n;
    }
  }
  /// Of how many segments from `oldest` on all items are claimed, of those that are looked at together.
  SHOAL_FN lane_t claimed_from(ticket_t oldest) const {
    ticket_t claimed[kSegmentsAtOnce];
    for (lane_t k = 0; k < kSegmentsAtOnce; ++k) claimed[k] = here(oldest + k).claimed.load();
    lane_t n = 0;
    for (lane_t k = 0; k < kSegmentsAtOnce; ++k) {
      const bool is_empty = claimed[k] >= shape.end(oldest + k);
      if (n == k && is_empty) ++n;
    }
    return n;
  }
};

}  // namespace shoal
