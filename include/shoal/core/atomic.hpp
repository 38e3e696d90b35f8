// Atomics that mean the same on a CPU thread, on a GPU and in the simulator.
//
// A Word<T, S> is one 4- or 8-byte value in memory that has one scope for its whole life: Scope::device if only this PE's workers
// access it, Scope::system if another PE or the host accesses it as well. The memory order is part of a method's name, so
// every use shows its order; methods without one in their names are relaxed. There are no stand-alone fences, because
// ThreadSanitizer cannot see them. The exceptions are acquire_several() and release_several(), which are fences on a GPU; elsewhere
// the loads and stores that they belong to acquire and release.
//
// The free functions below (fetch_min, fetch_max, fetch_add, add_relaxed, compare_swap, exchange, load, store) are for
// a task's own data.
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
#include "shoal/core/gpu_atomic.cuh"
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
using AtomicRef = gpu::AtomicRef<T, S == Scope::system>;
inline constexpr auto kRelaxed = gpu::kRelaxed;
inline constexpr auto kAcquire = gpu::kAcquire;
inline constexpr auto kRelease = gpu::kRelease;
inline constexpr auto kAcqRel = gpu::kAcqRel;
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

/// Minimum; off GPUs by compare-exchange, which does not write if nothing would change.
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
/// Maximum, likewise.
template <class Ref, class T, class Order = std::remove_cv_t<decltype(kRelaxed)>>
SHOAL_FN T fetch_max(Ref ref, T v, Order order = kRelaxed) {
#if defined(__CUDA_ARCH__)
  return ref.fetch_max(v, order);
#else
  T old = ref.load(kRelaxed);
  while (old < v && !ref.compare_exchange_weak(old, v, order, kRelaxed)) {
  }
  return old;
#endif
}

// What the functions for a task's own data accept. All of these types work on CPU threads and on GPUs, so that a task which compiles
// for one compiles for the other.
template <class T>
inline constexpr bool kIsWord = std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);
template <class T>
inline constexpr bool kIsByte = std::is_trivially_copyable_v<T> && sizeof(T) == 1;
/// For static_assert in functions that change a value.
template <class T>
SHOAL_FN constexpr bool check_word() {
  static_assert(
      kIsWord<T>,
      "atomic functions change trivially copyable values of 4 or 8 bytes, such as std::uint32_t or double; use "
      "one of these (only load, load_if and store work on a byte)");
  return true;
}
template <class T>
SHOAL_FN constexpr bool check_number() {
  static_assert(
      std::is_integral_v<T> || std::is_floating_point_v<T>,
      "atomic additions are for integers and floating-point numbers; convert a pointer or enum to an integer");
  return check_word<T>();
}
template <class T>
SHOAL_FN constexpr bool check_integer() {
  static_assert(std::is_integral_v<T>, "fetch_min_if is for integers only; use fetch_min for other types");
  return check_word<T>();
}
/// For static_assert in functions that load or store a value.
template <class T>
SHOAL_FN constexpr bool check_word_or_byte() {
  static_assert(kIsWord<T> || kIsByte<T>,
                "atomic loads and stores are of trivially copyable values of 1, 4 or 8 bytes; use such a type");
  return true;
}
}  // namespace detail

/// One shared value of 4 or 8 bytes, for atomic accesses. Zero-initialised storage is a valid Word that holds zero.
template <class T, Scope S>
class Word {
  static_assert(detail::kIsWord<T>, "a Word is a trivially copyable value of 4 or 8 bytes");

