#include "shoal/worklist/kernel_set.hpp"

#include <string>

#include "shoal/core/error.hpp"

namespace shoal {

void check_compiled(KernelSet compiled, WorkerKind worker, KernelKind kernel) {
  if (compiled.has(worker, kernel)) return;
  std::string list;
  for (const WorkerKind w : {WorkerKind::thread, WorkerKind::warp, WorkerKind::block}) {
    for (const KernelKind k : {KernelKind::persistent, KernelKind::discrete}) {
      if (compiled.has(w, k)) list += (list.empty() ? "" : ", ") + std::string(name(w)) + " " + name(k);
    }
  }
  throw UsageError(
      std::string("this program has no kernel for worker ") + name(worker) + " and kernel " + name(kernel) +
      ", only: " + list +
      ". For all of them, give the task `static constexpr KernelSet kKernels = kAllKernels;`, or configure "
      "with -DSHOAL_PROGRAM_KERNELS=all");
}

}  // namespace shoal
