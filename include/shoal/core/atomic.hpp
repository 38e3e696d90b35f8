// Atomics that mean the same on a CPU thread, on a GPU and in the simulator.
//
// A Word<T, S> is one word of memory with one scope for its whole life: Scope::device for words that only this PE's
// workers touch, Scope::system for words that another PE, or the host, touches as well. Orders are part of the method's
// name, so that every use shows what it promises; stand-alone fences are not offered (ThreadSanitizer cannot see them), but
// for acquire_several() and release_several(), which are fences on a GPU and part of the loads and stores elsewhere.
//
// The free functions below (fetch_min, fetch_max, fetch_add, add_relaxed, compare_swap, exchange, load, store) are for a task's
// own data, which belongs to its owner.
#pragma once
#include <type_traits>

#include "shoal/core/delay.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"

#if defined(SHOAL_SIMULATE)
#include "shoal/core/sim_atomic.hpp"
#else
#include <atomic>
#if defined(__CUDACC__)
#include <cuda/atomic>
#endif
#endif

namespace shoal {

enum class Scope { device, system };

namespace detail {
#if defined(SHOAL_SIMULATE)
template <class T, Scope S>
using AtomicRef = sim::AtomicRef<T, S == Scope::system>;
inline constexpr auto kRelaxed = sim::Order::relaxed;
inline constexpr auto kAcquire = sim::Order::acquire;
inline constexpr auto kRelease = sim::Order::release;
inline constexpr auto kAcqRel = sim::Order::acq_rel;
inline constexpr auto kOneOfSeveral = kAcquire;
inline constexpr auto kStoreOneOfSeveral = kRelease;
#elif defined(__CUDA_ARCH__)
template <class T, Scope S>
using AtomicRef = cuda::atomic_ref<T, S == Scope::device ? cuda::thread_scope_device : cuda::thread_scope_system>;
inline constexpr auto kRelaxed = cuda::memory_order_relaxed;
inline constexpr auto kAcquire = cuda::memory_order_acquire;
inline constexpr auto kRelease = cuda::memory_order_release;
inline constexpr auto kAcqRel = cuda::memory_order_acq_rel;
inline constexpr auto kOneOfSeveral = kRelaxed;
inline constexpr auto kStoreOneOfSeveral = kRelaxed;
#else
template <class T, Scope>
using AtomicRef = std::atomic_ref<T>;
inline constexpr auto kRelaxed = std::memory_order_relaxed;
inline constexpr auto kAcquire = std::memory_order_acquire;
inline constexpr auto kRelease = std::memory_order_release;
inline constexpr auto kAcqRel = std::memory_order_acq_rel;
inline constexpr auto kOneOfSeveral = kAcquire;
inline constexpr auto kStoreOneOfSeveral = kRelease;
#endif

/// min through compare-exchange where there is no instruction for it; does not write when nothing would change.
template <class Ref, class T>
SHOAL_FN T fetch_min(Ref ref, T v) {
#if defined(__CUDA_ARCH__)
  return ref.fetch_min(v, kRelaxed);
#else
  T old = ref.load(kRelaxed);
  while (v < old && !ref.compare_exchange_weak(old, v, kRelaxed, kRelaxed)) {
  }
  return old;
#endif
}
/// max, likewise.
template <class Ref, class T>
SHOAL_FN T fetch_max(Ref ref, T v) {
#if defined(__CUDA_ARCH__)
  return ref.fetch_max(v, kRelaxed);
#else
  T old = ref.load(kRelaxed);
  while (old < v && !ref.compare_exchange_weak(old, v, kRelaxed, kRelaxed)) {
  }
  return old;
#endif
}
}  // namespace detail

/// One shared word. Zero-initialised storage is a valid Word holding zero.
template <class T, Scope S>
class Word {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));

 public:
  SHOAL_FN T load() const { return ref().load(detail::kRelaxed); }
  SHOAL_FN T load_acquire() const {
    detail::delay(256);
    return ref().load(detail::kAcquire);
  }
  /// One of several loads that acquire together, in the acquire_several() after them. Relaxed on a GPU, so that all are in
  /// flight at once; elsewhere an acquiring load costs nothing, and the race detectors see it.
  SHOAL_FN T load_one_of_several() const { return ref().load(detail::kOneOfSeveral); }
  SHOAL_FN void store(T v) { ref().store(v, detail::kRelaxed); }
  SHOAL_FN void store_release(T v) {
    detail::delay(32);
    ref().store(v, detail::kRelease);
  }
  /// One of several stores that release together, in the release_several() before them.
  SHOAL_FN void store_one_of_several(T v) {
    detail::delay(32);
    ref().store(v, detail::kStoreOneOfSeveral);
  }
  SHOAL_FN T fetch_add(T v) {
    detail::delay(64);
    return ref().fetch_add(v, detail::kRelaxed);
  }
  SHOAL_FN T fetch_add_release(T v) {
    detail::delay(32);
    return ref().fetch_add(v, detail::kRelease);
  }
  SHOAL_FN T fetch_add_acq_rel(T v) {
    detail::delay(32);
    return ref().fetch_add(v, detail::kAcqRel);
  }
  SHOAL_FN T fetch_sub(T v) { return ref().fetch_sub(v, detail::kRelaxed); }
  SHOAL_FN T fetch_sub_acquire(T v) { return ref().fetch_sub(v, detail::kAcquire); }
  SHOAL_FN T fetch_min(T v) { return detail::fetch_min(ref(), v); }
  SHOAL_FN T fetch_max(T v) { return detail::fetch_max(ref(), v); }
  /// Compare and swap; on failure `expected` holds what was found. Relaxed.
  SHOAL_FN bool compare_swap(T& expected, T desired) {
    return ref().compare_exchange_strong(expected, desired, detail::kRelaxed, detail::kRelaxed);
  }
  /// The same, acquiring on success.
  SHOAL_FN bool compare_swap_acquire(T& expected, T desired) {
    return ref().compare_exchange_strong(expected, desired, detail::kAcquire, detail::kRelaxed);
  }
  /// The same, acquiring and releasing on success.
  SHOAL_FN bool compare_swap_acq_rel(T& expected, T desired) {
    return ref().compare_exchange_strong(expected, desired, detail::kAcqRel, detail::kRelaxed);
  }

 private:
  SHOAL_FN auto ref() const { return detail::AtomicRef<T, S>(const_cast<T&>(value_)); }
  alignas(sizeof(T)) T value_;
};

