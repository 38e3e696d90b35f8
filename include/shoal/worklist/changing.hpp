// What changes of a worker while it works: one struct, so that it can leave the worker and come back as a whole.
//
// On GPUs rare work is done out of line, on a copy of the worker (Scheduler::rarely). This struct comes back, and nothing
// else. So whatever a worker changes belongs here; the other members of Out and Scheduler are constant.
#pragma once
#include <type_traits>

#include "shoal/core/state_log.hpp"
#include "shoal/worklist/phases.hpp"
#include "shoal/worklist/tally.hpp"
#include "shoal/worklist/view.hpp"

namespace shoal {

/// One-lane workers: accepted items that wait for a reservation together, and items that this worker owes to slots that
/// are reserved already (Out::place).
template <Worker W, class Item>
struct ChangingOfOneLane {
  struct Owed {
    ticket_t ticket;
    Item item;
  };
  lane_t buffered = 0;
  Item buffer[W::kBuffer];
  lane_t owing = 0;
  Owed owed[W::kHoldsTickets ? W::kBuffer : 1];
};

/// Workers of several lanes.
struct ChangingOfSeveralLanes {
  lane_t share = 0;      ///< tickets that it asks for at once, if it holds tickets: Scheduler::share
  bool claimed = false;  ///< whether it has asked since its last batch
};

/// One-lane workers among several PEs: items for other PEs that wait to be appended to segments together.
template <Worker W, class Item>
struct ChangingWithSegments {
  static constexpr lane_t kLeaves = W::kBuffer < 16 ? W::kBuffer : 16;
  std::uint64_t carried_at = 0;  ///< what this worker had pushed when it carried last
  lane_t leaving = 0;
  Item leaves[kLeaves];
  pe_t leaves_for[kLeaves];
};

/// Tasks with phases.
struct ChangingInPhases {
  std::uint64_t phase = 0;  ///< the last phase that this worker has carried out, or carries out
};

/// Tasks with priorities.
struct ChangingInPriorities {
  bool brings = false;  ///< whether parked items that the phase has reached are left to run: FarStore::bringing
};

/// Tasks with idle().
struct ChangingInSweeps {
  lane_t parts_left = 0;  ///< parts left to look through before this worker rests
  bool muted = false;     ///< inside idle()
};

/// Tasks that combine items.
struct ChangingWithCombine {
  bool holds = false;  ///< whether this worker's table may hold items; the same on every lane
};

/// CPU threads: what a worker does, for a trace. (Worker states: worklist/trace.hpp)
struct ChangingWithLog {
  StateLog* log = nullptr;
};

/// In place of state that this kind of worker or task does not need: it would be stored and loaded again around every
/// call that is out of line.
template <class State>
struct Without {};

/// All of it, one object per lane. Fields of the leader are valid on lane 0.
template <Worker W, class View, class TaskT = typename View::Task, class Item = typename View::Item>
struct Changing : std::conditional_t<W::kMaxLanes == 1, ChangingOfOneLane<W, Item>, ChangingOfSeveralLanes>,
                  std::conditional_t<W::kMaxLanes == 1 && !kAlone<View>, ChangingWithSegments<W, Item>, Without<View>>,
                  std::conditional_t<kPhased<TaskT>, ChangingInPhases, Without<ChangingInPhases>>,
                  std::conditional_t<HasPriority<TaskT>, ChangingInPriorities, Without<ChangingInPriorities>>,
                  std::conditional_t<HasIdle<TaskT>, ChangingInSweeps, Without<ChangingInSweeps>>,
                  std::conditional_t<HasCombine<TaskT>, ChangingWithCombine, Without<ChangingWithCombine>>,
                  std::conditional_t<std::is_same_v<W, CpuThread>, ChangingWithLog, Without<ChangingWithLog>> {
  SpillList list;  ///< this worker's spill
  Hand<Item> hand;
  lane_t credit = 0;  ///< leader: credits for ring slots that this worker has emptied
  LaneTally<W> tally = {};
  std::uint64_t finished = 0;  ///< leader: completed and not reported yet
  bool seeds_left = false;     ///< whether there may be seeds left; if there are few, only the first workers look
  bool stuck = false;          ///< its spill could not move at the last try
#if defined(SHOAL_CLOCKS)
  Clocks clocks;
#endif
};

}  // namespace shoal
