// A block of a grid: its states with a layer of halo cells around them, its tiles and its faces.
#pragma once
#include <cstdint>

#include "shoal/blocks/block.hpp"
#include "shoal/blocks/columns.hpp"
#include "shoal/blocks/mapping.hpp"
#include "shoal/blocks/rows.hpp"
#include "shoal/blocks/steps.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"

namespace shoal::blocks {

/// Access to a cell and the cells around it.
template <class T>
struct Near {
  const T* cell;
  std::int64_t plane, row;  ///< distance from a cell to the next one in x, and in y
  SHOAL_FN T operator()(int dx, int dy, int dz) const { return cell[dx * plane + dy * row + dz]; }
};

/// A block of a grid (blocks/block.hpp says what its members do). Sides 0 and 1 are lower and upper x, 2 and 3 y, 4 and 5 z. A
/// channel carries the values of the side's face, in row-major order of the two other dimensions.
template <class S>
struct GridBlock {
  using Value = typename S::Value;
  S program;
  Size3 origin, size, tile;        ///< in cells: first cell in the grid; size of the block; size of a tile
  std::uint32_t in_x, in_y, in_z;  ///< number of tiles along each dimension
  std::int64_t plane, row;         ///< distance from a cell to the next one in x, and in y
  Value* states[2];                ///< cell (0, 0, 0) of the block in each state
  /// [side 0 or 1][state] where the plane beyond the side is read in the other block: its distance, in cells, from this block's
  /// halo plane there. 0: the halo plane itself is read.
  std::int32_t elsewhere[2][2];
  std::uint32_t last_below;  ///< of the block below: the number of its last tile along x
  Value* edge
      [2];  ///< CPU, if the states are larger than the caches: copies of the lower and upper z-face, [x][y]; else null

  struct Box {
    Size3 begin, end;
  };
  SHOAL_FN std::int64_t tiles() const { return std::int64_t{in_x} * in_y * in_z; }
  SHOAL_FN std::int64_t at(std::int64_t x, std::int64_t y, std::int64_t z) const { return x * plane + y * row + z; }
  SHOAL_FN bool large() const { return edge[0] != nullptr; }
  /// State s. (Not an array access, since a GPU's registers cannot be indexed.)
  SHOAL_FN Value* now_of(step_t s) const { return (s & 1) != 0 ? states[1] : states[0]; }
  SHOAL_FN Box box(std::uint64_t number) const {  // tiles are small numbers: 32-bit division is faster on GPUs
    const auto n = static_cast<std::uint32_t>(number);
    const Size3 from{n / in_z / in_y * tile.x, n / in_z % in_y * tile.y, n % in_z * tile.z};
    return {from, {least(from.x + tile.x, size.x), least(from.y + tile.y, size.y), least(from.z + tile.z, size.z)}};
  }

  /// State s with the halo layer around it.
  template <class F>
  SHOAL_FN void state(step_t s, const F& f) const {
    f(now_of(s) - plane - row - kLine, cells());
  }
  static constexpr std::int64_t kLine = 64 / sizeof(Value);
  SHOAL_FN std::int64_t cells() const { return (size.x + 2) * plane + 2 * kLine; }

  /// A tile reads the six tiles beside it, and itself.
  static constexpr std::uint32_t kNear = 7;
  SHOAL_FN std::uint64_t near(std::uint64_t number, std::uint32_t i) const {
    const auto n = static_cast<std::uint32_t>(number), x = n / in_z / in_y, y = n / in_z % in_y, z = n % in_z;
    const std::uint32_t plane_of_tiles = in_y * in_z;
    return i == 0   ? (x > 0 ? n - plane_of_tiles : n)
           : i == 1 ? (x + 1 < in_x ? n + plane_of_tiles : n)
           : i == 2 ? (y > 0 ? n - in_z : n)
           : i == 3 ? (y + 1 < in_y ? n + in_z : n)
           : i == 4 ? (z > 0 ? n - 1 : n)
           : i == 5 ? (z + 1 < in_z ? n + 1 : n)
                    : n;
  }

  /// The tile of the other block that lies beyond a tile at side 0 or 1. Blocks that read each other have equal tiles in y and z.
  SHOAL_FN std::uint64_t beyond(std::uint64_t number, std::uint32_t side) const {
    const auto n = static_cast<std::uint32_t>(number), plane_of_tiles = in_y * in_z;
    return n % plane_of_tiles + (side == 0 ? last_below * plane_of_tiles : 0);
  }

  /// Whether a tile has cells at a side.
  SHOAL_FN bool touches(std::uint64_t number, std::uint32_t side) const {
    const Box b = box(number);
    return side == 0   ? b.begin.x == 0
           : side == 1 ? b.end.x == size.x
           : side == 2 ? b.begin.y == 0
           : side == 3 ? b.end.y == size.y
           : side == 4 ? b.begin.z == 0
                       : b.end.z == size.z;
  }

