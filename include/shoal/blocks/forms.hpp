// Options of how blocks are run, and what decides those that are left open.
#pragma once
#include <cstdint>
#include <string>

#include "shoal/core/types.hpp"
#include "shoal/world/decision.hpp"

namespace shoal {

enum class BlockForm {
  automatic,
  threads,   ///< CPU threads that take tiles
  resident,  ///< one kernel per PE for all steps, in which blocks synchronise by counters; the host only watches
  kernels,  ///< kernels for each block and step, on a stream for each block, ordered by events. The host only launches them
};
/// For the form `kernels`: which of a step's unpacks, update and packs are fused into one kernel.
enum class Fusion {
  automatic,
  none,  ///< a kernel for each side's unpack, one for the update, one for each side's pack
  a,     ///< all packs are one kernel
  b,     ///< all unpacks are one kernel as well
  c,     ///< the whole step of a block is one kernel
  d,     ///< the whole step of all blocks of a PE is one kernel
};

/// How the values that blocks pack for other PEs get there.
enum class Halos {
  direct,  ///< the worker that packs stores into the receiver's memory
  staged,  ///< copies by way of the host, in two urgent streams per PE. Only form `kernels`, only within a process
  copied,  ///< copies from GPU to GPU in an urgent stream, with the same limits
};

/// How a launcher runs blocks.
struct LaunchOptions {
  BlockForm form = BlockForm::automatic;
  Fusion fusion = Fusion::automatic;  ///< of the form `kernels`
  /// For the form `kernels`: the number of steps in one CUDA graph, even; 0: no graphs; -1: decide_launch() chooses if it also
  /// chooses the form, else no graphs.
  int graph = -1;
  /// For the form `kernels` with fusion none, a or b: packs and unpacks run in streams of their own, of higher priority.
  bool urgent_packs = false;
  Halos halos = Halos::direct;
  /// For the form `resident`, and for several processes: if no tile is taken for so long, the run ends with an error.
  double stall_timeout_seconds = 10;
  bool weigh = false;  ///< runs measure how long blocks take, for GridSteps::balance(); not with form `kernels`
};

const char* name(BlockForm form);
const char* name(Fusion fusion);
const char* name(Halos halos);
/// @throws UsageError naming the text and the legal values
BlockForm parse_block_form(const std::string& text);
Fusion parse_fusion(const std::string& text);
Halos parse_halos(const std::string& text);

/// What the choice of options depends on.
struct BlockSizes {
  bool on_gpu;
  pe_t pes;                   ///< of all processes
  std::uint64_t tiles = 1;    ///< tiles of a step, on the PE that has most
  std::uint64_t workers = 1;  ///< workers of a PE
};
/// Chooses the options that are left open, and adds each choice and its reason to `chosen`.
/// @throws UsageError  the form is for another kind of processor, or options contradict each other
LaunchOptions decide_launch(LaunchOptions options, const BlockSizes& sizes, Decisions& chosen);

}  // namespace shoal
