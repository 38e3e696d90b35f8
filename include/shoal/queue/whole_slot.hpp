// A slot of a ring, and on GPUs the slot of a small value as one word of 16 bytes.
//
// Sequence and value apart, a push is: look at the sequence, write the value, wait until it is written, publish the
// sequence; a pop likewise. The two waits are memory fences, hundreds of cycles each. Read and written whole, sequence and
// value are one memory location: whoever reads a sequence has the value that was stored with it, and the order of the
// stores to one location (its coherence order) is all that the ring needs: a pusher stores over what it has read, and a
// popper likewise, so "look, then store" of one ticket lies between those of the tickets before and after. A release and
// an acquire are added only where a push is to order other memory.
//
// PTX ISA 8.3, sections 7.9.8.1 (ld) and 7.9.11.1 (st): .b128 with .relaxed, .acquire and .release is one access.
#pragma once
#include <cstring>

#include "shoal/core/atomic.hpp"

namespace shoal {

/// Aligned so that a GPU can read and write a slot of a small value as one word.
template <class T>
struct alignas(sizeof(T) <= 8   ? 16
               : alignof(T) > 8 ? alignof(T)
                                : 8) Slot {
  Word<ticket_t, Scope::device> sequence;
  T value;
};

/// True where a slot is read and written whole.
#if defined(__CUDA_ARCH__)
template <class T>
inline constexpr bool kWholeSlot = sizeof(T) <= 8;
#else
template <class T>
inline constexpr bool kWholeSlot = false;
#endif

template <class T>
struct WholeSlot {
  ticket_t sequence;
  T value;
};

/// @tparam kAcquire  what was written before the store_whole<true>() that is read is visible afterwards
template <bool kAcquire, class T>
SHOAL_FN WholeSlot<T> load_whole([[maybe_unused]] const Slot<T>& slot) {
  WholeSlot<T> found{};
#if defined(__CUDA_ARCH__)
  std::uint64_t bits;
  if constexpr (kAcquire) {
    asm volatile("{ .reg .b128 both; ld.acquire.gpu.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
                 : "=l"(found.sequence), "=l"(bits)
                 : "l"(&slot)
                 : "memory");
  } else {
    asm volatile("{ .reg .b128 both; ld.relaxed.gpu.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
                 : "=l"(found.sequence), "=l"(bits)
                 : "l"(&slot)
                 : "memory");
  }
  std::memcpy(&found.value, &bits, sizeof(T));
#endif
  return found;
}

template <bool kRelease, class T>
SHOAL_FN void store_whole([[maybe_unused]] Slot<T>& slot, [[maybe_unused]] ticket_t sequence,
                          [[maybe_unused]] const T& value) {
#if defined(__CUDA_ARCH__)
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  if constexpr (kRelease) {
    asm volatile("{ .reg .b128 both; mov.b128 both, {%1, %2}; st.release.gpu.b128 [%0], both; }" ::"l"(&slot),
                 "l"(sequence), "l"(bits)
                 : "memory");
  } else {
    asm volatile("{ .reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.gpu.b128 [%0], both; }" ::"l"(&slot),
                 "l"(sequence), "l"(bits)
                 : "memory");
  }
#endif
}

}  // namespace shoal
