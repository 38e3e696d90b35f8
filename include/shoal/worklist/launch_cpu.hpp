// Runs workers on CPU threads, with the watchdog beside them.
#pragma once
#include <cstdint>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/worker/worker.hpp"
#include "shoal/worklist/schedule.hpp"
#include "shoal/worklist/watchdog.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/report.hpp"

namespace shoal::cpu {

/// Runs to the end on the machine's threads. Thread t of PE p is worker t; threads from `workers` on do nothing.
template <class View, class Plan>
void launch(const Machine& machine, const Plan& plan, const std::vector<View>& views, int workers,
            std::uint64_t spill_chunks, Report& report) {
  using Task = typename View::Task;
  const auto end_as = [&](RunState why) {
    for (const View& view : views) {
      std::uint32_t running = 0;
      view.here().state.compare_swap_acq_rel(running, static_cast<std::uint32_t>(why));
    }
  };
  Watchdog watchdog(
      plan.stall_timeout_seconds, [&](bool closely) { return snapshots(views, spill_chunks, closely); }, end_as);
  const auto as_worker = [&](pe_t pe, int thread, auto&& body) {
    if (thread >= workers) return;
    typename Task::Item items[CpuThread::kMaxFetch];
    const View& view = views[pe];
    SpillList& list = view.spill.lists[thread];
    Scheduler<CpuThread, View> scheduler(CpuThread{}, view, list, Desk<Task>{items, CpuThread::kMaxFetch},
                                         plan.fetch < CpuThread::kMaxFetch ? plan.fetch : CpuThread::kMaxFetch,
                                         static_cast<lane_t>(thread));
    try {
      body(scheduler);
    } catch (...) {  // a member of the task threw; ends the run, or the others would wait for its items
      view.stop_all(RunState::task_failed);
      throw;
    }
    list = scheduler.out().now().list;
  };
  if (plan.kernel == KernelKind::persistent) {
    machine.team().run(
        [&](pe_t pe, int thread) { as_worker(pe, thread, [](auto& scheduler) { scheduler.run_persistent(); }); });
    report.rounds = 1;
  } else {
    std::vector<ticket_t> last;
    PhaseOrders orders;
    for (bool again = true; again; ++report.rounds) {
      std::vector<ticket_t> limit;
      for (const View& view : views) {
        if (report.rounds > 0) view.here().ring.head.store(last[view.me]);  // takes back tickets beyond the limit
        limit.push_back(view.here().ring.tail.load());
      }
      last = limit;
      machine.team().run([&](pe_t pe, int thread) {
        as_worker(pe, thread, [&](auto& scheduler) { scheduler.run_round(limit[pe]); });
      });
      const std::vector<PeSnapshot> pes = snapshots(views, spill_chunks);
      std::uint64_t created = 0;
      for (const PeSnapshot& pe : pes) created += pe.created();
      again = views[0].here().state.load() == 0 &&
              (outstanding(pes) != 0 || order_phase(CpuThread{}, views[0], orders, created));
    }
    if (views[0].here().state.load() == 0) views[0].stop_all(RunState::done);
  }
  watchdog.throw_if_stalled();
  report.seconds = watchdog.seconds();
}

}  // namespace shoal::cpu
