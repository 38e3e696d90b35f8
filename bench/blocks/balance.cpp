// A grid in which cells with x below the middle take four times the work of the others. Measures the time of iterations before and
// after GridSteps::balance() has moved some blocks to other PEs.
//   blocks_balance 64 64 64 --iterations 20 --odf 8 --pes 2 --threads 1
#include <algorithm>
#include <cstdio>
#include <vector>

#include "shoal/blocks.hpp"
using namespace shoal;

/// A cell keeps its value. The value is larger where a cell takes more work.
struct Region {
  using Value = double;
  Size3 size;
  SHOAL_FN double at_start(std::int64_t x, std::int64_t, std::int64_t) const { return x < size.x / 2 ? 4 : 1; }
  SHOAL_FN double next(const auto& near) const {
    const double value = near(0, 0, 0);
    double root = value;
    for (int i = 0; i < 10 * static_cast<int>(value); ++i) root = (root + value * value / root) / 2;
    return root;
  }
};

int main(int argc, char** argv) {
  return run_grid_program(
      argc, argv, "What moving blocks gains where one half of a grid has four times the work.",
      [](const GridContext& ctx) {
        GridOptions options = ctx.options;
        options.launch.weigh = true;
        const auto grid = make_grid(GridContext{ctx.machine, ctx.size, options, ctx.iterations}, Region{ctx.size});
        const std::vector<double> before = grid->read();
        double best[2] = {1e9, 1e9};
        std::int64_t moved = 0;
        for (int balanced = 0; balanced < 2; ++balanced) {
          for (int trial = 0; trial < 25; ++trial) best[balanced] = std::min(best[balanced], grid->run(ctx.iterations));
          if (balanced == 0) moved = grid->balance();
        }
        std::printf("blocks stay: %.3f ms/iteration; %lld of %lld moved: %.3f ms/iteration, %.2f times as fast\n",
                    best[0] * 1e3 / static_cast<double>(ctx.iterations), static_cast<long long>(moved),
                    static_cast<long long>(grid->cut().volume()), best[1] * 1e3 / static_cast<double>(ctx.iterations),
                    best[0] / best[1]);
        return grid->read() == before;
      });
}
