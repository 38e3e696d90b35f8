// How a GPU's worker updates a tile of a grid: plane after plane along x. The planes, with what is around the tile in y and z,
// come into a ring in the worker's shared memory; some are always on their way, since a plane takes as long to come as several
// to update. A lane has two rows of 16 bytes; what is below and above them in x stays in its registers.
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

/// Lanes of the worker that updates planes.
inline constexpr std::int64_t kPlaneLanes = 256;
inline constexpr std::int64_t kPlaneBytes =
    18 * (512 + 32);  ///< of shared memory: 16 rows of 512 bytes, and what is around

/// Cells along z and y of the largest tile: lanes and shared memory are enough for it.
inline constexpr std::int64_t most_of_row(std::size_t value_bytes) {
  return 512 / static_cast<std::int64_t>(value_bytes);
}
inline constexpr std::int64_t most_rows(std::int64_t z, std::size_t value_bytes) {
  const std::int64_t row_bytes = (z * static_cast<std::int64_t>(value_bytes) + 15) / 16 * 16;
  const std::int64_t by_lanes = 2 * (kPlaneLanes / (row_bytes / 16)), by_memory = kPlaneBytes / (row_bytes + 32) - 2;
  return by_lanes < by_memory ? by_lanes : by_memory;
}

/// A worker's shared memory.
template <class T>
struct PlaneRing {
  static constexpr std::uint32_t kPlanes = 5;
  static constexpr std::uint32_t kVector = 16 / sizeof(T);  ///< values that are copied, and stored, at once
  alignas(128) T values[kPlanes][kPlaneBytes / sizeof(T)];
  std::uint64_t full[kPlanes];  ///< barriers: the plane has come, for the next time
  std::uint32_t turn;           ///< in 2 * kPlanes turns, the one at which the next tile begins
};

/// A tile in two states.
template <class T>
struct TileOfPlanes {
  const T* now;  ///< its first cell, aligned to 16 bytes, as all rows are
  T* then;
  std::int64_t plane, row;   ///< from a cell to the next one in x, and in y
  std::uint32_t nx, ny, nz;  ///< cells: ny at most most_rows(nz)
};

template <class T>
struct alignas(16) PlaneVector {
  T v[16 / sizeof(T)];
};

/// Cells of the tile in the next state. Every lane; `w` has kPlaneLanes of them. Lanes of one tile meet before the next one.
/// @param copies  fetch(ring, slot, from, row, rows, width) begins to copy rows into a plane of the ring, by the first lanes;
///                wait(ring, slot, parity) waits for it
/// @param next    a cell's next value, of its NearValues
template <class T, class W, class Copies, class Next>
SHOAL_FN void update_planes(const W& w, PlaneRing<T>& ring, const Copies& copies, const TileOfPlanes<T>& tile,
                            const Next& next) {
  using Ring = PlaneRing<T>;
  using Vector = PlaneVector<T>;
  constexpr std::uint32_t kPlanes = Ring::kPlanes, kVector = Ring::kVector, kRows = 2;
  const std::uint32_t vectors = (tile.nz + kVector - 1) / kVector, width = (vectors + 2) * kVector;
  const std::uint32_t y = w.lane() / vectors * kRows, z = w.lane() % vectors * kVector;
  const bool works = y < tile.ny, both = y + 1 < tile.ny, whole = z + kVector <= tile.nz;
  const std::uint32_t turn = ring.turn;
  std::uint32_t slot = turn % kPlanes, parity = turn / kPlanes;  // of the plane that is waited for
  std::uint32_t fetched = 0, into = slot;
  const T* from = tile.now - tile.row - kVector;
  const auto fetch = [&] {
    if (fetched > tile.nx) return;
    copies.fetch(w, ring, into, from, tile.row, tile.ny + 2, width);
    into = into + 1 == kPlanes ? 0 : into + 1;
    from += tile.plane;
    ++fetched;
  };
  const auto wait = [&] {
    copies.wait(ring, slot, parity);
    if (++slot == kPlanes) slot = 0, parity ^= 1;
  };
  const auto read = [](const T* at) { return *reinterpret_cast<const Vector*>(at); };

  for (std::uint32_t x = 0; x + 1 < kPlanes; ++x) fetch();
  Vector below[kRows], here[kRows];
  const T* const first = tile.now + (works ? y * tile.row + z : 0);
  T* to = tile.then + (first - tile.now);
  below[0] = read(first - tile.plane);
  below[1] = read(first - tile.plane + (both ? tile.row : 0));
  const std::uint32_t mine = works ? (y + 1) * width + kVector + z : width + kVector;
  const std::uint32_t last =
      both ? 2 * width : width;  // from the first row to the one after the second, if there is one
  wait();
  const T* mid = ring.values[turn % kPlanes] + mine;
  here[0] = read(mid);
  here[1] = read(mid + width);
  for (std::uint32_t x = 0; x < tile.nx; ++x, to += tile.plane) {
    const T* const ahead = ring.values[slot] + mine;
    wait();
    w.sync();  // nobody reads the plane below any more: the next one comes into its place
    fetch();
    const Vector north = read(mid - width), south = read(mid + last);
    const Vector above[kRows] = {read(ahead), read(ahead + width)};
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (std::uint32_t r = 0; r < kRows; ++r) {
      const T west = mid[static_cast<std::int32_t>(r * width) - 1], east = mid[r * width + kVector];
      Vector out;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (std::uint32_t v = 0; v < kVector; ++v) {
        out.v[v] = next(NearValues<T>{here[r].v[v], below[r].v[v], above[r].v[v], r == 0 ? north.v[v] : here[0].v[v],
                                      r == 0 ? here[1].v[v] : south.v[v], v == 0 ? west : here[r].v[v == 0 ? 0 : v - 1],
                                      v + 1 == kVector ? east : here[r].v[v + 1 == kVector ? v : v + 1]});
      }
      if (!works || (r == 1 && !both)) continue;
      T* const at = to + (r == 0 ? 0 : tile.row);
      if (whole) {
        copies.store(reinterpret_cast<Vector*>(at), out);
      } else {
        for (std::uint32_t v = 0; v < kVector; ++v) {
          if (z + v < tile.nz) at[v] = out.v[v];
        }
      }
    }
    for (std::uint32_t r = 0; r < kRows; ++r) {
      below[r] = here[r];
      here[r] = above[r];
    }
    mid = ahead;
  }
  if (w.lane() == 0) ring.turn = (turn + tile.nx + 1) % (2 * kPlanes);  // all lanes have met since they read it
}

}  // namespace shoal::blocks
