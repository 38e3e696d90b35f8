// Segments: a bounded queue from one PE to another, for items that travel packed and together.
//
// The items lie in the receiver's memory, in a ring of segments of equal size. Tickets number the items: a sender
// reserves tickets against credits, as in a channel, and all its lanes store their items side by side. Then one lane
// adds to the segment's `filled`. If everything that is reserved of the segment is filled, it tells the receiver how
// many items may be read: `written`, always a prefix. Otherwise another worker has reserved and has not filled yet, and
// the last of them tells. So under load many items are told with one word, and an item that is alone is told at once.
//
// The receiver's workers claim items of a segment by one compare-and-swap, each segment by itself, and copy them out. Who
// completes a segment gives it back. The sender's workers turn segments that are home into credits, in order.
//
// All words only grow, and workers of only one PE change each of them. Why a prefix is never told too early, or not at
// all, and why nothing is overwritten: docs/decisions/0026-segments.md, models/segments.pml.
//
// Source: Atos, III-A3 (aggregator), and its Listing 6 for what is complete; Gravel, 4. Differs: nobody closes a batch, and
// nobody copies it; a batch grows while it is written.
#pragma once
#include "shoal/core/clock.hpp"
#include "shoal/queue/channel.hpp"

namespace shoal {

/// The receiver's words of one segment, in its memory. Items are counted over all laps of the ring.
struct alignas(kCacheLine) SegmentEnd {
  Word<ticket_t, Scope::system> written;  ///< items that may be read; raised by the sender's PE
  Word<ticket_t, Scope::device> claimed;  ///< items that workers have taken
  Word<ticket_t, Scope::device> read;     ///< items that they have copied out
  Word<ticket_t, Scope::device> oldest;   ///< of the first segment: all segments before this one are claimed; a hint
};

/// The sender's words of one segment, in its memory.
struct alignas(kCacheLine) SegmentStart {
  Word<ticket_t, Scope::system> filled;      ///< items that are stored. System: the stores that it orders leave the GPU
  Word<ticket_t, Scope::device> told;        ///< the last `written`, if messages may be put off
  Word<ticket_t, Scope::system> home;        ///< how often the segment was given back; raised by the receiver's PE
  Word<ticket_t, Scope::device> granted;     ///< of the first segment: segments that were given back and became credits
  Word<lane_t, Scope::device> put_off;       ///< of the first segment: messages that were put off, or not
  Word<std::uint64_t, Scope::device> since;  ///< of the first segment: clock_us() when a part began to wait, or 0
};

/// The sizes of a queue's segments, the same at both ends.
struct SegmentShape {
  lane_t log_items = 0;     ///< a segment has 2^log_items items
  lane_t log_segments = 0;  ///< and the ring 2^log_segments segments
  lane_t wait = 0;          ///< how often in turn a part of a segment is not told, until somebody offers it
  lane_t wait_us = 0;       ///< or for how many microseconds, whoever offers it; one of the two is 0
  bool on = false;          ///< false: the run uses channels

  SHOAL_FN bool puts_off() const { return wait > 0 || by_clock(); }
  /// Constant on GPUs, which do not wait by the clock: their kernels have nothing of it.
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
  /// What the words of a segment count when its lap begins, and when it ends.
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

  /// Leader only. Takes up to `want` tickets; never waits. Looks at the credits before it takes any, for the reason
  /// that ChannelSender::reserve gives.
  SHOAL_FN Tickets reserve(lane_t want) const {
    if (counters->credits.load() < static_cast<std::int64_t>(want)) collect();
    if (counters->credits.load() <= 0) return {};
    const std::int64_t had = counters->credits.fetch_sub_acquire(want);
    const std::int64_t got = had >= want ? want : had > 0 ? had : 0;
    if (got < want) counters->credits.fetch_add(want - got);
    if (got == 0) return {};
    // Acquires and releases, because another worker of this PE may have taken the credit that freed this ticket's item.
    const ticket_t first = counters->tail.fetch_add_acq_rel(static_cast<ticket_t>(got));
    return {first, static_cast<lane_t>(got)};
  }
  /// Whether reserve() may succeed now.
  SHOAL_FN bool has_credits() const {
    if (counters->credits.load() > 0) return true;
    const ticket_t next = starts->granted.load();
    return start(next).home.load() > shape.lap(next);
  }

  /// One lane: stores the items of its own tickets, those with `now`.
  template <lane_t kSome>
  SHOAL_FN void put_some(const bool (&now)[kSome], const ticket_t (&ticket)[kSome], const T (&value)[kSome]) const {
    for (lane_t k = 0; k < kSome; ++k) {
      if (now[k]) plain_write(items[ticket[k] & (shape.capacity() - 1)], value[k]);
    }
  }

