// What one lane counts of its items, and how a worker adds it to the PE's counts.
#pragma once
#include <type_traits>

#include "shoal/worklist/view.hpp"

namespace shoal {

template <Worker W>
struct WorkerTally {
  /// What one lane counts in one run: a GPU lane has few registers, and cannot reach 2^32.
  using Count = std::conditional_t<W::kHoldsTickets, std::uint32_t, std::uint64_t>;

  Count pushed = 0, withheld = 0, accepted = 0, dropped = 0, stale = 0, run = 0, spilled = 0, parked = 0, combined = 0,
        idle_calls = 0;
  ticket_t peak = 0;  ///< leader: most items that it saw waiting in the ring

  /// Worker-collective: adds all lanes' counts to the PE's, and begins anew.
  SHOAL_FN void add_to(const W& w, PeControl& here) {
    const std::uint64_t counts[] = {pushed, withheld, accepted, dropped,  stale,
                                    run,    spilled,  parked,   combined, idle_calls};
    std::uint64_t any = peak;
    for (std::uint64_t count : counts) any |= count;
    if (!w.any(any != 0)) return;  // after a round in which it found nothing
    lane_t i = 0;
    for (std::uint64_t count : counts) {
      if (w.any(count != 0)) {  // a vote costs less than a sum, and most counts of a round are nobody's
        const std::uint64_t total = w.sum(count);
        if (w.lane() == 0) here.tally[i].fetch_add(total);
      }
      ++i;
    }
    if (w.lane() == 0) here.tally[i].fetch_max(peak);
    *this = {};
  }
};

}  // namespace shoal
