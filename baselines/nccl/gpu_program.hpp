// What the programs on GPUs share in addition to common/program.hpp: processes started by MPI, if this is built with MPI.
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
  // Load all kernels now, and not each before its first launch: loading may wait for a GPU that itself waits within NCCL.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  // No NVLink multicast: sums of a few words do not need it, and on shared hosts a program that is aborted while it uses multicast
  // may leave other users' GPUs in a bad state.
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
