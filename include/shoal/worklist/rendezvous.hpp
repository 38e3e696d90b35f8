// Whether the persistent kernels of all PEs have met. Workers of different PEs wait for each other, so all kernels must be
// on their GPUs at the same time. CUDA promises that for the blocks of one cooperative kernel, but not for two kernels that
// share a GPU, and another program may be in the way. So each kernel says when it has begun, and the host looks.
#pragma once
#include <string>
#include <vector>

#include "shoal/worklist/stall.hpp"

namespace shoal {

/// The line of a DeviceError: which kernels have not begun by the deadline, and what would help. Empty before the deadline,
/// when all have begun, and when the run has ended: a kernel that begins then leaves at once.
/// @param devices  [n_pes] the GPU of each PE
/// @param waited_seconds  since the launch
std::string missed_rendezvous(const std::vector<PeSnapshot>& pes, const std::vector<int>& devices,
                              double waited_seconds, double deadline_seconds);

}  // namespace shoal
