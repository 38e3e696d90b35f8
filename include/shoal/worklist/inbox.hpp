// Receiving: a worker finds a channel of its PE in which items have arrived, and copies them out.
#pragma once
#include "shoal/worklist/view.hpp"

namespace shoal {

/// Worker-collective: polls all channels at the same time, each lane one of them. True if items have arrived in `channel`,
/// from ticket `head` on. This is a hint: another worker may claim them first. Workers begin with different channels, so that
/// they drain different ones.
/// @param turn  this worker's number
template <Worker W, class View>
SHOAL_FN bool find_arrived(const W& w, const View& view, lane_t turn, lane_t& channel, ticket_t& head) {
  const lane_t all = static_cast<lane_t>(view.n_pes - 1) << view.log_channels;
  const auto nth = [&](lane_t i) {
    const lane_t at = (i + turn) % all;
    return view.channel(step_from(view, (at >> view.log_channels) + 1), at);
  };
  lane_t found = ~lane_t{0};
  head = 0;
  for (lane_t i = w.lane(); i < all; i += w.size()) {
    if (view.receiver(nth(i)).waiting(head)) {
      found = i;
      break;
    }
  }
  const lane_t first = w.smallest(found);
  if (first == ~lane_t{0}) return false;
  head = w.sum(found == first ? head : 0);
  channel = nth(first);
  return true;
}

/// What find_segment() found: items may be claimed in a segment from PE `from`; -1: none were found.
struct FoundSegment {
  pe_t from = -1;
  ticket_t segment = 0;
};

/// Worker-collective: publishes items of the open segments to other PEs whose notification was put off (--batch-wait), unless
/// another worker has done so. Each lane does this for some of the PEs.
template <Worker W, class View>
SHOAL_FN void offer_parts(const W& w, const View& view) {
  for (pe_t to = static_cast<pe_t>(w.lane()); to < view.n_pes; to += static_cast<pe_t>(w.size())) {
    if (to == view.me) continue;
    if (!view.segment_sender(to).offer(view.transport, to)) view.stop_all(RunState::transport_failed);
  }
}

/// How many segments from one PE are polled: more if they are small, because no more workers than these can claim items at once.
template <Worker W>
SHOAL_FN lane_t segments_ahead(const SegmentShape& shape) {
  constexpr lane_t kLeast = W::kMaxLanes == 1 ? 4 : 8, kMost = W::kMaxLanes == 1 ? 4 : 32, kItems = 4096;
  lane_t ahead = kItems >> shape.log_items;
  if (ahead < kLeast) ahead = kLeast;
  if (ahead > kMost) ahead = kMost;
  return shape.segments() < ahead ? static_cast<lane_t>(shape.segments()) : ahead;
}

/// Worker-collective: polls the oldest segments from every PE, each lane one at a time. The result is a hint, as above. Workers
/// begin with different segments, so that they claim from different ones. Each call also offers the items whose notification
/// was put off, because all workers call this from time to time, idle or not. Out of line on GPUs (queuing.hpp says why).
/// @param turn  this worker's number
template <Worker W, class View>
SHOAL_OUT_OF_LINE SHOAL_FN FoundSegment find_segment(W w, const View& view, lane_t turn) {
  if (view.segments.puts_off()) offer_parts(w, view);
  const lane_t ahead = segments_ahead<W>(view.segments), all = static_cast<lane_t>(view.n_pes - 1) * ahead;
  lane_t found = ~lane_t{0};
  ticket_t segment = 0;
  for (lane_t i = w.lane(); i < all; i += w.size()) {
    const lane_t at = (i + turn) % all;
    if (view.segment_receiver(step_from(view, at / ahead + 1)).waiting(at % ahead, segment)) {
      found = i;
      break;
    }
  }
  const lane_t first = w.smallest(found);
  if (first == ~lane_t{0}) return {};
  segment = w.sum(found == first ? segment : 0);
  return {step_from(view, (first + turn) % all / ahead + 1), segment};
}

/// How many items a worker takes with one drain of a channel. On GPUs the drains of one channel follow one another and take
/// some microseconds each, however many items they bring, so a drain takes several items per lane. A block whose task fans
/// out takes fewer: it would have to judge all of them by itself, and would use shared memory that otherwise serves as cache
/// (docs/decisions/0018-larger-drains.md).
template <Worker W, class View>
struct DrainSize {
  static constexpr std::size_t kBytes = sizeof(typename View::Item);
  static constexpr bool kBlock = W::kMaxLanes > 32, kFewer = kBlock && FanOutTask<typename View::Task>;
  /// The most items per lane. A GPU thread that is a worker of its own has its desk in local memory.
  static constexpr lane_t kItems = W::kMaxLanes == 1 ? 32 : kAlone<View> || kBytes > 32 ? 1 : kFewer ? 2 : 64 / kBytes;
  /// Loads of one lane that are in flight together. More of them would take registers from the worker's other code.
  static constexpr lane_t kAtOnce = kFewer || kBytes > 16 ? 2 : kBlock ? 4 : W::kMaxLanes > 1 ? 8 : 16;
};

/// Worker-collective: claims items of a segment from PE `from`, and copies them to items[0, count).
template <Worker W, class View>
SHOAL_FN Claim copy_from_segment(const W& w, const View& view, pe_t from, ticket_t segment, typename View::Item* items,
                                 lane_t most) {
  const auto queue = view.segment_receiver(from);
  const SegmentClaim claim = queue.template claim_arrived<DrainSize<W, View>::kAtOnce>(w, segment, items, most);
  if (claim.count == 0) return {};
  w.sync();
  if (w.lane() == 0 && !queue.give_back(view.transport, from, claim)) view.stop_all(RunState::transport_failed);
  return {claim.first, 0, claim.count};
}

/// Worker-collective: claims items that have arrived in a channel, from ticket `head` on (or from a PE, in segment `head`), and
/// copies them to items[skip, skip + count). Out of line on GPUs, because it needs registers that no other code needs.
/// @param channel  the channel's number; if the run uses segments, the sending PE's
/// @param items    [most] shared by the lanes
template <Worker W, class View>
SHOAL_OUT_OF_LINE SHOAL_FN Claim copy_arrived(W w, const View& view, lane_t channel, ticket_t head,
                                              typename View::Item* items, lane_t most) {
  const pe_t from = view.pe_of(channel);
  if (view.segments.on) return copy_from_segment(w, view, from, head, items, most);
  const auto receiver = view.receiver(channel);
  const Claim claim = receiver.template claim_arrived<DrainSize<W, View>::kAtOnce>(w, head, items, most);
  if (claim.count == 0) return claim;
  w.sync();
  if (w.lane() == 0 && !receiver.give_back(view.transport, from, claim)) view.stop_all(RunState::transport_failed);
  return claim;
}

/// Worker-collective: whether there are credits for some other PE, in the channels that worker `index` uses.
template <Worker W, class View>
SHOAL_FN bool some_channel_has_credits(const W& w, const View& view, lane_t index) {
  bool has = false;
  for (pe_t to = static_cast<pe_t>(w.lane()); to < view.n_pes; to += static_cast<pe_t>(w.size())) {
    has |= to != view.me && view.has_credits(to, index);
  }
  return w.any(has);
}

}  // namespace shoal
