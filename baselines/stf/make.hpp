// Makes the engine of shoal_stf. This header is for sources that the host compiler compiles.
#pragma once
#include <memory>
#include <string>

#include "../common/engine.hpp"
#include "../common/processes.hpp"

namespace shoal::stf {

std::unique_ptr<baselines::Engine> make_engine(baselines::Processes& processes, int ranks_of_process);
std::string nccl_version();
std::string cccl_version();

}  // namespace shoal::stf
