// How a worker on a GPU updates a tile of a grid. Each lane has 16 bytes of a row and moves along x, plane by plane. It keeps the
// cells below and above in x in registers. The cells beside come from the first-level cache, since other lanes have read them one
// plane earlier. Everything is read one plane before it is needed, since a read of memory takes as long as the update of a plane.
#pragma once
#include <cstdint>

#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"

namespace shoal::blocks {

/// A cell and its six neighbours, as values.
template <class T>
struct NearValues {
  T here, below_x, above_x, below_y, above_y, below_z, above_z;
  SHOAL_FN T operator()(int dx, int dy, int dz) const {
    return dx != 0   ? (dx < 0 ? below_x : above_x)
           : dy != 0 ? (dy < 0 ? below_y : above_y)
           : dz != 0 ? (dz < 0 ? below_z : above_z)
                     : here;
  }
};

#if defined(__CUDA_ARCH__)
#define SHOAL_UNROLL _Pragma("unroll")
#else
#define SHOAL_UNROLL
#endif

/// Tells the compiler that an address is in global memory. Otherwise each access finds out at run time which memory it is.
SHOAL_FN inline void assume_global(const void* at) {
#if defined(__CUDA_ARCH__)
  __builtin_assume(__isGlobal(at));
#else
  (void)at;
#endif
}
/// The address `cells` further on, computed by one instruction at the place of the call. Otherwise compilers keep every address
/// of a loop in registers of its own.
template <class T>
SHOAL_FN T* further(T* at, std::int32_t cells) {
#if defined(__CUDA_ARCH__)
  asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(at) : "r"(cells), "n"(sizeof(T)));
  return at;
#else
  return at + cells;
#endif
}
template <class V, class T>
SHOAL_FN V read(const T* at) {
  assume_global(at);
  return *reinterpret_cast<const V*>(at);
}

template <class T>
struct alignas(16) InLane {
  static constexpr std::uint32_t kCells = 16 / sizeof(T);
  T v[kCells];
};

/// The cells of a tile in the present and the next state.
template <class T>
struct Tile {
  const T* now;  ///< the first cell; aligned to 16 bytes, as all rows are
  T* then;
  std::int32_t plane, row;      ///< distance to the next cell in x, and in y; 32 bits to save registers
  std::uint32_t nx, ny, nz;     ///< cells; ny at most rows_of_lanes()
  std::int32_t elsewhere[2]{};  ///< added to the place of the plane below the tile, and above it (GridBlock::elsewhere)
};
/// The columns of cells along x that one lane updates.
template <class T>
struct Columns {
  const T* now;
  T* then;
  std::int32_t plane, row;
  std::uint32_t nx, nz;       ///< cells: nx along x, nz in the lane's 16 bytes
  std::int32_t below, above;  ///< Tile::elsewhere
};

/// Computes the lane's cells of the next state. The lanes of a worker may call it at different times.
/// @param next  next(NearValues<T>) returns a cell's next value
/// Not inline, so that the loop has all registers and the values that callers keep are spilled to memory.
template <class T, class Next>
SHOAL_OUT_OF_LINE SHOAL_FN void update_columns(const Columns<T> columns, const Next next) {
  using Vector = InLane<T>;
  constexpr std::uint32_t kCells = Vector::kCells;
  struct Beside {
    Vector north, south;
    T west, east;
  };
  const std::int32_t plane = columns.plane, row = columns.row;
  const auto read_beside = [row](const T* at) {
    return Beside{read<Vector>(further(at, -row)), read<Vector>(further(at, row)), read<T>(at - 1),
                  read<T>(at + kCells)};
  };
  const auto make = [&next](const Vector& below, const Vector& here, const Vector& above, const Beside& beside) {
    Vector out;
    SHOAL_UNROLL
    for (std::uint32_t v = 0; v < kCells; ++v) {
      out.v[v] = next(NearValues<T>{here.v[v], below.v[v], above.v[v], beside.north.v[v], beside.south.v[v],
                                    v == 0 ? beside.west : here.v[v == 0 ? 0 : v - 1],
                                    v + 1 == kCells ? beside.east : here.v[v + 1 == kCells ? v : v + 1]});
    }
    return out;
  };
  const auto write = [nz = columns.nz](T* to, const Vector& out) {
    assume_global(to);
    if (nz == kCells) {
      *reinterpret_cast<Vector*>(to) = out;
      return;
    }
    SHOAL_UNROLL
    for (std::uint32_t v = 0; v < kCells; ++v) {
      if (v < nz) to[v] = out.v[v];
    }
  };
  const T* at = columns.now;
  T* to = columns.then;
  std::uint32_t left = columns.nx;
  const auto up = [&](std::uint32_t planes) { return plane + (left == planes ? columns.above : 0); };
  Vector below = read<Vector>(further(at, columns.below - plane)), here = read<Vector>(at),
         above = read<Vector>(further(at, up(1)));
  Beside beside = read_beside(at);
  for (; left >= 2; left -= 2) {  // two planes: reads for the second are in flight while the first is updated
    const T* const second = further(at, plane);
    const T* const third = further(second, plane);
    const Vector above_second = read<Vector>(further(second, up(2)));
    const Beside beside_second = read_beside(second);
    const Vector above_third = read<Vector>(further(third, left > 2 ? up(3) : 0));  // else that plane is not needed
    const Vector out = make(below, here, above, beside);
    beside = read_beside(third);
    write(to, out);
    to = further(to, plane);
    write(to, make(here, above, above_second, beside_second));
    below = above;
    here = above_second;
    above = above_third;
    at = third;
    to = further(to, plane);
  }
  if (left == 1) write(to, make(below, here, above, beside));
}

/// How many rows of nz values `lanes` lanes cover, with 16 bytes each.
template <class T>
SHOAL_FN constexpr std::uint32_t rows_of_lanes(std::uint32_t lanes, std::uint32_t nz) {
  return lanes / ((nz + InLane<T>::kCells - 1) / InLane<T>::kCells);
}

/// Computes the next state of a tile. Every lane of the worker calls it.
template <class T, class Next>
SHOAL_FN void update_tile(std::uint32_t lane, const Tile<T>& tile, const Next& next) {
  constexpr std::uint32_t kCells = InLane<T>::kCells;
  const std::uint32_t in_row = (tile.nz + kCells - 1) / kCells, y = lane / in_row, z = lane % in_row * kCells;
  if (y >= tile.ny) return;
  const std::int64_t at = std::int64_t{tile.row} * y + z;
  const std::uint32_t cells = tile.nz - z < kCells ? tile.nz - z : kCells;
  update_columns(Columns<T>{tile.now + at, tile.then + at, tile.plane, tile.row, tile.nx, cells, tile.elsewhere[0],
                            tile.elsewhere[1]},
                 next);
}

}  // namespace shoal::blocks
