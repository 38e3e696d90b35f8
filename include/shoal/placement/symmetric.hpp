// Symmetric memory: an array of which every PE has a part, and how a task touches the part of another PE directly. Only
// where PEs reach each other by loads and stores (engines threads and peer), which is what `--judge remote` needs; with the
// atomics of Scope::system in core/atomic.hpp.
#pragma once
#include "shoal/core/types.hpp"

namespace shoal {

/// Where each PE's part begins. Trivially copyable; a task may hold it.
template <class T>
struct Symmetric {
  T* part[kMaxPes] = {};
};

}  // namespace shoal
