// Jacobi iteration in three dimensions, on a grid that is cut into more blocks than there are PEs. A block takes its next step as
// soon as the values that it needs have come from its neighbours. The same source runs on CPU threads and on GPUs:
//   example_04_jacobi3d 100 100 100 --iterations 50 --odf 8 --pes 2
//   example_04_jacobi3d 61 47 89 --blocks 3x2x5 --mapping round-robin --pes 4
#include <cstdio>
#include <utility>
#include <vector>

#include "shoal/blocks.hpp"
using namespace shoal;

/// A cell becomes the mean of itself and its six neighbours. Cells of the grid begin with 0; the boundary cells around the grid
/// are 1.
struct Jacobi {
  using Value = double;
  Size3 size;

  SHOAL_FN double at_start(std::int64_t x, std::int64_t y, std::int64_t z) const {
    const bool inside = x >= 0 && x < size.x && y >= 0 && y < size.y && z >= 0 && z < size.z;
    return inside ? 0 : 1;
  }
  SHOAL_FN double next(const auto& near) const {
    return (near(0, 0, 0) + near(-1, 0, 0) + near(1, 0, 0) + near(0, -1, 0) + near(0, 1, 0) + near(0, 0, -1) +
            near(0, 0, 1)) *
           (1.0 / 7);
  }
};

/// The serial reference, in one array with a layer of cells around the grid. Returns the cells of the grid, without that layer.
std::vector<double> reference(Size3 n, std::int64_t iterations) {
  const std::int64_t row = n.z + 2, plane = (n.y + 2) * row;
  std::vector<double> now(static_cast<std::size_t>((n.x + 2) * plane), 1.0), grid;
  const auto each_cell = [&](auto f) {
    for (std::int64_t x = 1; x <= n.x; ++x) {
      for (std::int64_t y = 1; y <= n.y; ++y) {
        for (std::int64_t z = 1; z <= n.z; ++z) f(x * plane + y * row + z);
      }
    }
  };
  each_cell([&](std::int64_t i) { now[i] = 0; });
  std::vector<double> then = now;
  for (std::int64_t i = 0; i < iterations; ++i, std::swap(now, then)) {
    each_cell([&](std::int64_t c) {
      then[c] = (now[c] + now[c - plane] + now[c + plane] + now[c - row] + now[c + row] + now[c - 1] + now[c + 1]) *
                (1.0 / 7);
    });
  }
  each_cell([&](std::int64_t i) { grid.push_back(now[i]); });
  return grid;
}

int main(int argc, char** argv) {
  return run_grid_program(argc, argv, "Jacobi iteration on a grid of X x Y x Z cells.", [](const GridContext& ctx) {
    const auto grid = make_grid(ctx, Jacobi{ctx.size});
    const double seconds = grid->run(ctx.iterations);
    const bool right = grid->read() == reference(ctx.size, ctx.iterations);
    if (ctx.leader()) {
      std::printf("%.3f ms, %lld blocks on %d PEs: %s\n", seconds * 1e3, static_cast<long long>(grid->cut().volume()),
                  ctx.machine.all_pes(), right ? "right" : "WRONG");
    }
    return right;
  });
}
