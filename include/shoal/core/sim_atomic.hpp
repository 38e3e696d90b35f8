// Atomics of the simulator: what core/atomic.hpp uses when SHOAL_SIMULATE is defined.
//
// The library's own templates are compiled against these atomics and run as virtual workers on one thread. At every atomic
// operation, the simulator may switch to another worker, which a seed chooses. Loads may return values that are already
// overwritten, as far as release and acquire allow it. Plain accesses are checked for races. The implementation is
// tests/sim/machine.cpp; a program that defines SHOAL_SIMULATE links it. Outside a simulated run (set-up, check of results) the
// same calls access memory directly.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shoal::sim {

enum class Order { relaxed, acquire, release, acq_rel };

/// What an atomic operation accesses, as the simulator sees it. `system` is false for words that only one PE's workers may access.
struct Access {
  void* at;
  unsigned bytes;  ///< 4 or 8; 16 for a pair
  bool system;
};

std::uint64_t atomic_load(const Access& access, Order order);
void atomic_store(const Access& access, std::uint64_t bits, Order order);
/// A read-modify-write in two halves; no other worker runs between them. rmw_begin returns the newest value.
std::uint64_t rmw_begin(const Access& access, Order order);
void rmw_commit(const Access& access, std::uint64_t bits, Order order);
/// On failure `expected` holds the value that was read, which may be an overwritten one. If `weak`, it may also fail spuriously.
bool compare_exchange(const Access& access, std::uint64_t& expected, std::uint64_t desired, Order success,
                      Order failure, bool weak);

/// A word of 16 bytes (transport/whole_slot.hpp), which is read and written in one access.
struct Pair {
  std::uint64_t first, second;
};
Pair pair_load(void* at, bool system, Order order);
void pair_store(void* at, bool system, Pair pair, Order order);

/// Announce a plain access of `bytes` bytes to the race detector. A race ends the run with a report.
void plain_write(const void* at, std::size_t bytes);
void plain_read(const void* at, std::size_t bytes);

/// Called by a waiting worker: lets others run.
void yield();
/// The number of operations so far on this memory; serves as a clock.
std::uint64_t steps();

/// The part of std::atomic_ref that shoal uses. Holds no state but the address.
template <class T, bool kSystem = true>
class AtomicRef {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "the simulator knows words of 4 and 8 bytes");

 public:
  explicit AtomicRef(T& word) : access_{&word, sizeof(T), kSystem} {}

  T load(Order order) const { return value(atomic_load(access_, order)); }
  void store(T v, Order order) const { atomic_store(access_, bits(v), order); }
  T fetch_add(T v, Order order) const {
    return modify(order, [v](T old) { return static_cast<T>(old + v); });
  }
  T fetch_sub(T v, Order order) const {
    return modify(order, [v](T old) { return static_cast<T>(old - v); });
  }
  T fetch_min(T v, Order order) const {
    return modify(order, [v](T old) { return v < old ? v : old; });
  }
  T exchange(T v, Order order) const {
    return modify(order, [v](T) { return v; });
  }
  bool compare_exchange_strong(T& expected, T desired, Order success, Order failure) const {
    return compare(expected, desired, success, failure, false);
  }
  bool compare_exchange_weak(T& expected, T desired, Order success, Order failure) const {
    return compare(expected, desired, success, failure, true);
  }

 private:
  static std::uint64_t bits(T v) {
    std::uint64_t b = 0;
    std::memcpy(&b, &v, sizeof(T));
    return b;
  }
  static T value(std::uint64_t b) {
    T v;
    std::memcpy(&v, &b, sizeof(T));
    return v;
  }
  template <class F>
  T modify(Order order, F f) const {
    const T old = value(rmw_begin(access_, order));
    rmw_commit(access_, bits(f(old)), order);
    return old;
  }
  bool compare(T& expected, T desired, Order success, Order failure, bool weak) const {
    std::uint64_t e = bits(expected);
    const bool done = compare_exchange(access_, e, bits(desired), success, failure, weak);
    expected = value(e);
    return done;
  }

  Access access_;
};

}  // namespace shoal::sim
