// What the programs on GPUs share beside common/program.hpp: processes that MPI started, where this was built with MPI.
#pragma once
#include <cstdlib>

#include "../common/program.hpp"
#include "provenance.hpp"
#include "shoal/data/pending_file.hpp"
#if SHOAL_BASELINE_MPI
#include "../mpi/processes.hpp"
#endif

namespace shoal::nccl {

inline int gpu_program(int argc, char** argv, baselines::Kind& kind) {
  cli::command_begins({argv + (argc > 0), argv + argc});
  kind.on_gpus = true;
  // All kernels now, not each before its first launch: that may wait for a GPU that waits within NCCL.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  // No NVLink multicast, which sums of a few words do not need: on shared hosts a program that breaks off with it may leave
  // other users' GPUs in a bad state.
  setenv("NCCL_NVLS_ENABLE", "0", 0);
#if SHOAL_BASELINE_MPI
  const auto describe = kind.describe;
  kind.describe = [describe](auto& json) {
    json["mpi"] = mpi::Processes::library();
    describe(json);
  };
  mpi::Processes processes(&argc, &argv);
#else
  io::remove_pending_files_on_signals();
  baselines::Processes processes;
#endif
  return baselines::run_program(argc, argv, kind, processes);
}

}  // namespace shoal::nccl
