// A grid program in which cells and faces have different values, and a serial reference in one array.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "shoal/blocks/grid.hpp"

namespace shoal {

template <class T>
struct Average {
  using Value = T;
  Size3 size;
  SHOAL_FN T at_start(std::int64_t x, std::int64_t y, std::int64_t z) const {
    if (x < 0 || y < 0 || z < 0 || x == size.x || y == size.y || z == size.z) {
      return static_cast<T>(1 + (x < 0) + 2 * (y < 0) + 4 * (z < 0) + 8 * (x == size.x));
    }
    return static_cast<T>((x * 7 + y * 5 + z * 3) % 11);  // neighbours differ, so swapped cells show
  }
  SHOAL_FN T next(const auto& near) const {
    return (near(0, 0, 0) + near(-1, 0, 0) + near(1, 0, 0) + near(0, -1, 0) + near(0, 1, 0) + near(0, 0, -1) +
            near(0, 0, 1)) *
           (T{1} / 7);
  }
};

/// The same program in one array, cell after cell.
template <class T>
std::vector<T> reference(Size3 n, int steps, double* change = nullptr) {
  const Average<T> program{n};
  const std::int64_t row = n.z + 2, plane = (n.y + 2) * row;
  std::vector<T> now(static_cast<std::size_t>((n.x + 2) * plane));
  for (std::int64_t x = -1; x <= n.x; ++x)
    for (std::int64_t y = -1; y <= n.y; ++y)
      for (std::int64_t z = -1; z <= n.z; ++z) now[(x + 1) * plane + (y + 1) * row + z + 1] = program.at_start(x, y, z);
  std::vector<T> then = now, out;
  for (int s = 0; s < steps; ++s, std::swap(now, then)) {
    if (change != nullptr) *change = 0;
    for (std::int64_t x = 1; x <= n.x; ++x)
      for (std::int64_t y = 1; y <= n.y; ++y)
        for (std::int64_t z = 1; z <= n.z; ++z) {
          const T* c = &now[x * plane + y * row + z];
          const T next = (c[0] + c[-plane] + c[plane] + c[-row] + c[row] + c[-1] + c[1]) * (T{1} / 7);
          if (change != nullptr) *change = std::max(*change, std::abs(double{next} - double{c[0]}));
          then[x * plane + y * row + z] = next;
        }
  }
  for (std::int64_t x = 1; x <= n.x; ++x)
    for (std::int64_t y = 1; y <= n.y; ++y)
      for (std::int64_t z = 1; z <= n.z; ++z) out.push_back(now[x * plane + y * row + z]);
  return out;
}

}  // namespace shoal
