// Chooses the GPUs of a run, by whether they can access each other's memory.
#pragma once
#include <string>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/world/devices.hpp"

namespace shoal {

struct GpuChoice {
  std::vector<int> devices;  ///< [n_pes] the GPU of each PE; in a run of one process, GPUs are assigned round robin
  std::string why;           ///< why there are this many PEs: "asked for", or another reason
};

/// PEs on several GPUs store into each other's memory, and change counters there by atomics, for instance to give back a
/// channel's credits. So each GPU must reach every other GPU, with native atomics. Most GPUs have these over NVLink, and few over
/// PCIe.
///
/// If a number of PEs was asked for, they take the first GPUs. Otherwise all GPUs are taken; but only the first if the work is
/// small, or if some GPU cannot access another in this way.
/// @param found        at least one GPU
/// @param pes          0: no number was asked for
/// @param pes_per_gpu  most PEs that share a GPU
/// @param one_gpu      the work is too small for several GPUs
/// @throws UsageError  more PEs were asked for than the GPUs can take, or they need GPUs that cannot access each other
GpuChoice choose_gpus(const std::vector<DeviceInfo>& found, pe_t pes, pe_t pes_per_gpu, bool one_gpu);

/// One of the processes of a host that share its GPUs.
struct ProcessOfHost {
  int process = 0;     ///< number among the processes of this host
  int processes = 1;   ///< processes of this host
  bool apart = false;  ///< GPUs of different processes do not use each other's memory
};

/// The same for one of several processes that have equally many PEs: they take the first GPUs, process by process. Kernels of two
/// processes never run on a GPU at the same time, so PEs that share a GPU belong to the same process as far as possible. If the
/// GPUs are apart, no PEs share a GPU, because the wire between them (NCCL) does not allow it.
/// @param pes  PEs of each process; 0: no number was asked for, so one
/// @throws UsageError  as above
GpuChoice choose_gpus(const std::vector<DeviceInfo>& found, pe_t pes, pe_t pes_per_gpu, const ProcessOfHost& process);

}  // namespace shoal
