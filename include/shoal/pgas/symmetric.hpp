// Symmetric memory: an array of which every PE has a part, and how a task touches the part of another PE directly. Only
// where PEs reach each other by loads and stores (engines threads and peer), which is what `--judge remote` needs.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// Where each PE's part begins. Trivially copyable; a task may hold it.
template <class T>
struct Symmetric {
  T* part[kMaxPes] = {};
};

// The task's own data when other PEs may touch it too: relaxed, of system scope. On a GPU's own memory they cost what the
// functions of device scope in core/atomic.hpp cost.

/// x = min(x, v); returns the old x.
template <class T>
SHOAL_FN T fetch_min_shared(T& x, T v) {
  return detail::fetch_min(detail::AtomicRef<T, Scope::system>(x), v);
}
/// x += v; returns the old x.
template <class T>
SHOAL_FN T fetch_add_shared(T& x, T v) {
  return detail::AtomicRef<T, Scope::system>(x).fetch_add(v, detail::kRelaxed);
}
/// x = v; returns the old x.
template <class T>
SHOAL_FN T exchange_shared(T& x, T v) {
  return detail::AtomicRef<T, Scope::system>(x).exchange(v, detail::kRelaxed);
}
template <class T>
SHOAL_FN T load_shared(const T& x) {
  return detail::AtomicRef<T, Scope::system>(const_cast<T&>(x)).load(detail::kRelaxed);
}

}  // namespace shoal
