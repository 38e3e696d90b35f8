// The host's part of a run on GPUs, for tasks of any type: streams, copies of every PE's counters, launches, and the end of a
// run that does not move.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "shoal/device/pinned_memory.cuh"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/worklist/stall.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/report.hpp"

namespace shoal::gpu {

/// Threads of a block, shared memory and workers of a block for a plan.
struct Shape {
  int threads = 0;
  std::size_t shared_bytes = 0;
  int workers_per_block = 0;
  const void* kernel = nullptr;
};

/// What the host needs to know of the kernels of a run.
struct RunOnGpus {
  Shape shape;
  int workers = 0;                  ///< of each PE
  std::vector<const void*> view;    ///< [n_pes] the kernels' first argument
  std::vector<PeControl*> control;  ///< [n_pes] counters, in the PEs' memory
  std::size_t control_bytes = 0;    ///< of each that the run uses
  std::uint64_t chunks = 0;         ///< of spill on each PE
  bool sweeps = false;              ///< the task has idle(): the host repeats the rounds of discrete runs
  /// Between two rounds of which nothing is left: orders the next phase, if there is one.
  std::function<bool(const std::vector<PeSnapshot>&)> order_phase;
};

/// The streams of a Worklist's runs, and pinned copies of the counters.
class Streams {
 public:
  explicit Streams(const Machine& machine);

  cudaStream_t work(pe_t p) const { return work_[p]; }

  /// Copies every PE's counters to the host: `beside` the running kernels, on another stream, or after them.
  std::vector<PeSnapshot> snapshots(const RunOnGpus& run, bool beside);
  /// Sets the head of PE p's ring to `ticket`, before its next kernel.
  void set_head(pe_t p, RingCounters& ring, ticket_t ticket);
  void stop(const RunOnGpus& run, RunState why);

  /// After an error of the CUDA runtime on some PE: tells the kernels of the others to leave, since they might wait for
  /// that PE for ever. Further errors are ignored. If a kernel does not leave, the process ends, because the memory
  /// that it uses cannot be freed.
  void abandon(const RunOnGpus& run, const char* why) noexcept;

 private:
  PeControl& mirror(pe_t p) const { return static_cast<PeControl*>(memory_.get())[p]; }

  const Machine& machine_;
  std::shared_ptr<void> memory_;
  std::vector<Stream> work_, look_;
  ticket_t heads_[kMaxPes] = {};
};

/// Runs the kernels until the run ends, for whatever reason; the counters then tell which.
/// @throws DeviceError  the CUDA runtime failed, or nothing moved; no kernel is running then
void launch(const Machine& machine, const LaunchPlan& plan, const RunOnGpus& run, Streams& streams, Report& report);

}  // namespace shoal::gpu
