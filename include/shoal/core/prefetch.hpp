// Asks for data before it is needed.
#pragma once
#include "shoal/core/fn.hpp"

namespace shoal {

/// If `does`: asks that the line with *at be brought into this processor's first-level cache. Only a hint: `at` may be invalid.
SHOAL_FN inline void prefetch_if(bool does, const void* at) {
#if defined(__CUDA_ARCH__)
  if (does) asm volatile("prefetch.global.L1 [%0];" ::"l"(at));
#else
  if (does) __builtin_prefetch(at);
#endif
}

}  // namespace shoal
