// The other ring: readiness by segment. A candidate beside slot_ring.hpp, kept for measurement (docs/decisions/0003-ring.md).
//
// Slots hold items only. S slots (32, fewer in tiny rings) make a segment, and a segment has two counters that are never
// reset: `filled`, slots written, and `emptied`, slots copied out. Segment g = ticket / S lives in place g mod n; in its lap
// l = g / n both counters go from l*S to l*S + S.
//
// push: take credits, take tickets; wait until the segments of the tickets are empty (emptied >= l*S); write; sync; then one
//       release add to `filled` of each segment touched.
// pop:  claim or hold a ticket as in slot_ring.hpp; it is ready when, with c = filled - l*S (acquire) read first and `tail`
//       read afterwards, c == min(tail - base, S) and the ticket is among the first c. Copy out; sync; then one release add
//       to `emptied` of each segment touched. Who brings it to l*S + S gives S credits back: credits stand for whole segments.
//
// Why no unwritten slot is read: an acquire of `filled` happens after the tail additions of all who are counted in it
// (release sequence of additions), so `tail`, read afterwards, covers all counted tickets. The counted ones are c different
// tickets of [base, tail); if there are only c tickets in it, all are counted. Reading tail first is wrong: a ticket given
// out in between may be counted in the place of one that is not written. A full segment (c == S) needs no look at tail.
// Why laps do not mix: `filled` leaves l*S only after emptied >= l*S, that is after all S tickets of the lap before were
// copied out, of which the last needed filled == l*S. So c is in [0, S], and a counter of an earlier lap gives c "below 0".
// Why no live value is overwritten: a pusher writes after it acquired emptied >= l*S, to which every popper of the lap
// before added, with release, after its copy.
// Why the waits end: credits are whole emptied segments and tickets are popped in order. So whoever waits to fill segment g
// knows that all tickets of g - n have poppers: a segment after it could not have been emptied otherwise. These poppers wait
// for pushers of g - n at most, and those for poppers of g - 2n: the chain goes down (models/segment_ring.pml). Credits
// for single slots would break this: ticket t could wait for a ticket after t - capacity that nobody has claimed.
// An empty ring always has credits: the only segment that is neither full nor empty still has those of its unused tickets.
//
// Price: an item of the last segment is ready only when no push into that segment is under way (at most S - 1 pushes are
// waited for), and up to S - 1 emptied slots wait for the rest of their segment.
#pragma once
#include "shoal/queue/slot_ring.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal {

/// Counters of one segment: the two share a sector of GPU memory.
struct alignas(32) SegmentCounters {
  Word<ticket_t, Scope::device> filled;
  Word<ticket_t, Scope::device> emptied;
};

/// View of a ring; trivially copyable. Calls without `w` are for one thread (a worker's leader, or a lane for its own ticket).
template <class T>
struct SegmentRing {
  static constexpr lane_t kMaxLog2Segment = 5;

  T* slots = nullptr;                   ///< [capacity]
  SegmentCounters* segments = nullptr;  ///< [num_segments()]
  ticket_t capacity = 0;                ///< a power of two, at least 2; set with set_capacity
  RingCounters* counters = nullptr;
  lane_t advance = 0;  ///< credits taken beyond a shortage, for the next pushes; small against capacity / workers
  lane_t log2_capacity = 0;
  lane_t log2_segment = 0;

  /// Sets the sizes; `c` is a power of two, at least 2. A ring has at least two segments.
  SHOAL_FN void set_capacity(ticket_t c) {
    capacity = c;
    for (log2_capacity = 0; (ticket_t{1} << log2_capacity) < c;) ++log2_capacity;
    log2_segment = log2_capacity - 1 < kMaxLog2Segment ? log2_capacity - 1 : kMaxLog2Segment;
  }
  SHOAL_FN lane_t segment_size() const { return lane_t{1} << log2_segment; }
  SHOAL_FN ticket_t num_segments() const { return capacity >> log2_segment; }

  /// Prepares segment i for a ring whose first ticket is `start`; for every i in [0, num_segments()) before the first use,
  /// and after a run that was aborted.
  SHOAL_FN void reset_segment(ticket_t i, ticket_t start = 0) const {
    // The place's first ticket that is not before `start`'s segment.
    const ticket_t ahead = (i - (start >> log2_segment)) & (num_segments() - 1);
    const ticket_t first = ((start >> log2_segment) + ahead) << log2_segment;
    const ticket_t used = ahead == 0 ? start - first : 0;
    segments[i].filled.store(lap_count(first) + used);
    segments[i].emptied.store(lap_count(first) + used);
  }
  SHOAL_FN void reset_counters(ticket_t start = 0) const {
    counters->tail.store(start);
    counters->head.store(start);
    counters->room.store(static_cast<std::int64_t>(capacity - (start & (segment_size() - 1))));
  }

