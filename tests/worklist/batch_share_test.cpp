// How many items a GPU worker takes at a time. Needs no GPU.
#include "shoal/worklist/batch_share.hpp"

#include <gtest/gtest.h>

namespace shoal {
namespace {

constexpr lane_t kWorkers = 2112;  // warps of one H100

TEST(BatchShare, IsBetweenTheLeastAndFetch) {
  for (const lane_t fetch : {1u, 3u, 4u, 7u, 32u, 64u, 512u}) {
    for (const ticket_t waiting : {ticket_t{0}, ticket_t{1}, ticket_t{2112}, ticket_t{100'000}, ticket_t{1} << 53}) {
      for (const lane_t workers : {1u, 3u, kWorkers}) {
        for (const unsigned kind : {0u, 1u, 2u}) {
          const bool grows = kind > 0, sifts = kind > 1;
          EXPECT_GE(next_share(waiting, workers, fetch, grows, sifts), least_share(fetch, sifts));
          EXPECT_LE(next_share(waiting, workers, fetch, grows, sifts), fetch);
        }
      }
    }
  }
}

TEST(BatchShare, OfBlocksIsWhatWaitsForEach) {
  for (const bool sifts : {false, true}) {
    EXPECT_EQ(next_share(0, 264, 64, true, sifts), 8u);  // an eighth
    EXPECT_EQ(next_share(264 * 20 + 263, 264, 64, true, sifts), 20u);
    EXPECT_EQ(next_share(264 * 70, 264, 64, true, sifts), 64u);
  }
}

TEST(BatchShare, OfBlocksThatSiftIsSmallWhereFewWaitHoweverLongTheirBatchesMayBe) {
  EXPECT_EQ(next_share(0, 264, 512, true, false), 64u);
  EXPECT_EQ(next_share(0, 264, 512, true, true), 8u);
  EXPECT_EQ(next_share(264 * 600, 264, 512, true, true), 512u);
}

TEST(BatchShare, OfWarpsIsFullAsSoonAsAQuarterWaitsForEach) {
  EXPECT_EQ(next_share(0, kWorkers, 7, false, false), 4u);
  EXPECT_EQ(next_share(kWorkers / 4 - 1, kWorkers, 7, false, false), 4u);
  EXPECT_EQ(next_share(kWorkers / 4, kWorkers, 7, false, false), 7u);
  EXPECT_EQ(next_share(0, 2, 7, false, false), 4u);  // nothing waits, also where there are fewer than four workers
}

}  // namespace
}  // namespace shoal
