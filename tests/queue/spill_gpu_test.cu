// A pool of chunks used by single, diverging lanes of a GPU. As there are more chunks than lanes, every lane always finds one;
// no two lanes hold the same chunk at the same time, and none is lost.
#include <gtest/gtest.h>

#include <vector>

#include "shoal/core/atomic.hpp"
#include "shoal/device/device_memory.cuh"
#include "shoal/graph/edge_functions.hpp"
#include "shoal/queue/spill.hpp"

namespace shoal {
namespace {

constexpr int kBlocks = 4, kThreads = 256, kTurns = 300;   // few threads: all lanes contend for one counter
constexpr std::uint32_t kChunks = 2 * kBlocks * kThreads;  // twice as many as lanes: the pool is never empty
constexpr ticket_t kCapacity = 2 * kChunks;

struct Seen {
  std::uint32_t not_found, not_free;
};

__global__ void fill(SlotRing<std::uint32_t> free) {
  for (ticket_t i = blockIdx.x * blockDim.x + threadIdx.x; i < kCapacity; i += gridDim.x * blockDim.x) {
    free.slots[i].sequence.store(i < kChunks ? i + 1 : i);
    free.slots[i].value = static_cast<std::uint32_t>(i);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    free.counters->head.store(0);
    free.counters->tail.store(kChunks);
    free.counters->credits.store(static_cast<std::int64_t>(kCapacity - kChunks));
  }
}

/// Each thread repeatedly takes a chunk, works for a time that differs from its neighbours', and gives the chunk back.
__global__ void take_and_give_back(const __grid_constant__ SpillPool<std::uint64_t> pool, std::uint32_t* taken,
                                   std::uint64_t* work, const StateWord* running, Seen* seen) {
  const std::uint32_t me = blockIdx.x * blockDim.x + threadIdx.x;
  std::uint64_t at = mix64(me);
  for (int turn = 0; turn < kTurns; ++turn) {
    const std::uint32_t chunk = pool.allocate(kNoChunk, *running);
    if (chunk == kNoChunk) {
      atomicAdd(&seen->not_found, 1u);
      continue;
    }
    if (atomicExch(&taken[chunk], 1u) != 0) atomicAdd(&seen->not_free, 1u);
    for (std::uint64_t i = mix64(at + turn) % 8; i > 0; --i) at += work[at % kChunks];
    atomicExch(&taken[chunk], 0u);
    pool.recycle(chunk, *running);
  }
  work[me] = at;
}

TEST(SpillPool, SingleLanesFindAndGiveBackChunks) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  DeviceArray<Slot<std::uint32_t>> slots(kCapacity, "slots");
  DeviceArray<RingCounters> counters(1, "counters");
  DeviceArray<std::uint32_t> next(kChunks, "chains"), taken(kChunks, "taken");
  DeviceArray<std::uint64_t> work(kChunks, "work");
  DeviceArray<StateWord> running(1, "state");
  DeviceArray<Seen> seen(1, "seen");
  SHOAL_CUDA(cudaMemset(taken.data(), 0, kChunks * sizeof(std::uint32_t)));
  SHOAL_CUDA(cudaMemset(work.data(), 0, kChunks * sizeof(std::uint64_t)));
  SHOAL_CUDA(cudaMemset(running.data(), 0, sizeof(StateWord)));
  SHOAL_CUDA(cudaMemset(seen.data(), 0, sizeof(Seen)));
  SpillPool<std::uint64_t> pool;
  pool.next = next.data();
  pool.free = {slots.data(), kCapacity, counters.data()};
  fill<<<kBlocks, kThreads>>>(pool.free);
  take_and_give_back<<<kBlocks, kThreads>>>(pool, taken.data(), work.data(), running.data(), seen.data());
  SHOAL_CUDA(cudaDeviceSynchronize());
  Seen found;
  SHOAL_CUDA(cudaMemcpy(&found, seen.data(), sizeof(found), cudaMemcpyDeviceToHost));
  EXPECT_EQ(found.not_found, 0u);
  EXPECT_EQ(found.not_free, 0u);
  RingCounters end;
  SHOAL_CUDA(cudaMemcpy(static_cast<void*>(&end), counters.data(), sizeof(end), cudaMemcpyDeviceToHost));
  EXPECT_EQ(end.tail.load() - end.head.load(), kChunks);
  std::vector<Slot<std::uint32_t>> ring(kCapacity);
  SHOAL_CUDA(
      cudaMemcpy(static_cast<void*>(ring.data()), slots.data(), kCapacity * sizeof(ring[0]), cudaMemcpyDeviceToHost));
  std::vector<int> times(kChunks);
  for (ticket_t t = end.head.load(); t < end.tail.load(); ++t) {
    const Slot<std::uint32_t>& slot = ring[t % kCapacity];
    ASSERT_EQ(slot.sequence.load(), t + 1);
    ASSERT_LT(slot.value, kChunks);
    EXPECT_EQ(++times[slot.value], 1);
  }
}

}  // namespace
}  // namespace shoal
