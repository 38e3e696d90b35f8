// Operations of warps on a frontier: collecting vertices, finding slots for them in a queue, and sharing out the queues of a
// cluster of blocks. All lanes of a warp call every member.
#pragma once
#include "lockstep.cuh"

namespace shoal::lockstep {

inline constexpr u32 kBuffer = 256;       ///< vertices that a warp collects before it appends them
inline constexpr int kMaxCluster = 16;    ///< blocks
inline constexpr u32 kNarrowSerial = 16;  ///< all lanes of a warp of a cluster together read rows of more arcs

/// Vertices that a warp has collected, to be appended to a queue with one atomic.
struct Collector {
  u32* buffer;  ///< shared memory of the warp: kBuffer words
  u32 fill = 0;

  /// Takes one vertex from each lane that has one.
  __device__ void collect(u32 vertex, bool have) {
    const u32 votes = __ballot_sync(kAll, have);
    if (have) buffer[fill + __popc(votes & lanes_below())] = vertex;
    fill += __popc(votes);
  }
};

/// Which lanes append an entry, for each of kCount entries per lane.
template <int kCount>
struct Ballots {
  u32 votes[kCount], total = 0;

  __device__ explicit Ballots(const bool (&have)[kCount]) {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      votes[j] = __ballot_sync(kAll, have[j]);
      total += __popc(votes[j]);
    }
  }
  /// Calls put(j, slot) in lanes that have an entry. The warp's slots are consecutive and start at lane 0's `slot`.
  template <class Put>
  __device__ void place(u32 slot, const bool (&have)[kCount], Put put) const {
    slot = __shfl_sync(kAll, slot, 0);
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      const u32 at = slot + __popc(votes[j] & lanes_below());
      if (have[j]) put(j, at);
      slot += __popc(votes[j]);
    }
  }
};

/// The share of a warp in the queues of a cluster: chunks of 32 entries of one block's queue, assigned to the blocks in turn,
/// beginning with the queue's own block. The number of warps of a block must be a multiple of the number of blocks; the number of
/// blocks is a power of two.
struct ClusterShare {
  u32 block;        ///< the block whose queue it is
  u32 first_chunk;  ///< the next is blockDim.x / 32 chunks further on

  __device__ ClusterShare(u32 me, u32 blocks)
      : block(warp_in_block() & (blocks - 1)),
        first_chunk(((me - block) & (blocks - 1)) + blocks * (warp_in_block() / blocks)) {}
};

}  // namespace shoal::lockstep
