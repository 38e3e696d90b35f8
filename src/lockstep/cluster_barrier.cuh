// One cluster of blocks, for steps so small that the barrier of a whole GPU (lockstep.cuh) would cost more than they do:
// its barrier, which is in hardware, and loads from its other blocks' shared memory.
#pragma once
#include <cstdint>

namespace shoal::lockstep {

/// Every thread of the cluster calls it. What was written before it, in shared memory of any block or in memory, is seen
/// after it. Only the first warp of a block releases: what the others wrote is ordered before it by the block barrier, and
/// one fence of the whole multiprocessor's stores is dearer than that barrier.
inline __device__ void meet_cluster() {
  __syncthreads();
  if (threadIdx.x < 32) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  } else {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  }
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Where block `rank` of the cluster has what this block has at `mine`, in shared memory. Made before a loop, it keeps
/// short what stands between the barrier and the first load of a step.
class ClusterAddress {
 public:
  __device__ ClusterAddress(const void* mine, std::uint32_t rank) {
    const auto here = static_cast<std::uint32_t>(__cvta_generic_to_shared(mine));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at_) : "r"(here), "r"(rank));
  }
  /// The 8 bytes that stand so many bytes on.
  __device__ std::uint64_t load(std::uint32_t bytes_on) const {
    std::uint64_t x;
    asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(x) : "r"(at_ + bytes_on) : "memory");
    return x;
  }

 private:
  std::uint32_t at_;
};

}  // namespace shoal::lockstep
