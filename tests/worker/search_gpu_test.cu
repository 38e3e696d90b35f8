// The search of a warp's lanes for the item of every element, with several elements per lane.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "shoal/device/device_memory.cuh"
#include "shoal/worker/gpu.cuh"

namespace shoal {
namespace {

constexpr lane_t kEach = 4;  ///< elements per lane

/// found[e] = the index of the last of the n starts that is at most e, for e in [0, end).
__global__ void search_all(const lane_t* starts, lane_t n, lane_t end, lane_t* found) {
  const GpuWarp w;
  for (lane_t base = 0; base < end; base += kEach * 32) {
    lane_t low = 0;
    for (lane_t k = 0; k < kEach; ++k) {
      const lane_t e = base + k * 32 + w.lane(), at = e < end ? e : end - 1;
      const lane_t j = w.search(n, at, k == 0, low, [&](lane_t i) { return starts[i]; });
      if (e < end) found[e] = j;
    }
  }
}

TEST(Search, FindsTheItemOfEveryElement) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  std::mt19937 random(1);
  const auto below = [&](lane_t n) { return static_cast<lane_t>(random() % n); };
  for (int trial = 0; trial < 300; ++trial) {
    const lane_t most_items[] = {1, 3, 33, 512}, most_size[] = {1, 2, 7, 40, 300};
    const lane_t n = 1 + below(most_items[below(4)]), size = most_size[below(5)];
    std::vector<lane_t> starts, expected;
    for (lane_t j = 0; j < n; ++j) {
      starts.push_back(static_cast<lane_t>(expected.size()));
      expected.insert(expected.end(), 1 + below(size), j);
    }
    DeviceArray<lane_t> at(n, "starts"), found(static_cast<std::int64_t>(expected.size()), "found");
    at.upload(starts.data(), n);
    search_all<<<1, 32>>>(at.data(), n, static_cast<lane_t>(expected.size()), found.data());
    std::vector<lane_t> got(expected.size());
    found.download(got.data(), static_cast<std::int64_t>(got.size()));
    ASSERT_EQ(got, expected) << n << " items of up to " << size << " elements";
  }
}

}  // namespace
}  // namespace shoal
