#include "engine.cuh"
#include "make.hpp"
#include "ranking.cuh"
#include "search.cuh"

namespace shoal::nccl {

std::unique_ptr<baselines::Engine> make_engine(baselines::Processes& processes, int ranks_of_process) {
  return std::make_unique<Engine<Search, Ranking>>(processes, ranks_of_process, "shoal_nccl");
}

std::string nccl_version() { return Communicator::version(); }

}  // namespace shoal::nccl
