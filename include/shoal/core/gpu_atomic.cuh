// The atomic accesses of core/atomic.hpp on GPUs. They do what cuda::atomic_ref does, with three differences.
//
// - Words are in global memory, and the instructions name this state space. An atomic instruction with a generic address needs
//   code for shared memory as well: a loop for each access of 8 bytes.
// - Additions of a constant are disguised, because ptxas would combine those of a warp into one addition, wrongly
//   (detail::own()).
// - <cuda/atomic> is not included: nvcc reads a source three times, and that header alone takes about as long to compile as the
//   rest of shoal/shoal.hpp.
//
// Orders and scopes are those of the PTX ISA 8.3, section 8 (memory consistency model).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace shoal::gpu {

/// An order is passed as a type, so that each access is compiled for one order.
enum class Order { relaxed, acquire, release, acq_rel };
template <Order kOrder>
using OrderIs = std::integral_constant<Order, kOrder>;
inline constexpr OrderIs<Order::relaxed> kRelaxed;
inline constexpr OrderIs<Order::acquire> kAcquire;
inline constexpr OrderIs<Order::release> kRelease;
inline constexpr OrderIs<Order::acq_rel> kAcqRel;

// If ORDER is kOrder: a statement with the instruction NAME.ORDER.SCOPE.global, followed by the arguments, which begin with the
// instruction's type. SCOPE is sys if kSystem, else gpu.
#define SHOAL_GPU_IF_ORDER(ORDER, NAME, ...)                             \
  if constexpr (kOrder == Order::ORDER && kSystem) {                     \
    asm volatile(NAME "." #ORDER ".sys.global." __VA_ARGS__ : "memory"); \
  } else if constexpr (kOrder == Order::ORDER) {                         \
    asm volatile(NAME "." #ORDER ".gpu.global." __VA_ARGS__ : "memory"); \
  }
// The same for a read-modify-write, which can have each of the four orders.
#define SHOAL_GPU_ATOM(...)                          \
  {                                                  \
    SHOAL_GPU_IF_ORDER(relaxed, "atom", __VA_ARGS__) \
    SHOAL_GPU_IF_ORDER(acquire, "atom", __VA_ARGS__) \
    SHOAL_GPU_IF_ORDER(release, "atom", __VA_ARGS__) \
    SHOAL_GPU_IF_ORDER(acq_rel, "atom", __VA_ARGS__) \
  }
// The same with one operand `v`; LETTER is the asm constraint for a register of the type.
#define SHOAL_GPU_FETCH(OPERATION, LETTER) \
  SHOAL_GPU_ATOM(OPERATION " %0, [%1], %2;" : "=" LETTER(old) : "l"(at_), LETTER(v))
// SHOAL_GPU_FETCH under a condition `does`, relaxed: an instruction with a predicate. ptxas may branch around it, but later
// instructions do not wait for its result.
#define SHOAL_GPU_FETCH_IF(OPERATION, LETTER)                                                                     \
  if constexpr (kSystem) {                                                                                        \
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p atom.relaxed.sys.global." OPERATION " %0, [%1], %2; }" \
                 : "+" LETTER(old)                                                                                \
                 : "l"(at_), LETTER(v), "r"(static_cast<unsigned>(does))                                          \
                 : "memory");                                                                                     \
  } else {                                                                                                        \
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p atom.relaxed.gpu.global." OPERATION " %0, [%1], %2; }" \
                 : "+" LETTER(old)                                                                                \
                 : "l"(at_), LETTER(v), "r"(static_cast<unsigned>(does))                                          \
                 : "memory");                                                                                     \
  }

// Likewise a relaxed load of TYPE under a condition `does`.
#define SHOAL_GPU_LOAD_IF(TYPE, LETTER)                                                                \
  if constexpr (kSystem) {                                                                             \
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.relaxed.sys.global." TYPE " %0, [%1]; }" \
                 : "+" LETTER(found)                                                                   \
                 : "l"(at_), "r"(static_cast<unsigned>(does))                                          \
                 : "memory");                                                                          \
  } else {                                                                                             \
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.relaxed.gpu.global." TYPE " %0, [%1]; }" \
                 : "+" LETTER(found)                                                                   \
                 : "l"(at_), "r"(static_cast<unsigned>(does))                                          \
                 : "memory");                                                                          \
  }

