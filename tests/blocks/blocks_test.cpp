// Grids in blocks against a serial reference: equal bit for bit, however they are cut and run.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <numbers>
#include <string>
#include <utility>

#include "average.hpp"
#include "cpu_machine.hpp"
#include "shoal/blocks/grid_steps.hpp"
#include "shoal/blocks/launch_cpu.hpp"
#include "under_tsan.hpp"

namespace shoal {
namespace {

template <class T>
void expect_equal(const Machine& machine, Size3 size, const GridOptions& options, int steps, int workers = 0) {
  Grid<Average<T>> grid(machine, size, options, workers > 0 ? workers : machine.threads_per_pe(), Average<T>{size});
  blocks::cpu::Launcher launcher(grid.array());
  launcher.start();
  launcher.run({0, static_cast<blocks::step_t>(steps / 2), false});  // the next run continues where this one ends
  launcher.run({static_cast<blocks::step_t>(steps / 2), static_cast<blocks::step_t>(steps), true});
  double change = 0;
  EXPECT_EQ(grid.read(steps), reference<T>(size, steps, &change));
  EXPECT_EQ(launcher.change(), change);
  EXPECT_EQ(launcher.measure(static_cast<blocks::step_t>(steps)), change);
}

TEST(Blocks, EqualTheReferenceHoweverTheyAreCut) {
  for (const pe_t pes : {1, 2, 3, 4}) {
    const Machine machine = cpu_machine(pes, pes < 3 ? 2 : 1);
    for (const std::int64_t odf : {1, 2, 4, 7, 8, 16}) {
      for (const Size3 size : {Size3{1, 1, 1}, {5, 6, 7}, {17, 3, 40}, {24, 24, 24}}) {
        SCOPED_TRACE(testing::Message() << pes << " PEs, odf " << odf << ", x " << size.x);
        GridOptions options;
        options.odf = odf;
        expect_equal<double>(machine, size, options, 7);
        options.mapping.kind = MappingKind::round_robin;
        expect_equal<double>(machine, size, options, 4);
      }
    }
  }
}

/// A worker as on GPUs, of which one lane is simulated at a time.
struct OneLane {
  static constexpr std::uint32_t kMaxLanes = 256;
  std::uint32_t number;
  std::uint32_t lane() const { return number; }
  std::uint32_t size() const { return kMaxLanes; }
};

/// As on one GPU: no halos are sent, because each block reads the states of its neighbours directly.
template <class T>
void expect_equal_where_blocks_read_beside(Size3 size, Size3 cut, int steps) {
  SCOPED_TRACE(testing::Message() << size.x << " x " << size.y << " x " << size.z);
  const Machine machine = cpu_machine(1, 1);
  GridOptions options;
  options.blocks = cut;
  Grid<Average<T>> grid(machine, size, options, 1, Average<T>{size});
  using Block = blocks::GridBlock<Average<T>>;
  std::vector<Block> all;
  for (std::int64_t b = 0; b < cut.volume(); ++b) {
    Block block = grid.array()[b];
    block.tile = blocks::tile_for(block.size, cut.volume(), true, 7, sizeof(T));
    const auto tiles = [](std::int64_t n, std::int64_t of) { return static_cast<std::uint32_t>((n + of - 1) / of); };
    block.in_x = tiles(block.size.x, block.tile.x);
    block.in_y = tiles(block.size.y, block.tile.y);
    block.in_z = tiles(block.size.z, block.tile.z);
    all.push_back(block);
  }
  bool each = true;
  for (std::int64_t b = 0; b < cut.volume(); ++b) {
    const std::int64_t at = b / cut.z / cut.y, further = cut.y * cut.z;
    EXPECT_FALSE(all[b].read_beside(2, all[b]));
    if (at > 0) each = all[b].read_beside(0, all[b - further]) && each;
    if (at + 1 < cut.x) each = all[b].read_beside(1, all[b + further]) && each;
  }
  ASSERT_TRUE(each);
  for (std::int64_t b = 0; b < cut.volume(); ++b) {
    for (std::int64_t tile = 0; tile < all[b].tiles(); ++tile) {
      for (const std::uint32_t side : {0u, 1u}) {
        const std::int64_t other = b + (side == 0 ? -1 : 1) * cut.y * cut.z;
        if (other < 0 || other >= cut.volume() || !all[b].touches(tile, side)) continue;
        const std::uint64_t beyond = all[b].beyond(tile, side);
        EXPECT_TRUE(all[other].touches(beyond, 1 - side));
        const auto mine = all[b].box(tile), theirs = all[other].box(beyond);
        EXPECT_EQ(std::tie(mine.begin.y, mine.begin.z, mine.end.y, mine.end.z),
                  std::tie(theirs.begin.y, theirs.begin.z, theirs.end.y, theirs.end.z));
      }
    }
  }
  for (int s = -1; s < steps; ++s) {
    for (const Block& block : all) {
      for (std::int64_t tile = 0; tile < block.tiles(); ++tile) {
        for (std::uint32_t lane = 0; lane < OneLane::kMaxLanes; ++lane) {
          if (s < 0) {
            block.start(OneLane{lane}, tile);
          } else {
            block.update(OneLane{lane}, s, tile);
          }
        }
      }
    }
  }
  EXPECT_EQ(grid.read(steps), reference<T>(size, steps));
}

TEST(Blocks, ReadTheirNeighborsWhereTheyAre) {
  for (const std::int64_t blocks : {2, 3, 4, 12}) {
    expect_equal_where_blocks_read_beside<double>({12, 18, 23}, {blocks, 1, 1}, 5);
    expect_equal_where_blocks_read_beside<float>({12, 18, 33}, {blocks, 1, 1}, 5);
  }
  // Blocks of unequal sizes are large here: small ones may be further apart in memory than a block can read, as
  // ThreadSanitizer's allocator has a region for each size.
  expect_equal_where_blocks_read_beside<double>({91, 34, 140}, {3, 1, 1}, 4);
  expect_equal_where_blocks_read_beside<double>({8, 5, 9}, {4, 1, 1}, 6);
}

TEST(Blocks, OneCellEach) {
  GridOptions options;
  options.blocks = {3, 4, 5};
  for (const pe_t pes : {1, 3}) expect_equal<double>(cpu_machine(pes, 2), {3, 4, 5}, options, 20);
}

TEST(Blocks, OfFloats) {
  GridOptions options;
  options.odf = 3;
  expect_equal<float>(cpu_machine(2, 2), {19, 23, 70}, options, 9);
}

TEST(Blocks, TilesOfManyShapes) {
  GridOptions options;
  for (const int workers : {1, 16, 1000}) {
    options.odf = 2;
    expect_equal<double>(cpu_machine(2, 2), {64, 40, 33}, options, 5, workers);
  }
}

TEST(Blocks, LargerThanTheCaches) {  // rows are stored around the caches
  GridOptions options;
  options.odf = 2;
  expect_equal<double>(cpu_machine(1, 2), {130, 130, 133}, options, 3);
  if (test::kUnderTsan) return;
  expect_equal<float>(cpu_machine(2, 1), {164, 164, 161}, options, 2);
  expect_equal<double>(cpu_machine(1, 1), {20, 23, 5001}, options, 2);  // rows in several tiles
}

TEST(Blocks, StartAgain) {
  const Machine machine = cpu_machine(2, 1);
  const Size3 size{9, 8, 7};
  GridOptions options;
  options.odf = 2;
  Grid<Average<double>> grid(machine, size, options, 1, Average<double>{size});
  blocks::cpu::Launcher launcher(grid.array());
  for (const blocks::step_t steps : {3, 6}) {
    launcher.start();
    launcher.run({0, steps, false});
    EXPECT_EQ(grid.read(steps), reference<double>(size, static_cast<int>(steps)));
  }
}

/// One face is 1, and the other faces and all cells are 0 at the start.
struct OneFace {
  using Value = double;
  Size3 size;
  SHOAL_FN double at_start(std::int64_t x, std::int64_t, std::int64_t) const { return x == size.x ? 1 : 0; }
  SHOAL_FN double next(const auto& near) const {
    return (near(0, 0, 0) + near(-1, 0, 0) + near(1, 0, 0) + near(0, -1, 0) + near(0, 1, 0) + near(0, 0, -1) +
            near(0, 0, 1)) *
           (1.0 / 7);
  }
};

// In the steady state each cell is the mean of its six neighbours, which is Laplace's equation on the grid. Its solution is a
// sum of products of sines in y and z and hyperbolic sines in x.
TEST(Blocks, ConvergeToTheSolutionOfLaplace) {
  const Size3 n{7, 9, 8};
  GridOptions options;
  options.odf = 4;
  const Machine machine = cpu_machine(2, 1);
  Grid<OneFace> grid(machine, n, options, 1, OneFace{n});
  blocks::cpu::Launcher launcher(grid.array());
  launcher.start();
  blocks::step_t steps = 0;
  do {
    launcher.run({steps, steps + 100, true});
    steps += 100;
  } while (grid.array().change() > 1e-15 && steps < 10000);
  EXPECT_LT(steps, 10000u);
  const std::vector<double> got = grid.read(steps);
  const double pi = std::numbers::pi, Y = static_cast<double>(n.y + 1), Z = static_cast<double>(n.z + 1);
  // The sine coefficients of the constant 1 over a dimension of N - 1 cells.
  const auto coefficient = [pi](int m, double N) { return m % 2 == 0 ? 0 : 2 / N / std::tan(m * pi / (2 * N)); };
  for (std::int64_t x = 0; x < n.x; ++x) {
    for (std::int64_t y = 0; y < n.y; ++y) {
      for (std::int64_t z = 0; z < n.z; ++z) {
        double want = 0;
        for (int m = 1; m <= n.y; ++m) {
          for (int k = 1; k <= n.z; ++k) {
            const double along = std::acosh(3 - std::cos(m * pi / Y) - std::cos(k * pi / Z));
            want += coefficient(m, Y) * coefficient(k, Z) * std::sin(m * pi * static_cast<double>(y + 1) / Y) *
                    std::sin(k * pi * static_cast<double>(z + 1) / Z) * std::sinh(along * static_cast<double>(x + 1)) /
                    std::sinh(along * static_cast<double>(n.x + 1));
          }
        }
        ASSERT_NEAR(got[(x * n.y + y) * n.z + z], want, 1e-12);
      }
    }
  }
}

TEST(Mapping, CutsWhereFewCellsLie) {
  EXPECT_EQ(cut_grid({8, 8, 8}, 8), (Size3{2, 2, 2}));
  EXPECT_EQ(cut_grid({8, 8, 8}, 2), (Size3{2, 1, 1}));  // of equally good cuts, the one across x
  EXPECT_EQ(cut_grid({4, 4, 64}, 4), (Size3{1, 1, 4}));
  EXPECT_EQ(cut_grid({5, 6, 7}, 13), (Size3{2, 2, 3}));  // 13 does not fit
  EXPECT_EQ(cut_grid({1, 1, 1}, 64), (Size3{1, 1, 1}));
  EXPECT_EQ(cut_grid({1, 1, 9}, 9), (Size3{1, 1, 9}));
  EXPECT_EQ(cut_grid({192, 192, 192}, 8, kDearOnOneGpu), (Size3{8, 1, 1}));
  EXPECT_EQ(cut_grid({192, 192, 192}, 64, kDearOnOneGpu), (Size3{16, 4, 1}));  // slices would have only three planes
  EXPECT_EQ(cut_grid({1, 8, 8}, 64, kDearOnOneGpu), (Size3{1, 8, 8}));
}

TEST(Mapping, PlacesBlocks) {
  EXPECT_EQ(place_blocks({6}, 3, parse_mapping("block")), (std::vector<pe_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(place_blocks({5}, 3, parse_mapping("round-robin")), (std::vector<pe_t>{0, 1, 2, 0, 1}));
  EXPECT_THROW(parse_mapping("fair"), UsageError);
  EXPECT_THROW(place_blocks({2}, 2, parse_mapping("file:/nonexistent")), UsageError);
  // Which options change the number of blocks depends on the program.
  const std::string file = ::testing::TempDir() + "blocks_test_long.txt";
  std::ofstream(file) << "0 1 0";
  for (const std::string options : {"", "--odf"}) {
    try {
      place_blocks({2}, 2, parse_mapping("file:" + file), options);
      ADD_FAILURE() << "a line too many";
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(),
                "mapping file " + file +
                    ": has a PE for more than the 2 blocks of this run, beginning with '0'; leave out the others" +
                    (options.empty() ? "" : ", or change --odf"));
    }
  }
}

TEST(Mapping, GivesEachGpuAPart) {
  EXPECT_EQ(cut_grid_for_gpus({192, 192, 192}, 2, 8), (Size3{8, 2, 1}));  // 4 x 2 x 1 in each half
  EXPECT_EQ(cut_grid_for_gpus({192, 192, 192}, 4, 1), (Size3{2, 2, 1}));
  EXPECT_EQ(cut_grid_for_gpus({192, 192, 192}, 4, 8), (Size3{16, 2, 1}));
  EXPECT_EQ(cut_grid_for_gpus({192, 192, 192}, 1, 8), cut_grid({192, 192, 192}, 8, kDearOnOneGpu));
  EXPECT_EQ(cut_grid_for_gpus({1, 1, 3}, 4, 2), (Size3{1, 1, 3}));  // fewer cells than PEs

  EXPECT_EQ(place_parts({8, 8, 8}, {2, 4, 1}, 4), (std::vector<pe_t>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(place_parts({8, 8, 8}, {4, 2, 1}, 4), (std::vector<pe_t>{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(place_parts({8, 8, 8}, {3, 2, 1}, 2), place_blocks({6}, 2, {}));  // x has no two parts
  EXPECT_EQ(place_parts({1, 1, 3}, {1, 1, 3}, 4), place_blocks({3}, 4, {}));
}

TEST(Mapping, MovesFewBlocksToThePeThatTakesLeast) {
  const std::vector<pe_t> halves{0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(balance_blocks({1, 1, 1, 1, 1, 1, 1, 1}, 2, halves), halves);
  const auto where = balance_blocks({4, 4, 4, 4, 1, 1, 1, 1}, 2, halves);  // 16 and 4: 1.5 blocks too many
  double takes[2] = {};
  for (int b = 0; b < 8; ++b) takes[where[b]] += b < 4 ? 4 : 1;
  EXPECT_EQ(std::max(takes[0], takes[1]), 12);
  EXPECT_EQ(balance_blocks({5}, 3, {1}), (std::vector<pe_t>{1}));           // it takes equally long on any PE
  EXPECT_EQ(balance_blocks({0, 0}, 2, {0, 0}), (std::vector<pe_t>{0, 0}));  // no times are known
  EXPECT_EQ(balance_blocks({3, 3}, 2, {1, 1}), (std::vector<pe_t>{0, 1}));
}

TEST(Odf, IsDecidedWhereNothingElseIsSaid) {
  const auto decide = [](Size3 size, const GridOptions& options, pe_t pes, bool on_gpu) {
    Decisions chosen;
    const std::int64_t odf = decide_odf(size, options, pes, on_gpu, chosen);
    if (options.odf == 0 && on_gpu) {
      EXPECT_EQ(value_of(chosen, "odf"), std::to_string(odf));
    }
    if (options.odf != 0 || !on_gpu) {
      EXPECT_TRUE(chosen.empty());
    }
    return odf;
  };
  GridOptions options;
  EXPECT_EQ(decide({384, 192, 192}, options, 2, true), 2);  // two H100: 0.94 of the time with one block each
  EXPECT_EQ(decide({64, 64, 64}, options, 2, true), 2);
  EXPECT_EQ(decide({256, 256, 256}, options, 2, true), 1);  // 1.07
  EXPECT_EQ(decide({256, 256, 256}, options, 4, true), 2);
  EXPECT_EQ(decide({192, 192, 192}, options, 1, true), 1);  // one H100: 1.05
  EXPECT_EQ(decide({64, 64, 64}, options, 2, false), 1);
  EXPECT_EQ(check_grid({384, 192, 192}, options, 2, true), cut_grid_for_gpus({384, 192, 192}, 2, 2));
  EXPECT_EQ(check_grid({8, 8, 8}, options, 2), cut_grid({8, 8, 8}, 2));
  options.mapping = parse_mapping("round-robin");
  EXPECT_EQ(decide({64, 64, 64}, options, 2, true), 1);
  options = {};
  options.odf = 3;
  EXPECT_EQ(decide({64, 64, 64}, options, 2, true), 3);
}

TEST(Forms, AreDecided) {
  const auto form = [](LaunchOptions options, const BlockSizes& sizes) {
    Decisions chosen;
    const LaunchOptions decided = decide_launch(options, sizes, chosen);
    EXPECT_EQ(value_of(chosen, "form"), name(decided.form));
    return decided;
  };
  EXPECT_EQ(form({}, {false, 2}).form, BlockForm::threads);
  EXPECT_EQ(form({}, {true, 1, 397, 396}).form, BlockForm::kernels);
  EXPECT_GT(form({}, {true, 1, 397, 396}).graph, 0);
  EXPECT_EQ(form({}, {true, 1, 396, 396}).form, BlockForm::resident);  // every tile has a worker
  EXPECT_EQ(form({}, {true, 2, 297, 396}).form, BlockForm::resident);
  EXPECT_EQ(form({}, {true, 2, 298, 396}).form, BlockForm::kernels);
  LaunchOptions kernels;
  kernels.form = BlockForm::kernels;
  EXPECT_EQ(form(kernels, {true, 1}).graph, 0);  // only what was asked for
  kernels.graph = 6;
  EXPECT_EQ(form(kernels, {true, 1}).graph, 6);
  EXPECT_THROW(form(kernels, {false, 1}), UsageError);
  EXPECT_EQ(form(kernels, {true, 1, 396, 396}).fusion, Fusion::d);
  EXPECT_EQ(form(kernels, {true, 1, 397, 396}).fusion, Fusion::c);
  kernels.fusion = Fusion::c;
  EXPECT_EQ(form(kernels, {true, 1, 8, 396}).fusion, Fusion::c);
  LaunchOptions urgent;
  urgent.urgent_packs = true;
  EXPECT_EQ(form(urgent, {true, 1, 8, 396}).form, BlockForm::kernels);  // this form has separate packs
  EXPECT_EQ(form(urgent, {true, 1, 8, 396}).fusion, Fusion::b);
  EXPECT_THROW(form(urgent, {false, 1}), UsageError);
  urgent.form = BlockForm::resident;
  EXPECT_THROW(form(urgent, {true, 1}), UsageError);
  urgent.form = BlockForm::kernels;
  urgent.fusion = Fusion::c;
  EXPECT_THROW(form(urgent, {true, 1}), UsageError);
  LaunchOptions copies;
  copies.halos = Halos::staged;
  EXPECT_EQ(form(copies, {true, 2, 8, 396}).form, BlockForm::kernels);
  EXPECT_EQ(form(copies, {true, 2, 8, 396}).fusion, Fusion::d);  // copies need no separate packs
  EXPECT_THROW(form(copies, {false, 2}), UsageError);
  copies.form = BlockForm::resident;
  EXPECT_THROW(form(copies, {true, 2}), UsageError);
  EXPECT_EQ(parse_halos("copied"), Halos::copied);
  EXPECT_THROW(parse_halos("host"), UsageError);
  LaunchOptions weighs;  // the form `kernels` does not measure how long blocks take, so no block would ever move
  weighs.weigh = kernels.weigh = true;
  EXPECT_EQ(form(weighs, {true, 2, 1000, 396}).form, BlockForm::resident);
  EXPECT_EQ(form(weighs, {false, 2}).form, BlockForm::threads);
  EXPECT_THROW(form(kernels, {true, 2, 1000, 396}), UsageError);
}

TEST(Tiles, FillTheWorkersOfAGpu) {
  const auto planes = [](Size3 size, std::int64_t blocks) { return blocks::tile_for(size, blocks, true, 396, 8).x; };
  EXPECT_EQ(planes({192, 192, 192}, 1), 39);  // 360 tiles in one turn; with 48 planes there would be 288
  EXPECT_EQ(planes({24, 192, 192}, 8), 24);
  EXPECT_EQ(planes({96, 192, 192}, 2), 48);
  EXPECT_EQ(planes({96, 96, 96}, 8), 48);
  EXPECT_EQ(planes({768, 768, 768}, 1), 64);
}

/// Blocks are stored in memory here, in the way of a file.
TEST(Blocks, AreStoredAndGoOnElsewhere) {
  const Size3 size{20, 21, 22};
  GridOptions options;
  options.blocks = {2, 3, 2};
  std::string stored;
  for (const pe_t pes : {1, 3, 2}) {  // 7 steps each
    const Machine machine = cpu_machine(pes, 2);
    GridStepsBy<Average<double>, blocks::cpu::Launcher> grid(machine, size, options, Average<double>{size});
    const char* at = stored.data();
    const std::int64_t before = pes == 1 ? 0 : pes == 3 ? 7 : 14;
    if (before == 0) {
      grid.start();
    } else {
      grid.load(before, [&](void* to, std::size_t bytes) {
        std::memcpy(to, at, bytes);
        at += bytes;
      });
      EXPECT_EQ(at, stored.data() + stored.size());
    }
    grid.run(7, false);
    stored.clear();
    grid.save([&](const void* from, std::size_t bytes) { stored.append(static_cast<const char*>(from), bytes); });
    EXPECT_EQ(grid.read(), reference<double>(size, static_cast<int>(before) + 7));
  }
  options.blocks = {1, 3, 4};
  const Machine machine = cpu_machine(1, 1);
  GridStepsBy<Average<double>, blocks::cpu::Launcher> other(machine, size, options, Average<double>{size});
  const char* at = stored.data();
  EXPECT_THROW(
      other.load(21, [&](void* to, std::size_t bytes) { std::memcpy(to, std::exchange(at, at + bytes), bytes); }),
      UsageError);
}

TEST(Mapping, RefusesWhatDoesNotFit) {
  GridOptions options;
  EXPECT_THROW(check_grid({0, 1, 1}, options, 1), UsageError);
  EXPECT_THROW(check_grid({1 << 20, 1 << 20, 1 << 20}, options, 1), UsageError);
  for (const std::int64_t odf : {-1, 4097}) {
    options.odf = odf;
    EXPECT_THROW(check_grid({4, 4, 4}, options, 1), UsageError);
  }
  options.blocks = {5, 1, 1};
  EXPECT_THROW(check_grid({4, 4, 4}, options, 1), UsageError);
}

}  // namespace
}  // namespace shoal
