// A pointer and a length that pass into kernels by value.
#pragma once
#include <cstdint>

#include "shoal/core/fn.hpp"

namespace shoal {

template <class T>
struct Span {
  T* first = nullptr;
  std::int64_t count = 0;

  SHOAL_FN constexpr std::int64_t size() const { return count; }
  SHOAL_FN constexpr bool empty() const { return count == 0; }
  SHOAL_FN constexpr T& operator[](std::int64_t i) const { return first[i]; }
  SHOAL_FN constexpr T* begin() const { return first; }
  SHOAL_FN constexpr T* end() const { return first + count; }
  SHOAL_FN constexpr T* data() const { return first; }
};

}  // namespace shoal