 public:
  SHOAL_FN T load() const { return ref().load(detail::kRelaxed); }
  SHOAL_FN T load_acquire() const {
    detail::delay(256);
    return ref().load(detail::kAcquire);
  }
  /// One of several loads, followed by acquire_several(), which gives all of them acquire order. On a GPU each load is relaxed, so
  /// that all are in flight at the same time; elsewhere each load acquires, which costs nothing there and which race detectors
  /// see.
  SHOAL_FN T load_one_of_several() const { return ref().load(detail::kOneOfSeveral); }
  SHOAL_FN void store(T v) { ref().store(v, detail::kRelaxed); }
  SHOAL_FN void store_release(T v) {
    detail::delay(32);
    ref().store(v, detail::kRelease);
  }
  /// One of several stores, preceded by release_several(), which gives all of them release order.
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
  SHOAL_FN T fetch_max_release(T v) {
    detail::delay(32);
    return detail::fetch_max(ref(), v, detail::kRelease);
  }
  /// Compare and swap; returns whether it swapped. On failure, `expected` becomes the value that was found. Relaxed.
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

/// Afterwards this thread sees everything that was released with the values that its earlier load_one_of_several() calls
/// returned.
template <Scope S>
SHOAL_FN void acquire_several() {
#if defined(__CUDA_ARCH__)
  gpu::fence<S == Scope::system>();
#endif
}

/// False on GPUs, where release_several() and acquire_several() are fences. True elsewhere: there the two do nothing, because
/// each store_one_of_several() releases and each load_one_of_several() acquires.
#if defined(__CUDA_ARCH__)
inline constexpr bool kOrdersEach = false;
#else
inline constexpr bool kOrdersEach = true;
#endif
/// A thread that acquires a value which this thread stores with store_one_of_several() after this call sees everything that
/// this thread did before the call.
template <Scope S>
SHOAL_FN void release_several() {
#if defined(__CUDA_ARCH__)
  gpu::fence<S == Scope::system>();
#endif
}

/// A Word that is alone on its cache line, for values that are accessed often.
template <class T, Scope S>
struct alignas(kCacheLine) PaddedWord : Word<T, S> {};

// For a task's own data: values of 4 or 8 bytes, aligned to their size, that several workers of a PE change at the same time. On
// a GPU they must be in global memory, not in shared memory or in local variables.
// Use Scope::device if only the owner accesses a value, and Scope::system if another PE may (accept_at(), ask_at()); in a GPU's own
// memory both cost the same. Most functions are relaxed, because the item provides the order: what was written before a
// push is visible to the workers that judge and run the item. fetch_add and compare_swap acquire and release, for data that one
// worker hands to another through the value itself.

/// x = min(x, v); returns the old x. Relaxed. Does not write if nothing would change, except on GPUs.
template <Scope S = Scope::device, class T>
SHOAL_FN T fetch_min(T& x, T v) {
  static_assert(detail::check_word<T>());
  return detail::fetch_min(detail::AtomicRef<T, S>(x), v);
}
/// x = max(x, v); returns the old x. Otherwise as fetch_min.
template <Scope S = Scope::device, class T>
SHOAL_FN T fetch_max(T& x, T v) {
  static_assert(detail::check_word<T>());
  return detail::fetch_max(detail::AtomicRef<T, S>(x), v);
}
/// x += v; returns the old x. Acquires and releases, so that it can count arrivals.
template <Scope S = Scope::device, class T>
SHOAL_FN T fetch_add(T& x, T v) {
  static_assert(detail::check_number<T>());
  return detail::AtomicRef<T, S>(x).fetch_add(v, detail::kAcqRel);
}
/// If x == expected: sets x = desired and returns true. Otherwise sets `expected` to the value of x and returns false.
/// Acquires and releases on success, acquires on failure: a thread that finds a slot taken sees what the thread that took it did
/// before.
/// @param expected  a variable that only this thread accesses
template <Scope S = Scope::device, class T>
SHOAL_FN bool compare_swap(T& x, T& expected, T desired) {
  static_assert(detail::check_word<T>());
  return detail::AtomicRef<T, S>(x).compare_exchange_strong(expected, desired, detail::kAcqRel, detail::kAcquire);
}
/// x = v; returns the old x. Relaxed.
template <Scope S = Scope::device, class T>
SHOAL_FN T exchange(T& x, T v) {
  static_assert(detail::check_word<T>());
  return detail::AtomicRef<T, S>(x).exchange(v, detail::kRelaxed);
}
/// x += v; returns the old x. Relaxed: for sums that order no other memory.
template <Scope S = Scope::device, class T>
SHOAL_FN T add_relaxed(T& x, T v) {
  static_assert(detail::check_number<T>());
  return detail::AtomicRef<T, S>(x).fetch_add(v, detail::kRelaxed);
}
/// If `does`, returns fetch_min(x, v); else does not access x, and returns `otherwise`. On GPUs later instructions wait for the
/// atomic only when they use its result, so the atomics of several calls are in flight together. Integers only.
template <Scope S = Scope::device, class T>
SHOAL_FN T fetch_min_if(bool does, T& x, T v, T otherwise) {
  static_assert(detail::check_integer<T>());
#if defined(__CUDA_ARCH__)
  return detail::AtomicRef<T, S>(x).fetch_min_if(does, v, otherwise);
#else
  return does ? fetch_min<S>(x, v) : otherwise;
#endif
}
/// The same with add_relaxed; also for floating-point numbers.
template <Scope S = Scope::device, class T>
SHOAL_FN T add_relaxed_if(bool does, T& x, T v, T otherwise) {
  static_assert(detail::check_number<T>());
#if defined(__CUDA_ARCH__)
  return detail::AtomicRef<T, S>(x).fetch_add_if(does, v, otherwise);
#else
  return does ? add_relaxed<S>(x, v) : otherwise;
#endif
}
/// The same with exchange.
template <Scope S = Scope::device, class T>
SHOAL_FN T exchange_if(bool does, T& x, T v, T otherwise) {
  static_assert(detail::check_word<T>());
#if defined(__CUDA_ARCH__)
  return detail::AtomicRef<T, S>(x).exchange_if(does, v, otherwise);
#else
  return does ? exchange<S>(x, v) : otherwise;
#endif
}
/// Returns x. Relaxed. x may also have one byte.
template <Scope S = Scope::device, class T>
SHOAL_FN T load(const T& x) {
  static_assert(detail::check_word_or_byte<T>());
  return detail::AtomicRef<T, S>(const_cast<T&>(x)).load(detail::kRelaxed);
}
/// If `does`, returns load(*x); else reads nothing, so that `x` may be an invalid pointer, and returns `otherwise`. On GPUs the
/// loads of several calls are in flight together, as with fetch_min_if; loads under a branch would not be.
template <Scope S = Scope::device, class T>
SHOAL_FN T load_if(bool does, const T* x, T otherwise) {
  static_assert(detail::check_word_or_byte<T>());
#if defined(__CUDA_ARCH__)
  return detail::AtomicRef<T, S>(const_cast<T*>(x)).load_if(does, otherwise);
#else
  return does ? load<S>(*x) : otherwise;
#endif
}
/// x = v. Relaxed. x may also have one byte.
template <Scope S = Scope::device, class T>
SHOAL_FN void store(T& x, T v) {
  static_assert(detail::check_word_or_byte<T>());
  detail::AtomicRef<T, S>(x).store(v, detail::kRelaxed);
}

/// Plain (not atomic) copy of an item into memory that workers share; plain_read copies it out. The Word that publishes the item
/// must order the two; the simulator checks that with vector clocks.
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
