// A rank's part of a grid: one block with a halo of one layer of cells. The halo holds the boundary values at the edge of the grid,
// and elsewhere the cells that neighbours send in each iteration.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ranks.hpp"
#include "shoal/algo/jacobi3d.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/fn.hpp"

namespace shoal::baselines {

/// Cells of a part, each dimension from `from` to before `to`.
struct Box {
  Size3 from, to;

  SHOAL_FN Size3 size() const { return {to.x - from.x, to.y - from.y, to.z - from.z}; }
  bool empty() const { return to.x <= from.x || to.y <= from.y || to.z <= from.z; }
};

inline constexpr int kFaces = 6;  ///< the lower and upper face in x, then in y and z

struct Part {
  Size3 first, n;                  ///< position of the first cell in the grid; number of cells, without the halo
  std::int64_t plane, row;         ///< distance in memory of neighbouring cells in x and in y; it is 1 in z
  int neighbor[kFaces];            ///< the neighbour's rank, or -1 at the edge of the grid
  std::int64_t begin[kFaces + 1];  ///< where each face's cells begin among those that are sent; last, the number sent

  /// Cuts the grid so that the fewest cells lie at cuts. @throws UsageError, CapacityError
  Part(Size3 grid, const Ranks& ranks) {
    const Size3 parts = cut_grid(grid, ranks.size);
    if (parts.volume() != ranks.size) {
      throw UsageError(std::to_string(ranks.size) + " ranks are more than this grid can be cut into; use fewer");
    }
    const Size3 at = {ranks.rank / (parts.y * parts.z), ranks.rank / parts.z % parts.y, ranks.rank % parts.z};
    const auto cells = [](std::int64_t all, std::int64_t of, std::int64_t i, std::int64_t& from, std::int64_t& count) {
      from = part_begin(all, of, i);
      count = part_begin(all, of, i + 1) - from;
    };
    cells(grid.x, parts.x, at.x, first.x, n.x);
    cells(grid.y, parts.y, at.y, first.y, n.y);
    cells(grid.z, parts.z, at.z, first.z, n.z);
    row = n.z + 2;
    plane = (n.y + 2) * row;
    const bool inside[] = {at.x > 0, at.x + 1 < parts.x, at.y > 0, at.y + 1 < parts.y, at.z > 0, at.z + 1 < parts.z};
    const std::int64_t step[] = {parts.y * parts.z, parts.z, 1};
    begin[0] = 0;
    for (int f = 0; f < kFaces; ++f) {
      neighbor[f] = inside[f] ? static_cast<int>(ranks.rank + (f % 2 == 0 ? -1 : 1) * step[f / 2]) : -1;
      if (inside[f] && face_cells(f) > std::numeric_limits<int>::max()) {
        throw CapacityError("a face has more cells than a message can; use more ranks");
      }
      begin[f + 1] = begin[f] + (inside[f] ? face_cells(f) : 0);
    }
  }

  SHOAL_FN std::int64_t with_layer() const { return (n.x + 2) * plane; }
  std::int64_t sent() const { return begin[kFaces]; }
  SHOAL_FN std::int64_t index(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return (x + 1) * plane + (y + 1) * row + z + 1;
  }
  SHOAL_FN std::int64_t face_cells(int f) const { return f < 2 ? n.y * n.z : f < 4 ? n.x * n.z : n.x * n.y; }
  /// The index of cell i of a face: the part's own outermost cell, or with `beside` the halo cell next to it.
  SHOAL_FN std::int64_t face_cell(int f, std::int64_t i, bool beside) const {
    const auto at = [&](std::int64_t cells) { return f % 2 == 0 ? (beside ? -1 : 0) : cells - (beside ? 0 : 1); };
    if (f < 2) return index(at(n.x), i / n.z, i % n.z);
    return f < 4 ? index(i / n.z, at(n.y), i % n.z) : index(i / n.y, i % n.y, at(n.z));
  }

  Box all() const { return {{0, 0, 0}, n}; }
  /// The cells whose update reads nothing from neighbours.
  Box interior() const {
    Box box = all();
    for (int f = 0; f < kFaces; ++f) {
      if (neighbor[f] < 0) continue;
      std::int64_t Size3::*const side = f < 2 ? &Size3::x : f < 4 ? &Size3::y : &Size3::z;
      if (f % 2 == 0) box.from.*side = 1;
      if (f % 2 == 1) box.to.*side = box.to.*side - 1 < box.from.*side ? box.from.*side : box.to.*side - 1;
    }
    return box;
  }
  /// All other cells, as disjoint boxes.
  std::vector<Box> exterior() const {
    const Box in = interior();
    std::vector<Box> boxes = {{{0, 0, 0}, {in.from.x, n.y, n.z}},
                              {{in.to.x, 0, 0}, n},
                              {{in.from.x, 0, 0}, {in.to.x, in.from.y, n.z}},
                              {{in.from.x, in.to.y, 0}, {in.to.x, n.y, n.z}},
                              {{in.from.x, in.from.y, 0}, {in.to.x, in.to.y, in.from.z}},
                              {{in.from.x, in.from.y, in.to.z}, {in.to.x, in.to.y, n.z}}};
    std::erase_if(boxes, [](const Box& box) { return box.empty(); });
    return boxes;
  }

  /// The initial cells, with the halo.
  std::vector<double> at_start(const Jacobi3d<double>& grid) const {
    std::vector<double> state(static_cast<std::size_t>(with_layer()));
    for (std::int64_t x = -1; x <= n.x; ++x) {
      for (std::int64_t y = -1; y <= n.y; ++y) {
        for (std::int64_t z = -1; z <= n.z; ++z) {
          state[index(x, y, z)] = grid.at_start(first.x + x, first.y + y, first.z + z);
        }
      }
    }
    return state;
  }
  /// The cells of a state without the halo, in row-major order of x, y, z.
  std::vector<double> own(const std::vector<double>& state) const {
    std::vector<double> cells;
    cells.reserve(static_cast<std::size_t>(n.volume()));
    for (std::int64_t x = 0; x < n.x; ++x) {
      for (std::int64_t y = 0; y < n.y; ++y) {
        cells.insert(cells.end(), &state[index(x, y, 0)], &state[index(x, y, 0)] + n.z);
      }
    }
    return cells;
  }
};

}  // namespace shoal::baselines
