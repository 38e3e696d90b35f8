// The main function of a program that is an array of blocks: reads flags, finds the PEs, reports errors, and returns the exit
// status. (For a grid there is program/grid_program.hpp.)
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "shoal/blocks/launch_cpu.hpp"
#include "shoal/blocks/mapping.hpp"
#include "shoal/core/error.hpp"
#include "shoal/program/grid_flags.hpp"
#include "shoal/world/machine.hpp"
#if defined(__CUDACC__)
#include "shoal/blocks/launch_gpu.cuh"
#endif

namespace shoal {

/// What the command line of such a program asks for.
struct BlockContext {
  const Machine& machine;
  std::vector<pe_t> where;  ///< [blocks of all processes] the PE of each: --odf blocks per PE, placed by --mapping
  Mapping mapping;          ///< for place_blocks(), to place blocks in several dimensions (blocks/mapping.hpp)
  LaunchOptions launch;
  std::int64_t iterations;

  /// True in the process that should print the result: the body runs in every process.
  bool leader() const { return machine.first_pe() == 0; }
};

/// Reads `[--iterations N] [--odf K] [--pes P]` and the other flags of blocks, and runs `body` once. `--help` shows `about` and
/// the flags.
/// @param body  returns whether its answer is right
/// @return the exit status, as run_program
int run_block_program(int argc, char** argv, const char* about, const std::function<bool(const BlockContext&)>& body);

/// Calls body(launcher) with a launcher for the blocks of an array that has been placed: a blocks::cpu::Launcher or a
/// blocks::gpu::Launcher, which have the same members. Every process calls it.
/// @return what the body returns
template <class B, class Body>
auto with_launcher(const BlockContext& ctx, BlockArray<B>& array, const Body& body) {
  if (!ctx.machine.on_gpu()) {
    blocks::cpu::Launcher<B> launcher(array, ctx.launch);
    return body(launcher);
  }
#if defined(__CUDACC__)
  blocks::gpu::Launcher<B> launcher(array, ctx.launch);
  return body(launcher);
#else
  throw UsageError("this program was compiled without nvcc and runs on CPU threads only; use --device cpu");
#endif
}

/// Starts the blocks of an array that has been placed, and runs ctx.iterations steps. Every process calls it.
/// @return the seconds that the steps took
/// @throws DeviceError, Interrupted
template <class B>
double run_blocks(const BlockContext& ctx, BlockArray<B>& array) {
  return with_launcher(ctx, array, [&](auto& launcher) {
    launcher.start();
    return launcher.run({0, static_cast<blocks::step_t>(ctx.iterations), false});
  });
}

}  // namespace shoal
