// The engine of shoal_nccl, for a source that the host compiler compiles.
#pragma once
#include <memory>
#include <string>

#include "../common/engine.hpp"
#include "../common/processes.hpp"

namespace shoal::nccl {

std::unique_ptr<baselines::Engine> make_engine(baselines::Processes& processes, int ranks_of_process);
std::string nccl_version();

}  // namespace shoal::nccl
