// The order of the units of blocks that are launched on GPUs (blocks/units.hpp).
#include "shoal/blocks/units.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shoal {
namespace {

using After = std::vector<std::int64_t>;

/// Four blocks in a row, two on each of two GPUs. The two in the middle have a channel to the other GPU.
std::vector<blocks::Unit> row_of_four() {
  std::vector<blocks::Unit> units;
  for (std::int64_t b = 0; b < 4; ++b) {
    units.push_back({static_cast<pe_t>(b / 2), b, static_cast<std::uint32_t>(b % 2), 1, 1, b == 1 || b == 2, {}});
    if (b > 0) units[b].after.push_back(b - 1);
    if (b < 3) units[b].after.push_back(b + 1);
  }
  return units;
}

TEST(Units, WaitForOtherGpusByWordsWhereTheseDo) {
  auto units = row_of_four();
  blocks::order_units(units, {0, 1}, true);
  EXPECT_EQ(units[0].after, After{1});
  EXPECT_EQ(units[1].after, After{0});
  EXPECT_EQ(units[2].after, After{3});
  units = row_of_four();
  blocks::order_units(units, {0, 1}, false);
  EXPECT_EQ(units[1].after, (After{0, 2}));
  units = row_of_four();
  blocks::order_units(units, {0, 0}, true);  // both PEs on one GPU: units that may wait come after each other
  EXPECT_EQ(units[0].after, After{1});
  EXPECT_EQ(units[1].after, (After{0, 2}));
}

TEST(Units, ThatMayWaitComeAfterAllOfTheirGpuThatMay) {
  auto units = row_of_four();
  units[0].wired = true;
  units[0].after.clear();  // no neighbours
  units[1].after.clear();
  blocks::order_units(units, {0, 1}, true);
  EXPECT_EQ(units[0].after, After{1});
  EXPECT_EQ(units[1].after, After{0});
  EXPECT_EQ(units[3].after, After{2});  // it does not wait for other GPUs, but has a neighbour
}

}  // namespace
}  // namespace shoal