  /// Leader only, after every lane has stored and all have met: counts the items of these tickets as filled, and tells
  /// the receiver what is complete.
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

  /// Leader only, where messages may be put off: tells what is complete of the open segment, if nobody has. What the clock still
  /// holds back is told by a later offer.
  template <class Tr>
  SHOAL_FN bool offer(const Tr& transport, pe_t to) const {
    const ticket_t tail = counters->tail.load();
    if ((tail & (shape.items() - 1)) == 0) return true;  // none is open; whoever filled the last one has told it
    const ticket_t segment = tail >> shape.log_items;
    const ticket_t filled = start(segment).filled.load_acquire();
    if (filled <= start(segment).told.load() || !is_complete(segment, filled)) return true;
    if (shape.by_clock() && !is_due()) return true;
    return tell(transport, to, segment, filled);
  }

 private:
  SHOAL_FN SegmentStart& start(ticket_t segment) const { return starts[shape.slot(segment)]; }

  /// Whether `filled`, which this thread has acquired, is all that is reserved of the segment. The tail is read
  /// afterwards: whoever is counted in `filled` had added to it before.
  SHOAL_FN bool is_complete(ticket_t segment, ticket_t filled) const {
    const ticket_t reserved = counters->tail.load() - (segment << shape.log_items);
    return filled == shape.begin(segment) + reserved;
  }
  SHOAL_FN bool put_off() const {
    if (shape.by_clock()) return !is_due();
    return shape.wait > 0 && starts->put_off.fetch_add(1) % (shape.wait + 1) < shape.wait;
  }

  /// Whether a part has waited for `wait_us`; if none waits, one begins to. Nothing is ordered by it: who sees the time of a part that
  /// was told meanwhile tells too early, and a time that is lost begins anew with the next offer.
  SHOAL_FN bool is_due() const {
    const std::uint64_t since = starts->since.load(), now = clock_us();
    if (since == 0) starts->since.store(now > 0 ? now : 1);
    return since != 0 && now >= since + shape.wait_us;
  }

  template <class Tr>
  SHOAL_FN bool tell(const Tr& transport, pe_t to, ticket_t segment, ticket_t filled) const {
    if (shape.puts_off() && start(segment).told.fetch_max(filled) >= filled) return true;
    if (shape.by_clock()) starts->since.store(0);
    counters->messages.fetch_add(1);
    return transport.raise(to, &ends[shape.slot(segment)].written, filled);
  }

  /// Leader only: turns the segments that are home into credits. In order, because a credit is not tied to a segment:
  /// who adds the credits of a segment has acquired that all before it are home, too, though another worker may not have
  /// added theirs yet.
  SHOAL_FN void collect() const {
    ticket_t next = starts->granted.load();
    while (start(next).home.load() > shape.lap(next)) {
      start(next).home.load_acquire();                                      // only if there is something to acquire
      if (!starts->granted.compare_swap_acq_rel(next, next + 1)) continue;  // `next` is where another worker is
      counters->credits.fetch_add_release(static_cast<std::int64_t>(shape.items()));
      ++next;
    }
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

  /// This lane alone: whether there are items to claim in the segment that is `ahead` of the oldest one. A hint.
  SHOAL_FN bool waiting(lane_t ahead, ticket_t& segment) const {
    const ticket_t oldest = ends->oldest.load();
    segment = oldest + ahead;
    const ticket_t end = shape.end(segment), claimed = here(segment).claimed.load();
    if (claimed < end) return claimed < here(segment).written.load();
    if (ahead == 0) move_on(oldest);  // nobody else might
    return false;
  }

  /// Worker-collective. Claims items of a segment, as far as nobody else has, and copies them out. The lanes see each
  /// other's copies after the next collective.
  /// @tparam kAtOnce  loads of one lane that are in flight together
  /// @param segment  the same on every lane; from waiting()
  /// @param to  [most] shared by the lanes
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

  /// Leader only, after every lane has copied: counts what was read, and gives the segment back if that was all of it.
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
      words.written.load_acquire();  // at least what was just read; only a worker that has something to read acquires
      counters->drain.fetch_add(n);
      if (claimed + n == end) move_on(ends->oldest.load());
      return {segment, claimed, static_cast<lane_t>(n)};
    }
  }

  /// Moves the hint over segments that are claimed to their ends.
  SHOAL_FN void move_on(ticket_t oldest) const {
    while (here(oldest).claimed.load() >= shape.end(oldest)) {
      if (ends->oldest.compare_swap(oldest, oldest + 1)) ++oldest;
    }
  }
};

}  // namespace shoal
