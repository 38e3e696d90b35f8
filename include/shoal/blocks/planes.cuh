// Planes that a GPU's copy engine brings into shared memory (cp.async.bulk, from compute capability 9.0 on; cp.async before).
#pragma once
#include <cstdint>

#include "shoal/blocks/planes.hpp"

namespace shoal::blocks::gpu {

__device__ inline std::uint32_t shared_address(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

/// For update_planes.
struct BulkCopies {
  /// Before the first tile. Lanes meet afterwards.
  template <class T>
  __device__ static void prepare(PlaneRing<T>& ring) {
    if (threadIdx.x != 0) return;
    for (std::uint64_t& barrier : ring.full) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    ring.turn = 0;
  }

  /// Row by row, in turn by a lane of each warp: a copy's addresses are the same for all lanes of a warp, so that one warp
  /// would begin them one after the other. All lanes have met since the plane before was read.
  template <class W, class T>
  __device__ void fetch(const W&, PlaneRing<T>& ring, std::uint32_t slot, const T* from, std::int64_t row,
                        std::uint32_t rows, std::uint32_t width) const {
    if (threadIdx.x % 32 != 0) return;
    const std::uint32_t barrier = shared_address(&ring.full[slot]), bytes = width * sizeof(T);
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(rows * bytes)
                   : "memory");
    }
    for (std::uint32_t r = threadIdx.x / 32; r < rows; r += blockDim.x / 32) {
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       shared_address(ring.values[slot] + r * width)),
                   "l"(from + r * row), "r"(bytes), "r"(barrier)
                   : "memory");
    }
  }

  template <class T>
  __device__ void wait(PlaneRing<T>& ring, std::uint32_t slot, std::uint32_t parity) const {
    std::uint32_t done = 0;
    while (done == 0) {
      asm volatile(
          "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
          : "=r"(done)
          : "r"(shared_address(&ring.full[slot])), "r"(parity)
          : "memory");
    }
  }

  /// What is stored is read in the next step, when most of it has left the caches: it goes first.
  template <class V>
  __device__ void store(V* to, const V& value) const {
    static_assert(sizeof(V) == 16);
    __stcs(reinterpret_cast<int4*>(to), *reinterpret_cast<const int4*>(&value));
  }
};

}  // namespace shoal::blocks::gpu
