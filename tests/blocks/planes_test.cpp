// Tiles updated plane by plane (blocks/planes.hpp), by threads in place of a GPU's lanes, against the plain way.
#include "shoal/blocks/planes.hpp"

#include "shoal/blocks/mapping.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

namespace shoal {
namespace {

constexpr std::uint32_t kLanes = 16;

struct Lane {
  std::barrier<>* meeting;
  lane_t number;
  lane_t lane() const { return number; }
  void sync() const { meeting->arrive_and_wait(); }
};

/// Copies at once. A plane that comes is first spoilt: who still reads the one before it, or reads beside it, is found.
template <class T>
struct CopiesAtOnce {
  std::atomic<std::uint64_t>* came;  ///< [planes of the ring]
  void fetch(const Lane& w, blocks::PlaneRing<T>& ring, std::uint32_t slot, const T* from, std::int64_t row,
             std::uint32_t rows, std::uint32_t width) const {
    if (w.lane() != 0) return;
    ASSERT_LE(rows * width, std::size(ring.values[0]));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(from) % 16, 0u);
    std::fill(std::begin(ring.values[slot]), std::end(ring.values[slot]), std::numeric_limits<T>::quiet_NaN());
    for (std::uint32_t r = 0; r < rows; ++r) std::copy_n(from + r * row, width, ring.values[slot] + r * width);
    came[slot].fetch_add(1, std::memory_order_release);
  }
  void wait(blocks::PlaneRing<T>&, std::uint32_t slot, std::uint32_t parity) const {
    while ((came[slot].load(std::memory_order_acquire) & 1) == parity) std::this_thread::yield();
  }
  void store(blocks::PlaneVector<T>* to, const blocks::PlaneVector<T>& value) const { *to = value; }
};

template <class T>
void expect_equal(std::initializer_list<Size3> tiles, Size3 first) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  const Size3 n{32, 40, 70};
  const std::int64_t row = (n.z + 2 + kLine - 1) / kLine * kLine, plane = (n.y + 2) * row;
  std::vector<T> from(static_cast<std::size_t>((n.x + 2) * plane + 3 * kLine)), to(from.size(), T{-1});
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i * 7919 % 10007) / 3;
  std::vector<T> want = to;
  const std::int64_t origin =
      static_cast<std::int64_t>((64 - reinterpret_cast<std::uintptr_t>(from.data()) % 64) / sizeof(T)) + plane + row;
  ASSERT_EQ(reinterpret_cast<std::uintptr_t>(from.data()) % 16, reinterpret_cast<std::uintptr_t>(to.data()) % 16);
  const auto next = [](const auto& near) {
    return near(0, 0, 0) + 2 * near(-1, 0, 0) + 3 * near(1, 0, 0) + 4 * near(0, -1, 0) + 5 * near(0, 1, 0) +
           6 * near(0, 0, -1) + 7 * near(0, 0, 1);
  };
  const auto ring = std::make_unique<blocks::PlaneRing<T>>();
  ring->turn = 0;
  std::atomic<std::uint64_t> came[blocks::PlaneRing<T>::kPlanes] = {};
  std::barrier<> meeting(kLanes);
  std::vector<std::jthread> lanes;
  for (const Size3& tile : tiles) {
    for (std::int64_t x = 0; x < tile.x; ++x) {
      for (std::int64_t y = 0; y < tile.y; ++y) {
        for (std::int64_t z = 0; z < tile.z; ++z) {
          const T* c = &from[origin + (first.x + x) * plane + (first.y + y) * row + first.z + z];
          want[c - from.data()] = next(blocks::NearValues<T>{c[0], c[-plane], c[plane], c[-row], c[row], c[-1], c[1]});
        }
      }
    }
  }
  for (lane_t lane = 0; lane < kLanes; ++lane) {
    lanes.emplace_back([&, lane] {
      const Lane w{&meeting, lane};
      for (const Size3& tile : tiles) {  // one after the other with the same ring
        const std::int64_t at = origin + first.x * plane + first.y * row + first.z;
        const blocks::TileOfPlanes<T> here{from.data() + at,
                                           to.data() + at,
                                           plane,
                                           row,
                                           static_cast<std::uint32_t>(tile.x),
                                           static_cast<std::uint32_t>(tile.y),
                                           static_cast<std::uint32_t>(tile.z)};
        blocks::update_planes(w, *ring, CopiesAtOnce<T>{came}, here, next);
        w.sync();
      }
    });
  }
  lanes.clear();
  for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(to[i], want[i]) << i;
}

TEST(Planes, EqualThePlainWay) {
  expect_equal<double>({{1, 1, 1}, {2, 2, 2}, {3, 8, 8}, {9, 7, 7}, {4, 31, 2}, {11, 5, 6}}, {0, 0, 0});
  expect_equal<double>({{5, 3, 5}, {17, 8, 8}}, {3, 5, 16});
  expect_equal<float>({{6, 8, 16}, {7, 7, 13}, {5, 1, 1}, {12, 32, 4}}, {2, 1, 32});
}

// Lanes and shared memory are enough for every tile that is made.
TEST(Planes, TilesFit) {
  for (const std::size_t bytes : {4u, 8u}) {
    for (std::int64_t z = 1; z <= blocks::most_of_row(bytes); ++z) {
      const auto rows = blocks::most_rows(z, bytes), vector = static_cast<std::int64_t>(16 / bytes);
      const auto vectors = (z + vector - 1) / vector;
      EXPECT_GE(rows, 1);
      EXPECT_LE(vectors * ((rows + 1) / 2), blocks::kPlaneLanes);
      EXPECT_LE((rows + 2) * (vectors + 2) * 16, blocks::kPlaneBytes);
    }
  }
}

}  // namespace
}  // namespace shoal
