// What carries bytes between GPUs that do not reach each other's memory, those of several hosts: NCCL, from a shared object
// that is loaded when it is needed.
#pragma once
#include <string>

#include "gpu_wire_table.hpp"

namespace shoal {

/// @throws UsageError  this build has none, or it cannot be loaded; with a cure
const GpuWireTable& gpu_wire();
/// Why not, with a cure; empty: it is there.
std::string why_no_gpu_wire();

}  // namespace shoal
