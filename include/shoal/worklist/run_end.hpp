// The checks before and after a run of a worklist. They do not depend on the type of the task.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/worklist/stall.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

/// Checks that a task can be run as the plan says.
/// @param item_bytes                     the size of the task's items: a segment has room for at least one
/// @param priority,remote_judge,combine  whether the task has the members for these
/// @throws UsageError  the plan asks for something that the task lacks (priorities, judging by the pusher, combining), or for
///   combining and judging by the pusher at once, or a number of it is out of range
void check_plan(const LaunchPlan& plan, std::int64_t item_bytes, bool priority, bool remote_judge, bool combine);

/// @throws UsageError  there is not one task and one list of seeds for each PE
void check_lists(pe_t n_pes, std::size_t tasks, std::size_t lists_of_seeds);

/// What a PE had sent through one channel (or to one PE, with segments) when a run began.
struct SentBefore {
  std::uint64_t items = 0, messages = 0;
};
/// @param counters  [PEs of this process]
/// @return [PEs of this process * channels of a PE], those of one PE after the other
std::vector<SentBefore> sent_before(std::span<const PeControl> counters, pe_t all_pes);

/// The counters of the PEs of this process after a run, and what else is needed to evaluate them.
struct RunCounts {
  std::span<const PeControl> after;  ///< [PEs of this process]
  std::vector<SentBefore> before;    ///< from sent_before()
  pe_t first = 0;                    ///< the number of the first PE of this process
  pe_t all_pes = 1;                  ///< the number of PEs of all processes
  std::vector<std::uint64_t> seeds;  ///< [PEs of this process] how many seeds there were
  std::uint64_t chunks = 0;          ///< chunks of spill on each PE
  std::size_t item_bytes = 0;        ///< bytes that an item takes on its way to another PE
  std::size_t message_bytes = 0;     ///< bytes that a message takes besides its items
  bool phased = false;
};
/// Adds to `report` what the workers counted, what was sent to other PEs, and how many items are left.
/// @return how the run ended: done or enough
/// @throws UsageError, CapacityError, TransportError, DeviceError, Interrupted  it ended badly, or the counts do not add up
RunState end_run(const LaunchPlan& plan, const RunCounts& counts, Report& report);

}  // namespace shoal
