// The host's part of a run on GPUs, which does not depend on the type of the task: streams, copies of every PE's counters,
// launches, and the end of a run that makes no progress.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <vector>

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

/// What the host needs to know about the kernels of a run.
struct RunOnGpus {
  Shape shape;
  int workers = 0;                  ///< workers of each PE
  std::vector<const void*> view;    ///< [n_pes] the kernels' first argument
  std::vector<PeControl*> control;  ///< [n_pes] counters, in the PEs' memory
  std::size_t control_bytes = 0;    ///< the bytes of each PeControl that the run uses
  std::uint64_t chunks = 0;         ///< chunks of spill on each PE
};

/// The streams of a Worklist's runs, and pinned copies of the counters.
class Streams {
 public:
  explicit Streams(const Machine& machine);

  cudaStream_t work(pe_t p) const { return work_[p]; }

  /// Copies every PE's counters to the host.
  /// @param beside  true: on another stream, while kernels run; false: on the kernels' stream, after they have ended
  std::vector<PeSnapshot> snapshots(const RunOnGpus& run, bool beside);
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
};

/// Runs the kernels until the run ends, for whatever reason; afterwards the PEs' counters show the reason.
/// @throws DeviceError  the CUDA runtime failed, or the run made no progress; no kernel is running then
void launch(const Machine& machine, const LaunchPlan& plan, const RunOnGpus& run, Streams& streams, Report& report);

}  // namespace shoal::gpu
