// When a run is over: counted, never guessed.
//
// Every stay of an item somewhere (ring, channel, spill, seed list) is created once and completed once. Created: the tickets
// that the rings and channels gave out, `entered`, and `tokens`; all of them are counted before the item can be seen. Completed: one
// counter per PE, raised (release) after the item has been dropped, moved, or run and everything it pushed been counted.
// If the sum of all completed counters, read first, equals the sum of all created counters, read afterwards, then nothing
// is left: the created sum is at least what it was when the completed ones were read, and completed never exceeds created.
// Reading in the other order, or PE by PE, is unsafe (models/quiescence.pml).
//
// Source: reading "all completed, then all created" follows Mattern's counting argument; no idle vote, no wave, any number of PEs.
#pragma once
#include "shoal/worklist/pe_worklist.hpp"

namespace shoal {

/// Sum of everything created on PE q so far. Relaxed: the caller has acquired the completed counters.
/// @tparam kNewest  reads the tails by adding zero: see quiescent()
template <bool kNewest = false, class View>
SHOAL_FN std::uint64_t created_at(const View& view, pe_t q) {
  PeControl& c = *view.control[q];
  const ticket_t ring = kNewest ? c.ring.tail.fetch_add(0) : c.ring.tail.load();
  std::uint64_t sum = c.entered.load() + ring;
  sum += static_cast<std::uint64_t>(c.tokens.load());
  for (pe_t to = 0; to < view.n_pes; ++to) sum += kNewest ? c.send[to].tail.fetch_add(0) : c.send[to].tail.load();
  return sum;
}

/// Worker-collective; for an idle worker of PE 0. True if no item was left anywhere at some moment during the call; then
/// `created` is how many there have been.
template <Worker W, class View>
SHOAL_FN bool quiescent(const W& w, const View& view, std::uint64_t& created) {
  std::uint64_t completed = 0, here = 0;
  for (pe_t q = static_cast<pe_t>(w.lane()); q < view.n_pes; q += static_cast<pe_t>(w.size())) {
    completed += view.transport.get(q, &view.control[q]->completed);
  }
  completed = w.sum(completed);  // all lanes have read all completed counters before any reads a created one
  for (pe_t q = static_cast<pe_t>(w.lane()); q < view.n_pes; q += static_cast<pe_t>(w.size())) {
    here += created_at(view, q);
  }
  created = w.sum(here);
  if constexpr (SelfContained<typename View::Task>) {
    // Their rings and channels pass an item on, but not what its pusher did before: a tail that was counted up for an item that is
    // completed already may be read too old. Adding zero cannot come before that count: the pusher's ticket would follow
    // from it, the slot from the ticket, the completion from the slot, and this addition from the completion.
    if (completed != created) return false;
    std::uint64_t newest = 0;
    for (pe_t q = static_cast<pe_t>(w.lane()); q < view.n_pes; q += static_cast<pe_t>(w.size())) {
      newest += created_at<true>(view, q);
    }
    created = w.sum(newest);
  }
  return completed == created;
}

/// quiescent() for a part of a worker's lanes. Out of line on GPUs: it takes registers that a block has not got.
template <class Part, class View>
SHOAL_OUT_OF_LINE SHOAL_FN bool part_sees_quiescence(const View& view, std::uint64_t& created) {
  return quiescent(Part(), view, created);
}

/// Worker-collective; quiescent(), but by a part of the lanes where they can act alone, while the others wait.
/// @param created  the leader's, if true
template <Worker W, class View>
SHOAL_FN bool seems_over(const W& w, const View& view, std::uint64_t& created) {
  if constexpr (requires { typename W::Part; }) {
    lane_t quiet = 0;
    if (w.lane() < W::Part::kMaxLanes) quiet = part_sees_quiescence<typename W::Part>(view, created);
    return w.from_leader(quiet) != 0;
  } else {
    return quiescent(w, view, created);
  }
}

}  // namespace shoal
