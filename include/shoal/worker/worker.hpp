// A worker runs a task: it is one CPU thread, or one GPU thread, warp or block. A lane is one of its threads. The same
// task source runs on all kinds.
//
// Every lane of a worker calls a collective, in the same order; `w` is its first argument or its object. A collective
// orders memory among the lanes: what any lane wrote or acquired before it, all lanes see after it.
//
// | worker        | where | lanes          | a collective costs                                  |
// |---------------|-------|----------------|-----------------------------------------------------|
// | CpuThread     | CPU   | 1              | nothing                                             |
// | GpuThread     | GPU   | 1              | nothing; lanes of a warp diverge                    |
// | GpuWarp       | GPU   | 32             | a shuffle or vote                                   |
// | GpuBlock      | GPU   | 64 to 512      | a block barrier or two, and 33 words of shared memory |
//
// Source: Atos, section III (thread, warp and CTA workers). Differs: the task does not name the worker; the run does.
#pragma once
#include <concepts>
#include <cstdint>

#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// The sum over the lanes before this one, and the sum over all lanes.
struct Scan {
  lane_t before;
  lane_t total;
};

/// kOffers of workers with several lanes; worklist/launch_plan.hpp uses it to choose the fetch size.
inline constexpr lane_t kOffersOfALane = 4;

template <class W>
concept Worker = requires(const W& w, lane_t x, std::uint64_t y, bool b) {
  { W::kMaxLanes } -> std::convertible_to<lane_t>;    // an upper bound of size(); 1 means collectives are free
  { W::kMaxFetch } -> std::convertible_to<lane_t>;    // most items that it takes at once
  { W::kHoldsTickets } -> std::convertible_to<bool>;  // how it pops: queue/slot_ring.hpp
  { W::kBuffer } -> std::convertible_to<lane_t>;      // pushes that a one-lane worker collects before it reserves
  { W::kOffers } -> std::convertible_to<lane_t>;      // pushes of one lane that are judged, and reserve, together
  { w.size() } -> std::same_as<lane_t>;
  { w.lane() } -> std::same_as<lane_t>;  // 0 is the leader
  { w.from_leader(x) } -> std::same_as<lane_t>;
  { w.from_leader(y) } -> std::same_as<std::uint64_t>;
  { w.exclusive_sum(x) } -> std::same_as<Scan>;  // the total must be below 2^32
  { w.count_before(b) } -> std::same_as<Scan>;   // exclusive_sum of 0 and 1, cheaper
  { w.any(b) } -> std::same_as<bool>;
  { w.smallest(x) } -> std::same_as<lane_t>;    // minimum over lanes
  { w.sum(y) } -> std::same_as<std::uint64_t>;  // on every lane
  w.sync();                                     // waits for all lanes; each sees what the others wrote before
  // Between the loads or atomics of several items and the first use of a result. It orders nothing; it has ptxas, which would
  // wait for each in turn to save registers, send all of them on their way first.
  w.keep_in_flight();
};

/// What workers of several lanes have besides. Every lane calls it; nothing is ordered before the next collective.
template <class W>
concept ActsTogether = Worker<W> && requires(const W& w, lane_t* at, lane_t x, bool b, lane_t (*start)(lane_t)) {
  // Adds 1 to at[x] if b; returns what was added there before. `at` is memory that the lanes share.
  { w.count_in(at, x, b) } -> std::same_as<lane_t>;
  w.lower(at, x);  // *at = min(*at, x)
  // search(n, e, first, low, start): the last j < n with start(j) <= e. start(j) grows strictly with j, and start(0) <= e.
  // kSearchers lanes that follow one another search together: from one of them to the next e grows by one, or not at all
  // from some lane on. If not `first`, `low` is what the search before left there, and each e is kSearchers more than it
  // was then, or what the last lane's was if it did not grow any more.
  { W::kSearchers } -> std::convertible_to<lane_t>;
  { w.search(x, x, b, *at, start) } -> std::same_as<lane_t>;
};

/// Workers that make one of all lanes' doubles: combine(x, none, f), on every lane. f(a, b) is f(b, a), and f(a, none) is a. The order
/// is always the same, so that equal workers make equal bits.
template <class W>
concept Combines = Worker<W> && requires(const W& w, double x, double (*f)(double, double)) {
  { w.combine(x, x, f) } -> std::same_as<double>;
};

/// Workers of which a part of the lanes, W::Part, can act without the others: blocks.
template <class W>
concept HasParts = Worker<W> && requires {
  typename W::Part;
};

/// One CPU thread. Trivial collectives: the compiler removes them.
struct CpuThread {
  static constexpr lane_t kMaxLanes = 1;
  static constexpr lane_t kMaxFetch = 64;
  static constexpr lane_t kBuffer = 64;
  static constexpr lane_t kOffers = 1;
  static constexpr bool kHoldsTickets = false;

  SHOAL_FN lane_t size() const { return 1; }
  SHOAL_FN lane_t lane() const { return 0; }
  template <class T>
  SHOAL_FN T from_leader(T x) const {
    return x;
  }
  SHOAL_FN Scan exclusive_sum(lane_t x) const { return {0, x}; }
  SHOAL_FN Scan count_before(bool b) const { return {0, b ? 1u : 0u}; }
  SHOAL_FN bool any(bool b) const { return b; }
  SHOAL_FN lane_t smallest(lane_t x) const { return x; }
  SHOAL_FN std::uint64_t sum(std::uint64_t x) const { return x; }
  template <class F>
  SHOAL_FN double combine(double x, double, const F&) const {
    return x;
  }
  SHOAL_FN void sync() const {}
  SHOAL_FN void keep_in_flight() const {}
};
static_assert(Worker<CpuThread>);

}  // namespace shoal
