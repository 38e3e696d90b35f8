// Makes the engines of shoal_nccl. This header is for sources that the host compiler compiles.
#pragma once
#include <memory>
#include <string>

#include "../common/engine.hpp"
#include "../common/grid_engine.hpp"
#include "../common/processes.hpp"

namespace shoal::nccl {

std::unique_ptr<baselines::Engine> make_engine(baselines::Processes& processes, int ranks_of_process);
std::unique_ptr<baselines::GridEngine> make_grid(baselines::Processes& processes, int ranks_of_process,
                                                 const baselines::GridWanted& wanted);
std::string nccl_version();

}  // namespace shoal::nccl
