// A three-dimensional grid in blocks, for programs in which a cell's next value follows from itself and its six neighbours.
//
// The program is a plain struct S:
//
// | member                             | what it does                                                                  |
// |------------------------------------|-------------------------------------------------------------------------------|
// | `Value`                            | float or double                                                               |
// | `at_start(x, y, z)`                | the first value of a cell of the grid, or of a boundary cell beside it (a     |
// |                                    | coordinate is -1 or the size); boundary cells keep this value                 |
// | `next(near)`                       | the cell's next value; near(dx, dy, dz) is a neighbour's value, near(0, 0, 0) |
// |                                    | its own                                                                       |
//
// Both functions are SHOAL_FN. Everything else is in this file and in blocks/grid_block.hpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/forms.hpp"
#include "shoal/blocks/grid_block.hpp"
#include "shoal/blocks/mapping.hpp"
#include "shoal/blocks/rows.hpp"

namespace shoal {

namespace blocks {

/// The shape of a tile, in cells, for blocks of `size` cells.
/// @param blocks   number of blocks on a PE
/// @param workers  number of workers of a PE
Size3 tile_for(Size3 size, std::int64_t blocks, bool on_gpu, int workers, std::size_t value_bytes);
/// Checks that host memory suffices for a grid of `size` cells in `cut` blocks, each with a layer of cells around it. Not on
/// GPUs.
/// @param line  rows are padded to a multiple of so many cells
/// @throws CapacityError  less memory is available
void require_memory(const Machine& machine, Size3 size, Size3 cut, std::size_t value_bytes, std::int64_t line);

}  // namespace blocks

/// How a grid is cut and placed.
struct GridOptions {
  std::int64_t odf = 0;  ///< overdecomposition factor: blocks per PE; 0: decide_odf() chooses
  Size3 blocks{
      0, 0,
      0};  ///< along each dimension; zeros: odf x PEs blocks of least surface, or cut_grid_for_gpus() (blocks/mapping.hpp)
  Mapping mapping;
  LaunchOptions launch;
};

/// A grid in blocks, on the PEs of a machine.
template <class S>
class Grid {
 public:
  using Value = typename S::Value;
  using Block = blocks::GridBlock<S>;

  /// @param size     cells
  /// @param workers  number of workers of a PE; the shape of tiles depends on it
  /// @throws UsageError  a dimension below 1, more blocks along a dimension than cells
  /// @throws CapacityError  too little memory, or a block too large for a GPU
  Grid(const Machine& machine, Size3 size, const GridOptions& options, int workers, const S& program)
      : size_(size),
        cut_(check(machine, size, options)),
        program_(program),
        workers_(workers),
        array_(machine, cut_.n(), place(machine, size, cut_, options)) {
    const std::int64_t bytes = size.volume() * 2 * static_cast<std::int64_t>(sizeof(Value));
    blocks::require_memory(machine, size, cut_, sizeof(Value), Block::kLine);
    large_ = !machine.on_gpu() && blocks::can_stream() && bytes > (32 << 20);
    for (std::int64_t b = 0; b < cut_.volume(); ++b) array_.put(b, make(b));
    array_.join_neighbors([&](std::int64_t b, int d) {  // the number of cells of a face
      const Size3 n = size_of(b);
      return d == 0 ? n.y * n.z : d == 1 ? n.x * n.z : n.x * n.y;
    });
    array_.place();
  }

  Size3 size() const { return size_; }
  Size3 cut() const { return cut_; }  ///< blocks along each dimension
  BlockArray<Block>& array() { return array_; }
  const BlockArray<Block>& array() const { return array_; }

  /// Copies cells (x, [y0, y1), all z) of the state after `steps` steps to `out` [(y1 - y0) * size.z]. Between runs. Every
  /// process calls it and gets all of these cells.
  void read(blocks::step_t steps, std::int64_t x, std::int64_t y0, std::int64_t y1, Value* out) const {
    std::vector<Value> rows, mine;  // rows of one block; rows of all blocks here, for the other processes
    const blocks::Wires* const wires = array_.wires();
    const auto each_part = [&](const auto& f) {  // f(b, y begin, y end)
      for (std::int64_t b = 0; b < cut_.volume(); ++b) {
        const Block& block = array_[b];
        const std::int64_t from = std::max(y0, block.origin.y), to = std::min(y1, block.origin.y + block.size.y);
        if (x >= block.origin.x && x < block.origin.x + block.size.x && from < to) f(b, from, to);
      }
    };
    each_part([&](std::int64_t b, std::int64_t from, std::int64_t to) {
      if (!array_.here(b)) return;
      const Block& block = array_[b];
      rows.resize(static_cast<std::size_t>((to - from) * block.row));
      const Value* const begin = block.now_of(steps) + block.at(x - block.origin.x, from - block.origin.y, 0);
      const std::size_t values = rows.size() - static_cast<std::size_t>(block.row - block.size.z);
      array_.machine().copy_out(array_.home(b), rows.data(), begin, values * sizeof(Value));
      for (std::int64_t y = from; y < to; ++y) {
        const Value* const row = rows.data() + (y - from) * block.row;
        std::copy_n(row, block.size.z, out + (y - y0) * size_.z + block.origin.z);
        if (wires != nullptr) mine.insert(mine.end(), row, row + block.size.z);
      }
    });
    if (wires == nullptr) return;
    const auto of_all = wires->exchange(std::as_bytes(std::span(mine)));
    std::vector<std::size_t> taken(of_all.size(), 0);
    each_part([&](std::int64_t b, std::int64_t from, std::int64_t to) {
      if (array_.here(b)) return;
      const auto p = static_cast<std::size_t>(wires->process_of(b));
      const Block& block = array_[b];
      for (std::int64_t y = from; y < to; ++y) {
        const std::size_t bytes = static_cast<std::size_t>(block.size.z) * sizeof(Value);
        std::memcpy(out + (y - y0) * size_.z + block.origin.z, of_all[p].data() + taken[p], bytes);
        taken[p] += bytes;
      }
    });
  }
  /// Between runs, before step s: moves blocks to other PEs so that all PEs take equally long, judged by busy() of the array.
  /// @return how many blocks were moved
  /// @throws UsageError  there are several processes
  std::int64_t balance(blocks::step_t s) {
    const auto where = balance_blocks(array_.busy(), array_.machine().n_pes(), array_.where());
    return array_.move(where, s, [this](std::int64_t b) { return make(b); });
  }

