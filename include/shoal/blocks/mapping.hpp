// How an array of cells is cut into blocks, and which PE has which block.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/blocks/size_n.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// The number of cells or blocks along three dimensions, or the place of one of them.
struct Size3 {
  std::int64_t x = 1, y = 1, z = 1;
  SHOAL_FN std::int64_t volume() const { return x * y * z; }
  bool operator==(const Size3&) const = default;
  SizeN n() const { return {x, y, z}; }
};

/// Cuts an array of cells into blocks so that as few cells as possible lie at a cut.
/// @param cells   along each dimension, at least 1
/// @param blocks  how many are wanted, at least 1. If no factors of this number fit the cells (13 blocks of 5 x 6 x 7 cells), the
///                next smaller number whose factors fit is taken
/// @param dear    the cost of a cell at a cut, for cuts across each dimension
/// @return the number of blocks along each dimension. Of cuts with equal cost, the one across the first dimensions is taken: the
///         cells of such faces lie closer together in memory
SizeN cut_cells(const SizeN& cells, std::int64_t blocks, const SizeN& dear);
SizeN cut_cells(const SizeN& cells, std::int64_t blocks);  ///< every cell at a cut costs 1
Size3 cut_grid(Size3 grid, std::int64_t blocks, Size3 dear = {1, 1, 1});
/// `dear` for blocks of the same GPU. Cuts across x cost least, since the planes below and above are read in place. Cuts across z
/// cost most, since each cell that crosses z lies in a cache line of its own.
inline constexpr Size3 kDearOnOneGpu{1, 6, 32};
/// The cut for GPUs: each PE gets a part of the grid, and the parts have least surface. Each part is cut into `odf` blocks by the
/// costs kDearOnOneGpu. If the grid cannot be cut into `n_pes` parts, cut_grid() cuts it into n_pes x odf blocks. A part that
/// cannot be cut into `odf` blocks gets the next smaller number that fits.
Size3 cut_grid_for_gpus(Size3 grid, pe_t n_pes, std::int64_t odf);

/// The first cell of part i when `cells` cells are divided into `parts` parts, whose sizes differ by at most one cell.
inline std::int64_t part_begin(std::int64_t cells, std::int64_t parts, std::int64_t i) {
  return cells / parts * i + cells % parts * i / parts;
}

/// Which PE gets which block. block: each PE gets consecutive blocks. round_robin: block b goes to PE b modulo the number of PEs.
/// parts: the array is cut into a part of least surface for each PE. file: a file names the PE of each block.
enum class MappingKind { block, round_robin, parts, file };

struct Mapping {
  MappingKind kind = MappingKind::block;
  std::string file;
};
/// `block`, `round-robin`, `parts` or `file:PATH`. @throws UsageError
Mapping parse_mapping(const std::string& text);
std::string name(const Mapping& mapping);

/// Checks an overdecomposition factor after it has been chosen. @throws UsageError  it is not from 1 to 4096
void check_odf(std::int64_t odf);

/// Assigns blocks to PEs.
/// @param blocks   along each dimension
/// @param options  for errors: the options that change the number of blocks, such as "--odf"; empty: no option does
/// @return [blocks] the PE of each block; some PEs may get none
/// @throws UsageError  the mapping's file cannot be read, or does not have one PE number for each block, in order of blocks
std::vector<pe_t> place_blocks(const SizeN& blocks, pe_t n_pes, const Mapping& mapping,
                               const std::string& options = "");
/// The mapping `parts`, which grids on GPUs also use for `block`: cut_cells() cuts the cells into a part for each PE, and the PE
/// gets the blocks of its part. If blocks do not divide evenly among such parts, the mapping `block` is used.
std::vector<pe_t> place_parts(const SizeN& cells, const SizeN& blocks, pe_t n_pes);

/// Balances load by moving blocks from the PE that takes longest to the one that takes least. Each move is the one that helps
/// most; it ends when no move helps by more than a hundredth of the PEs' average time. This moves few blocks, unlike a new
/// assignment of all.
/// @param busy   [blocks] how long each takes
/// @param where  [blocks] the present PE of each
/// @return [blocks] the new PE of each
std::vector<pe_t> balance_blocks(const std::vector<double>& busy, pe_t n_pes, std::vector<pe_t> where);

}  // namespace shoal
