// Vectors: 16 bytes of an array, which a GPU loads or stores by one instruction.
#pragma once
#include <cstdint>
#include <cstring>

#include "shoal/core/atomic.hpp"

namespace shoal {

/// Neighbouring elements of an array, aligned to 16 bytes. T is an unsigned integer of 1, 4 or 8 bytes.
template <class T>
struct alignas(16) Vector {
  static constexpr lane_t kElements = 16 / sizeof(T);
  T element[kElements];
};

/// load() for each element from `at` on. On GPUs the loads of several calls are in flight together, as none depends on another.
/// @param at  aligned to 16 bytes; on GPUs in global memory
template <Scope S = Scope::device, class T>
SHOAL_FN Vector<T> load_vector(const T* at) {
  Vector<T> vector;
#if defined(__CUDA_ARCH__)
  std::uint64_t half[2];
  gpu::load_pair<gpu::Order::relaxed, S == Scope::system>(at, half[0], half[1]);
  memcpy(&vector, half, sizeof vector);
#else
  for (lane_t i = 0; i < Vector<T>::kElements; ++i) vector.element[i] = load<S>(at[i]);
#endif
  return vector;
}
/// store() for each element, likewise.
template <Scope S = Scope::device, class T>
SHOAL_FN void store_vector(T* at, const Vector<T>& vector) {
#if defined(__CUDA_ARCH__)
  std::uint64_t half[2];
  memcpy(half, &vector, sizeof vector);
  gpu::store_pair<gpu::Order::relaxed, S == Scope::system>(at, half[0], half[1]);
#else
  for (lane_t i = 0; i < Vector<T>::kElements; ++i) store<S>(at[i], vector.element[i]);
#endif
}

/// Lowers each byte of `vector` to that of `other`, if it is greater. True if any was.
SHOAL_FN inline bool lower_each(Vector<std::uint8_t>& vector, const Vector<std::uint8_t>& other) {
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
  for (lane_t i = 0; i < Vector<std::uint8_t>::kElements; ++i) {
    if (other.element[i] >= vector.element[i]) continue;
    vector.element[i] = other.element[i];
    any = true;
  }
#endif
  return any;
}

}  // namespace shoal
