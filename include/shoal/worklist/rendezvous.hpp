// Whether the kernels of all PEs run at the same time. They must, because workers of different PEs wait for each
// other. CUDA guarantees co-residency for the blocks of one cooperative kernel, but not for two kernels that share a GPU, and
// another program may occupy a GPU. So each kernel sets a flag when it begins, and the host checks the flags.
#pragma once
#include <string>
#include <vector>

#include "shoal/worklist/stall.hpp"

namespace shoal {

/// The message of a DeviceError: which kernels have not begun by the deadline, and what would help. Empty before the deadline,
/// if all have begun, and if the run has ended, because a kernel that begins after that returns at once.
/// @param devices  [n_pes] the GPU of each PE
/// @param waited_seconds  the time since the launch
std::string missed_rendezvous(const std::vector<PeSnapshot>& pes, const std::vector<int>& devices,
                              double waited_seconds, double deadline_seconds);

}  // namespace shoal