namespace detail {
/// Returns `v` in a form that ptxas must treat as a different value for each lane.
///
/// If all lanes of a warp add the same constant to the same word, ptxas lets one lane add the sum for all of them: the lanes vote,
/// the first one adds, and the others get its result by a shuffle. The vote is kept in a uniform register, which all lanes of the
/// warp share. Where the lanes of a warp diverge (workers of one thread each), ptxas of CUDA 13.0 has been seen to wait for memory
/// between the vote and its use. Other lanes may run meanwhile and overwrite the register. Then no lane adds, and the result comes
/// from a lane that does not take part (docs/decisions/0024-atomics-of-single-lanes.md).
template <class T>
__device__ T own(T v) {
  std::uint32_t lanes_before;  // the mask never has bit 31 set, but ptxas does not know that
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes_before));
  return v + static_cast<T>(lanes_before >> 31);
}
}  // namespace detail

/// A word of 4 or 8 bytes, or a byte. A byte can only be loaded and stored, as no instruction changes it. The word must be in global
/// memory: this GPU's own, another GPU's or the host's, but not in shared memory or a local variable.
/// @tparam kSystem  false: only threads of this GPU access it; true: other GPUs or the host do as well
template <class T, bool kSystem>
class AtomicRef {
  static constexpr bool kLong = sizeof(T) == 8, kByte = sizeof(T) == 1;
  static constexpr bool kChanges = kLong || sizeof(T) == 4;
  static_assert(std::is_trivially_copyable_v<T> && (kChanges || kByte),
                "GPUs access trivially copyable values of 1, 4 or 8 bytes atomically; use such a type");
  using Bits = std::conditional_t<kLong, std::uint64_t, std::uint32_t>;

 public:
  __device__ explicit AtomicRef(T& word) : AtomicRef(&word) {}
  __device__ explicit AtomicRef(T* word) : at_(__cvta_generic_to_global(word)) {}

