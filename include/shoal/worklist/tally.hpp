// What one lane counts of its items, and how a worker adds it to the PE's counts.
#pragma once
#include <type_traits>

#include "shoal/worklist/view.hpp"

namespace shoal {

/// One lane's counts of one run: a GPU lane has few registers, and cannot reach 2^32.
template <Worker W>
using LaneTally = LaneCounters<std::conditional_t<W::kHoldsTickets, std::uint32_t, std::uint64_t>>;

/// Worker-collective: adds the lanes' sums, and the leader's peaks, to the PE's counts, and begins anew.
template <Worker W, class Count>
SHOAL_FN void add_up(const W& w, LaneCounters<Count>& tally, PeControl& here) {
  bool any = false;
  for_lane_counters([&](Merge, Count count) { any |= count != 0; }, tally);
  if (!w.any(any)) return;  // after a round in which it found nothing
  const auto add = [&](Merge merge, Count count, auto& total) {
    if (merge == Merge::most) {
      if (w.lane() == 0) total.fetch_max(count);
    } else if (w.any(count != 0)) {  // a vote costs less than a sum, and most counts of a round are nobody's
      const std::uint64_t sum = w.sum(count);
      if (w.lane() == 0) total.fetch_add(sum);
    }
  };
  for_lane_counters(add, tally, here.counts);
  tally = {};
}

}  // namespace shoal
