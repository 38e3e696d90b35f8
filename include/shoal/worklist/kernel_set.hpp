// Which kernels of the worklist a program contains for a task on GPUs. Each pair of a worker kind and a kernel kind is compiled
// separately, which takes seconds. So a program contains the kernels that `auto` chooses among, and more only if its task names
// them:
//
//   static constexpr KernelSet kKernels = kAllKernels;   // a member of the task
//
// On CPU threads every kind of kernel runs without this.
#pragma once
#include <concepts>
#include <type_traits>

#include "shoal/world/options.hpp"

namespace shoal {

/// Pairs of a kind of worker and a kind of kernel.
struct KernelSet {
  unsigned bits = 0;

  static constexpr KernelSet of(WorkerKind worker, KernelKind kernel) {
    return {1u << (2 * static_cast<unsigned>(worker) + static_cast<unsigned>(kernel))};
  }
  constexpr bool has(WorkerKind worker, KernelKind kernel) const { return (bits & of(worker, kernel).bits) != 0; }
  constexpr KernelSet operator|(KernelSet other) const { return {bits | other.bits}; }
};

/// The kernels that `auto` chooses among (plan_launch).
inline constexpr KernelSet kAutoKernels =
    KernelSet::of(WorkerKind::warp, KernelKind::persistent) | KernelSet::of(WorkerKind::block, KernelKind::persistent);
inline constexpr KernelSet kAllKernels = kAutoKernels | KernelSet::of(WorkerKind::thread, KernelKind::persistent) |
                                         KernelSet::of(WorkerKind::thread, KernelKind::discrete) |
                                         KernelSet::of(WorkerKind::warp, KernelKind::discrete) |
                                         KernelSet::of(WorkerKind::block, KernelKind::discrete);

/// Whether a kernel of task T has variants: for runs on one PE, and for runs without priorities. The kernels that `auto` chooses among
/// do, unless the task names those that shall:
///
///   static constexpr KernelSet kVariants = ...;   // a member of the task
///
/// Every other pair has one kernel for all runs, which is slower and takes a third of the time to compile.
/// `cmake -DSHOAL_OPTIMISE_ALL_KERNELS=on` makes variants of all kernels.
template <class T>
constexpr bool has_variants([[maybe_unused]] WorkerKind worker, [[maybe_unused]] KernelKind kernel) {
#if defined(SHOAL_VARIANTS_OF_ALL_KERNELS)
  return true;
#else
  if constexpr (requires { T::kVariants; }) {
    static_assert(std::same_as<std::remove_cv_t<decltype(T::kVariants)>, KernelSet>,
                  "kVariants is `static constexpr KernelSet kVariants`");
    return T::kVariants.has(worker, kernel);
  } else {
    return kAutoKernels.has(worker, kernel);
  }
#endif
}

/// The set that task T names, or else the default: kAutoKernels, or all kernels with SHOAL_ALL_KERNELS, which
/// `cmake -DSHOAL_PROGRAM_KERNELS=all` defines.
template <class T>
constexpr KernelSet kernels_of() {
  if constexpr (requires { T::kKernels; }) {
    static_assert(std::same_as<std::remove_cv_t<decltype(T::kKernels)>, KernelSet>,
                  "kKernels is `static constexpr KernelSet kKernels`");
    return T::kKernels;
  } else {
#if defined(SHOAL_ALL_KERNELS)
    return kAllKernels;
#else
    return kAutoKernels;
#endif
  }
}

/// @throws UsageError  `compiled` does not contain the kernel that the run needs; the message names both, and the cure
void check_compiled(KernelSet compiled, WorkerKind worker, KernelKind kernel);

}  // namespace shoal
