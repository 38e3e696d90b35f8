// Symmetric memory: an array of which every PE has a part. A task can access the part of another PE directly, with the atomics
// of Scope::system in core/atomic.hpp, as `--judge remote` requires. This works only where PEs reach each other by loads and
// stores (engines threads and peer).
#pragma once
#include "shoal/core/types.hpp"

namespace shoal {

/// The address of each PE's part. Trivially copyable; may be a member of a task.
template <class T>
struct Symmetric {
  T* part[kMaxPes] = {};
};

}  // namespace shoal
