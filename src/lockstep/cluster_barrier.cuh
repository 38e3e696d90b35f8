// One cluster of blocks, for steps so small that the barrier of a whole GPU (lockstep.cuh) would cost more than the steps: the
// cluster's hardware barrier, and loads from the shared memory of its other blocks.
#pragma once
#include <cstdint>

namespace shoal::lockstep {

/// Every thread of the cluster calls it. What was written before it, in the shared memory of any block or in global memory, is
/// visible after it. Only the first warp of a block releases: the block barrier orders the writes of the others before that, and
/// each further fence, which covers all stores of the multiprocessor, would cost more than that barrier.
inline __device__ void meet_cluster() {
  __syncthreads();
  if (threadIdx.x < 32) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  } else {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  }
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// The address in block `rank` of the cluster that corresponds to the shared memory address `mine` of this block. Constructed
/// before a loop, it shortens the path from the barrier to the first load of a step.
class ClusterAddress {
 public:
  __device__ ClusterAddress(const void* mine, std::uint32_t rank) {
    const auto here = static_cast<std::uint32_t>(__cvta_generic_to_shared(mine));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at_) : "r"(here), "r"(rank));
  }
  /// The 8 bytes at this byte offset.
  __device__ std::uint64_t load(std::uint32_t bytes_on) const {
    std::uint64_t x;
    asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(x) : "r"(at_ + bytes_on) : "memory");
    return x;
  }

 private:
  std::uint32_t at_;
};

}  // namespace shoal::lockstep
