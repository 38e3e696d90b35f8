// The host's part of a run on GPUs, which does not depend on the type of the task: streams, copies of every PE's counters,
// launches, and the end of a run that makes no progress.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "shoal/device/event.cuh"
#include "shoal/device/pinned_memory.cuh"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/worklist/stall.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/report.hpp"

namespace shoal::gpu {

/// The kernel for a plan, and the threads, shared memory and workers of each of its blocks.
struct Shape {
  int threads = 0;
  std::size_t shared_bytes = 0;
  int workers_per_block = 0;
  const void* kernel = nullptr;
};

/// What the host needs of the kernels for a view. They may be compiled in another source, which then has
/// `template struct KernelsOf<View>` (cmake/Kernels.cmake).
template <class View>
struct KernelsOf {
  /// The kernel for a plan, with the threads, shared memory and workers of its blocks.
  /// @throws UsageError  the program does not contain such a kernel
  static Shape shape(const LaunchPlan& plan, pe_t n_pes);  // defined in kernels_gpu.cuh
};
/// How many workers of such a kernel can be resident on each PE at the same time, at most plan.workers if that is set.
/// @throws UsageError  not even one block fits a multiprocessor
int most_workers(const Machine& machine, const LaunchPlan& plan, const Shape& shape);

/// What the host needs to know about the kernels of a run.
struct RunOnGpus {
  Shape shape;
  int workers = 0;                  ///< workers of each PE
  std::vector<const void*> view;    ///< [n_pes] the kernels' first argument
  std::vector<PeControl*> control;  ///< [n_pes] counters, in the PEs' memory
  std::vector<PeControl*> after;    ///< [n_pes] page-locked host memory, to which the counters are copied at the end
  std::size_t control_bytes = 0;    ///< the bytes of each PeControl that the run uses
  std::uint64_t chunks = 0;         ///< chunks of spill on each PE
};

/// The streams of a Worklist's runs, and pinned copies of the counters.
class Streams {
 public:
  explicit Streams(const Machine& machine);

  /// Loads the kernel's module on every device, unless this object did so last time.
  void load(const void* kernel);
  /// To be called before the first launch: no kernel begins before the copies of counters and seeds, and all else that was started in the
  /// devices' legacy streams, are complete on every PE. With one PE the stream waits, and not the host.
  void await_memory();
  /// Launches the kernel of PE p. @throws DeviceError
  void launch(pe_t p, const RunOnGpus& run, int blocks, void** arguments);
  /// After all launches: has every PE's counters copied to `run.after` when all kernels have ended. Until then another PE may change
  /// them.
  void copy_back(const RunOnGpus& run);
  /// Whether the kernel of PE p has ended. @throws DeviceError
  bool has_ended(pe_t p) const;
  /// Waits until the streams are idle.
  void finish() const;

  /// Copies every PE's counters to the host, on streams of their own, while kernels run.
  std::vector<PeSnapshot> snapshots(const RunOnGpus& run);
  /// Sets the state of the run on every PE, so that all workers leave.
  void stop(const RunOnGpus& run, RunState why);

  /// After an error of the CUDA runtime on some PE: makes the kernels of the other PEs end, since they might wait for that
  /// PE for ever. Further errors are ignored. If a kernel does not end, the process ends, because the memory that the
  /// kernel uses cannot be freed.
  void abandon(const RunOnGpus& run, const char* why) noexcept;

 private:
  PeControl& mirror(pe_t p) const { return static_cast<PeControl*>(memory_.get())[p]; }

  const Machine& machine_;
  std::shared_ptr<void> memory_;
  std::vector<Stream> work_, look_;
  Event ready_;               ///< the memory of a single PE
  std::vector<Event> ended_;  ///< the kernel of each PE
  const void* loaded_ = nullptr;
};

/// Runs the kernels until the run ends, for whatever reason; afterwards the PEs' counters show the reason.
/// @throws DeviceError  the CUDA runtime failed, or the run made no progress; no kernel is running then
void launch(const Machine& machine, const LaunchPlan& plan, const RunOnGpus& run, Streams& streams, Report& report);

}  // namespace shoal::gpu
