// What bench/queue/gpu_queue.cu measures: the rings and the bare limit behind one interface (face), items that show whether they
// are intact, and waits that end at a deadline.
#pragma once
#include <cstdint>
#include <type_traits>

#include "shoal/core/atomic.hpp"
#include "shoal/core/spin.hpp"
#include "shoal/graph/edge_functions.hpp"
#include "shoal/queue/slot_ring.hpp"
#include "shoal/worker/gpu.cuh"

namespace shoal::bench {

/// An item of 8 or 32 bytes. word[0] says who pushed it and its number there; word[1] may be a time; the others are a function of
/// word[0], so that a torn copy is detected.
template <int kBytes>
struct alignas(kBytes < 16 ? kBytes : 16) Item {
  static constexpr int kWords = kBytes / 8;
  std::uint64_t word[kWords];

  __device__ static Item make(std::uint32_t producer, std::uint32_t number, std::uint64_t time = 0) {
    Item item;
    item.word[0] = std::uint64_t{producer} << 32 | number;
    if constexpr (kWords > 1) item.word[1] = time;
    for (int i = 2; i < kWords; ++i) item.word[i] = mix64(item.word[0] + i);
    return item;
  }
  __device__ bool intact() const {
    bool ok = true;
    for (int i = 2; i < kWords; ++i) ok &= word[i] == mix64(word[0] + i);
    return ok;
  }
};

__device__ inline std::uint64_t now_ns() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

/// Which wait was going on at the deadline. (Run::slow: there was progress, but too little.)
enum class Site : std::uint32_t { none, reserve, place, take, churn };

/// The state that all workers of one kernel share. It must be zero before each launch.
struct Run {
  StateWord state;
  PaddedWord<std::uint64_t, Scope::device> pushed, popped, pushed_mix, popped_mix, torn, push_ns, done;
  std::uint32_t site, thread, slow;
  std::uint64_t ticket;
};

/// A thread's deadline: `limit_ns` without progress of any thread (as far as Run::done shows), or three times as long in all. When
/// the deadline of this or any other thread has passed, no wait of this thread waits any more.
struct Watch {
  Run* run;
  std::uint64_t limit_ns, deadline, last_deadline, done = 0;
  bool over = false;

  __device__ Watch(Run* r, std::uint64_t limit) : run(r), limit_ns(limit), deadline(now_ns() + limit) {
    last_deadline = deadline + 2 * limit;
  }
  __device__ bool look(Site site, ticket_t ticket) {
    if (over) return true;
    if (run->state.load() != 0) return over = true;
    const std::uint64_t now = now_ns();
    if (now < deadline) return false;
    const std::uint64_t done_now = run->done.load();
    if (done_now != done && now < last_deadline) {
      done = done_now;
      deadline = now + limit_ns;
      return false;
    }
    std::uint32_t running = 0;
    if (run->state.compare_swap(running, static_cast<std::uint32_t>(RunState::stalled))) {
      run->site = static_cast<std::uint32_t>(site);
      run->thread = blockIdx.x * blockDim.x + threadIdx.x;
      run->ticket = ticket;
      run->slow = done_now != done;
    }
    return over = true;
  }
  /// Waits for ready(). Returns false if the deadline came first.
  template <class Ready>
  __device__ bool wait(Site site, ticket_t ticket, Ready ready) {
    if (over) return false;
    Backoff backoff;
    while (!ready()) {
      if ((backoff.spins() & 31) == 31 && look(site, ticket)) return false;
      backoff.pause();
    }
    return true;
  }
};

/// The slot ring. The calls of a face: reserve (by the leader), place (by each lane), publish (by the worker), claim and
/// claim_ahead (leader), poll (lane), popped (worker: n of its lanes have taken a value), take (worker: takes all of a claimed
/// batch).
template <class T>
struct SlotFace {
  using Value = T;
  static constexpr bool kBare = false;
  SlotRing<T> ring;

  __device__ Tickets reserve(lane_t want, lane_t& credit) const { return ring.reserve(want, credit); }
  __device__ bool place(ticket_t t, const T& value) const { return ring.try_put(t, value); }
  template <class W>
  __device__ void publish(const W&, Tickets, Watch&) const {}
  __device__ Tickets claim(lane_t want) const {
    ticket_t waiting;
    return ring.claim(want, waiting);
  }
  __device__ ticket_t claim_ahead(lane_t n) const { return ring.claim_ahead(n); }
  __device__ void poll(Hand<T>& hand) const { ring.poll(hand); }
  __device__ void popped(lane_t n, lane_t& credit) const { credit += n; }
  template <class W>
  __device__ bool take(const W& w, Tickets t, T& value, lane_t& credit, Watch& watch) const {
    bool ok = false;
    if (w.lane() < t.count) {
      Hand<T> hand{t.first + w.lane(), true, false, {}};
      ok = watch.wait(Site::take, hand.ticket, [&] {
        ring.poll(hand);
        return hand.has;
      });
      value = hand.value;
    }
    credit += t.count;
    return ok;
  }
  __device__ void release(lane_t& credit) const { ring.release(credit); }
  __device__ void reset(ticket_t i, ticket_t start) const {
    if (i < ring.capacity) ring.slots[(start + i) & (ring.capacity - 1)].sequence.store(start + i);
    if (i == 0) {
      ring.reset_counters();
      ring.counters->tail.store(start);
      ring.counters->head.store(start);
    }
  }
};

/// The bare limit: one addition by each worker's leader, then stores or loads. There is no protocol: nothing tells what was
/// written.
template <class T>
struct BareFace {
  using Value = T;
  static constexpr bool kBare = true;
  T* slots;
  ticket_t capacity;
  RingCounters* counters;

  __device__ Tickets reserve(lane_t want, lane_t&) const { return {counters->tail.fetch_add(want), want}; }
  __device__ bool place(ticket_t t, const T& value) const {
    slots[t & (capacity - 1)] = value;
    return true;
  }
  template <class W>
  __device__ void publish(const W&, Tickets, Watch&) const {}
  __device__ Tickets claim(lane_t want) const { return {counters->head.fetch_add(want), want}; }
  __device__ ticket_t claim_ahead(lane_t n) const { return counters->head.fetch_add(n); }
  __device__ void poll(Hand<T>& hand) const {
    hand.value = slots[hand.ticket & (capacity - 1)];
    hand.has = true;
    hand.holds = false;
  }
  __device__ void popped(lane_t, lane_t&) const {}
  __device__ void release(lane_t&) const {}
  __device__ void reset(ticket_t i, ticket_t start) const {
    if (i == 0) {
      counters->tail.store(start);
      counters->head.store(start);
    }
  }
};

}  // namespace shoal::bench
