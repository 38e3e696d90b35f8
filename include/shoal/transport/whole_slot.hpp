// A stamp and a small value as one word of 16 bytes, where there is such a word: on GPUs, and in the simulator.
//
// Stamp and value apart, a push is: look at the stamp, write the value, wait until it is written, publish the stamp; a pop
// likewise. The two waits are memory fences, hundreds of cycles each, thousands where another GPU is to see them. Read and
// written whole, stamp and value are one memory location: whoever reads a stamp has the value that was stored with it, and
// the order of the stores to one location (its coherence order) is all that a queue needs: a pusher stores over what it, or
// whoever gave it the slot, has read, and so does a popper. So "look, then store" of one ticket lies between those of the
// tickets before and after. A release and an acquire are added only where a push is to order other memory.
//
// PTX ISA 8.3, sections 7.9.8.1 (ld) and 7.9.11.1 (st): .b128 with .relaxed, .acquire and .release is one access.
#pragma once
#include <cstring>

#include "shoal/core/atomic.hpp"

namespace shoal {

/// How a slot of a stamp and a T is aligned, on every processor alike: one word if it may be read and written whole.
template <class T>
inline constexpr std::size_t kSlotAlignment = sizeof(T) <= 8   ? 16
                                              : alignof(T) > 8 ? alignof(T)
                                                               : 8;

/// True where a slot is read and written whole.
#if defined(__CUDA_ARCH__) || defined(SHOAL_SIMULATE)
template <class T>
inline constexpr bool kWholeSlot = sizeof(T) <= 8;
#else
template <class T>
inline constexpr bool kWholeSlot = false;
#endif

template <class T>
struct WholeSlot {
  ticket_t stamp;
  T value;
};

/// @param at  the slot: its stamp, aligned to 16 bytes
/// @tparam kAcquire  what was written before the store_whole<true>() that is read is visible afterwards
template <class T, bool kAcquire, Scope S = Scope::device>
SHOAL_FN WholeSlot<T> load_whole([[maybe_unused]] const void* at) {
  WholeSlot<T> found{};
  std::uint64_t bits = 0;
#if defined(SHOAL_SIMULATE)
  const sim::Pair pair =
      sim::pair_load(const_cast<void*>(at), S == Scope::system, kAcquire ? sim::Order::acquire : sim::Order::relaxed);
  found.stamp = pair.first;
  bits = pair.second;
#elif defined(__CUDA_ARCH__)
  if constexpr (S == Scope::system && kAcquire) {
    asm volatile("{ .reg .b128 both; ld.acquire.sys.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
                 : "=l"(found.stamp), "=l"(bits)
                 : "l"(at)
                 : "memory");
  } else if constexpr (S == Scope::system) {
    asm volatile("{ .reg .b128 both; ld.relaxed.sys.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
                 : "=l"(found.stamp), "=l"(bits)
                 : "l"(at)
                 : "memory");
  } else if constexpr (kAcquire) {
    asm volatile("{ .reg .b128 both; ld.acquire.gpu.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
                 : "=l"(found.stamp), "=l"(bits)
                 : "l"(at)
                 : "memory");
  } else {
    asm volatile("{ .reg .b128 both; ld.relaxed.gpu.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
                 : "=l"(found.stamp), "=l"(bits)
                 : "l"(at)
                 : "memory");
  }
#endif
  std::memcpy(&found.value, &bits, sizeof(T) <= 8 ? sizeof(T) : 8);
  return found;
}

template <bool kRelease, Scope S = Scope::device, class T>
SHOAL_FN void store_whole([[maybe_unused]] void* at, [[maybe_unused]] ticket_t stamp, [[maybe_unused]] const T& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T) <= 8 ? sizeof(T) : 8);
#if defined(SHOAL_SIMULATE)
  sim::pair_store(at, S == Scope::system, {stamp, bits}, kRelease ? sim::Order::release : sim::Order::relaxed);
#elif defined(__CUDA_ARCH__)
  if constexpr (S == Scope::system && kRelease) {
    asm volatile("{ .reg .b128 both; mov.b128 both, {%1, %2}; st.release.sys.b128 [%0], both; }" ::"l"(at), "l"(stamp),
                 "l"(bits)
                 : "memory");
  } else if constexpr (S == Scope::system) {
    asm volatile("{ .reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.sys.b128 [%0], both; }" ::"l"(at), "l"(stamp),
                 "l"(bits)
                 : "memory");
  } else if constexpr (kRelease) {
    asm volatile("{ .reg .b128 both; mov.b128 both, {%1, %2}; st.release.gpu.b128 [%0], both; }" ::"l"(at), "l"(stamp),
                 "l"(bits)
                 : "memory");
  } else {
    asm volatile("{ .reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.gpu.b128 [%0], both; }" ::"l"(at), "l"(stamp),
                 "l"(bits)
                 : "memory");
  }
#endif
}

}  // namespace shoal