  template <class W>
  SHOAL_FN void start(const W& w, std::uint64_t number) const {
    Box b = box(number);  // extended by the halo where the tile touches a side
    if (b.begin.x == 0) b.begin.x = -1;
    if (b.begin.y == 0) b.begin.y = -1;
    if (b.begin.z == 0) b.begin.z = -1;
    if (b.end.x == size.x) ++b.end.x;
    if (b.end.y == size.y) ++b.end.y;
    if (b.end.z == size.z) ++b.end.z;
    for (std::int64_t x = b.begin.x; x < b.end.x; ++x) {
      for (std::int64_t y = b.begin.y; y < b.end.y; ++y) {
        for (std::int64_t z = b.begin.z + w.lane(); z < b.end.z; z += w.size()) {
          const Value value = program.at_start(origin.x + x, origin.y + y, origin.z + z);
          for (Value* const each : states) each[at(x, y, z)] = value;
        }
      }
    }
  }

  template <class W>
  SHOAL_FN void unpack(const W& w, step_t s, std::uint64_t number, std::uint32_t side, const Value* in) const {
    face(w, number, side, 1, [&](std::int64_t i, std::int64_t cell) { now_of(s)[cell] = in[i]; });
  }
  template <class W>
  SHOAL_FN void pack(const W& w, step_t s, std::uint64_t number, std::uint32_t side, Value* out) const {
    const Value* const kept = side < 4 ? nullptr : side == 4 ? edge[0] : edge[1];
    if (kept != nullptr) {  // in the state each cell of this face lies in a line that has left the caches
      face(w, number, side, 0, [&](std::int64_t i, std::int64_t) { out[i] = kept[i]; });
    } else {
      face(w, number, side, 0, [&](std::int64_t i, std::int64_t cell) { out[i] = now_of(s + 1)[cell]; });
    }
  }

  /// From now on the plane beyond a side is read in the memory of the other block, which is on the same GPU.
  /// @return whether that is possible: only across x, for blocks of equal rows, planes and tiles in y and z
  bool read_beside(std::uint32_t side, const GridBlock& other) {
    constexpr std::int64_t kFar = std::int64_t{1} << 30;
    if (side > 1 || row != other.row || plane != other.plane) return false;
    if (in_y != other.in_y || in_z != other.in_z || tile.y != other.tile.y || tile.z != other.tile.z) return false;
    const std::int64_t there = side == 0 ? other.size.x * plane : -size.x * plane;
    std::int32_t found[2];
    for (int k = 0; k < 2; ++k) {
      const auto bytes = reinterpret_cast<std::intptr_t>(other.states[k]) - reinterpret_cast<std::intptr_t>(states[k]);
      const std::int64_t cells = bytes / static_cast<std::int64_t>(sizeof(Value)) + there;
      if (cells > kFar || cells < -kFar || plane > kFar) return false;
      found[k] = static_cast<std::int32_t>(cells);
    }
    std::copy_n(found, 2, elsewhere[side]);
    if (side == 0) last_below = other.in_x - 1;
    return true;
  }

  /// In place of pack, for a block of the same PE: writes into the halo of its next state.
  template <class W>
  SHOAL_FN void hand_over(const W& w, step_t s, std::uint64_t number, std::uint32_t side,
                          const GridBlock& other) const {
    const Value* const from = now_of(s + 1);
    Value* const to = other.now_of(s + 1);
    const std::int64_t there = side % 2 == 0 ? (side == 0   ? other.at(other.size.x, 0, 0)
                                                : side == 2 ? other.at(0, other.size.y, 0)
                                                            : other.at(0, 0, other.size.z))
                                             : (side == 1   ? other.at(-1, 0, 0)
                                                : side == 3 ? other.at(0, -1, 0)
                                                            : other.at(0, 0, -1));
    const std::int64_t u_step = side < 2 ? other.row : other.plane, v_step = side < 4 ? 1 : other.row;
    const std::uint32_t in_u = static_cast<std::uint32_t>(side < 4 ? size.z : size.y);
    face(w, number, side, 0, [&](std::int64_t i, std::int64_t cell) {
      const auto n = static_cast<std::uint32_t>(i);
      to[there + n / in_u * u_step + n % in_u * v_step] = from[cell];
    });
  }

