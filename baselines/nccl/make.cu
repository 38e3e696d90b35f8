#include "engine.hpp"
#include "grid_engine.cuh"
#include "make.hpp"
#include "rank_threads.cuh"
#include "ranking.cuh"
#include "search.cuh"

namespace shoal::nccl {

std::unique_ptr<baselines::Engine> make_engine(baselines::Processes& processes, int ranks_of_process) {
  return std::make_unique<Engine<RankThreads, Search, Ranking>>(processes, ranks_of_process, "shoal_nccl");
}

std::unique_ptr<baselines::GridEngine> make_grid(baselines::Processes& processes, int ranks_of_process,
                                                 const baselines::GridWanted& wanted) {
  return std::make_unique<GridEngine>(processes, ranks_of_process, wanted);
}

std::string nccl_version() { return Communicator::version(); }

}  // namespace shoal::nccl
