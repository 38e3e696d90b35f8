// Arrays in the memory of several PEs: they are zeroed if requested, their bytes are counted, and all are freed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lockstep/peer_memory.cuh"
#include "shoal/core/error.hpp"

namespace shoal {
namespace {

constexpr std::int64_t kWords = 1000;

TEST(PeerMemory, ZerosCountsAndFrees) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  const std::vector<int> devices = {0, num_devices() - 1};
  const std::int64_t held = AllocationFault::held;
  for (int round = 0; round < 2; ++round) {  // the second round gets memory from the pool that the first has written
    PeerMemory memory(devices);
    for (pe_t p = 0; p < 2; ++p) {
      std::uint32_t* const at = memory.zeros<std::uint32_t>(p, kWords, "words");
      std::vector<std::uint32_t> words(kWords, 1);
      download(words.data(), at, kWords);
      EXPECT_EQ(std::count(words.begin(), words.end(), 0u), kWords);
      cudaPointerAttributes where;
      SHOAL_CUDA(cudaPointerGetAttributes(&where, at));
      EXPECT_EQ(where.device, devices[p]);
      DeviceGuard guard(devices[p]);
      SHOAL_CUDA(cudaMemset(at, 0xFF, kWords * sizeof(*at)));
      EXPECT_EQ(memory.array<double>(p, 0, "nothing"), nullptr);
    }
    EXPECT_EQ(memory.bytes(), 2 * kWords * 4);
  }
  EXPECT_EQ(AllocationFault::held, held);
}

TEST(PeerMemory, InOneProcessAllFindArraysWhereTheyAre) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  PeerMemory memory({0, num_devices() - 1});
  std::vector<PeerArrays::List> mine;
  for (pe_t p = 0; p < 2; ++p) {
    auto* const words = memory.shared_zeros<std::uint32_t>(p, kWords, "words");
    std::vector<std::uint32_t> got(kWords, 1);
    download(got.data(), words, kWords);
    EXPECT_EQ(std::count(got.begin(), got.end(), 0u), kWords);
    mine.push_back({words, memory.shared<double>(p, 0, "nothing")});
  }
  const PeerArrays all = memory.of_all(mine);
  for (pe_t here = 0; here < 2; ++here) {
    for (pe_t p = 0; p < 2; ++p) {
      EXPECT_EQ(all.get<std::uint32_t>(here, p, 0), mine[p][0]);
      EXPECT_EQ(all.get<double>(here, p, 1), nullptr);
    }
  }
  EXPECT_EQ(memory.bytes(), 2 * kWords * 4);
}

TEST(PeerMemory, AnErrorNamesTheArrayAndLosesNothing) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  const std::int64_t held = AllocationFault::held;
  {
    PeerMemory memory({0});
    memory.array<int>(0, kWords, "first");
    AllocationFault::arm(0);
    try {
      memory.array<int>(0, kWords, "second");
      ADD_FAILURE() << "not refused";
    } catch (const CapacityError& error) {
      EXPECT_NE(std::string(error.what()).find("second"), std::string::npos) << error.what();
    }
    AllocationFault::disarm();
    EXPECT_EQ(memory.bytes(), kWords * 4);
  }
  EXPECT_EQ(AllocationFault::held, held);
}

}  // namespace
}  // namespace shoal
