// Receiving: how a worker finds items that other PEs have sent, and takes them in.
#pragma once
#include "shoal/worklist/inbox.hpp"
#include "shoal/worklist/taking.hpp"

namespace shoal {

/// The part of a Scheduler that receives items. One object per lane.
template <Worker W, class View>
class Receiving : public Taking<W, View> {
  using Base = Taking<W, View>;

 public:
  using Base::Base;

 protected:
  using Base::complete;
  using Base::desk_;
  using Base::index;
  using Base::out_;
  using Base::view;
  using Base::w_;

  /// Whether this worker polls the channels in this step. A few polling workers are enough to find items as soon as they
  /// arrive. If all workers polled, their loads of the same words would delay the worker that drains.
  SHOAL_FN bool looks(lane_t steps, bool worked) const {
    if (view().n_pes == 1) return false;
    const lane_t turn = steps + index(), every = view().n_workers / kLookers + 1;
    if constexpr (W::kMaxLanes > 1 && !HasParts<W>) {
      // A warp asks this between the end of a batch and its next poll: a division, of some forty instructions, would be part of each hop.
      return !(worked && turn % 4 != 0) && (turn & (power_of_two_from(every) - 1)) == 0;
    } else {
      return turn % (worked && every < 4 ? 4 : every) == 0;
    }
  }

  /// Drains a few times, because more items may have arrived where there were some. Not more often, because this worker may
  /// hold the ticket of an item that waits in the ring.
  SHOAL_FN bool receive_some() {
    lane_t times = 0;
    while (times < kDrainsAtOnce && receive_any()) ++times;
    return times > 0;
  }

  /// Drains the first channel, or segment, in which it finds items that have arrived. False if it found or got none.
  SHOAL_FN bool receive_any() {
    if (view().n_pes == 1) return false;
    SHOAL_TIMED(w_, out_.own(), Section::receive);
    lane_t channel = 0;
    ticket_t head = 0;
    bool found = false;
    if (view().segments.on) {
      const FoundSegment at = find_segment(w_, view(), index());
      found = at.from >= 0, channel = static_cast<lane_t>(at.from), head = at.segment;
    } else {
      found = find_arrived(w_, view(), index(), channel, head);
    }
    return found && receive(channel, head);
  }

 private:
  /// The least power of two that is not below x, which is at least 1.
  static constexpr SHOAL_FN lane_t power_of_two_from(lane_t x) {
    --x;
    for (int by = 1; by < 32; by *= 2) x |= x >> by;
    return x + 1;
  }
  /// Drains the items that have arrived in `channel` from ticket `head` on and that no other worker has claimed. If the run uses
  /// segments, `channel` is the number of the sending PE, and `head` that of the segment.
  SHOAL_FN bool receive(lane_t channel, ticket_t head) {
    const Claim claim = copy_arrived(w_, view(), channel, head, desk_.item, desk_.items);
    if (claim.count == 0) return false;
    // This worker only judges the items; whichever worker takes them from the ring runs them. So receiving is quick, and an
    // item that runs for long does not block a channel.
    out_.take_in(w_, desk_.item + claim.skip, claim.count);
    complete(claim.count);
    return true;
  }

  /// About how many workers of a PE poll the channels in any step; of warps, at least half as many.
  static constexpr lane_t kLookers = 32;
  static constexpr lane_t kDrainsAtOnce = 4;
};

}  // namespace shoal
