// Which GPUs a run gets, by what they can do for each other.
#pragma once
#include <string>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/world/devices.hpp"

namespace shoal {

struct GpuChoice {
  std::vector<int> devices;  ///< [n_pes] the GPU of each PE; of one process, dealt round robin
  std::string why;           ///< so many PEs: "asked for", or what spoke for another number
};

/// PEs of several GPUs store into each other's memory, and change counters there by atomics: those that give back a
/// channel's credits, for instance. So each GPU must reach each other one, and that with native atomics, which most GPUs
/// have over NVLink and few over PCIe.
///
/// Where a number of PEs was asked for, they take the first GPUs. Else all GPUs are taken; and the first one alone where
/// the work is small, or where not all can do this for each other.
/// @param found        at least one
/// @param pes          0: none was asked for
/// @param pes_per_gpu  most PEs that share a GPU
/// @param one_gpu      the work is too small for several GPUs
/// @throws UsageError  more PEs were asked for than the GPUs take, or several GPUs that cannot do this for each other
GpuChoice choose_gpus(const std::vector<DeviceInfo>& found, pe_t pes, pe_t pes_per_gpu, bool one_gpu);

/// One of the processes of a host that share its GPUs.
struct ProcessOfHost {
  int process = 0;     ///< among those of this host
  int processes = 1;   ///< of this host
  bool apart = false;  ///< GPUs of different processes do not use each other's memory
};

/// The same for one of several processes, which have as many PEs each: they take the first GPUs, process by process. Kernels
/// of two processes are never on a GPU at a time; so PEs that share one are of the same process, as far as that goes. Where they are
/// apart, no PEs share a GPU, because the wire between them (NCCL) does not allow it.
/// @param pes  of each process; 0: none was asked for, which is one
/// @throws UsageError  as above
GpuChoice choose_gpus(const std::vector<DeviceInfo>& found, pe_t pes, pe_t pes_per_gpu, const ProcessOfHost& process);

}  // namespace shoal
