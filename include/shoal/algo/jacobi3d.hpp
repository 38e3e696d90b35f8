// Jacobi iteration in three dimensions: a cell becomes the mean of itself and its six neighbours.
//
// The sum is always formed in the same order, and multiplied by the value of T nearest to 1/7. So every form of a run, and the
// reference, compute the same bits. Source: Choi et al. (Charm++), whose example multiplies by 0.142857.
#pragma once
#include <cstdint>

#include "shoal/blocks/mapping.hpp"
#include "shoal/core/fn.hpp"

namespace shoal {

/// A program on a grid in blocks (blocks/grid.hpp).
template <class T>
struct Jacobi3d {
  using Value = T;
  Size3 size;
  T face[6];   ///< values outside the grid: below and above it in x, y, z
  T interior;  ///< the value of all cells at the start

  SHOAL_FN T at_start(std::int64_t x, std::int64_t y, std::int64_t z) const {
    if (x < 0) return face[0];
    if (x >= size.x) return face[1];
    if (y < 0) return face[2];
    if (y >= size.y) return face[3];
    if (z < 0) return face[4];
    return z >= size.z ? face[5] : interior;
  }
  template <class Near>
  SHOAL_FN T next(const Near& near) const {
    return (near(0, 0, 0) + near(-1, 0, 0) + near(1, 0, 0) + near(0, -1, 0) + near(0, 1, 0) + near(0, 0, -1) +
            near(0, 0, 1)) *
           (T{1} / 7);
  }
};

}  // namespace shoal
