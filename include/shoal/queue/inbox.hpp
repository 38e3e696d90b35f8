// What a worker does at the channels of its PE: finds one in which something waits, and copies it out.
#pragma once
#include "shoal/queue/worklist_view.hpp"

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

/// Worker-collective: claims what has arrived from PE `from` from ticket `head` on, and copies it to items[skip, skip + count). Out
/// of line on GPUs: registers that a run on one PE never needs.
/// @param items  [most] shared by the lanes
template <Worker W, class View>
SHOAL_OUT_OF_LINE SHOAL_FN Claim copy_arrived(W w, const View& view, pe_t from, ticket_t head,
                                              typename View::Item* items, lane_t most) {
  const auto channel = view.receiver(from);
  const Claim claim = channel.claim_arrived(w, head, items, most);
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
