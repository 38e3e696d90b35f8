// A slot's stamp (its sequence number or signal) and a small value, read and written as one word of 16 bytes. GPUs have such
// accesses, and so has the simulator.
//
// With separate words, a push reads the stamp, writes the value, waits until the value is visible, and then publishes
// the stamp; a pop is similar. The two waits are memory fences: they take hundreds of cycles, and thousands if another
// GPU must see the value. As one word, stamp and value are a single memory location. A thread that reads a stamp also has the
// value that was stored with it, and the coherence order of that location (the order of all stores to it) is all that a
// queue needs. A pusher overwrites only a stamp that it has read itself, or that the thread which gave it the slot has read; the
// same holds for a popper. So in this order, the load and the store for one ticket come between those for the tickets before and
// after it. A release and an acquire are added only if a push must order other memory as well.
//
// PTX ISA 8.3, sections 7.9.8.1 (ld) and 7.9.11.1 (st): .b128 with .relaxed, .acquire and .release is one access.
#pragma once
#include <cstring>

#include "shoal/core/atomic.hpp"

namespace shoal {

/// Alignment of a slot that has a stamp and a T: 16 bytes if the slot can be one word. The same for code of CPUs and of GPUs.
template <class T>
inline constexpr std::size_t kSlotAlignment = sizeof(T) <= 8   ? 16
                                              : alignof(T) > 8 ? alignof(T)
                                                               : 8;

/// True if a slot with a T is read and written as one word.
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

/// Loads a slot in one access. Only where kWholeSlot<T> is true.
/// @param at  the slot, which begins with its stamp; aligned to 16 bytes
/// @tparam kAcquire  true: afterwards this thread sees what was written before the store_whole<true>() whose word it has read
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
  gpu::load_pair<kAcquire ? gpu::Order::acquire : gpu::Order::relaxed, S == Scope::system>(at, found.stamp, bits);
#endif
  std::memcpy(&found.value, &bits, sizeof(T) <= 8 ? sizeof(T) : 8);
  return found;
}

/// Stores a slot in one access. Only where kWholeSlot<T> is true.
template <bool kRelease, Scope S = Scope::device, class T>
SHOAL_FN void store_whole([[maybe_unused]] void* at, [[maybe_unused]] ticket_t stamp, [[maybe_unused]] const T& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T) <= 8 ? sizeof(T) : 8);
#if defined(SHOAL_SIMULATE)
  sim::pair_store(at, S == Scope::system, {stamp, bits}, kRelease ? sim::Order::release : sim::Order::relaxed);
#elif defined(__CUDA_ARCH__)
  gpu::store_pair<kRelease ? gpu::Order::release : gpu::Order::relaxed, S == Scope::system>(at, stamp, bits);
#endif
}

}  // namespace shoal
