// Workers for the simulator. A worker of one lane is like a CPU thread, or holds tickets like a GPU thread. In a worker of
// several lanes, each lane is a virtual worker, and the lanes meet in every collective like those of a warp (two lanes) or a
// block (three lanes).
//
// Every collective orders memory among the lanes: what any lane did before it is visible to all lanes after it. The barriers of
// a block do so; shuffles and votes of a warp do so only after a __syncwarp().
#pragma once
#include <array>
#include <cstdint>
#include <type_traits>

#include "machine.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal::sim {

/// A CPU thread with a short push buffer, so that the buffer overflows in small cases.
struct SimThread : CpuThread {
  static constexpr lane_t kMaxFetch = 5;
  static constexpr lane_t kBuffer = 3;
};

/// One GPU thread.
struct SimHolder : CpuThread {
  static constexpr lane_t kMaxFetch = 3;
  static constexpr lane_t kBuffer = 2;
  static constexpr bool kHoldsTickets = true;
};

/// The state of the collectives of one worker. Only `order` is part of the simulated memory.
template <lane_t N>
struct Meeting {
  lane_t arrived = 0;
  std::uint64_t round = 0;
  std::array<std::array<std::uint64_t, N>, 2> value{};
  std::uint64_t order = 0;
};

/// A block can act in parts: here each lane stands for one warp of the block. A warp cannot.
struct SimPart : SimThread {
  Scan take_places(lane_t* count, lane_t n) const {
    *count += n;
    return {*count - n, *count};
  }
};
struct SimParts {
  using Part = SimPart;
  static bool sum_together(lane_t&) { return true; }
  static void add(std::uint64_t& sum, lane_t n) { sum += n; }
};
struct SimWhole {};

template <lane_t N>
class SimLane : public std::conditional_t<N == 2, SimWhole, SimParts> {
 public:
  static constexpr lane_t kMaxLanes = N;
  static constexpr lane_t kMaxFetch = N;
  static constexpr lane_t kBuffer = 1;
  static constexpr lane_t kOffers = 2;
  static constexpr lane_t kSearchers = 1;
  static constexpr bool kHoldsTickets = true;

  SimLane(Meeting<N>& meeting, lane_t lane) : meeting_(&meeting), lane_(lane) {}

  lane_t size() const { return N; }
  lane_t lane() const { return lane_; }
  template <class T>
  T from_leader(T x) const {
    return static_cast<T>(exchange(x)[0]);
  }
  Scan exclusive_sum(lane_t x) const {
    const auto& all = exchange(x);
    Scan scan{0, 0};
    for (lane_t i = 0; i < N; ++i) {
      if (i == lane_) scan.before = scan.total;
      scan.total += static_cast<lane_t>(all[i]);
    }
    return scan;
  }
  Scan count_before(bool b) const { return exclusive_sum(b); }
  bool any(bool b) const { return exclusive_sum(b).total > 0; }
  lane_t smallest(lane_t x) const {
    lane_t least = ~lane_t{0};
    for (std::uint64_t v : exchange(x)) least = v < least ? static_cast<lane_t>(v) : least;
    return least;
  }
  std::uint64_t sum(std::uint64_t x) const {
    std::uint64_t total = 0;
    for (std::uint64_t v : exchange(x)) total += v;
    return total;
  }
  lane_t count_in(lane_t* count, lane_t bin, bool has) const { return has ? count[bin]++ : 0; }
  void lower(lane_t* least, lane_t x) const { *least = x < *least ? x : *least; }
  template <class Start>
  lane_t search(lane_t n, lane_t e, bool first, lane_t& low, Start start) const {
    if (first) low = 0;
    while (low + 1 < n && start(low + 1) <= e) ++low;
    return low;
  }
  void sync() const { exchange(0); }
  void keep_in_flight() const {}

 private:
  /// No lane leaves before all have arrived. Two buffers are enough, as no lane is two rounds ahead of another.
  const std::array<std::uint64_t, N>& exchange(std::uint64_t x) const {
    const AtomicRef<std::uint64_t, false> order(meeting_->order);
    const std::uint64_t round = meeting_->round;
    order.fetch_add(1, Order::release);
    auto& values = meeting_->value[round % 2];
    values[lane_] = x;
    if (++meeting_->arrived == N) {
      meeting_->arrived = 0;
      ++meeting_->round;
    } else {
      while (meeting_->round == round) yield();
    }
    order.fetch_add(0, Order::acquire);  // reads the newest value, so it acquires the releases of all lanes
    return values;
  }

  Meeting<N>* meeting_;
  lane_t lane_;
};

}  // namespace shoal::sim
