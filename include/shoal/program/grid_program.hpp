// The main function of a program on a grid in blocks: reads flags, finds the PEs, reports errors, and returns the exit status.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "shoal/blocks/grid_steps.hpp"
#include "shoal/blocks/launch_cpu.hpp"
#include "shoal/core/error.hpp"
#include "shoal/world/machine.hpp"
#if defined(__CUDACC__)
#include "shoal/blocks/launch_gpu.cuh"
#endif

namespace shoal {

/// What the command line of such a program asks for.
struct GridContext {
  const Machine& machine;
  Size3 size;
  GridOptions options;
  std::int64_t iterations;

  /// True in the process that should print the result: the body runs in every process.
  bool leader() const { return machine.first_pe() == 0; }
};

/// Reads `X Y Z [--iterations N] [--odf K] [--pes P]` and the other flags of blocks, and runs `body` once. `--help` shows
/// `about` and the flags.
/// @param body  returns whether its answer is right
/// @return the exit status, as run_program
int run_grid_program(int argc, char** argv, const char* about, const std::function<bool(const GridContext&)>& body);

/// Makes the grid of a program S (blocks/grid.hpp) as the command line asks for it, and starts it. It has taken no step yet.
/// @throws UsageError, CapacityError, DeviceError
template <class S>
std::unique_ptr<GridSteps<typename S::Value>> make_grid(const GridContext& ctx, const S& program) {
  std::unique_ptr<GridSteps<typename S::Value>> grid;
  if (!ctx.machine.on_gpu()) {
    grid = std::make_unique<GridStepsBy<S, blocks::cpu::Launcher>>(ctx.machine, ctx.size, ctx.options, program);
  } else {
#if defined(__CUDACC__)
    grid = std::make_unique<GridStepsBy<S, blocks::gpu::Launcher>>(ctx.machine, ctx.size, ctx.options, program);
#else
    throw UsageError("this program was compiled without nvcc and runs on CPU threads only; use --device cpu");
#endif
  }
  grid->start();
  return grid;
}

}  // namespace shoal