  template <Order kOrder>
  __device__ T load(OrderIs<kOrder>) const {
    static_assert(kOrder == Order::relaxed || kOrder == Order::acquire);
    Bits found;
    if constexpr (kLong) {
      SHOAL_GPU_IF_ORDER(relaxed, "ld", "b64 %0, [%1];" : "=l"(found) : "l"(at_))
      SHOAL_GPU_IF_ORDER(acquire, "ld", "b64 %0, [%1];" : "=l"(found) : "l"(at_))
    } else if constexpr (kByte) {
      SHOAL_GPU_IF_ORDER(relaxed, "ld", "u8 %0, [%1];" : "=r"(found) : "l"(at_))
      SHOAL_GPU_IF_ORDER(acquire, "ld", "u8 %0, [%1];" : "=r"(found) : "l"(at_))
    } else {
      SHOAL_GPU_IF_ORDER(relaxed, "ld", "b32 %0, [%1];" : "=r"(found) : "l"(at_))
      SHOAL_GPU_IF_ORDER(acquire, "ld", "b32 %0, [%1];" : "=r"(found) : "l"(at_))
    }
    return value_of(found);
  }
  /// If `does`, a relaxed load; otherwise reads nothing and returns `otherwise`. Later instructions wait only when they use the
  /// result.
  __device__ T load_if(bool does, T otherwise) const {
    Bits found = bits_of(otherwise);
    if constexpr (kLong) {
      SHOAL_GPU_LOAD_IF("b64", "l")
    } else if constexpr (kByte) {
      SHOAL_GPU_LOAD_IF("u8", "r")
    } else {
      SHOAL_GPU_LOAD_IF("b32", "r")
    }
    return value_of(found);
  }
  template <Order kOrder>
  __device__ void store(T value, OrderIs<kOrder>) const {
    static_assert(kOrder == Order::relaxed || kOrder == Order::release);
    const Bits v = bits_of(value);
    if constexpr (kLong) {
      SHOAL_GPU_IF_ORDER(relaxed, "st", "b64 [%0], %1;" ::"l"(at_), "l"(v))
      SHOAL_GPU_IF_ORDER(release, "st", "b64 [%0], %1;" ::"l"(at_), "l"(v))
    } else if constexpr (kByte) {
      SHOAL_GPU_IF_ORDER(relaxed, "st", "u8 [%0], %1;" ::"l"(at_), "r"(v))
      SHOAL_GPU_IF_ORDER(release, "st", "u8 [%0], %1;" ::"l"(at_), "r"(v))
    } else {
      SHOAL_GPU_IF_ORDER(relaxed, "st", "b32 [%0], %1;" ::"l"(at_), "r"(v))
      SHOAL_GPU_IF_ORDER(release, "st", "b32 [%0], %1;" ::"l"(at_), "r"(v))
    }
  }
  template <Order kOrder>
  __device__ T exchange(T value, OrderIs<kOrder>) const requires kChanges {
    const Bits v = bits_of(value);
    Bits old;
    if constexpr (kLong) SHOAL_GPU_FETCH("exch.b64", "l") else SHOAL_GPU_FETCH("exch.b32", "r");
    return value_of(old);
  }
  /// Returns whether it replaced the word. On failure `expected` becomes the value that was found. A failure has the order of a
  /// success.
  template <Order kOrder, Order kOnFailure>
  __device__ bool compare_exchange_strong(T& expected, T desired, OrderIs<kOrder>,
                                          OrderIs<kOnFailure>) const requires kChanges {
    static_assert(kOnFailure == Order::relaxed ||
                  (kOnFailure == Order::acquire && kOrder != Order::relaxed && kOrder != Order::release));
    const Bits wanted = bits_of(expected), v = bits_of(desired);
    Bits old;
    if constexpr (kLong) {
      SHOAL_GPU_ATOM("cas.b64 %0, [%1], %2, %3;" : "=l"(old) : "l"(at_), "l"(wanted), "l"(v))
    } else {
      SHOAL_GPU_ATOM("cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(at_), "r"(wanted), "r"(v))
    }
    const bool replaced = old == wanted;
    expected = value_of(old);
    return replaced;
  }

  template <Order kOrder>
  __device__ T fetch_add(T v, OrderIs<kOrder>) const requires kChanges {
    static_assert(std::is_integral_v<T> || std::is_floating_point_v<T>);
    T old;
    if constexpr (std::is_floating_point_v<T>) {
      if constexpr (kLong) SHOAL_GPU_FETCH("add.f64", "d") else SHOAL_GPU_FETCH("add.f32", "f");
    } else {  // addition wraps, so the sign does not matter
      v = detail::own(v);
      if constexpr (kLong) SHOAL_GPU_FETCH("add.u64", "l") else SHOAL_GPU_FETCH("add.u32", "r");
    }
    return old;
  }
  template <Order kOrder>
  __device__ T fetch_sub(T v, OrderIs<kOrder> order) const requires kChanges {
    return fetch_add(static_cast<T>(-v), order);
  }
  template <Order kOrder>
  __device__ T fetch_or(T v, OrderIs<kOrder>) const requires kChanges {
    static_assert(std::is_integral_v<T>);
    T old;
    if constexpr (kLong) SHOAL_GPU_FETCH("or.b64", "l") else SHOAL_GPU_FETCH("or.b32", "r");
    return old;
  }
  template <Order kOrder>
  __device__ T fetch_min(T v, OrderIs<kOrder> order) const requires kChanges {
    if constexpr (!std::is_integral_v<T>) {
      return replace(v, order, [](T a, T b) { return a < b; });
    } else {
      T old;
      if constexpr (std::is_signed_v<T>) {
        if constexpr (kLong) SHOAL_GPU_FETCH("min.s64", "l") else SHOAL_GPU_FETCH("min.s32", "r");
      } else {
        if constexpr (kLong) SHOAL_GPU_FETCH("min.u64", "l") else SHOAL_GPU_FETCH("min.u32", "r");
      }
      return old;
    }
  }
  /// If `does`: fetch_min, fetch_add or exchange, relaxed. Otherwise these access nothing and return `otherwise`. The atomics of
  /// several calls are in flight together, unless a branch uses each result.
  __device__ T fetch_min_if(bool does, T v, T otherwise) const requires kChanges {
    static_assert(std::is_integral_v<T>);
    T old = otherwise;
    if constexpr (std::is_signed_v<T>) {
      if constexpr (kLong) {
        SHOAL_GPU_FETCH_IF("min.s64", "l")
      } else {
        SHOAL_GPU_FETCH_IF("min.s32", "r")
      }
    } else {
      if constexpr (kLong) {
        SHOAL_GPU_FETCH_IF("min.u64", "l")
      } else {
        SHOAL_GPU_FETCH_IF("min.u32", "r")
      }
    }
    return old;
  }
  __device__ T fetch_add_if(bool does, T v, T otherwise) const requires kChanges {
    T old = otherwise;
    if constexpr (std::is_floating_point_v<T>) {
      if constexpr (kLong) {
        SHOAL_GPU_FETCH_IF("add.f64", "d")
      } else {
        SHOAL_GPU_FETCH_IF("add.f32", "f")
      }
    } else {
      v = detail::own(v);
      if constexpr (kLong) {
        SHOAL_GPU_FETCH_IF("add.u64", "l")
      } else {
        SHOAL_GPU_FETCH_IF("add.u32", "r")
      }
    }
    return old;
  }
  __device__ T exchange_if(bool does, T value, T otherwise) const requires kChanges {
    const Bits v = bits_of(value);
    Bits old = bits_of(otherwise);
    if constexpr (kLong) {
      SHOAL_GPU_FETCH_IF("exch.b64", "l")
    } else {
      SHOAL_GPU_FETCH_IF("exch.b32", "r")
    }
    return value_of(old);
  }
  template <Order kOrder>
  __device__ T fetch_max(T v, OrderIs<kOrder> order) const requires kChanges {
    if constexpr (!std::is_integral_v<T>) {
      return replace(v, order, [](T a, T b) { return b < a; });
    } else {
      T old;
      if constexpr (std::is_signed_v<T>) {
        if constexpr (kLong) SHOAL_GPU_FETCH("max.s64", "l") else SHOAL_GPU_FETCH("max.s32", "r");
      } else {
        if constexpr (kLong) SHOAL_GPU_FETCH("max.u64", "l") else SHOAL_GPU_FETCH("max.u32", "r");
      }
      return old;
    }
  }

 private:
  static __device__ Bits bits_of(T v) {
    if constexpr (std::is_integral_v<T>) return static_cast<Bits>(v);
    Bits bits = 0;
    memcpy(&bits, &v, sizeof(T));
    return bits;
  }
  static __device__ T value_of(Bits bits) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(bits);
    T v;
    memcpy(&v, &bits, sizeof(T));
    return v;
  }
  /// Stores v if before(v, stored value), by compare-and-swap; for types without an instruction for it. Returns the old value.
  template <Order kOrder, class Before>
  __device__ T replace(T v, OrderIs<kOrder> order, Before before) const {
    T old = load(kRelaxed);
    while (before(v, old) && !compare_exchange_strong(old, v, order, kRelaxed)) {
    }
    return old;
  }

