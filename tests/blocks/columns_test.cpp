// Tiles updated column by column (blocks/columns.hpp), lane after lane, compared with a plain update.
#include "shoal/blocks/columns.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "shoal/blocks/mapping.hpp"

namespace shoal {
namespace {

template <class T>
void expect_equal(Size3 tile, Size3 first, std::uint32_t lanes) {
  SCOPED_TRACE(testing::Message() << tile.x << " x " << tile.y << " x " << tile.z << ", " << lanes << " lanes");
  ASSERT_LE(tile.y, (blocks::rows_of_lanes<T>(lanes, static_cast<std::uint32_t>(tile.z))));
  constexpr std::int64_t kLine = 64 / sizeof(T);
  const Size3 n{12, 40, 70};
  const std::int64_t row = (n.z + 2 + kLine - 1) / kLine * kLine, plane = (n.y + 2) * row;
  std::vector<T> from(static_cast<std::size_t>((n.x + 2) * plane + 3 * kLine)), to(from.size(), T{-1});
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i * 7919 % 10007) / 3;
  std::vector<T> want = to;
  const auto misplaced = [](const T* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 / sizeof(T); };
  ASSERT_EQ(misplaced(from.data()) % 2, misplaced(to.data()) % 2);
  const std::int64_t at =
      static_cast<std::int64_t>(kLine - misplaced(from.data())) + (first.x + 1) * plane + (first.y + 1) * row + first.z;
  const auto next = [](const auto& near) {
    return near(0, 0, 0) + 2 * near(-1, 0, 0) + 3 * near(1, 0, 0) + 4 * near(0, -1, 0) + 5 * near(0, 1, 0) +
           6 * near(0, 0, -1) + 7 * near(0, 0, 1);
  };
  for (std::int64_t x = 0; x < tile.x; ++x) {
    for (std::int64_t y = 0; y < tile.y; ++y) {
      for (std::int64_t z = 0; z < tile.z; ++z) {
        const T* c = &from[at + x * plane + y * row + z];
        want[c - from.data()] = next(blocks::NearValues<T>{c[0], c[-plane], c[plane], c[-row], c[row], c[-1], c[1]});
      }
    }
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const blocks::Tile<T> here{from.data() + at,
                               to.data() + at,
                               static_cast<std::int32_t>(plane),
                               static_cast<std::int32_t>(row),
                               static_cast<std::uint32_t>(tile.x),
                               static_cast<std::uint32_t>(tile.y),
                               static_cast<std::uint32_t>(tile.z)};
    blocks::update_tile(lane, here, next);
  }
  for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(to[i], want[i]) << i;
}

TEST(Columns, EqualThePlainWay) {
  for (const std::uint32_t lanes : {64, 256}) {
    for (const Size3 tile : {Size3{1, 1, 1}, {2, 3, 2}, {3, 2, 64}, {12, 7, 7}, {4, 40, 2}, {5, 2, 48}}) {
      expect_equal<double>(tile, {0, 0, 0}, lanes);
      expect_equal<float>(tile, {0, 0, 0}, lanes);
    }
    expect_equal<double>({5, 3, 5}, {3, 5, 16}, lanes);
    expect_equal<float>({5, 3, 5}, {3, 5, 32}, lanes);
  }
}

}  // namespace
}  // namespace shoal
