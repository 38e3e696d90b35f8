// What one lane counts, and how a worker adds it to the PE's counts.
#pragma once
#include <type_traits>

#include "shoal/worklist/view.hpp"

namespace shoal {

/// One lane's counts of one run. 32 bits on GPUs, where registers are few and a lane cannot reach 2^32.
template <Worker W>
using LaneTally = LaneCounters<std::conditional_t<W::kHoldsTickets, std::uint32_t, std::uint64_t>>;

/// Worker-collective: adds the lanes' sums and the leader's peaks to the PE's counts, and sets the lanes' counts to
/// zero.
template <Worker W, class Count>
SHOAL_FN void add_up(const W& w, LaneCounters<Count>& tally, PeControl& here) {
  bool any = false;
  for_lane_counters([&](Merge, Count count) { any |= count != 0; }, tally);
  if (!w.any(any)) return;  // nothing was counted, as in a round without work
  const auto add = [&](Merge merge, Count count, auto& total) {
    if (merge == Merge::most) {
      if (w.lane() == 0) total.fetch_max(count);
    } else if (w.any(count != 0)) {  // a vote costs less than a sum, and most counts of a round are zero on all lanes
      const std::uint64_t sum = w.sum(count);
      if (w.lane() == 0) total.fetch_add(sum);
    }
  };
  for_lane_counters(add, tally, here.counts);
  tally = {};
}

}  // namespace shoal
