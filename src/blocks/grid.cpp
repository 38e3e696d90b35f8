#include "shoal/blocks/grid.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/memory.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/world/processes.hpp"

namespace shoal {

namespace {

std::int64_t parts(std::int64_t cells, std::int64_t of) { return (cells + of - 1) / of; }
/// The size of parts when cells are divided into parts of about equal size, none larger than `most`.
std::int64_t even(std::int64_t cells, std::int64_t most) { return parts(cells, parts(cells, most)); }
/// The same, rounded up to 16 cells, so that each part begins at the start of a cache line. @param most  a multiple of 16
std::int64_t even_lines(std::int64_t cells, std::int64_t most) { return parts(even(cells, most), 16) * 16; }

std::string text(Size3 size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

}  // namespace

namespace blocks {

namespace {

/// How many planes a tile has, when the blocks of a PE have `columns` columns of tiles along x. The model of the time of a step:
/// workers take tiles in turns, one tile per worker. A full turn takes as long as the tile's planes and three more, for what lies
/// around the tile. A last turn with some workers idle takes 0.3 of a full turn, and 0.7 times the share of busy workers (a line
/// through the measured times of tiles of 16 to 48 planes, docs/decisions/0043-blocks-side-by-side.md). More than 64 planes gain
/// nothing: the workers of neighbouring tiles are then no longer at the same planes, and cells that both read leave the caches.
std::int64_t planes_for(std::int64_t size, std::int64_t columns, int workers) {
  std::int64_t best = size;
  double least = 0;
  for (std::int64_t n = std::min<std::int64_t>(size, 2); n <= std::min<std::int64_t>(size, 64); ++n) {
    const std::int64_t planes = even(size, n);
    const double turns = static_cast<double>(columns * parts(size, planes)) / workers, rest = turns - std::floor(turns);
    const double takes = (std::floor(turns) + (rest > 0 ? 0.3 + 0.7 * rest : 0)) * static_cast<double>(planes + 3);
    if (least == 0 || takes < least) {
      least = takes;
      best = planes;
    }
  }
  return best;
}

}  // namespace

// CPU: the rows that a tile reads in three planes take half of a second-level cache (512 KiB); a tile takes a millisecond or so.
// GPU: rows of up to 512 bytes, as many rows as a worker's 256 lanes cover with 16 bytes each (blocks/columns.hpp).
Size3 tile_for(Size3 size, std::int64_t blocks, bool on_gpu, int workers, std::size_t value_bytes) {
  Size3 tile;
  if (on_gpu) {
    const auto in_lane = static_cast<std::int64_t>(16 / value_bytes);
    tile.z = even_lines(size.z, 32 * in_lane);
    tile.y = even(size.y, 256 / parts(std::min(tile.z, size.z), in_lane));
    tile.x = planes_for(size.x, parts(size.z, tile.z) * parts(size.y, tile.y) * blocks, workers);
    return tile;
  }
  tile.z = even_lines(size.z, 4096);
  const std::int64_t row_bytes = (tile.z + 2) * static_cast<std::int64_t>(value_bytes);
  tile.y = even(size.y, std::clamp<std::int64_t>((512 << 10) / (3 * row_bytes) - 2, 1, 32));
  const std::int64_t columns = parts(size.z, tile.z) * parts(size.y, tile.y) * blocks;
  tile.x = even(size.x, std::clamp<std::int64_t>(size.x * columns / (8 * workers), 8, 128));
  return tile;
}

void require_memory(const Machine& machine, Size3 size, Size3 cut, std::size_t value_bytes, std::int64_t line) {
  const std::int64_t row = parts(parts(size.z, cut.z) + 2, line) * line;
  const double cells =
      static_cast<double>((parts(size.x, cut.x) + 2) * (parts(size.y, cut.y) + 2)) * static_cast<double>(row);
  constexpr double kWords = 2000;  // bytes of a block for counters, sides and the overhead of allocations
  const double bytes = (2 * cells * static_cast<double>(value_bytes) + kWords) * static_cast<double>(cut.volume()) *
                       machine.n_pes() * processes_on_this_host() / machine.all_pes();  // only the share of this host
  if (machine.on_gpu() || bytes < (64 << 20)) return;
  const std::int64_t available = available_memory();
  if (bytes <= static_cast<double>(available)) return;
  const std::string blocks = cut.volume() > 1 ? " in " + std::to_string(cut.volume()) + " blocks" : "";
  throw CapacityError("two states of " + text(size) + " cells" + blocks + " take " +
                      bytes_text(static_cast<std::int64_t>(bytes)) + " of memory, but " + bytes_text(available) +
                      " are available; use a smaller grid" +
                      (blocks.empty() ? ", or float32" : ", float32 or fewer blocks"));
}

}  // namespace blocks

std::int64_t decide_odf(Size3 size, const GridOptions& options, pe_t n_pes, bool on_gpu, Decisions& chosen) {
  if (options.odf != 0 || options.blocks.x > 0) return options.odf;
  // Two H100 (docs/decisions/0059-how-many-blocks.md): two blocks for each GPU take 0.94 to 0.98 of the time of one block if a
  // GPU has up to 192^3 cells, and 1.07 at 8.4 million cells. On one GPU, and where the blocks of a PE do not lie side by
  // side, two are slower.
  constexpr std::int64_t kMost = 192 * 192 * 192;
  const bool by_parts = options.mapping.kind == MappingKind::block || options.mapping.kind == MappingKind::parts;
  const bool two = on_gpu && n_pes > 1 && by_parts && size.volume() <= kMost * n_pes;
  if (on_gpu) {
    chosen.push_back({"odf", two ? "2" : "1",
                      two          ? "two were faster on several GPUs with up to 192^3 cells each"
                      : n_pes == 1 ? "one GPU waits for no other"
                      : !by_parts  ? "the blocks of a GPU are not next to each other in the grid"
                                   : "GPUs have many cells, and more blocks were not faster"});
  }
  return two ? 2 : 1;
}

Size3 check_grid(Size3 size, const GridOptions& options, pe_t n_pes, bool on_gpu) {
  if (size.x < 1 || size.y < 1 || size.z < 1) {
    throw UsageError("a grid of " + text(size) + " cells is not possible; each dimension must be at least 1");
  }
  // Checked by divisions, since the product could overflow.
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (size.x > kMost || size.y > kMost / size.x || size.z > kMost / size.x / size.y) {
    throw UsageError("a grid of " + text(size) + " cells is too large: at most 2^40 cells are possible");
  }
  if (options.blocks.x == 0) {
    Decisions ignored;
    const std::int64_t odf = decide_odf(size, options, n_pes, on_gpu, ignored);
    check_odf(odf);
    const bool by_parts =
        on_gpu && (options.mapping.kind == MappingKind::block || options.mapping.kind == MappingKind::parts);
    return by_parts ? cut_grid_for_gpus(size, n_pes, odf) : cut_grid(size, odf * n_pes);
  }
  const Size3 n = options.blocks;
  if (n.x < 1 || n.y < 1 || n.z < 1 || n.x > size.x || n.y > size.y || n.z > size.z || n.volume() > (1 << 20)) {
    throw UsageError(text(n) + " blocks do not fit a grid of " + text(size) +
                     " cells; use 1 to as many blocks as cells along each dimension, and at most 2^20 in all");
  }
  return n;
}

}  // namespace shoal