  /// All cells of the state after `steps` steps, [x][y][z]. Every process calls it and gets all of them.
  std::vector<Value> read(blocks::step_t steps) const {
    std::vector<Value> all(static_cast<std::size_t>(size_.volume()));
    for (std::int64_t x = 0; x < size_.x; ++x) read(steps, x, 0, size_.y, all.data() + x * size_.y * size_.z);
    return all;
  }

 private:
  static Size3 check(const Machine& machine, Size3 size, const GridOptions& options);
  static std::vector<pe_t> place(const Machine& machine, Size3 size, Size3 cut, const GridOptions& options) {
    const bool by_parts =
        options.mapping.kind == MappingKind::parts || (machine.on_gpu() && options.mapping.kind == MappingKind::block);
    return by_parts ? place_parts(size.n(), cut.n(), machine.all_pes())
                    : place_blocks(cut.n(), machine.all_pes(), options.mapping, "--odf or --blocks");
  }
  /// Makes block b; if it is here, allocates it in the memory of its PE.
  Block make(std::int64_t b) {
    const Machine& machine = array_.machine();
    Block block{program_, origin_of(b), size_of(b), {}, 0, 0, 0, 0, 0, {nullptr, nullptr}, {}, 0, {nullptr, nullptr}};
    const std::int64_t per_pe = (cut_.volume() + machine.all_pes() - 1) / machine.all_pes();
    block.tile = blocks::tile_for(block.size, per_pe, machine.on_gpu(), workers_, sizeof(Value));
    const auto tiles = [](std::int64_t cells, std::int64_t of) {
      return static_cast<std::uint32_t>((cells + of - 1) / of);
    };
    block.in_x = tiles(block.size.x, block.tile.x);
    block.in_y = tiles(block.size.y, block.tile.y);
    block.in_z = tiles(block.size.z, block.tile.z);
    block.row = (block.size.z + 2 + Block::kLine - 1) / Block::kLine * Block::kLine;
    block.plane = (block.size.y + 2) * block.row;
    if (machine.on_gpu() && block.plane > std::numeric_limits<std::int32_t>::max()) {
      throw CapacityError("a block of " + std::to_string(block.size.y) + " x " + std::to_string(block.size.z) +
                          " cells in y and z is too large for a GPU; use more blocks (--odf, --blocks)");
    }
    if (!array_.here(b)) return block;
    for (Value*& state : block.states) {  // cell (0, 0, 0) begins a cache line; the lower layers lie before it
      state = array_.template alloc<Value>(b, block.cells(), "a block of the grid") + block.plane + block.row +
              Block::kLine;
    }
    for (Value*& edge : block.edge) {
      if (large_) edge = array_.template alloc<Value>(b, block.size.x * block.size.y, "the faces of a block");
    }
    return block;
  }
  Size3 place_of(std::int64_t b) const { return {b / cut_.z / cut_.y, b / cut_.z % cut_.y, b % cut_.z}; }
  Size3 origin_of(std::int64_t b) const {
    const Size3 at = place_of(b);
    return {part_begin(size_.x, cut_.x, at.x), part_begin(size_.y, cut_.y, at.y), part_begin(size_.z, cut_.z, at.z)};
  }
  Size3 size_of(std::int64_t b) const {
    const Size3 at = place_of(b), from = origin_of(b);
    return {part_begin(size_.x, cut_.x, at.x + 1) - from.x, part_begin(size_.y, cut_.y, at.y + 1) - from.y,
            part_begin(size_.z, cut_.z, at.z + 1) - from.z};
  }

  Size3 size_, cut_;
  S program_;
  int workers_;
  bool large_ = false;  ///< CPU: the states are too large for the caches
  BlockArray<Block> array_;
};

/// The overdecomposition factor. Where the options leave it open, chooses it, and on GPUs adds choice and reason to `chosen`.
/// @param n_pes  PEs of all processes
std::int64_t decide_odf(Size3 size, const GridOptions& options, pe_t n_pes, bool on_gpu, Decisions& chosen);

/// The number of blocks along each dimension that a Grid is cut into.
/// @param n_pes  PEs of all processes
/// @throws UsageError  a dimension below 1, more than 2^40 cells, an odf out of range, or blocks that do not fit the grid
Size3 check_grid(Size3 size, const GridOptions& options, pe_t n_pes, bool on_gpu = false);

template <class S>
Size3 Grid<S>::check(const Machine& machine, Size3 size, const GridOptions& options) {
  return check_grid(size, options, machine.all_pes(), machine.on_gpu());
}

}  // namespace shoal
