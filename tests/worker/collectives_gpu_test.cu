// The collectives of warps and blocks (worker/worker.hpp), each beside the same computed on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "shoal/device/device_memory.cuh"
#include "shoal/worker/gpu.cuh"

namespace shoal {
namespace {

constexpr lane_t kBins = 5;

/// What one lane gives to the collectives.
struct Given {
  lane_t x;
  std::uint64_t y;
  double real;
  lane_t bin;
  bool b;
};
/// What the collectives return to one lane, and what they leave in memory that the lanes share.
struct Got {
  Scan sum, votes, places;
  lane_t leaders, smallest, in_bin, least, bins[kBins], taken;
  std::uint64_t leaders_word, total, added;
  double highest, product;
  bool any;
};

template <class W>
__device__ W worker() {
  if constexpr (HasParts<W>) {
    __shared__ GpuBlock::Scratch scratch;
    return {&scratch};
  } else {
    return {};
  }
}

template <class W>
__global__ void call_all(const Given* given, Got* got) {
  __shared__ lane_t bins[kBins], least, taken;
  __shared__ std::uint64_t added;
  const W w = worker<W>();
  if (w.lane() == 0) {
    for (lane_t& bin : bins) bin = 0;
    least = ~lane_t{0};
    taken = 7;
    added = 0;
  }
  w.sync();
  const Given g = given[w.lane()];
  Got r{};
  r.sum = w.exclusive_sum(g.x);
  r.votes = w.count_before(g.b);
  r.leaders = w.from_leader(g.x);
  r.leaders_word = w.from_leader(g.y);
  r.any = w.any(g.b);
  r.smallest = w.smallest(g.x);
  r.total = w.sum(g.y);
  r.highest = w.combine(g.real, -HUGE_VAL, [](double a, double b) { return a > b ? a : b; });
  r.product = w.combine(g.real, 1, [](double a, double b) { return a * b; });
  r.in_bin = w.count_in(bins, g.bin, g.b);
  w.lower(&least, g.x);
  r.places = GpuWarp().take_places(&taken, g.x);
  if constexpr (HasParts<W>) {
    lane_t n = g.x;
    if (g.b && W::sum_together(n)) W::add(added, n);
    w.sync();
    if (w.lane() == 0) W::add(added, ~lane_t{0});  // carries into the upper half
  }
  w.sync();
  for (lane_t i = 0; i < kBins; ++i) r.bins[i] = bins[i];
  r.least = least;
  r.taken = taken;
  r.added = added;
  got[w.lane()] = r;
}

/// @param bits  every lane's b is set with a chance of `bits` in 8
template <class W>
void call_and_compare(lane_t lanes, unsigned bits, std::mt19937_64& random) {
  SCOPED_TRACE(std::to_string(lanes) + " lanes, " + std::to_string(bits) + " of 8 vote");
  std::vector<Given> given(lanes);
  for (Given& g : given) {
    g = {.x = static_cast<lane_t>(random() % 1000000),
         .y = random() >> (random() % 60),
         .real =
             std::ldexp(1.0, static_cast<int>(random() % 5) - 2),  // products of powers of two are exact in any order
         .bin = static_cast<lane_t>(random() % kBins),
         .b = random() % 8 < bits};
  }
  DeviceArray<Given> in(lanes, "given");
  DeviceArray<Got> out(lanes, "got");
  in.upload(given.data(), lanes);
  call_all<W><<<1, lanes>>>(in.data(), out.data());
  std::vector<Got> got(lanes);
  out.download(got.data(), lanes);

  Scan sum{0, 0}, votes{0, 0};
  lane_t smallest = ~lane_t{0}, bins[kBins] = {};
  std::uint64_t total = 0, added = ~lane_t{0};
  double highest = 0, product = 1;
  for (const Given& g : given) {
    sum.total += g.x;
    votes.total += g.b;
    smallest = std::min(smallest, g.x);
    total += g.y;
    highest = std::max(highest, g.real);
    product *= g.real;
    bins[g.bin] += g.b;
    added += g.b ? g.x : 0;
  }
  std::vector<std::vector<bool>> ranks(kBins);
  std::vector<lane_t> begins;
  for (lane_t i = 0; i < lanes; ++i) {
    SCOPED_TRACE("lane " + std::to_string(i));
    const Given& g = given[i];
    const Got& r = got[i];
    ASSERT_EQ(r.sum.before, sum.before);
    ASSERT_EQ(r.sum.total, sum.total);
    ASSERT_EQ(r.votes.before, votes.before);
    ASSERT_EQ(r.votes.total, votes.total);
    ASSERT_EQ(r.leaders, given[0].x);
    ASSERT_EQ(r.leaders_word, given[0].y);
    ASSERT_EQ(r.any, votes.total > 0);
    ASSERT_EQ(r.smallest, smallest);
    ASSERT_EQ(r.least, smallest);
    ASSERT_EQ(r.total, total);
    ASSERT_EQ(r.highest, highest);
    ASSERT_EQ(r.product, product);
    ASSERT_TRUE(std::equal(bins, bins + kBins, r.bins));
    ASSERT_EQ(r.taken, 7 + sum.total);
    ASSERT_LE(r.places.before + g.x, r.places.total);
    if (HasParts<W>) {
      ASSERT_EQ(r.added, added);
    }
    begins.push_back(r.places.before);
    if (g.b) {  // the lanes of a bin get the numbers below its count, each one once
      std::vector<bool>& seen = ranks[g.bin];
      seen.resize(bins[g.bin]);
      ASSERT_LT(r.in_bin, bins[g.bin]);
      ASSERT_FALSE(seen[r.in_bin]);
      seen[r.in_bin] = true;
    }
    sum.before += g.x;
    votes.before += g.b;
  }
  // The places of all lanes together are one range without gaps.
  std::vector<lane_t> order(lanes);
  for (lane_t i = 0; i < lanes; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](lane_t a, lane_t b) {
    return begins[a] != begins[b] ? begins[a] < begins[b] : given[a].x < given[b].x;
  });
  lane_t next = 7;
  for (const lane_t i : order) {
    ASSERT_EQ(begins[i], next);
    next += given[i].x;
  }
}

class Collectives : public ::testing::Test {
 protected:
  void SetUp() override {
    if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  }
};

TEST_F(Collectives, OfAWarp) {
  std::mt19937_64 random(1);
  for (unsigned bits = 0; bits <= 8; ++bits) call_and_compare<GpuWarp>(32, bits, random);
}

TEST_F(Collectives, OfABlock) {
  std::mt19937_64 random(2);
  for (lane_t lanes = 64; lanes <= GpuBlock::kMaxLanes; lanes += 32) {
    for (const unsigned bits : {0u, 1u, 4u, 8u}) call_and_compare<GpuBlock>(lanes, bits, random);
  }
}

__global__ void sum_first(const lane_t* x, lane_t n, Scan* got) {
  const GpuWarp w;
  got[w.lane()] = w.exclusive_sum(w.lane() < n ? x[w.lane()] : 0, n);
}

TEST_F(Collectives, SumsOfTheFirstLanes) {
  std::mt19937 random(3);
  std::vector<lane_t> x(32);
  DeviceArray<lane_t> in(32, "x");
  DeviceArray<Scan> out(32, "sums");
  std::vector<Scan> got(32);
  for (lane_t n = 1; n <= 32; ++n) {
    SCOPED_TRACE(std::to_string(n) + " lanes have a number");
    for (lane_t& one : x) one = static_cast<lane_t>(random() % 1000);
    in.upload(x.data(), 32);
    sum_first<<<1, 32>>>(in.data(), n, out.data());
    out.download(got.data(), 32);
    lane_t before = 0;
    for (lane_t i = 0; i < n; ++i) {
      ASSERT_EQ(got[i].before, before) << "lane " << i;
      before += x[i];
    }
    for (lane_t i = 0; i < 32; ++i) ASSERT_EQ(got[i].total, before) << "lane " << i;
  }
}

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

TEST_F(Collectives, SearchFindsTheItemOfEveryElement) {
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