  std::size_t at_;
};

/// Loads the 16 bytes at `at` in one access; store_pair() stores them. `at` is in global memory and aligned to 16 bytes.
template <Order kOrder, bool kSystem>
__device__ void load_pair(const void* at, std::uint64_t& first, std::uint64_t& second) {
  static_assert(kOrder == Order::relaxed || kOrder == Order::acquire);
  const std::size_t from = __cvta_generic_to_global(at);
#define SHOAL_GPU_PAIR "b128 both, [%2]; mov.b128 {%0, %1}, both; }" : "=l"(first), "=l"(second) : "l"(from)
  SHOAL_GPU_IF_ORDER(relaxed, "{ .reg .b128 both; ld", SHOAL_GPU_PAIR)
  SHOAL_GPU_IF_ORDER(acquire, "{ .reg .b128 both; ld", SHOAL_GPU_PAIR)
#undef SHOAL_GPU_PAIR
}
template <Order kOrder, bool kSystem>
__device__ void store_pair(void* at, std::uint64_t first, std::uint64_t second) {
  static_assert(kOrder == Order::relaxed || kOrder == Order::release);
  const std::size_t to = __cvta_generic_to_global(at);
#define SHOAL_GPU_PAIR "b128 [%0], both; }" ::"l"(to), "l"(first), "l"(second)
  SHOAL_GPU_IF_ORDER(relaxed, "{ .reg .b128 both; mov.b128 both, {%1, %2}; st", SHOAL_GPU_PAIR)
  SHOAL_GPU_IF_ORDER(release, "{ .reg .b128 both; mov.b128 both, {%1, %2}; st", SHOAL_GPU_PAIR)
#undef SHOAL_GPU_PAIR
}

/// A fence that acquires and releases.
template <bool kSystem>
__device__ void fence() {
  if constexpr (kSystem) {
    asm volatile("fence.acq_rel.sys;" ::: "memory");
  } else {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }
}

#undef SHOAL_GPU_FETCH
#undef SHOAL_GPU_FETCH_IF
#undef SHOAL_GPU_LOAD_IF
#undef SHOAL_GPU_ATOM
#undef SHOAL_GPU_IF_ORDER

}  // namespace shoal::gpu
