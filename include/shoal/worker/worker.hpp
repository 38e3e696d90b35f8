// A worker runs a task: it is one CPU thread, or one GPU thread, warp or block. A lane is one of its threads. The same
// task source runs on all kinds.
//
// A collective is a call that every lane of a worker makes, all lanes in the same order; the worker `w` is its first argument
// or its object. A collective orders memory among the lanes: what any lane wrote or acquired before it, all lanes see after it.
//
// | worker        | where | lanes          | a collective costs                                  |
// |---------------|-------|----------------|-----------------------------------------------------|
// | CpuThread     | CPU   | 1              | nothing                                             |
// | GpuThread     | GPU   | 1              | nothing; threads of a warp diverge                  |
// | GpuWarp       | GPU   | 32             | a shuffle or vote                                   |
// | GpuBlock      | GPU   | 64 to 384      | a block barrier or two, and 33 words of shared memory |
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

/// The kOffers of all workers with several lanes. The launch plan also uses it to choose the fetch size.
inline constexpr lane_t kOffersOfALane = 4;

template <class W>
concept Worker = requires(const W& w, lane_t x, std::uint64_t y, bool b) {
  { W::kMaxLanes } -> std::convertible_to<lane_t>;    // an upper bound of size(); 1 means collectives are free
  { W::kMaxFetch } -> std::convertible_to<lane_t>;    // most items that a worker takes at once
  { W::kHoldsTickets } -> std::convertible_to<bool>;  // how it pops: queue/slot_ring.hpp
  { W::kBuffer } -> std::convertible_to<lane_t>;      // pushes that a one-lane worker collects before it reserves
  { W::kOffers } -> std::convertible_to<lane_t>;      // pushes of one lane that are judged and reserved together
  { w.size() } -> std::same_as<lane_t>;
  { w.lane() } -> std::same_as<lane_t>;  // 0 is the leader
  { w.from_leader(x) } -> std::same_as<lane_t>;
  { w.from_leader(y) } -> std::same_as<std::uint64_t>;
  { w.exclusive_sum(x) } -> std::same_as<Scan>;  // the total must be below 2^32
  { w.count_before(b) } -> std::same_as<Scan>;   // exclusive_sum of 0 and 1, cheaper
  { w.any(b) } -> std::same_as<bool>;
  { w.smallest(x) } -> std::same_as<lane_t>;    // minimum over lanes
  { w.sum(y) } -> std::same_as<std::uint64_t>;  // over lanes; every lane gets it
  w.sync();                                     // waits for all lanes; each sees what the others wrote before
  // Called between the loads or atomics of several items and the first use of one of their results. It orders nothing. It makes
  // ptxas issue all of them first; otherwise ptxas would wait for each in turn, to save registers.
  w.keep_in_flight();
};

/// What workers of several lanes have in addition. Every lane makes these calls. They do not order memory: only the next
/// collective does.
template <class W>
concept ActsTogether = Worker<W> && requires(const W& w, lane_t* at, lane_t x, bool b, lane_t (*start)(lane_t)) {
  // Adds 1 to at[x] if b; returns what was added there before. `at` is memory that the lanes share.
  { w.count_in(at, x, b) } -> std::same_as<lane_t>;
  w.lower(at, x);  // *at = min(*at, x)
  // search(n, e, first, low, start) returns the last j < n with start(j) <= e. start(j) grows strictly with j, and
  // start(0) <= e. kSearchers consecutive lanes search together: from one of these lanes to the next e grows by one, and from
  // some lane on it may stay the same, at an e that no start exceeds: on GPUs `low` counts the starts that follow, and would run
  // past them. If `first` is false, `low` must hold what the previous search left there, and each e is kSearchers more than in that
  // search, or what the last lane's was if it did not grow any more.
  { W::kSearchers } -> std::convertible_to<lane_t>;
  { w.search(x, x, b, *at, start) } -> std::same_as<lane_t>;
};

/// Workers that can reduce one double of each lane to one value: combine(x, none, f) returns it on every lane. f must be
/// commutative, and f(a, none) must be a. The order of the reduction is fixed, so that workers of equal size with equal values get
/// equal bits.
template <class W>
concept Combines = Worker<W> && requires(const W& w, double x, double (*f)(double, double)) {
  { w.combine(x, x, f) } -> std::same_as<double>;
};

/// Workers that have parts: W::Part is some of the lanes (kSearchers consecutive ones), which can act without the others. Blocks
/// have them: their warps. Every lane of a part calls take_places(count, n): each takes `n` places of an array that the lanes of
/// all parts share, and of which *count are taken. Returns the first place of this lane, and how many are taken then. Any lanes may
/// call W::sum_together(n): it replaces n by the sum over some of the lanes that call it, and returns true on one of these. A lane
/// calls W::add(sum, n) by itself: it adds to a word that all lanes of W share. Its value is exact after a collective.
template <class W>
concept HasParts = Worker<W> && requires(lane_t* count, std::uint64_t* sum, lane_t n) {
  typename W::Part;
  { typename W::Part().take_places(count, n) } -> std::same_as<Scan>;
  { W::sum_together(n) } -> std::same_as<bool>;
  W::add(*sum, n);
};

/// One CPU thread. Its collectives are trivial, and the compiler removes them.
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
