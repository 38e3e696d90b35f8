// The transport between GPUs that cannot reach each other's memory, because they belong to several hosts. It is NCCL, in a
// shared object that is loaded when it is needed.
#pragma once
#include <string>

#include "gpu_wire_table.hpp"

namespace shoal {

/// Loads the transport. @throws UsageError  this build has none, or it cannot be loaded; with a cure
const GpuWireTable& gpu_wire();
/// Why the transport is not available, with a cure; empty: it is available.
std::string why_no_gpu_wire();

}  // namespace shoal
