// Buckets::far_from(): no priority below the bound is beyond the threshold, and few others are within it.
#include "shoal/queue/buckets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace shoal {
namespace {

template <class P>
class BucketBounds : public testing::Test {};
using Priorities = testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(BucketBounds, Priorities);

TYPED_TEST(BucketBounds, HoldForAllPriorities) {
  using P = TypeParam;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-6, 15), unit(0, 1);
  for (int i = 0; i < 20000; ++i) {
    const double threshold = random() % 4 == 0 ? 0 : std::floor(std::pow(10, exponent(random))) - 3;
    const double delta = random() % 2 == 0 ? std::pow(10, exponent(random)) : double(1 + random() % 5000);
    const Buckets buckets{threshold, 1 / delta, 4};
    const auto bucket =
        static_cast<lane_t>(random() % 3 == 0 ? random() % 4 : random() % 4000000000u >> (random() % 32));
    const auto from = buckets.far_from<P>(bucket);
    const double near_it = threshold + bucket * delta;
    for (int j = 0; j < 20; ++j) {
      const double at = j < 10 ? near_it * (1 + (unit(random) - .5) * std::pow(10, -2 * j)) + (j - 5)
                               : std::pow(10, exponent(random));
      if (!(at >= static_cast<double>(std::numeric_limits<P>::lowest()) &&
            at < static_cast<double>(std::numeric_limits<P>::max())))
        continue;
      const P priority = static_cast<P>(at);
      if (priority < from) {
        ASSERT_LE(buckets.of(static_cast<double>(priority)), bucket)
            << "threshold " << threshold << ", delta " << delta << ", priority " << at;
      }
    }
  }
}

TYPED_TEST(BucketBounds, AreClose) {
  using P = TypeParam;
  const Buckets buckets{0, 1.0 / 1024, 4};
  EXPECT_LT(static_cast<P>(3071), buckets.far_from<P>(3));
  EXPECT_FALSE(static_cast<P>(3072) < buckets.far_from<P>(3));
  EXPECT_FALSE(P{0} < buckets.far_from<P>(0)) << "nothing is in bucket 0";
  EXPECT_LT(static_cast<P>(999), (Buckets{1000, 1, 4}).far_from<P>(0));
  EXPECT_LT(P{100}, buckets.far_from<P>(kLastBucket)) << "everything is within the last bucket";
}

TEST(BucketBoundsWithoutAWidth, FindNothingCertain) {
  const Buckets none{};
  EXPECT_FALSE(0u < none.far_from<std::uint32_t>(0));
  EXPECT_FALSE(0u < none.far_from<std::uint32_t>(7)) << "0 / 0 and 7 / 0 are no bounds";
  EXPECT_FALSE(0.0 < none.far_from<double>(7));
}

}  // namespace
}  // namespace shoal
