// Quiescence: how a run detects that no item is left on any PE. It is decided by counting, never by a guess.
//
// Each time an item enters a ring, a channel, spill or the seed list, a stay begins. It is counted once as created, before
// the item can be seen, and once as completed, when the stay ends. The created counters are the tickets of rings and
// channels, `entered` (seeds, spilled items, and one for each worker that pushed in a sweep) and `tokens` (parts of phases).
// Each PE has one completed counter. It is increased, with release, after an item was dropped, moved on or run, and after everything that it pushed was counted.
//
// The check first reads the completed counters of all PEs, and then the created counters of all PEs. If the two sums are
// equal, nothing is left: the created sum only grows, so it is at least what it was when the completed counters were read,
// and completed never exceeds created. Reading in the other order, or PE by PE, is unsafe (models/quiescence.pml).
//
// Source: reading "all completed, then all created" follows Mattern's counting argument. It needs no vote among idle
// workers and no wave of messages, and works for any number of PEs.
#pragma once
#include "shoal/worklist/view.hpp"

namespace shoal {

/// The number of words in which a PE counts everything that was created on it.
template <class View>
SHOAL_FN lane_t created_words(const View& view) {
  return (static_cast<lane_t>(view.n_pes) << view.log_channels) + 1;
}
/// The value of word i of these on PE q. Loaded relaxed, because the caller has acquired the completed counters.
/// @tparam kNewest  reads tails by adding zero (see quiescent())
template <bool kNewest, class View>
SHOAL_FN std::uint64_t created_word(const View& view, pe_t q, lane_t i) {
  PeControl& c = *view.control[q];
  if (i > 0) return kNewest ? c.ends[i - 1].send.tail.fetch_add(0) : c.ends[i - 1].send.tail.load();
  const ticket_t ring = kNewest ? c.ring.tail.fetch_add(0) : c.ring.tail.load();
  std::uint64_t sum = c.entered.load() + ring;
  sum += static_cast<std::uint64_t>(c.tokens.load());
  return sum;
}
template <bool kNewest = false, class View>
SHOAL_FN std::uint64_t created_at(const View& view, pe_t q) {
  std::uint64_t sum = 0;
  for (lane_t i = 0; i < created_words(view); ++i) sum += created_word<kNewest>(view, q, i);
  return sum;
}
/// Worker-collective: the sum of everything created on all PEs of this process. The lanes divide the words among themselves,
/// because loads from other GPUs take long.
template <bool kNewest = false, Worker W, class View>
SHOAL_FN std::uint64_t created_everywhere(const W& w, const View& view) {
  const lane_t words = created_words(view), all = static_cast<lane_t>(view.end_near - view.first_near) * words;
  std::uint64_t sum = 0;
  for (lane_t i = w.lane(); i < all; i += w.size()) {
    sum += created_word<kNewest>(view, view.first_near + static_cast<pe_t>(i / words), i % words);
  }
  return w.sum(sum);
}

/// How much is left to be run on the PEs of this process: more than View::overlap stays, at most so many, or none.
enum class Left : lane_t { much, little, none };
/// @param left  stays, at least one
template <class View>
SHOAL_FN Left little_or_much(const View& view, std::uint64_t left) {
  return HasPriority<typename View::Task> && left <= view.overlap ? Left::little : Left::much;
}

/// Worker-collective, for an idle worker of the first PE of this process. Left::none if at some moment of the call no item was left on any
/// PE of this process; `created` is then the number of stays so far. Left::little is an estimate.
template <Worker W, class View>
SHOAL_FN Left quiescent(const W& w, const View& view, std::uint64_t& created) {
  std::uint64_t completed = 0;
  for (pe_t q = view.first_near + static_cast<pe_t>(w.lane()); q < view.end_near; q += static_cast<pe_t>(w.size())) {
    completed += view.transport.get(q, &view.control[q]->completed);
  }
  completed = w.sum(completed);  // all lanes have read all completed counters before any reads a created one
  created = created_everywhere(w, view);
  if constexpr (SelfContained<typename View::Task>) {
    // Queues of self-contained items do not make the pusher's earlier writes visible. So the tail that was read above may
    // not yet count an item that is already completed. Adding zero reads the newest value: the read cannot come before the
    // addition that counted that item, because the pusher's ticket depends on that addition, the slot on the ticket, the
    // completion on the slot, and this read on the completion.
    if (completed != created) return little_or_much(view, created - completed);
    created = created_everywhere</*kNewest=*/true>(w, view);
  }
  return completed == created ? Left::none : little_or_much(view, created - completed);
}

/// quiescent() for one part (a warp) of a block. Out of line on GPUs, because a block has no registers to spare for it.
template <class Part, class View>
SHOAL_OUT_OF_LINE SHOAL_FN Left part_sees_quiescence(const View& view, std::uint64_t& created) {
  return quiescent(Part(), view, created);
}

/// Worker-collective: as quiescent(). In a block, one warp does it while the others wait.
/// @param created  set on the leader, if none is left
template <Worker W, class View>
SHOAL_FN Left what_is_left(const W& w, const View& view, std::uint64_t& created) {
  if constexpr (HasParts<W>) {
    lane_t left = 0;
    if (w.lane() < W::Part::kMaxLanes)
      left = static_cast<lane_t>(part_sees_quiescence<typename W::Part>(view, created));
    return static_cast<Left>(w.from_leader(left));
  } else {
    return quiescent(w, view, created);
  }
}

}  // namespace shoal
