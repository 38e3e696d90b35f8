// The barrier of one cluster of blocks, in hardware: for steps so small that the barrier of a whole GPU (lockstep.cuh) would
// cost more than they do.
#pragma once

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

}  // namespace shoal::lockstep
