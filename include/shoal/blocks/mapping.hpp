// How an array of cells is cut into blocks, and which PE has which block.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/blocks/size_n.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// Cells, or blocks, along the three dimensions; also the place of one.
struct Size3 {
  std::int64_t x = 1, y = 1, z = 1;
  SHOAL_FN std::int64_t volume() const { return x * y * z; }
  bool operator==(const Size3&) const = default;
  SizeN n() const { return {x, y, z}; }
};

/// Cuts cells into blocks so that the least number of cells lie at a cut.
/// @param cells   along each dimension, at least 1
/// @param blocks  wanted, at least 1. If no factors of it fit the cells (13 blocks of 5 x 6 x 7 cells), the next smaller
///                number whose factors do
/// @param dear    what a cell at a cut across each dimension counts
/// @return the blocks along each dimension. Of equal cuts those across the first dimensions: their faces are nearer to each
///         other in memory
SizeN cut_cells(const SizeN& cells, std::int64_t blocks, const SizeN& dear);
SizeN cut_cells(const SizeN& cells, std::int64_t blocks);  ///< every cell counts 1
Size3 cut_grid(Size3 grid, std::int64_t blocks, Size3 dear = {1, 1, 1});
/// For blocks that stay on one GPU: planes below and above are read where they are; of what crosses z each cell is a line of memory of
/// its own.
inline constexpr Size3 kDearOnOneGpu{1, 6, 32};
/// For GPUs: each gets a part of the grid, of least surface, in `odf` blocks whose shape is the best on one GPU. Parts that do not fit the
/// grid, or so many blocks a part: as cut_grid() has it.
Size3 cut_grid_for_gpus(Size3 grid, pe_t n_pes, std::int64_t odf);

/// Where part i of `parts` of `cells` begins; parts differ by at most one cell.
inline std::int64_t part_begin(std::int64_t cells, std::int64_t parts, std::int64_t i) {
  return cells / parts * i + cells % parts * i / parts;
}

/// Which PE gets block b: the one whose turn it is in order of blocks (block: consecutive blocks together; round_robin: one
/// each in turn), the one that has the part of the array in which it lies (parts: of least surface), or what a file says.
enum class MappingKind { block, round_robin, parts, file };

struct Mapping {
  MappingKind kind = MappingKind::block;
  std::string file;
};
/// `block`, `round-robin`, `parts` or `file:PATH`. @throws UsageError
Mapping parse_mapping(const std::string& text);
std::string name(const Mapping& mapping);

/// @throws UsageError  an overdecomposition factor that has been decided and is not from 1 to 4096
void check_odf(std::int64_t odf);

/// @param blocks  along each dimension
/// @return [blocks] the PE of each block; some PEs may get none
/// @throws UsageError  a file that cannot be read, or that has not one PE number per block and line
std::vector<pe_t> place_blocks(const SizeN& blocks, pe_t n_pes, const Mapping& mapping);
/// The mapping `parts`, and on GPUs `block`: each PE gets the blocks of a part of the cells, as cut_cells() cuts them. Blocks
/// that do not make up such parts are placed in their order.
std::vector<pe_t> place_parts(const SizeN& cells, const SizeN& blocks, pe_t n_pes);

/// Moves blocks from the PE that takes longest to the one that takes least, the largest that helps first, until no move helps
/// by more than a hundredth of what a PE takes on average. Few are moved, unlike when all are dealt out anew.
/// @param busy   [blocks] how long each takes
/// @param where  [blocks] the PE of each
/// @return [blocks] the new PE of each
std::vector<pe_t> balance_blocks(const std::vector<double>& busy, pe_t n_pes, std::vector<pe_t> where);

}  // namespace shoal
