// Runs workers on GPUs: with one persistent kernel per PE, or with one discrete kernel per PE and round. The task's code is
// the same for both.
//
// A persistent kernel is launched cooperatively, with a grid from the occupancy calculator, so all workers are resident
// at the same time. They must be, because a pusher may wait for a slot that another worker is about to empty. All
// kernels are loaded, and all memory is allocated, before the first launch. The host polls the counters, and ends a run
// that makes no progress.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "shoal/device/cuda_check.cuh"
#include "shoal/worklist/kernels_gpu.cuh"
#include "shoal/worklist/phases.hpp"
#include "shoal/worklist/streams_gpu.cuh"
#include "shoal/world/report.hpp"

namespace shoal::gpu {

/// For discrete runs: order_phase() on the host, between two rounds.
template <class View>
bool order_phase_from_host(const Machine& machine, const std::vector<View>& views, const std::vector<PeSnapshot>& pes,
                           PhaseOrders& orders) {
  using Task = typename View::Task;
  if constexpr (!kPhased<Task>) {
    return false;
  } else {
    std::uint64_t created = 0;
    lane_t least = kNoBucket;
    for (const PeSnapshot& pe : pes) created += pe.created();
    const Buckets& buckets = views[0].far.buckets;
    const lane_t slots = buckets.lists > 0 ? buckets.slots() : 0;
    const std::uint64_t tokens = views[0].n_workers, before = orders.word;
    std::vector<std::array<lane_t, kMostSlots>> told(pes.size());
    for (pe_t q = 0; q < machine.n_pes(); ++q) {
      machine.copy_out(q, told[q].data(), views[q].control[q]->nearest, sizeof(told[q]));
      for (lane_t slot = 0; slot < slots; ++slot) {
        least = std::min(least, may_be_parked(buckets, slot, told[q][slot], before));
      }
    }
    if (!next_phase<Task>(orders, buckets, least, created, tokens * pes.size())) return false;
    for (pe_t q = 0; q < machine.n_pes(); ++q) {
      PeControl* control = views[q].control[q];
      std::int64_t had = 0;
      machine.copy_out(q, &had, &control->tokens, sizeof(had));
      for (lane_t slot = 0; slot < slots; ++slot) {
        if (spent(buckets, slot, told[q][slot], before, orders.word)) told[q][slot] = kNoBucket;
      }
      had += static_cast<std::int64_t>(tokens);
      machine.copy_in(q, control->nearest, told[q].data(), sizeof(told[q]));
      machine.copy_in(q, &control->tokens, &had, sizeof(had));
      machine.copy_in(q, &control->phase, &orders.word, sizeof(orders.word));
      DeviceGuard guard(machine.devices()[q]);
      SHOAL_CUDA(cudaDeviceSynchronize());  // a kernel of another stream does not wait for copies from pageable memory
    }
    return true;
  }
}

/// Runs the views' tasks until the run ends, for whatever reason; afterwards the PEs' counters show the reason.
/// @throws DeviceError  the CUDA runtime failed, or the run made no progress; no kernel is running then
template <class View>
void launch(const Machine& machine, const LaunchPlan& plan, const std::vector<View>& views, int workers,
            std::uint64_t chunks, Streams& streams, Report& report) {
  using Task = typename View::Task;
  PhaseOrders orders;
  RunOnGpus run{.shape = shape_of<View>(plan, machine.n_pes()), .workers = workers, .chunks = chunks};
  run.control_bytes = PeControl::bytes(views[0].n_pes, views[0].log_channels);
  for (const View& view : views) {
    run.view.push_back(&view);
    run.control.push_back(view.control[view.me]);
  }
  run.sweeps = HasIdle<Task>;
  run.order_phase = [&](const std::vector<PeSnapshot>& pes) {
    return order_phase_from_host(machine, views, pes, orders);
  };
  launch(machine, plan, run, streams, report);
}

}  // namespace shoal::gpu
