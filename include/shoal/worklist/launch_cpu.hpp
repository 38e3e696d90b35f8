// Runs workers on CPU threads, while a watchdog checks that they make progress.
#pragma once
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/worker/worker.hpp"
#include "shoal/worklist/memory.hpp"
#include "shoal/worklist/schedule.hpp"
#include "shoal/worklist/trace.hpp"
#include "shoal/worklist/watchdog.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/report.hpp"

namespace shoal::cpu {

/// For discrete runs of several processes, between two rounds: carries items to and from other processes until there is work for
/// another round. False: the run is over.
template <class View>
bool wait_for_a_round(const std::vector<View>& views, PhaseOrders& orders) {
  const View& view = views[0];
  const std::uint64_t phase = view.here().phase.load();
  sched_yield();  // if this process only waits for credits, the process that has to return them may need this core
  for (Backoff backoff;; backoff.pause()) {
    if (view.segments.puts_off()) {
      for (const View& one : views) offer_parts(CpuThread{}, one);
    }
    view.wires->carry();
    if (view.here().state.load() != 0) return false;
    if (!seems_quiet(view)) return true;
    if (std::any_of(views.begin(), views.end(), something_arrived<View>)) return true;
    if (over_everywhere(view, orders)) return false;
    if (view.here().phase.load() != phase) return true;
  }
}

/// Runs the tasks of a worklist's views to the end on the machine's threads. Thread t of PE p is worker t of that PE; threads beyond
/// its workers do nothing.
template <class TaskT, class TransportT>
void launch(const WorklistMemory<TaskT, TransportT>& memory, Report& report) {
  using View = WorklistView<TaskT, TransportT>;
  const Machine& machine = memory.machine();
  const LaunchPlan& plan = memory.plan();
  const int workers = static_cast<int>(memory.workers());
  const std::vector<View>& views = memory.views();
  Wires* const wires = memory.wires();
  Watchdog watchdog(plan.stall_timeout_seconds, memory);
  RunTrace trace(memory, workers);
  const lane_t fetch = std::min<lane_t>(plan.fetch, CpuThread::kMaxFetch);
  const auto as_worker = [&](pe_t pe, int thread, auto&& body) {
    if (thread >= workers) return;
    typename TaskT::Item items[CpuThread::kMaxFetch];
    const View& view = views[pe];
    SpillList& list = view.spill.lists[thread];
    Scheduler<CpuThread, View> scheduler(CpuThread{}, view, list, Desk<TaskT>{items, CpuThread::kMaxFetch}, fetch,
                                         static_cast<lane_t>(thread));
    scheduler.out().now().log = trace.log(pe, thread);
    try {
      body(scheduler);
    } catch (...) {  // a member of the task threw: end the run, or the other workers would wait for the item for ever
      view.stop_all(RunState::task_failed);
      throw;
    }
    list = scheduler.out().now().list;
  };
  // However the workers leave, also with an exception, the other processes are notified.
  const std::unique_ptr<Wires, void (*)(Wires*)> tells(wires, [](Wires* at) { at->look_for_ends(); });
  if (plan.kernel == KernelKind::persistent) {
    machine.team().run(
        [&](pe_t pe, int thread) { as_worker(pe, thread, [](auto& scheduler) { scheduler.run_persistent(); }); });
    report.rounds = 1;
  } else {
    std::vector<Round> round(views.size());
    PhaseOrders orders;
    for (bool again = true; again; ++report.rounds) {
      for (std::size_t i = 0; i < views.size(); ++i) {
        RingCounters& ring = views[i].here().ring;
        round[i] = {report.rounds > 0 ? round[i].limit : ring.head.load(), ring.tail.load(), fetch};
        ring.head.store(round[i].head(views[i].n_workers));
      }
      machine.team().run([&](pe_t pe, int thread) {
        as_worker(pe, thread, [&](auto& scheduler) { scheduler.run_round(round[pe]); });
      });
      if (wires != nullptr) {
        again = wait_for_a_round(views, orders);
        continue;
      }
      const std::vector<PeSnapshot> pes = memory.snapshots();
      std::uint64_t created = 0;
      for (const PeSnapshot& pe : pes) created += pe.created();
      again = views[0].here().state.load() == 0 &&
              (outstanding(pes) != 0 || order_phase(CpuThread{}, views[0], orders, created));
    }
    if (views[0].here().state.load() == 0) views[0].stop_all(RunState::done);
  }
  if (wires != nullptr) wires->end_run();
  watchdog.throw_if_stalled();
  report.seconds = watchdog.seconds();
  trace.draw();
}

}  // namespace shoal::cpu
