// What happens when no item is left that may run, and the run may not be over: the priority threshold moves on, or every
// worker looks through its part of the PE's data once more (idle). Both are phases: ordered by worker 0 of PE 0 at a moment
// of quiescence, carried out by every worker of every PE, counted like items.
//
// A phase creates one token per worker before it can be seen, and a worker completes its token after it has done its part
// and everything that came of it is counted. So the run cannot be found quiescent between the order and its end, and
// quiescence keeps its one meaning. A run ends when it is quiescent, nothing is parked, and the last look of all workers
// created nothing.
//
// Source: the threshold is Groute's soft priority, decided on the GPU; the look is Atos's f2, and "a complete sweep found
// nothing" the end that its listing means (it guesses with a count of idle polls).
#pragma once
#include "shoal/queue/worklist.hpp"

namespace shoal {

/// The phase word: its number, whether it asks for idle(), and the bucket up to which items run.
struct Phase {
  static constexpr std::uint64_t pack(std::uint64_t number, bool sweep, lane_t near) {
    return number << 33 | static_cast<std::uint64_t>(sweep) << 32 | near;
  }
  static SHOAL_FN bool sweeps(std::uint64_t word) { return (word >> 32 & 1) != 0; }
  static SHOAL_FN lane_t near(std::uint64_t word) { return static_cast<lane_t>(word); }
};

/// Tasks that need phases; for others none of this is compiled.
template <class TaskT>
inline constexpr bool kPhased = HasPriority<TaskT> || HasIdle<TaskT>;

/// What the one who orders phases remembers between them.
struct PhaseOrders {
  std::uint64_t number = 0;   ///< of the last phase
  bool swept = false;         ///< since the run began
  std::uint64_t created = 0;  ///< when the last sweep was ordered, its tokens included
};

/// Decides the next phase at a moment of quiescence. `nearest(q)` reads PE q's nearest parked bucket.
/// @param created  the sum that was found equal to what is completed
/// @param now      the present phase word
/// @param tokens   workers of all PEs
/// @param word     the phase to be ordered
/// @return false: the run is over
template <class TaskT, class Nearest>
SHOAL_FN bool next_phase(PhaseOrders& orders, pe_t n_pes, Nearest nearest, std::uint64_t created, std::uint64_t now,
                         std::uint64_t tokens, std::uint64_t& word) {
  lane_t least = kNoBucket;
  if constexpr (HasPriority<TaskT>) {
    for (pe_t q = 0; q < n_pes; ++q) {
      const lane_t there = nearest(q);
      if (there < least) least = there;
    }
  }
  bool sweep = false;
  if (least == kNoBucket) {
    if constexpr (HasIdle<TaskT>) sweep = !orders.swept || created != orders.created;
    if (!sweep) return false;
    orders.swept = true;
    orders.created = created + tokens;
  }
  word = Phase::pack(++orders.number, sweep, least == kNoBucket ? Phase::near(now) : least);
  return true;
}

/// Leader of worker 0 of PE 0, at a moment of quiescence: orders the next phase on every PE. False: the run is over.
template <class View>
SHOAL_FN bool order_phase(const View& view, PhaseOrders& orders, std::uint64_t created) {
  using TaskT = typename View::Task;
  if constexpr (!kPhased<TaskT>) {
    return false;
  } else {
    std::uint64_t word = 0;
    const auto nearest = [&](pe_t q) { return view.transport.get(q, &view.control[q]->nearest); };
    if (!next_phase<TaskT>(orders, view.n_pes, nearest, created, view.here().phase.load(),
                           static_cast<std::uint64_t>(view.n_workers) * static_cast<std::uint64_t>(view.n_pes), word)) {
      return false;
    }
    bool sent = true;
    for (pe_t q = 0; q < view.n_pes; ++q) {
      sent &= view.transport.set(q, &view.control[q]->nearest, kNoBucket);
      sent &= view.transport.add(q, &view.control[q]->tokens, static_cast<std::int64_t>(view.n_workers));
    }
    // Every PE's tokens exist before any worker can see the phase.
    for (pe_t q = 0; q < view.n_pes; ++q) sent &= view.transport.set(q, &view.control[q]->phase, word);
    if (!sent) view.stop_all(RunState::transport_failed);
    return true;
  }
}

}  // namespace shoal
