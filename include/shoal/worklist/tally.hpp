// The counts of one lane, and how a worker adds the counts of its lanes to those of the PE.
#pragma once
#include <type_traits>

#include "shoal/worklist/view.hpp"

namespace shoal {

/// One lane's counts; of a worker with parts, those of all its lanes. A lane's have 32 bits on GPUs, where registers are few; before they
/// are full they are added to those of the PE (Out::counts_much).
template <Worker W>
using LaneTally = LaneCounters<std::conditional_t<W::kHoldsTickets && !HasParts<W>, std::uint32_t, std::uint64_t>>;

/// Any lanes: adds n to a count of the worker's tally.
template <Worker W, class Count>
SHOAL_FN void add_to(Count& sum, lane_t n) {
  if constexpr (HasParts<W>) {
    if (W::sum_together(n) && n > 0) W::add(sum, n);
  } else {
    sum += n;
  }
}

/// What a lane counts while it judges what it pushes, before it adds this to its worker's tally.
struct PushCounts {
  lane_t pushed = 0, withheld = 0, accepted = 0, dropped = 0;
};
/// Any lanes: adds to the worker's tally.
/// @tparam kFew  each number is at most kOffers; so sums over the lanes of a warp fit bytes, and are made together
template <Worker W, bool kFew, class Count>
SHOAL_FN void add_to(LaneCounters<Count>& tally, const PushCounts& counts) {
  if constexpr (HasParts<W> && kFew) {
    static_assert(W::kSearchers * W::kOffers < 256);
    lane_t bytes = counts.pushed | counts.withheld << 8 | counts.accepted << 16 | counts.dropped << 24;
    if (!W::sum_together(bytes)) return;
    const auto add = [&](Count& sum, lane_t n) {
      if (n > 0) W::add(sum, n);
    };
    add(tally.pushed, bytes & 255);
    add(tally.withheld, bytes >> 8 & 255);
    add(tally.accepted, bytes >> 16 & 255);
    add(tally.dropped, bytes >> 24);
  } else {
    add_to<W>(tally.pushed, counts.pushed);
    add_to<W>(tally.withheld, counts.withheld);
    add_to<W>(tally.accepted, counts.accepted);
    add_to<W>(tally.dropped, counts.dropped);
  }
}

/// Adds to a count of the PE.
template <class Total>
SHOAL_FN void add_to_pe(Merge merge, std::uint64_t count, Total& total) {
  if (merge == Merge::most) {
    total.fetch_max(count);
  } else {
    total.fetch_add(count);
  }
}
/// Worker-collective: adds the lanes' counts to one of the PE's. Out of line on GPUs, because it is called for each of a dozen counts.
template <Worker W, class Total>
SHOAL_OUT_OF_LINE SHOAL_FN void add_lanes_to_pe(W w, Merge merge, std::uint64_t count, Total& total) {
  if (!w.any(count != 0)) return;  // a vote costs less than a sum, and most counts are zero on all lanes in a round
  const std::uint64_t sum = merge == Merge::most ? count : w.sum(count);
  if (w.lane() == 0) add_to_pe(merge, sum, total);
}

/// Worker-collective, the last use of the counts: adds the lanes' sums and the leader's peaks to the PE's counts.
template <Worker W, class Count>
SHOAL_FN void add_up(const W& w, const LaneCounters<Count>& tally, PeControl& here) {
  if constexpr (HasParts<W>) {  // the lanes have one set of counts
    w.sync();
    const auto add = [&](Merge merge, Count count, auto& total) {
      if (w.lane() == 0 && count != 0) add_to_pe(merge, count, total);
    };
    for_lane_counters(add, tally, here.counts);
  } else {
    bool any = false;
    for_lane_counters([&](Merge, Count count) { any |= count != 0; }, tally);
    if (!w.any(any)) return;  // nothing was counted, as in a round without work
    const auto add = [&](Merge merge, Count count, auto& total) { add_lanes_to_pe(w, merge, count, total); };
    for_lane_counters(add, tally, here.counts);
  }
}

}  // namespace shoal