  /// Takes up to `want` tickets for pushing. `credit` is the caller's own count of free slots.
  SHOAL_FN Tickets reserve(lane_t want, lane_t& credit) const {
    if (credit < want && counters->room.load() > 0) {  // the look keeps a crowd from driving `room` below zero for good
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

  /// Writes the value of a reserved ticket if its segment is empty. It is not visible before it is committed.
  SHOAL_FN bool try_write(ticket_t ticket, const T& value) const {
    const ticket_t emptied = segment(ticket).emptied.load_acquire() - lap_count(ticket);
    if (emptied > segment_size()) return false;  // "below zero": the lap before is not all copied out
    plain_write(slots[ticket & (capacity - 1)], value);
    return true;
  }
  /// Worker-collective: makes written tickets visible. Every one of them has been written, by any lane.
  template <Worker W>
  SHOAL_FN void commit(const W& w, Tickets t) const {
    w.sync();  // the lanes' writes come before the adding lane's release
    each_part(w, t, [this](ticket_t first, lane_t count) { segment(first).filled.fetch_add_release(count); });
  }
  /// Writes and commits one reserved ticket if its segment is empty.
  SHOAL_FN bool try_put(ticket_t ticket, const T& value) const {
    if (!try_write(ticket, value)) return false;
    segment(ticket).filled.fetch_add_release(1);
    return true;
  }
  /// The same, waiting. False when the run was aborted first.
  SHOAL_FN bool put(ticket_t ticket, const T& value, const StateWord& state) const {
    return spin_wait(state, [&] { return try_put(ticket, value); });
  }

  /// Claims up to `want` given-out tickets for popping. `waiting` says how many there were.
  SHOAL_FN Tickets claim(lane_t want, ticket_t& waiting) const {
    ticket_t head = counters->head.load();
    for (;;) {
      waiting = counters->tail.load() - head;
      if (static_cast<std::int64_t>(waiting) <= 0) {
        waiting = 0;
        return {};
      }
      const lane_t count = waiting < want ? static_cast<lane_t>(waiting) : want;
      if (counters->head.compare_swap(head, head + count)) return {head, count};
    }
  }
  /// Takes `n` tickets for popping, given out or not: the first of them. To be held.
  SHOAL_FN ticket_t claim_ahead(lane_t n) const { return counters->head.fetch_add(n); }

  /// Is the value of a claimed or held ticket there? True orders the reading of it after its writing.
  SHOAL_FN bool ready(ticket_t ticket) const {
    const ticket_t base = ticket >> log2_segment << log2_segment;
    const ticket_t filled = segment(ticket).filled.load_acquire() - lap_count(ticket);
    if (filled > segment_size() || filled <= ticket - base) return false;  // an earlier lap; too few to hold this one
    return filled == segment_size() || filled == counters->tail.load() - base;
  }
  SHOAL_FN T read(ticket_t ticket) const { return plain_read(slots[ticket & (capacity - 1)]); }
  /// Worker-collective: empties the slots of tickets that all have been copied out, by any lane.
  template <Worker W>
  SHOAL_FN void free(const W& w, Tickets t) const {
    w.sync();  // the lanes' reads come before the adding lane's release
    each_part(w, t, [this](ticket_t first, lane_t count) { empty(first, count); });
  }
  /// Copies out the value of one claimed ticket and empties its slot. False when the run was aborted while waiting.
  SHOAL_FN bool take(ticket_t ticket, T& value, const StateWord& state) const {
    if (!spin_wait(state, [&] { return ready(ticket); })) return false;
    value = read(ticket);
    empty(ticket, 1);
    return true;
  }
  /// Copies out the value of a held ticket if it is there, and empties its slot.
  SHOAL_FN void poll(Hand<T>& hand) const {
    if (!hand.holds || !ready(hand.ticket)) return;
    hand.value = read(hand.ticket);
    empty(hand.ticket, 1);
    hand.holds = false;
    hand.has = true;
  }

  /// Hands credits that `reserve` left over back to everybody. Those of emptied slots need no call.
  SHOAL_FN void release(lane_t& credit) const {
    if (credit > 0) counters->room.fetch_add(credit);
    credit = 0;
  }

 private:
  SHOAL_FN SegmentCounters& segment(ticket_t ticket) const {
    return segments[(ticket & (capacity - 1)) >> log2_segment];
  }
  /// What both counters of the ticket's segment were when its lap began.
  SHOAL_FN ticket_t lap_count(ticket_t ticket) const { return ticket >> log2_capacity << log2_segment; }

  SHOAL_FN void empty(ticket_t first, lane_t count) const {
    const ticket_t end = lap_count(first) + segment_size();
    if (segment(first).emptied.fetch_add_release(count) + count == end) counters->room.fetch_add(segment_size());
  }
  /// act(first, count) for the part of `t` in each segment it touches; part i by lane i.
  template <Worker W, class Act>
  SHOAL_FN void each_part(const W& w, Tickets t, Act act) const {
    if (t.count == 0) return;
    const ticket_t end = t.first + t.count, size = segment_size(), base = t.first >> log2_segment << log2_segment;
    const ticket_t parts = (end - base + size - 1) >> log2_segment;
    for (ticket_t i = w.lane(); i < parts; i += w.size()) {
      const ticket_t from = i == 0 ? t.first : base + i * size, left = end - from,
                     to_edge = base + (i + 1) * size - from;
      act(from, static_cast<lane_t>(left < to_edge ? left : to_edge));
    }
  }
};

}  // namespace shoal
