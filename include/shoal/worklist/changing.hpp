// The state of a worker that changes while it works, in one struct, so that it can be copied as a whole.
//
// On GPUs rare work is done out of line, on a copy of the worker (Scheduler::rarely). Afterwards only Changing and OwnOfLane are copied
// back. So all state that a worker changes belongs into one of them; the other members of Out and Scheduler are constant.
//
// A block has Changing in shared memory, one for each lane, and counts there for all lanes together. It uses them a few times in a
// batch, while the loops of a batch need the registers (docs/decisions/0068-registers-of-blocks.md).
#pragma once
#include <type_traits>

#include "shoal/core/state_log.hpp"
#include "shoal/worklist/phases.hpp"
#include "shoal/worklist/tally.hpp"
#include "shoal/worklist/view.hpp"

namespace shoal {

/// One-lane workers: accepted items that are collected for one reservation of slots, and items that this worker owes to slots
/// that it has reserved already (Queuing::place).
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

/// Whether a worker calls the task's refresh(): blocks do, in runs on several PEs. A worker of one warp runs batches that take less time
/// than a part of a refresh.
template <class W, class View>
inline constexpr bool kRefreshes = HasParts<W>&& HasRefresh<typename View::Task> && !kAlone<View>;

/// Whether a worker may keep accepted items for its own next batch (Queuing::keep): warps do. Without priorities, what is kept could
/// run ahead of what waits in the ring without a limit.
template <class W, class TaskT>
inline constexpr bool kKeepsItems =
    W::kMaxLanes > 1 && !HasParts<W> && (HasPriority<TaskT> || AnyOrder<TaskT>)&&!HasEnough<TaskT>;

/// Workers of several lanes.
struct ChangingOfSeveralLanes {
  lane_t share = 0;      ///< tickets that it claims at once, if it holds tickets: Taking::share
  bool claimed = false;  ///< whether it has claimed tickets since its last batch
};

/// One-lane workers, in runs on several PEs: items for other PEs that are collected to be appended to segments together.
template <Worker W, class Item>
struct ChangingWithSegments {
  static constexpr lane_t kLeaves = W::kBuffer < 16 ? W::kBuffer : 16;
  std::uint64_t carried_at = 0;  ///< how many items this worker had pushed at its last call of Out::carry
  lane_t leaving = 0;
  Item leaves[kLeaves];
  pe_t leaves_for[kLeaves];
};

/// Tasks with phases.
struct ChangingInPhases {
  std::uint64_t phase = 0;  ///< the last phase that this worker has carried out, or is carrying out
};

/// Tasks with priorities.
template <class TaskT>
struct ChangingInPriorities {
  FarFrom<PriorityOf<TaskT>> far_from = {};  ///< Buckets::far_from() the threshold of the phase
  bool brings = false;  ///< whether parked items that the phase has reached may be left to run: FarStore::bringing
};

/// Workers that keep items (kKeepsItems); the same on every lane.
struct ChangingWithKept {
  lane_t kept = 0;  ///< items that it keeps now: Taking::take_more
};

/// Tasks with idle().
struct ChangingInSweeps {
  lane_t parts_left = 0;  ///< parts for which idle() is still to be called before this worker reports what it completed
  bool muted = false;     ///< true inside idle(): Out::mute
};

/// Blocks, for tasks with refresh().
struct ChangingWithRefresh {
  lane_t batches = 0;  ///< batches that it has run; the same on every lane
};

/// Tasks that combine items.
struct ChangingWithCombine {
  bool holds = false;  ///< whether this worker's table may hold items; the same on every lane
};

/// CPU threads: the log of the worker's states (WorkerState), for a trace.
struct ChangingWithLog {
  StateLog* log = nullptr;  ///< null: the run writes no trace
};

/// An empty struct in place of state that this kind of worker or task does not need. Such state would be stored and loaded
/// around every out-of-line call.
template <class State>
struct Without {};

/// Workers whose lanes do not count together: the counts of each lane.
template <Worker W>
struct ChangingCounts {
  LaneTally<W> tally = {};
};

/// All of a worker's changing state but what is in OwnOfLane, one object per lane. Fields marked "leader" are valid on lane 0 only.
template <Worker W, class View, class TaskT = typename View::Task, class Item = typename View::Item>
struct Changing
    : std::conditional_t<W::kMaxLanes == 1, ChangingOfOneLane<W, Item>, ChangingOfSeveralLanes>,
      std::conditional_t<W::kMaxLanes == 1 && !kAlone<View>, ChangingWithSegments<W, Item>, Without<View>>,
      std::conditional_t<kPhased<TaskT>, ChangingInPhases, Without<ChangingInPhases>>,
      std::conditional_t<HasPriority<TaskT>, ChangingInPriorities<TaskT>, Without<ChangingInPriorities<TaskT>>>,
      std::conditional_t<kKeepsItems<W, TaskT>, ChangingWithKept, Without<ChangingWithKept>>,
      std::conditional_t<HasIdle<TaskT>, ChangingInSweeps, Without<ChangingInSweeps>>,
      std::conditional_t<kRefreshes<W, View>, ChangingWithRefresh, Without<ChangingWithRefresh>>,
      std::conditional_t<HasCombine<TaskT>, ChangingWithCombine, Without<ChangingWithCombine>>,
      std::conditional_t<std::is_same_v<W, CpuThread>, ChangingWithLog, Without<ChangingWithLog>>,
      std::conditional_t<HasParts<W>, Without<ChangingCounts<W>>, ChangingCounts<W>> {
  SpillList list;              ///< this worker's spill
  lane_t credit = 0;           ///< leader: credits for ring slots that this worker has emptied
  std::uint64_t finished = 0;  ///< leader: stays and tokens that it has completed, or runs, and not reported yet
  bool seeds_left = false;     ///< whether there may be seeds left; if there are few, only the first workers take some
  bool stuck = false;          ///< whether none of its spilled items could move at the last try
};

/// The changing state that a lane has in its registers, also of a block.
template <class Item>
struct OwnOfLane {
  Hand<Item> hand;
#if defined(SHOAL_CLOCKS)
  Clocks clocks;
#endif
};

}  // namespace shoal