  template <class W>
  SHOAL_FN void update(const W& w, step_t s, std::uint64_t number) const {
    const Box b = box(number);
    const Value* const now = now_of(s);
    Value* const then = now_of(s + 1);
    if constexpr (W::kMaxLanes == 1) {
      update_rows(b, now, then);
    } else {
      const std::int64_t first = at(b.begin.x, b.begin.y, b.begin.z);
      const auto cells = [](std::int64_t begin, std::int64_t end) { return static_cast<std::uint32_t>(end - begin); };
      const auto near = [](std::int64_t cells) { return static_cast<std::int32_t>(cells); };
      Tile<Value> tile{now + first,
                       then + first,
                       near(plane),
                       near(row),
                       cells(b.begin.x, b.end.x),
                       cells(b.begin.y, b.end.y),
                       cells(b.begin.z, b.end.z)};
      const auto of_state = [s](const std::int32_t(&further)[2]) { return (s & 1) != 0 ? further[1] : further[0]; };
      if (b.begin.x == 0) tile.elsewhere[0] = of_state(elsewhere[0]);
      if (b.end.x == size.x) tile.elsewhere[1] = of_state(elsewhere[1]);
      update_tile(w.lane(), tile, Next{program});
    }
  }
  template <class W>
  SHOAL_FN double change(const W& w, step_t s, std::uint64_t number) const {
    const Box b = box(number);
    const Value* const now = now_of(s);
    const Value* const then = now_of(s + 1);
    double change = 0;
    const std::int64_t nz = b.end.z - b.begin.z, area = nz * (b.end.y - b.begin.y);
    for (std::int64_t i = w.lane(); i < area; i += w.size()) {
      for (std::int64_t x = b.begin.x; x < b.end.x; ++x) {
        const std::int64_t cell = at(x, b.begin.y + i / nz, b.begin.z + i % nz);
        const double by = static_cast<double>(then[cell]) - static_cast<double>(now[cell]);
        if (by > change) change = by;
        if (-by > change) change = -by;
      }
    }
    return change;
  }

 private:
  struct Next {
    S program;
    SHOAL_FN Value operator()(const NearValues<Value>& near) const { return program.next(near); }
  };
  SHOAL_FN static std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

  /// CPU: updates plane by plane, and each plane row by row. The rows of a tile in three planes fit the second-level cache.
  void update_rows(const Box& b, const Value* now, Value* then) const {
    const std::int64_t n = b.end.z - b.begin.z;
    for (std::int64_t x = b.begin.x; x < b.end.x; ++x) {
      for (std::int64_t y = b.begin.y; y < b.end.y; ++y) {
        const std::int64_t cell = at(x, y, b.begin.z);
        const Value* const from = now + cell;
        const auto value = [this, from](std::int64_t i) { return program.next(Near<Value>{from + i, plane, row}); };
        if (large()) {
          stream_row(then + cell, n, from + plane + 2 * row, value);
          if (b.begin.z == 0) edge[0][x * size.y + y] = value(0);
          if (b.end.z == size.z) edge[1][x * size.y + y] = value(n - 1);
        } else {
          write_row(then + cell, n, value);
        }
      }
    }
    if (large()) end_streams();
  }

  /// Calls f(index on the face, cell) for the cells of a tile at a side. @param outside  0: cells of the block's own last layer;
  /// 1: the halo cells beyond them
  template <class W, class F>
  SHOAL_FN void face(const W& w, std::uint64_t number, std::uint32_t side, std::int64_t outside, const F& f) const {
    const Box b = box(number);
    const bool upper = side % 2 != 0;
    const auto layer = [&](std::int64_t begin, std::int64_t end, std::int64_t n, std::int64_t& at) {
      at = upper ? n - 1 + outside : -outside;
      return upper ? end == n : begin == 0;
    };
    std::int64_t x = 0, y = 0, z = 0;
    if (side < 2) {
      if (!layer(b.begin.x, b.end.x, size.x, x)) return;
      each(w, b.begin.y, b.end.y, b.begin.z, b.end.z,
           [&](std::int64_t u, std::int64_t v) { f(u * size.z + v, at(x, u, v)); });
    } else if (side < 4) {
      if (!layer(b.begin.y, b.end.y, size.y, y)) return;
      each(w, b.begin.x, b.end.x, b.begin.z, b.end.z,
           [&](std::int64_t u, std::int64_t v) { f(u * size.z + v, at(u, y, v)); });
    } else {
      if (!layer(b.begin.z, b.end.z, size.z, z)) return;
      each(w, b.begin.x, b.end.x, b.begin.y, b.end.y,
           [&](std::int64_t u, std::int64_t v) { f(u * size.y + v, at(u, v, z)); });
    }
  }
  /// Calls f(u, v) for a rectangle, divided among all lanes.
  template <class W, class F>
  SHOAL_FN static void each(const W& w, std::int64_t u0, std::int64_t u1, std::int64_t v0, std::int64_t v1,
                            const F& f) {
    if constexpr (W::kMaxLanes == 1) {
      for (std::int64_t u = u0; u < u1; ++u) {
        for (std::int64_t v = v0; v < v1; ++v) f(u, v);
      }
    } else {
      const auto n = static_cast<std::uint32_t>(v1 - v0), all = n * static_cast<std::uint32_t>(u1 - u0);
      for (std::uint32_t i = w.lane(); i < all; i += w.size()) f(u0 + i / n, v0 + i % n);
    }
  }
};

}  // namespace shoal::blocks
