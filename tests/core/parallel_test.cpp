#include "shoal/core/parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace shoal {
namespace {

TEST(ParallelChunks, EachIndexOnceInTheChunkThatItsNumberSays) {
  for (const std::int64_t n : {0, 1, 2, 63, 64, 65, 1000}) {
    for (const std::int64_t grain : {1, 2, 64, 65, 5000}) {
      std::vector<std::atomic<int>> seen(n);
      std::atomic<int> chunks{0};
      parallel_chunks(n, grain, [&](std::int64_t c, std::int64_t begin, std::int64_t end) {
        EXPECT_EQ(begin, c * grain);
        EXPECT_EQ(end, std::min(n, begin + grain));
        for (std::int64_t i = begin; i < end; ++i) ++seen[i];
        ++chunks;
      });
      EXPECT_EQ(chunks, (n + grain - 1) / grain);
      for (const auto& times : seen) EXPECT_EQ(times, 1);
    }
  }
}

TEST(ParallelChunks, TheLowestChunkThatThrowsIsSeen) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> begun{0};
    try {
      parallel_ranges(1000, 1, [&](std::int64_t i, std::int64_t) {
        ++begun;
        if (i >= 17) throw std::runtime_error(std::to_string(i));
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "17");
    }
    EXPECT_GE(begun, 18);
    // Each thread throws at most once and then stops.
    EXPECT_LE(begun, 17 + std::max(1u, std::thread::hardware_concurrency()));
  }
}

}  // namespace
}  // namespace shoal
