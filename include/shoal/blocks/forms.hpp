// How blocks are run.
#pragma once
#include <cstdint>
#include <string>

#include "shoal/core/types.hpp"
#include "shoal/world/decision.hpp"

namespace shoal {

enum class BlockForm {
  automatic,
  threads,   ///< CPU threads that take tiles
  resident,  ///< one kernel per GPU for all steps, in which blocks meet by their counts; the host does nothing meanwhile
  kernels,  ///< kernels for each block and step, on a stream for each block, in order by events; the host only launches
};
/// For the form `kernels`: which of a step's unpacks, update and packs are one kernel.
enum class Fusion {
  automatic,
  none,  ///< one for each side's unpack, the update, and each side's pack
  a,     ///< all packs are one
  b,     ///< all unpacks are one as well
  c,     ///< the whole step is one
  d,     ///< the whole step of all blocks of a PE is one
};

/// How what blocks pack for PEs of other GPUs gets there.
enum class Halos {
  direct,  ///< who packs stores into the receiver's memory
  staged,  ///< copies to the host, and from there: two urgent streams of each PE. Of the form `kernels`, within a process
  copied,  ///< copies from GPU to GPU in an urgent stream; likewise
};

/// How a launcher runs blocks.
struct LaunchOptions {
  BlockForm form = BlockForm::automatic;
  Fusion fusion = Fusion::automatic;  ///< of the form `kernels`
  /// Of the form `kernels`: so many steps are one CUDA graph, an even number; 0: none; -1: none, or what auto finds.
  int graph = -1;
  /// Of the form `kernels` with fusion none, a or b: packs and unpacks are in streams of their own, which come first.
  bool urgent_packs = false;
  Halos halos = Halos::direct;
  /// Of the form `resident`, and of several processes: so long without a tile ends a run with an error.
  double stall_timeout_seconds = 10;
  bool weigh = false;  ///< runs measure how long blocks take, for GridSteps::balance(); not of the form `kernels`
};

const char* name(BlockForm form);
const char* name(Fusion fusion);
const char* name(Halos halos);
/// @throws UsageError naming the text and the legal values
BlockForm parse_block_form(const std::string& text);
Fusion parse_fusion(const std::string& text);
Halos parse_halos(const std::string& text);

/// What decides how blocks are run.
struct BlockSizes {
  bool on_gpu;
  pe_t pes;
  std::uint64_t tiles = 1;    ///< of a step, on the PE that has most
  std::uint64_t workers = 1;  ///< of a PE
};
/// Decides what `options` leave open, and says why in `chosen`.
/// @throws UsageError  the form is not for this kind of processor
LaunchOptions decide_launch(LaunchOptions options, const BlockSizes& sizes, Decisions& chosen);

}  // namespace shoal
