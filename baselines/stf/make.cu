#include "make.hpp"

#include <cuda/std/version>

#include "../nccl/engine.hpp"
#include "../nccl/rank_threads.cuh"
#include "ranking.cuh"
#include "search.cuh"

namespace shoal::stf {

std::unique_ptr<baselines::Engine> make_engine(baselines::Processes& processes, int ranks_of_process) {
  return std::make_unique<nccl::Engine<nccl::RankThreads, Search, Ranking>>(processes, ranks_of_process, "shoal_stf");
}

std::string nccl_version() { return Communicator::version(); }
std::string cccl_version() {
  return std::to_string(CCCL_MAJOR_VERSION) + "." + std::to_string(CCCL_MINOR_VERSION) + "." +
         std::to_string(CCCL_PATCH_VERSION);
}

}  // namespace shoal::stf