/// After this, whatever was released with the values that this thread's load_one_of_several() calls saw is visible to it.
template <Scope S>
SHOAL_FN void acquire_several() {
#if defined(__CUDA_ARCH__)
  cuda::atomic_thread_fence(cuda::memory_order_acquire,
                            S == Scope::device ? cuda::thread_scope_device : cuda::thread_scope_system);
#endif
}

/// False where release_several() and acquire_several() are fences, true where each of the stores after the one releases, and each of
/// the loads before the other acquires.
#if defined(__CUDA_ARCH__)
inline constexpr bool kOrdersEach = false;
#else
inline constexpr bool kOrdersEach = true;
#endif
/// Whoever acquires a value that this thread stores by store_one_of_several() after this sees what this thread did before.
template <Scope S>
SHOAL_FN void release_several() {
#if defined(__CUDA_ARCH__)
  cuda::atomic_thread_fence(cuda::memory_order_release,
                            S == Scope::device ? cuda::thread_scope_device : cuda::thread_scope_system);
#endif
}

/// A hot word alone on its cache line.
template <class T, Scope S>
struct alignas(kCacheLine) PaddedWord : Word<T, S> {};

// For a task's own data: words of 4 or 8 bytes, aligned to their size, that workers of one PE change at the same time. Scope::device
// where only its owner touches it; Scope::system where PEs reach each other's memory and another may (accept_at()): on a GPU's
// own memory the two cost the same. Relaxed where an item carries the ordering: what was written before a push is visible to
// whoever judges and runs the item. For what goes from one call to another by the word itself there are fetch_add and
// compare_swap, which acquire and release.

/// x = min(x, v); returns the old x. Relaxed. Does not write when nothing would change, but for GPUs.
template <Scope S = Scope::device, class T>
SHOAL_FN T fetch_min(T& x, T v) {
  return detail::fetch_min(detail::AtomicRef<T, S>(x), v);
}
/// x = max(x, v); returns the old x. As fetch_min.
template <Scope S = Scope::device, class T>
SHOAL_FN T fetch_max(T& x, T v) {
  return detail::fetch_max(detail::AtomicRef<T, S>(x), v);
}
/// x += v; returns the old x. Acquire and release, so that arrivals may be counted with it.
template <Scope S = Scope::device, class T>
SHOAL_FN T fetch_add(T& x, T v) {
  return detail::AtomicRef<T, S>(x).fetch_add(v, detail::kAcqRel);
}
/// If x is `expected`, x = desired and true; else `expected` is what was found, and false. Acquire and release where it
/// succeeds, acquire where it fails: whoever finds a slot taken sees what its taker did before.
/// @param expected  this thread's own
template <Scope S = Scope::device, class T>
SHOAL_FN bool compare_swap(T& x, T& expected, T desired) {
  return detail::AtomicRef<T, S>(x).compare_exchange_strong(expected, desired, detail::kAcqRel, detail::kAcquire);
}
/// x = v; returns the old x. Relaxed.
template <Scope S = Scope::device, class T>
SHOAL_FN T exchange(T& x, T v) {
  return detail::AtomicRef<T, S>(x).exchange(v, detail::kRelaxed);
}
/// x += v; returns the old x. Relaxed: for sums whose parts carry no other news.
template <Scope S = Scope::device, class T>
SHOAL_FN T add_relaxed(T& x, T v) {
  return detail::AtomicRef<T, S>(x).fetch_add(v, detail::kRelaxed);
}
/// x. Relaxed.
template <Scope S = Scope::device, class T>
SHOAL_FN T load(const T& x) {
  return detail::AtomicRef<T, S>(const_cast<T&>(x)).load(detail::kRelaxed);
}
/// x = v. Relaxed.
template <Scope S = Scope::device, class T>
SHOAL_FN void store(T& x, T v) {
  detail::AtomicRef<T, S>(x).store(v, detail::kRelaxed);
}

/// Plain (not atomic) copy of an item into or out of memory that workers share. Ordered by the Word that publishes it;
/// the simulator checks that with vector clocks.
template <class T>
SHOAL_FN void plain_write(T& to, const T& from) {
#if defined(SHOAL_SIMULATE)
  sim::plain_write(&to, sizeof(T));
#endif
  to = from;
}
template <class T>
SHOAL_FN T plain_read(const T& from) {
#if defined(SHOAL_SIMULATE)
  sim::plain_read(&from, sizeof(T));
#endif
  return from;
}

}  // namespace shoal
