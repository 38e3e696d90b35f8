// Kernels of bench/queue/gpu_queue.cu: push, pop, push and pop in turn, and churn (for checks, lag and stress).
//
// Every wait has a deadline (Watch). Only push_pop and churn need all their blocks resident, so they are launched cooperatively.
#pragma once
#include "gpu_queue_faces.cuh"

namespace shoal::bench {

inline constexpr int kBlock = 256;

template <class W>
__device__ W make_worker(GpuBlock::Scratch& scratch) {
  if constexpr (std::is_same_v<W, GpuBlock>) {
    return W{&scratch};
  } else {
    return W{};
  }
}

template <class Face>
__global__ void reset_ring(Face face, ticket_t slots, ticket_t start) {
  for (ticket_t i = blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += ticket_t{gridDim.x} * blockDim.x) {
    face.reset(i, start);
  }
}

/// Worker-collective: pushes one item of each lane, in as many reservations as the credits require. Returns false at the deadline.
template <class Face, class W>
__device__ bool push_batch(const Face& face, const W& w, const typename Face::Value& item, lane_t& credit,
                           Watch& watch) {
  lane_t done = 0;
  do {
    Tickets t;
    if (w.lane() == 0) {
      watch.wait(Site::reserve, done, [&] {
        t = face.reserve(w.size() - done, credit);
        return t.count > 0;
      });
    }
    t.first = w.from_leader(t.first);
    t.count = Face::kBare ? w.size() : w.from_leader(t.count);
    if (t.count == 0) return false;
    if (w.lane() >= done && w.lane() < done + t.count) {
      const ticket_t ticket = t.first + (w.lane() - done);
      watch.wait(Site::place, ticket, [&] { return face.place(ticket, item); });
    }
    face.publish(w, t, watch);
    done += t.count;
  } while (done < w.size());
  return true;
}

/// What a thread pushed or popped. It is added to the run's totals at the end, by warp.
struct Totals {
  std::uint64_t count = 0, mix = 0;

  template <class T>
  __device__ void add(const T& item) {
    ++count;
    for (std::uint64_t word : item.word) mix += word ^ word >> 29;  // all words, so that no load can be optimised away
  }
  template <class Word>
  __device__ void leave(Word& counts, Word& mixes) const {
    const std::uint64_t n = GpuWarp().sum(count), m = GpuWarp().sum(mix);
    if (threadIdx.x % 32 == 0) {
      counts.fetch_add(n);
      mixes.fetch_add(m);
    }
  }
};

/// Every thread pushes `quota` items.
template <class Face, class W>
__global__ void __launch_bounds__(kBlock) push_all(Face face, Run* run, std::uint32_t quota, std::uint64_t limit_ns) {
  __shared__ GpuBlock::Scratch scratch;
  const W w = make_worker<W>(scratch);
  Watch watch(run, limit_ns);
  Totals totals;
  lane_t credit = 0;
  for (std::uint32_t i = 0; i < quota; ++i) {
    const auto item = Face::Value::make(blockIdx.x * blockDim.x + threadIdx.x, i);
    if (!push_batch(face, w, item, credit, watch)) break;
    totals.add(item);
  }
  if (w.lane() == 0) face.release(credit);
  __syncwarp();
  totals.leave(run->pushed, run->pushed_mix);
}

/// Worker-collective: pops one item into each lane. `end`: tickets from here on are never filled. Returns false if nothing came.
template <bool kHold, class Face, class W, class Take>
__device__ bool pop_batch(const Face& face, const W& w, ticket_t end, lane_t& credit, Watch& watch, Take take) {
  if constexpr (kHold || Face::kBare) {
    ticket_t first = 0;
    if (w.lane() == 0) first = face.claim_ahead(w.size());
    first = w.from_leader(first);
    if (first >= end) return false;
    Hand<typename Face::Value> hand{first + w.lane(), true, false, {}};
    const bool got = hand.ticket < end && watch.wait(Site::take, hand.ticket, [&] {
      face.poll(hand);
      return hand.has;
    });
    if (got) take(hand.value);
    face.popped(w.size(), credit);
    return true;
  } else {
    lane_t done = 0;
    while (done < w.size()) {
      Tickets t;
      if (w.lane() == 0) {
        // A drained ring gives no tickets; while other workers push, some will come.
        watch.wait(Site::take, done, [&] {
          t = face.claim(w.size() - done);
          return t.count > 0 || end != ~ticket_t{0};
        });
      }
      t = {w.from_leader(t.first), w.from_leader(t.count)};
      if (t.count == 0) return done > 0;
      typename Face::Value value;
      if (face.take(w, t, value, credit, watch)) take(value);
      done += t.count;
    }
    return true;
  }
}

/// Pops all items with tickets below `end`; they have been pushed before.
template <bool kHold, class Face, class W>
__global__ void __launch_bounds__(kBlock) pop_all(Face face, Run* run, ticket_t end, std::uint64_t limit_ns) {
  __shared__ GpuBlock::Scratch scratch;
  const W w = make_worker<W>(scratch);
  Watch watch(run, limit_ns);
  Totals totals;
  lane_t credit = 0;
  while (pop_batch<kHold>(face, w, end, credit, watch, [&](const auto& item) { totals.add(item); })) {
  }
  if (w.lane() == 0) face.release(credit);
  __syncwarp();
  totals.leave(run->popped, run->popped_mix);
}

/// Every worker pushes a batch, then pops one, `quota` times.
template <bool kHold, class Face, class W>
__global__ void __launch_bounds__(kBlock) push_pop(Face face, Run* run, std::uint32_t quota, std::uint64_t limit_ns) {
  __shared__ GpuBlock::Scratch scratch;
  const W w = make_worker<W>(scratch);
  Watch watch(run, limit_ns);
  Totals pushed, popped;
  lane_t credit = 0;
  for (std::uint32_t i = 0; i < quota; ++i) {
    const auto item = Face::Value::make(blockIdx.x * blockDim.x + threadIdx.x, i);
    if (!push_batch(face, w, item, credit, watch)) break;
    pushed.add(item);
    if (!pop_batch<kHold>(face, w, ~ticket_t{0}, credit, watch, [&](const auto& got) { popped.add(got); })) break;
  }
  if (w.lane() == 0) face.release(credit);
  __syncwarp();
  pushed.leave(run->pushed, run->pushed_mix);
  popped.leave(run->popped, run->popped_mix);
}

/// A summary of the items of one producer (a thread).
struct Tally {
  unsigned long long count, sum, mix;
};

struct Churn {
  Run* run;
  Tally* sent;                ///< [threads], by the producer
  Tally* got;                 ///< [threads], by producer, added to by whoever popped
  std::uint32_t quota;        ///< pushes per pushing thread
  std::uint32_t push_blocks;  ///< blocks [0, push_blocks) push
  std::uint32_t pop_from;     ///< blocks [pop_from, ...) pop
  std::uint64_t total;        ///< quota * threads of the pushing blocks
  std::uint32_t stall_every;  ///< 0: never; otherwise one in so many chances stalls
  std::uint32_t pause_ns;     ///< mean pause between pushes
  std::uint64_t limit_ns;
  std::uint32_t* lag_ns;  ///< null, or [lag_samples]: time from before the reservation until the popper has its copy
  std::uint64_t lag_samples;
};

/// Random stalls, seeded by the clock: most are up to 2 us, some up to 64 us.
struct Stall {
  std::uint32_t every;
  std::uint64_t state;

