// The counts of one lane, and how a worker adds the counts of its lanes to those of the PE.
#pragma once
#include <type_traits>

#include "shoal/worklist/view.hpp"

namespace shoal {

/// One lane's counts in one run. They have 32 bits on GPUs, where registers are few and a lane cannot reach 2^32.
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
    } else if (w.any(count != 0)) {  // a vote costs less than a sum, and most counts are zero on all lanes in a round
      const std::uint64_t sum = w.sum(count);
      if (w.lane() == 0) total.fetch_add(sum);
    }
  };
  for_lane_counters(add, tally, here.counts);
  tally = {};
}

}  // namespace shoal
