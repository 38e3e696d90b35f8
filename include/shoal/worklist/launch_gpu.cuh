// Runs workers on GPUs, with one kernel per PE: persistent, or in rounds with a barrier after each (worklist/rounds_gpu.cuh). The
// task's code is the same for both.
//
// Kernels are launched cooperatively, with a grid from the occupancy calculator, so all workers are resident
// at the same time. They must be, because a pusher may wait for a slot that another worker is about to empty. All
// kernels are loaded, and all memory is allocated, before the first launch. The host polls the counters, and ends a run
// that makes no progress.
#pragma once
#include <vector>

#include "shoal/worklist/memory.hpp"
#include "shoal/worklist/streams_gpu.cuh"
#include "shoal/world/report.hpp"

namespace shoal::gpu {

/// As most_workers() of streams_gpu.cuh. @throws UsageError  also if the program does not contain the plan's kernel
template <class View>
int most_workers(const Machine& machine, const LaunchPlan& plan) {
  return most_workers(machine, plan, KernelsOf<View>::shape(plan, machine.n_pes()));
}

/// Runs the tasks of a worklist's views until the run ends, for whatever reason; afterwards the PEs' counters show the reason, and have
/// been copied to the memory's mirrors.
/// @throws DeviceError  the CUDA runtime failed, or the run made no progress; no kernel is running then
template <class TaskT, class TransportT>
void launch(const WorklistMemory<TaskT, TransportT>& memory, Streams& streams, Report& report) {
  using View = WorklistView<TaskT, TransportT>;
  const Machine& machine = memory.machine();
  const LaunchPlan& plan = memory.plan();
  const std::vector<View>& views = memory.views();
  RunOnGpus run;
  run.shape = KernelsOf<View>::shape(plan, machine.n_pes());
  run.workers = static_cast<int>(memory.workers());
  run.chunks = memory.chunks();
  run.control_bytes = PeControl::bytes(views[0].n_pes, views[0].log_channels);
  for (std::size_t p = 0; p < views.size(); ++p) {
    run.view.push_back(&views[p]);
    run.control.push_back(memory.control(static_cast<pe_t>(p)));
    run.after.push_back(memory.mirror(static_cast<pe_t>(p)));
  }
  launch(machine, plan, run, streams, report);
}

}  // namespace shoal::gpu
