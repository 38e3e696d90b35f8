// The boards (world/boards.hpp) of processes that oshrun, mpirun or srun started.
#pragma once
#include <memory>
#include <string>

#include "shoal/world/boards.hpp"

namespace shoal {

/// Starts OpenSHMEM; at most once in a process. A process that was started alone is process 0 of 1.
/// @throws UsageError: this build has no engine openshmem, or its shared object cannot be loaded; TransportError:
///   OpenSHMEM does not start; CapacityError: it has no memory for the boards
std::unique_ptr<Boards> openshmem_boards();

/// Why this build or this machine has no engine openshmem, with a cure; empty if it has one. Starts nothing.
std::string why_no_openshmem();

}  // namespace shoal
