// Runs workers on GPUs: with one persistent kernel per PE, or with one discrete kernel per PE and round. The task is
// the same.
//
// A persistent kernel is launched cooperatively, with a grid from the occupancy calculator, so all workers are resident
// at the same time. They must be, because a pusher may wait for a slot that another worker is about to empty. All
// kernels are loaded, and everything is allocated, before the first launch. The host watches the counters, and ends a
// run that does not move.
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <vector>

#include "shoal/core/interrupt.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/worklist/kernels_gpu.cuh"
#include "shoal/worklist/phases.hpp"
#include "shoal/worklist/round_loop.cuh"
#include "shoal/worklist/watch_gpu.cuh"
#include "shoal/world/report.hpp"

namespace shoal::gpu {

/// For discrete runs: does on the host, between two rounds, what order_phase() does.
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

#if SHOAL_DEVICE_ROUNDS
/// Runs the rounds of a discrete run on one PE, which the device repeats.
template <class View, class Plan>
void repeat_on_device(const Machine& machine, const Plan& plan, const std::vector<View>& views, const Shape& s,
                      int blocks, lane_t workers, lane_t fetch, ticket_t limit, std::uint64_t chunks, Streams& streams,
                      Report& report) {
  DeviceGuard guard(machine.devices()[0]);
  DeviceArray<RoundLoop> loop(1, "round loop");
  RoundLoop begin{};
  begin.limit.store(limit);
  loop.upload(&begin, 1);
  SHOAL_CUDA(cudaDeviceSynchronize());  // a kernel of another stream does not wait for copies from pageable memory
  RoundLoop* at = loop.data();
  shoal_loop_handle handle_of_loop = 0;
  void* arguments[] = {
      const_cast<void*>(static_cast<const void*>(&views[0])), &workers, &fetch, &limit, &at, &handle_of_loop};
  LoopGraph graph(s.kernel, dim3(blocks), dim3(s.threads), s.shared_bytes, streams.work(0),
                  [&](shoal_loop_handle handle) {
                    handle_of_loop = handle;
                    return arguments;
                  });
  const auto start = std::chrono::steady_clock::now();
  graph.launch();
  wait_and_watch(machine, plan, views, chunks, streams);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  loop.download(&begin, 1);
  report.rounds = static_cast<std::int64_t>(begin.rounds.load());
}
#endif

template <class View, class Plan>
void run_kernels(const Machine& machine, const Plan& plan, const std::vector<View>& views, int workers,
                 std::uint64_t chunks, Streams& streams, Report& report) {
  const Shape s = shape_of<View>(plan, machine.n_pes());
  const int blocks = (workers + s.workers_per_block - 1) / s.workers_per_block;
  const pe_t n = machine.n_pes();
  lane_t n_workers = static_cast<lane_t>(workers);
  lane_t fetch = plan.fetch;
  const lane_t most = plan.worker == WorkerKind::block ? s.threads : plan.worker == WorkerKind::warp ? 32 : 1;
  fetch = std::max<lane_t>(1, std::min(fetch, most));
  for (pe_t p = 0; p < n; ++p) {  // first load the module on every device
    DeviceGuard guard(machine.devices()[p]);
    cudaFuncAttributes attributes;
    SHOAL_CUDA(cudaFuncGetAttributes(&attributes, s.kernel));
  }
  machine.wait_for_memory();  // the counters and seeds of this run, which neither kernels nor copies of a lane wait for
  std::vector<ticket_t> limit;
  if (plan.kernel == KernelKind::persistent) {
    limit.resize(n);  // it has none
  } else {
    for (const PeSnapshot& pe : streams.snapshots(views, chunks, false)) limit.push_back(pe.ring_tail);
  }
  const auto launch_all = [&] {
    for (pe_t p = 0; p < n; ++p) {
      DeviceGuard guard(machine.devices()[p]);
      void* view = const_cast<void*>(static_cast<const void*>(&views[p]));
      RoundLoop* no_loop = nullptr;
      shoal_loop_handle no_handle = 0;
      void* arguments[] = {view, &n_workers, &fetch, &limit[p], &no_loop, &no_handle};
      if (plan.kernel == KernelKind::persistent) {
        SHOAL_CUDA(cudaLaunchCooperativeKernel(s.kernel, dim3(blocks), dim3(s.threads), arguments, s.shared_bytes,
                                               streams.work(p)));
      } else {
        SHOAL_CUDA(
            cudaLaunchKernel(s.kernel, dim3(blocks), dim3(s.threads), arguments, s.shared_bytes, streams.work(p)));
      }
    }
  };
#if SHOAL_DEVICE_ROUNDS
  bool phases = HasIdle<typename View::Task>;
  if constexpr (HasPriority<typename View::Task>) phases |= views[0].far.buckets.lists > 0;
  if (plan.kernel == KernelKind::discrete && n == 1 && !phases && LoopGraph::available()) {
    return repeat_on_device(machine, plan, views, s, blocks, n_workers, fetch, limit[0], chunks, streams, report);
  }
#endif
  const auto start = std::chrono::steady_clock::now();
  if (plan.kernel == KernelKind::persistent) {
    launch_all();
    wait_and_watch(machine, plan, views, chunks, streams);
    report.rounds = 1;
  } else {
    std::uint64_t last = ~std::uint64_t{0};
    auto moved_at = start;
    PhaseOrders orders;
    for (;;) {
      throw_if_interrupted();  // rounds are too short for the watch to look
      launch_all();
      wait_and_watch(machine, plan, views, chunks, streams);
      ++report.rounds;
      const std::vector<PeSnapshot> pes = streams.snapshots(views, chunks, false);
      for (pe_t p = 0; p < n; ++p) {
        streams.set_head(p, views[p].control[p]->ring, limit[p]);  // takes back tickets beyond the limit
        limit[p] = pes[p].ring_tail;
      }
      if (pes[0].state != 0) break;
      if (outstanding(pes) == 0 && !order_phase_from_host(machine, views, pes, orders)) {
        streams.stop(views, RunState::done);
        break;
      }
      const auto now = std::chrono::steady_clock::now();
      if (progress(pes) != last) {
        last = progress(pes);
        moved_at = now;
      } else if (std::chrono::duration<double>(now - moved_at).count() > plan.stall_timeout_seconds) {
        streams.stop(views, RunState::stalled);
        break;
      }
    }
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Runs the views' tasks until the run ends, for whatever reason; the counters then tell which.
/// @throws DeviceError  the CUDA runtime failed, or nothing moved; no kernel is running then
template <class View, class Plan>
void launch(const Machine& machine, const Plan& plan, const std::vector<View>& views, int workers, std::uint64_t chunks,
            Streams& streams, Report& report) {
  try {
    run_kernels(machine, plan, views, workers, chunks, streams, report);
  } catch (const std::exception& error) {
    streams.abandon(views, error.what());
    throw;
  }
}

}  // namespace shoal::gpu
