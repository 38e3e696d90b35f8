// The frame of a program that is an array of blocks: reads flags, finds the PEs, reports errors, returns the exit status. (A grid
// has its own: program/grid_program.hpp.)
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

/// What the command line of such a program says.
struct BlockContext {
  const Machine& machine;
  std::vector<pe_t> where;  ///< [blocks] the PE of each, of all processes: --odf of them for each PE, as --mapping says
  Mapping mapping;          ///< place_blocks() places blocks in several dimensions by it (blocks/mapping.hpp)
  LaunchOptions launch;
  std::int64_t iterations;

  /// Of several processes, in each of which the body runs, one says what comes of it.
  bool leader() const { return machine.first_pe() == 0; }
};

/// Reads `[--iterations N] [--odf K] [--pes P]` and the other flags of blocks, and runs `body` once. `--help` shows `about` and
/// the flags.
/// @param body  returns whether its answer is right
/// @return exit status, as run_program
int run_block_program(int argc, char** argv, const char* about, const std::function<bool(const BlockContext&)>& body);

/// Calls body(launcher) with what runs the blocks of an array that is placed: blocks::cpu::Launcher or blocks::gpu::Launcher, whose
/// members are the same. Every process.
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

/// Starts the blocks of an array that is placed, and lets them take steps. Every process.
/// @return seconds
/// @throws DeviceError, Interrupted
template <class B>
double run_blocks(const BlockContext& ctx, BlockArray<B>& array) {
  return with_launcher(ctx, array, [&](auto& launcher) {
    launcher.start();
    return launcher.run({0, static_cast<blocks::step_t>(ctx.iterations), false});
  });
}

}  // namespace shoal
