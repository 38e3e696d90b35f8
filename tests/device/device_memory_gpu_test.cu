// Device memory from pools: freed memory can be allocated again, errors state the right numbers, and peers can access the
// memory.
#include <gtest/gtest.h>

#include <cstdint>

#include "shoal/device/device_memory.cuh"
#include "shoal/device/peer_access.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal {
namespace {

constexpr std::int64_t kMega = 1 << 20;

class DeviceMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  }
};

__global__ void write_number(std::uint32_t* to, std::uint32_t number) { *to = number; }

TEST_F(DeviceMemory, WhatIsFreedCountsAsFree) {
  { DeviceArray<char> first(kMega, "first"); }
  const std::size_t before = free_device_bytes();
  {
    DeviceArray<char> large(800 * kMega, "large");
    EXPECT_LE(free_device_bytes() + 800 * kMega, before);
  }
  EXPECT_EQ(free_device_bytes(), before);
}

TEST_F(DeviceMemory, WhatThePoolKeepsIsGivenBackBeforeARequestFails) {
  { DeviceArray<char> kept(900 * kMega, "kept"); }
  const auto most = static_cast<std::int64_t>(free_device_bytes());
  // Nearly all memory: more than is free as long as the pool keeps what was freed.
  DeviceArray<char> nearly_all(most - 600 * kMega, "nearly all");
  EXPECT_NE(nearly_all.data(), nullptr);
}

TEST_F(DeviceMemory, TooMuchIsACapacityErrorThatTellsWhatIsFree) {
  { DeviceArray<char> kept(900 * kMega, "kept"); }
  const std::size_t free_bytes = free_device_bytes();
  const std::int64_t held = AllocationFault::held;
  try {
    DeviceArray<char> all(std::int64_t{1} << 45, "far too much");
    FAIL() << "32 TiB were given";
  } catch (const CapacityError& error) {
    const std::string line = error.what();
    EXPECT_NE(line.find("far too much on device 0: 35184372088832 bytes wanted, "), std::string::npos) << line;
    const std::string had = line.substr(line.find("wanted, ") + 8);
    EXPECT_NEAR(std::stod(had), static_cast<double>(free_bytes), 64.0 * kMega) << line;
  }
  EXPECT_EQ(AllocationFault::held, held);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(DeviceMemory, PeersReachWhatWasThereBeforeAndWhatComesLater) {
  if (num_devices() < 2) GTEST_SKIP() << "one GPU";
  DeviceGuard guard(0);
  DeviceArray<std::uint32_t> early(1, "early");
  reach_peer(1, 0);
  reach_peer(1, 0);
  DeviceArray<std::uint32_t> late(64 * kMega, "late");
  {
    DeviceGuard other(1);
    write_number<<<1, 1>>>(early.data(), 7);
    write_number<<<1, 1>>>(late.data() + late.size() - 1, 8);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  std::uint32_t number = 0;
  early.download(&number, 1);
  EXPECT_EQ(number, 7u);
  late.download(&number, 1, late.size() - 1);
  EXPECT_EQ(number, 8u);
}

TEST_F(DeviceMemory, PinnedMemoryAndStreamsAreUsedAgain) {
  void* first = pinned_memory(3 << 20, "test").get();
  const auto second = pinned_memory((3 << 20) + 5, "test");
  EXPECT_EQ(second.get(), first);
  EXPECT_NE(pinned_memory(3 << 20, "test").get(), first) << "it is in use";
  write_number<<<1, 1>>>(static_cast<std::uint32_t*>(second.get()), 9);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*static_cast<std::uint32_t*>(second.get()), 9u);
  cudaStream_t stream = nullptr;
  {
    Stream owner(0);
    stream = owner;
  }
  EXPECT_EQ(static_cast<cudaStream_t>(Stream(0)), stream);
}

}  // namespace
}  // namespace shoal
