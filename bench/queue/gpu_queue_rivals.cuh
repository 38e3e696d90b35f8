// Two queues of other papers behind the interface of bench/queue/gpu_queue_faces.cuh, written from the papers' descriptions, to
// compare with shoal's rings: a user might build one of these instead.
//
// Broker queue: a count of elements decides who may push and who may pop, before any ticket is taken; then every slot is handed
// over by itself. Source: Kerbl, Kenzel, Mueller, Schmalstieg, Steinberger, The Broker Queue, ICS 2018. Differences: a worker's
// leader brokers and takes tickets for all its lanes at once, as in Atos; tickets have 64 bits and are those of the slot ring (the
// ticket contains the lap).
//
// CAS queue: pushers reserve by compare-and-swap, write, and raise `end` in the order of their reservations, each when it is its
// turn. Poppers claim below `end` by compare-and-swap, read, and raise `free` in the same way. Source: the CAS queue of Chen et
// al., Atos, ICPP 2022, Fig. 1, as far as the text describes it. Added here: the bound on its size, and that a worker waits for its
// turn by loads, which disturbs the others less than compare-and-swaps.
#pragma once
#include "gpu_queue_faces.cuh"

namespace shoal::bench {

template <class T>
struct BrokerFace {
  using Value = T;
  static constexpr bool kBare = false;
  Slot<T>* slots;
  ticket_t capacity;
  RingCounters* counters;  ///< credits: elements in the queue, including those that are being pushed or popped

  __device__ Tickets reserve(lane_t want, lane_t&) const {
    const auto limit = static_cast<std::int64_t>(capacity);
    if (counters->credits.load() >= limit) return {};
    const std::int64_t had = counters->credits.fetch_add(want), space = limit - had;
    const std::int64_t got = space >= want ? want : space > 0 ? space : 0;
    if (got < want) counters->credits.fetch_sub(want - got);
    if (got == 0) return {};
    return {counters->tail.fetch_add(static_cast<ticket_t>(got)), static_cast<lane_t>(got)};
  }
  __device__ bool place(ticket_t t, const T& value) const {
    Slot<T>& slot = slots[t & (capacity - 1)];
    if (slot.sequence.load_acquire() != t) return false;
    slot.value = value;
    slot.sequence.store_release(t + 1);
    return true;
  }
  template <class W>
  __device__ void publish(const W&, Tickets, Watch&) const {}
  __device__ Tickets claim(lane_t want) const {
    if (counters->credits.load() <= 0) return {};
    const std::int64_t had = counters->credits.fetch_sub(want);
    const std::int64_t got = had >= want ? want : had > 0 ? had : 0;
    if (got < want) counters->credits.fetch_add(want - got);
    if (got == 0) return {};
    return {counters->head.fetch_add(static_cast<ticket_t>(got)), static_cast<lane_t>(got)};
  }
  template <class W>
  __device__ bool take(const W& w, Tickets t, T& value, lane_t&, Watch& watch) const {
    if (w.lane() >= t.count) return false;
    const ticket_t ticket = t.first + w.lane();
    Slot<T>& slot = slots[ticket & (capacity - 1)];
    if (!watch.wait(Site::take, ticket, [&] { return slot.sequence.load_acquire() == ticket + 1; })) return false;
    value = slot.value;
    slot.sequence.store_release(ticket + capacity);
    return true;
  }
  __device__ void poll(Hand<T>& hand) const { SlotRing<T>{slots, capacity, counters}.poll(hand); }
  __device__ void popped(lane_t, lane_t&) const {}
  __device__ void release(lane_t&) const {}
  __device__ void reset(ticket_t i, ticket_t start) const {
    if (i < capacity) slots[(start + i) & (capacity - 1)].sequence.store(start + i);
    if (i == 0) {
      counters->tail.store(start);
      counters->head.store(start);
      counters->credits.store(0);
    }
  }
};

/// The CAS queue's two counters that are raised in order. Its reservations and claims are counted in RingCounters.
struct OrderedCounters {
  PaddedWord<ticket_t, Scope::device> end, free;
};

template <class T>
struct CasFace {
  using Value = T;
  static constexpr bool kBare = false;
  T* slots;
  ticket_t capacity;
  RingCounters* counters;
  OrderedCounters* ordered;

  __device__ Tickets reserve(lane_t want, lane_t&) const {
    ticket_t tail = counters->tail.load();
    for (;;) {
      const ticket_t used = tail - ordered->free.load_acquire();  // acquire: after the reads of those who freed slots
      if (used >= capacity) return {};
      const lane_t count = capacity - used < want ? static_cast<lane_t>(capacity - used) : want;
      if (counters->tail.compare_swap(tail, tail + count)) return {tail, count};
    }
  }
  __device__ bool place(ticket_t t, const T& value) const {
    slots[t & (capacity - 1)] = value;
    return true;
  }
  template <class W>
  __device__ void publish(const W& w, Tickets t, Watch& watch) const {
    w.sync();
    if (w.lane() == 0) raise(ordered->end, t, watch);
  }
  __device__ Tickets claim(lane_t want) const {
    ticket_t head = counters->head.load();
    for (;;) {
      const ticket_t end = ordered->end.load_acquire();
      if (end <= head) return {};
      const lane_t count = end - head < want ? static_cast<lane_t>(end - head) : want;
      if (counters->head.compare_swap(head, head + count)) return {head, count};
    }
  }
  template <class W>
  __device__ bool take(const W& w, Tickets t, T& value, lane_t&, Watch& watch) const {
    const bool mine = w.lane() < t.count;
    if (mine) value = slots[(t.first + w.lane()) & (capacity - 1)];
    w.sync();
    if (w.lane() == 0 && t.count > 0) raise(ordered->free, t, watch);
    return mine && !watch.over;
  }
  __device__ void poll(Hand<T>& hand) const {
    if (!hand.holds || ordered->free.load_acquire() != hand.ticket) return;  // claimed singly, so freed in turn
    hand.value = slots[hand.ticket & (capacity - 1)];
    ordered->free.store_release(hand.ticket + 1);
    hand.holds = false;
    hand.has = true;
  }
  __device__ void popped(lane_t, lane_t&) const {}
  __device__ void release(lane_t&) const {}
  __device__ void reset(ticket_t i, ticket_t start) const {
    if (i != 0) return;
    counters->tail.store(start);
    counters->head.store(start);
    ordered->end.store(start);
    ordered->free.store(start);
  }

 private:
  /// Waits for its turn. A lane waits only for lanes that are in this loop too, or will get there.
  __device__ static void raise(PaddedWord<ticket_t, Scope::device>& word, Tickets t, Watch& watch) {
    watch.wait(Site::place, t.first, [&] {
      if (word.load_acquire() != t.first) return false;
      word.store_release(t.first + t.count);
      return true;
    });
  }
};

}  // namespace shoal::bench
