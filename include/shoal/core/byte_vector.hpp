// Vectors of bytes, which a GPU loads or stores by one instruction.
#pragma once
#include <cstdint>
#include <cstring>

#include "shoal/core/atomic.hpp"

namespace shoal {

/// 16 neighbouring bytes of an array, aligned to 16 bytes.
struct alignas(16) ByteVector {
  static constexpr lane_t kBytes = 16;
  std::uint8_t byte[kBytes];
};

/// load() for each byte from `at` on.
/// @param at  aligned to 16 bytes; on GPUs in global memory
template <Scope S = Scope::device>
SHOAL_FN ByteVector load_vector(const std::uint8_t* at) {
  ByteVector vector;
#if defined(__CUDA_ARCH__)
  std::uint64_t half[2];
  gpu::load_pair<gpu::Order::relaxed, S == Scope::system>(at, half[0], half[1]);
  memcpy(&vector, half, sizeof vector);
#else
  for (lane_t i = 0; i < ByteVector::kBytes; ++i) vector.byte[i] = load<S>(at[i]);
#endif
  return vector;
}
/// store() for each byte, likewise.
SHOAL_FN inline void store_vector(std::uint8_t* at, const ByteVector& vector) {
#if defined(__CUDA_ARCH__)
  std::uint64_t half[2];
  memcpy(half, &vector, sizeof vector);
  gpu::store_pair<gpu::Order::relaxed, /*kSystem=*/false>(at, half[0], half[1]);
#else
  for (lane_t i = 0; i < ByteVector::kBytes; ++i) store(at[i], vector.byte[i]);
#endif
}

/// Lowers each byte of `vector` to that of `other`, if it is greater. True if any was.
SHOAL_FN inline bool lower_each(ByteVector& vector, const ByteVector& other) {
  bool any = false;
#if defined(__CUDA_ARCH__)
  std::uint32_t four[4], others[4];
  memcpy(four, &vector, sizeof vector);
  memcpy(others, &other, sizeof other);
  for (lane_t i = 0; i < 4; ++i) {
    const std::uint32_t least = __vminu4(four[i], others[i]);
    any = any || least != four[i];
    four[i] = least;
  }
  memcpy(&vector, four, sizeof vector);
#else
  for (lane_t i = 0; i < ByteVector::kBytes; ++i) {
    if (other.byte[i] >= vector.byte[i]) continue;
    vector.byte[i] = other.byte[i];
    any = true;
  }
#endif
  return any;
}

}  // namespace shoal
