// What is checked before a run of a worklist and after it, for tasks of any type.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/worklist/stall.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

/// @param priority,remote_judge,combine  what the task has
/// @throws UsageError  the plan wants what the task lacks (priorities, judging by the pusher, combining)
void check_plan(const LaunchPlan& plan, bool priority, bool remote_judge, bool combine);

/// @throws UsageError  there is not one task and one list of seeds for each PE
void check_lists(pe_t n_pes, std::size_t tasks, std::size_t lists_of_seeds);

/// The counters around a run.
struct RunCounts {
  std::vector<PeControl> before, after;  ///< [PEs of this process]
  pe_t first = 0;                        ///< the number of the first of them
  pe_t all_pes = 1;                      ///< of all processes
  std::vector<std::uint64_t> seeds;      ///< [PEs of this process] how many there were
  std::uint64_t chunks = 0;              ///< of spill on each PE
  std::size_t item_bytes = 0;            ///< what an item takes on its way to another PE
  std::size_t message_bytes = 0;         ///< what a message takes besides its items
  bool phased = false;
};
/// Adds to `report` what the workers counted, what was sent and what is left.
/// @return how the run ended: done or enough
/// @throws UsageError, CapacityError, TransportError, DeviceError, Interrupted  it ended badly, or the counts do not add up
RunState end_run(const LaunchPlan& plan, const RunCounts& counts, Report& report);

}  // namespace shoal
