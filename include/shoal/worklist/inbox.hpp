// What a worker does at the channels of its PE: finds one in which something waits, and copies it out.
#pragma once
#include "shoal/worklist/view.hpp"

namespace shoal {

/// Worker-collective: looks at all channels at once, a lane each. True if something waits in that from PE `from`, from ticket `head`
/// on: a hint.
template <Worker W, class View>
SHOAL_FN bool find_arrived(const W& w, const View& view, pe_t& from, ticket_t& head) {
  lane_t found = ~lane_t{0};
  head = 0;
  for (pe_t k = static_cast<pe_t>(w.lane()) + 1; k < view.n_pes; k += static_cast<pe_t>(w.size())) {
    if (view.receiver((view.me + k) % view.n_pes).waiting(head)) {
      found = static_cast<lane_t>(k);
      break;
    }
  }
  const lane_t first = w.smallest(found);
  if (first == ~lane_t{0}) return false;
  head = w.sum(found == first ? head : 0);
  from = (view.me + static_cast<pe_t>(first)) % view.n_pes;
  return true;
}

/// How much one drain of a channel brings to a GPU's worker. The drains of one channel come one after the other, each of some
/// microseconds, full or not, so several items for each lane. Fewer where a block fans out what it brought, which takes longer and
/// likes its shared memory to be a cache (docs/decisions/0018-larger-drains.md).
template <Worker W, class View>
struct DrainSize {
  static constexpr std::size_t kBytes = sizeof(typename View::Item);
  static constexpr bool kBlock = W::kMaxLanes > 32, kFewer = kBlock && FanOutTask<typename View::Task>;
  /// At most, of each lane; a lane that is a worker of its own has its desk in local memory.
  static constexpr lane_t kItems = W::kMaxLanes == 1 ? 32 : kAlone<View> || kBytes > 32 ? 1 : kFewer ? 2 : 64 / kBytes;
  /// Loads of one lane in flight. More take registers from all that the worker does.
  static constexpr lane_t kAtOnce = kFewer || kBytes > 16 ? 2 : kBlock ? 4 : W::kMaxLanes > 1 ? 8 : 16;
};

/// Worker-collective: claims what has arrived from PE `from` from ticket `head` on, and copies it to items[skip, skip + count). Out
/// of line on GPUs: registers that nothing else needs.
/// @param items  [most] shared by the lanes
template <Worker W, class View>
SHOAL_OUT_OF_LINE SHOAL_FN Claim copy_arrived(W w, const View& view, pe_t from, ticket_t head,
                                              typename View::Item* items, lane_t most) {
  const auto channel = view.receiver(from);
  const Claim claim = channel.template claim_arrived<DrainSize<W, View>::kAtOnce>(w, head, items, most);
  if (claim.count == 0) return claim;
  w.sync();
  if (w.lane() == 0 && !channel.give_back(view.transport, from, claim)) view.stop_all(RunState::transport_failed);
  return claim;
}

/// Worker-collective: may an item be sent to some other PE?
template <Worker W, class View>
SHOAL_FN bool some_channel_has_room(const W& w, const View& view) {
  bool has = false;
  for (pe_t to = static_cast<pe_t>(w.lane()); to < view.n_pes; to += static_cast<pe_t>(w.size())) {
    has |= to != view.me && view.here().send[to].room.load() > 0;
  }
  return w.any(has);
}

}  // namespace shoal