  __device__ explicit Stall(std::uint32_t e)
      : every(e),
        state(mix64(now_ns() * 0x9E3779B97F4A7C15ull ^ std::uint64_t{blockIdx.x * blockDim.x + threadIdx.x} << 40)) {}
  __device__ std::uint32_t next() {
    state = mix64(state + 1);
    return static_cast<std::uint32_t>(state >> 16);
  }
  __device__ void maybe() {
    if (every == 0) return;
    const std::uint32_t r = next();
    if (r % every == 0) __nanosleep(next() % ((r >> 8) % 64 == 0 ? 65536 : 2048));
  }
};

/// Runs pushers, poppers or both, with stalls between reserving, writing and publishing, until all items are popped.
template <bool kHold, class Face, class W>
__global__ void __launch_bounds__(kBlock) churn(Face face, Churn c) {
  using Value = typename Face::Value;
  __shared__ GpuBlock::Scratch scratch;
  const W w = make_worker<W>(scratch);
  Run& run = *c.run;
  const std::uint32_t me = blockIdx.x * blockDim.x + threadIdx.x;
  const bool pushes = blockIdx.x < c.push_blocks, pops = blockIdx.x >= c.pop_from;
  Watch watch(&run, c.limit_ns);
  Stall stall(c.stall_every);
  Hand<Value> hand;
  Tally sent{};
  Value item;
  bool pending = false, placing = false;
  ticket_t place_at = 0;
  std::uint64_t begin_push = 0;
  std::uint32_t next = 0;
  lane_t credit = 0;
  std::uint64_t pushing_ns = 0;
  Backoff idle;

  const auto note = [&](const Value& value, ticket_t ticket) {
    if constexpr (Value::kWords > 1) {
      if (c.lag_ns != nullptr) c.lag_ns[ticket % c.lag_samples] = static_cast<std::uint32_t>(now_ns() - value.word[1]);
    }
    const std::uint32_t producer = static_cast<std::uint32_t>(value.word[0] >> 32);
    if (producer >= c.push_blocks * blockDim.x || !value.intact()) {
      run.torn.fetch_add(1);
      return;
    }
    atomicAdd(&c.got[producer].count, 1ull);
    atomicAdd(&c.got[producer].sum, static_cast<unsigned long long>(value.word[0] & 0xFFFFFFFFu));
    atomicAdd(&c.got[producer].mix, static_cast<unsigned long long>(mix64(value.word[0])));
  };

  for (;;) {
    bool moved = false, finished = false;
    if (pushes) {
      if (c.pause_ns > 0 && w.lane() == 0 && next < c.quota) __nanosleep(stall.next() % (2 * c.pause_ns));
      w.sync();
      const std::uint64_t begin = now_ns();
      if (!pending) begin_push = begin;
      if (!pending && next < c.quota) {
        item = Value::make(me, next, begin);
        pending = true;
      }
      if constexpr (W::kMaxLanes == 1) {
        // One step per turn, without a wait of its own: lanes of a warp reconverge after an inner loop, so a lane that waited there
        // for the next action of another lane of its warp would wait forever.
        finished = !pending;
        Tickets t{place_at, placing ? 1u : 0u};
        if (pending && !placing) t = face.reserve(1, credit);
        placing = t.count == 1;
        place_at = t.first;
        stall.maybe();
        if (placing && face.place(place_at, item)) {
          stall.maybe();
          face.publish(w, t, watch);
          pushing_ns += now_ns() - begin_push;
          ++sent.count;
          sent.sum += next;
          sent.mix += mix64(item.word[0]);
          ++next;
          pending = placing = false;
          moved = true;
        }
      } else {
        const Scan scan = w.count_before(pending);
        finished = scan.total == 0;
        if (scan.total > 0) {
          Tickets t;
          if (w.lane() == 0) t = face.reserve(scan.total, credit);
          t = {w.from_leader(t.first), w.from_leader(t.count)};
          const bool mine = pending && scan.before < t.count;
          if (mine) stall.maybe();
          bool waits = mine && !face.place(t.first + scan.before, item);
          for (Backoff backoff; w.any(waits); backoff.pause()) {
            if constexpr (kHold) face.poll(hand);  // by all lanes: others may wait for slots that this worker holds
            waits = waits && !face.place(t.first + scan.before, item);
            if (waits && (backoff.spins() & 31) == 31 && watch.look(Site::place, t.first + scan.before)) waits = false;
          }
          if (mine) stall.maybe();
          if (t.count > 0) face.publish(w, t, watch);
          if (mine && !watch.over) {
            pushing_ns += now_ns() - begin;
            ++sent.count;
            sent.sum += next;
            sent.mix += mix64(item.word[0]);
            pending = false;
            ++next;
          }
          moved = t.count > 0;
        }
      }
    }
    if (pops) {
      lane_t n = 0;
      if constexpr (kHold || W::kMaxLanes == 1) {
        const Scan want = w.count_before(!hand.holds && !hand.has);
        ticket_t first = 0;
        bool came = true;
        if constexpr (kHold) {
          if (w.lane() == 0 && want.total > 0) first = face.claim_ahead(want.total);
        } else if (want.total > 0) {
          const Tickets t = face.claim(1);
          first = t.first;
          came = t.count == 1;
        }
        first = w.from_leader(first);
        if (came && !hand.holds && !hand.has) {
          hand.ticket = first + want.before;
          hand.holds = true;
        }
        face.poll(hand);
        const bool has = hand.has;
        if (has) note(hand.value, hand.ticket);
        hand.has = false;
        n = w.count_before(has).total;
        face.popped(n, credit);
      } else {
        Tickets t;
        if (w.lane() == 0) t = face.claim(w.size());
        t = {w.from_leader(t.first), w.from_leader(t.count)};
        n = t.count;
        if (n > 0) {
          Value value;
          if (w.lane() < n) stall.maybe();
          if (face.take(w, t, value, credit, watch)) note(value, t.first + w.lane());
        }
      }
      if (n > 0 && w.lane() == 0) run.done.fetch_add(n);
      moved |= n > 0;
      lane_t last = 0;
      if (!moved && w.lane() == 0) last = run.done.load() >= c.total;
      finished = w.from_leader(last) != 0;
    }
    if (!moved && w.lane() == 0) face.release(credit);
    lane_t stop = 0;
    if (w.lane() == 0) stop = watch.look(Site::churn, c.total);
    if (finished || w.from_leader(stop) != 0) break;
    if (moved)
      idle.reset();
    else
      idle.pause();
  }
  if (w.lane() == 0) face.release(credit);
  if (pushes) c.sent[me] = sent;
  __syncwarp();
  const std::uint64_t n = GpuWarp().sum(sent.count), ns = GpuWarp().sum(pushing_ns);
  if (threadIdx.x % 32 == 0) {
    run.pushed.fetch_add(n);
    run.push_ns.fetch_add(ns);
  }
}

/// Counts the producers whose items were not all popped exactly once.
static __global__ void compare(const Tally* sent, const Tally* got, std::uint32_t n, unsigned long long* wrong) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (sent[i].count != got[i].count || sent[i].sum != got[i].sum || sent[i].mix != got[i].mix) atomicAdd(wrong, 1ull);
  }
}

}  // namespace shoal::bench
