// Which of the worklist's kernels a program has for a task on GPUs. Each kind of worker and kernel is code of its own, which takes
// seconds to compile. So a program has those that `auto` chooses among, and more only where its task names them:
//
//   static constexpr KernelSet kKernels = kAllKernels;   // a member of the task
//
// CPU threads run every kind of kernel without it.
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

/// What `auto` chooses among (plan_launch).
inline constexpr KernelSet kAutoKernels =
    KernelSet::of(WorkerKind::warp, KernelKind::persistent) | KernelSet::of(WorkerKind::block, KernelKind::persistent);
inline constexpr KernelSet kAllKernels = kAutoKernels | KernelSet::of(WorkerKind::thread, KernelKind::persistent) |
                                         KernelSet::of(WorkerKind::thread, KernelKind::discrete) |
                                         KernelSet::of(WorkerKind::warp, KernelKind::discrete) |
                                         KernelSet::of(WorkerKind::block, KernelKind::discrete);

/// Whether a kernel has variants: for a PE that is alone, and for runs without priorities. Those that `auto` chooses among have;
/// of every other there is one, which serves all runs. It is slower and takes a third of the time to compile.
/// `cmake -DSHOAL_OPTIMISE_ALL_KERNELS=on` makes variants of all.
constexpr bool has_variants([[maybe_unused]] WorkerKind worker, [[maybe_unused]] KernelKind kernel) {
#if defined(SHOAL_VARIANTS_OF_ALL_KERNELS)
  return true;
#else
  return kAutoKernels.has(worker, kernel);
#endif
}

/// The set that task T names, or else what a program has by default: all with SHOAL_ALL_KERNELS, which
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

/// @throws UsageError  a program that has the kernels `compiled` was asked for another; names both, and the cure
void check_compiled(KernelSet compiled, WorkerKind worker, KernelKind kernel);

}  // namespace shoal
