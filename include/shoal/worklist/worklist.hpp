// The owner of a worklist, on the host: allocates the queues of all PEs of a machine, runs a task on them, and reports.
//
// One object serves many runs of the same task type. Nothing is reset between them, because tickets only grow. After a
// run that failed, the queues are initialised again.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/core/interrupted.hpp"
#include "shoal/core/text.hpp"
#include "shoal/transport/direct.hpp"
#include "shoal/worklist/kernel_set.hpp"
#include "shoal/worklist/launch_cpu.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/worklist/memory.hpp"
#include "shoal/worklist/pe_worklist.hpp"
#include "shoal/worklist/stall.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/report.hpp"
#if defined(__CUDACC__)
#include "shoal/worklist/launch_gpu.cuh"
#endif

namespace shoal {

#if defined(__CUDACC__)
#define SHOAL_GPU_CODE true
#else
#define SHOAL_GPU_CODE false
#endif

/// @tparam kWithGpu  whether this translation unit has GPU code; it keeps the two kinds of instances apart at link time
template <class TaskT, class TransportT = DirectTransport, bool kWithGpu = SHOAL_GPU_CODE>
class Worklist {
  static_assert(check_task<TaskT>() && kernels_of<TaskT>().bits != 0);

 public:
  using Item = typename TaskT::Item;
  using View = WorklistView<TaskT, TransportT>;

  /// Allocates the queues of every PE.
  /// @throws CapacityError; UsageError: the plan wants what the task lacks (priorities, judging by the pusher,
  ///   combining)
  Worklist(const Machine& machine, const LaunchPlan& plan, TransportT transport = {})
      : machine_(machine),
        plan_(checked(plan)),
        most_workers_(most_workers()),
        memory_(machine, plan, transport, most_workers_) {
#if defined(__CUDACC__)
    if (machine.on_gpu()) streams_ = std::make_unique<gpu::Streams>(machine);
#endif
  }

  /// Runs `task[p]` on every PE p, beginning with `seeds[p]`, until no item is left anywhere, or until enough() is true
  /// on some PE. The workers of PE p push its seeds; the seeds' owners judge them.
  /// @return counts and seconds of this run
  /// @throws CapacityError (ring and spill full), TransportError, DeviceError (no progress, or the device failed),
  ///         UsageError (owner() named no PE); Interrupted (core/interrupt.hpp); what a task's member threw on a CPU
  ///         thread
  Report run(const std::vector<TaskT>& task, const std::vector<std::vector<Item>>& seeds) {
    const pe_t n = machine_.n_pes();
    if (task.size() != static_cast<std::size_t>(n) || seeds.size() != task.size()) {
      throw UsageError(std::to_string(task.size()) + " tasks and " + std::to_string(seeds.size()) +
                       " lists of seeds for " + std::to_string(n) + " PEs; one of each per PE");
    }
    throw_if_interrupted();  // also between runs that are too short for a look
    if (broken_) memory_.reset();
    broken_ = true;  // until the run has ended well
    for (pe_t p = 0; p < n; ++p) memory_.begin(p, task[p], seeds[p]);
    const std::vector<PeControl> before = memory_.counters();
    Report report;
    launch(report);
    memory_.read_counters();
    for (pe_t p = 0; p < n; ++p) report += counted_by(p, before[p]);
#if defined(SHOAL_CLOCKS)
    for (pe_t p = 0; p < n; ++p) print_clocks(p, counters()[p].clocks);
#endif
    if (kPhased<TaskT>) report.thresholds = static_cast<std::int64_t>(Phase::number(counters()[0].phase.load()));
    report.left = report.pushed - report.withheld - report.combined - report.dropped - report.stale - report.run;
    for (pe_t p = 0; p < n; ++p) {
      const std::uint64_t n_seeds = seeds[p].size();
      report.left += static_cast<std::int64_t>(n_seeds - std::min(n_seeds, counters()[p].seeds_taken.load()));
    }
    // broken_ stays true, so what is left is thrown away before the next run.
    if (check_end(report.left) == RunState::enough) return report;
    if (report.pushed != report.withheld + report.combined + report.accepted + report.dropped) {
      throw DeviceError("of " + std::to_string(report.pushed) + " pushed items " + std::to_string(report.withheld) +
                        " were withheld, " + std::to_string(report.combined) + " combined, " +
                        std::to_string(report.accepted) + " accepted and " + std::to_string(report.dropped) +
                        " dropped when the run ended; the sum must be the same");
    }
    if (report.accepted != report.run + report.stale) {  // parked items are in no queue's counters
      throw DeviceError("of " + std::to_string(report.accepted) + " accepted items " + std::to_string(report.run) +
                        " were run and " + std::to_string(report.stale) + " stale when the run ended");
    }
    broken_ = false;
    return report;
  }

  const LaunchPlan& plan() const { return plan_; }
  int workers_per_pe() const { return most_workers_; }

 private:
  static const LaunchPlan& checked(const LaunchPlan& plan) {
    if (plan.queue == QueueKind::priority && !HasPriority<TaskT>) {
      throw UsageError("queue 'priority' needs a task with priority(item); this one has none: use --queue fifo");
    }
    if (plan.judge_remote && !HasRemoteJudge<TaskT>) {
      throw UsageError("judge 'remote' needs a task with accept_at(pe, item); this one has none: use --judge owner");
    }
    if (plan.combine && !HasCombine<TaskT>) {
      throw UsageError("combining needs a task with key(item) and combine(a, b); this one has none: use --combine off");
    }
    if (plan.combine && plan.judge_remote) {
      throw UsageError("combining merges items before they are judged; with judge 'remote' use --combine off");
    }
    if (plan.buckets < 1 || plan.buckets > kMostLists || !(plan.threshold_delta > 0)) {
      throw UsageError("a priority queue has 1 to 16 buckets and a threshold delta above 0");
    }
    return plan;
  }

  int most_workers() const {
#if defined(__CUDACC__)
    if (machine_.on_gpu()) return gpu::most_workers<View>(machine_, plan_);
#endif
    if (machine_.on_gpu()) throw UsageError("this program was compiled without CUDA; use --device cpu");
    const int threads = machine_.threads_per_pe();
    return plan_.workers > 0 ? std::min(plan_.workers, threads) : threads;
  }

  const std::vector<PeControl>& counters() const { return memory_.counters(); }
  std::uint64_t chunks() const { return memory_.chunks(); }

  void launch(Report& report) {
#if defined(__CUDACC__)
    if (machine_.on_gpu()) {
      gpu::launch(machine_, plan_, memory_.views(), most_workers_, chunks(), *streams_, report);
      return;
    }
#endif
    cpu::launch(machine_, plan_, memory_.views(), most_workers_, chunks(), report);
  }

  /// How the run ended; throws if it ended badly.
  /// @param left  seeds and pushed items that were not judged or run
  RunState check_end(std::int64_t left) {
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      const std::uint64_t refused = counters()[p].refused.load();
      if (refused == 0) continue;
      const pe_t n = machine_.n_pes(), owner = RefusedOwner::owner(refused);
      throw UsageError(
          "the task's owner() returned " + std::to_string(owner) + " for an item pushed on PE " + std::to_string(p) +
          "; with " + std::to_string(n) + (n == 1 ? " PE" : " PEs") + " it must be 0" +
          (n == 1 ? "" : " to " + std::to_string(n - 1)) +
          (owner == n ? " (an OwnerTable returns the number of PEs for what is no vertex of the graph)" : ""));
    }
    std::vector<PeSnapshot> pes;
    for (const PeControl& counter : counters()) pes.push_back(snapshot(counter, machine_.n_pes(), chunks()));
    const RunEnd end = end_of(pes);
    if (end.how == RunState::interrupted) throw Interrupted();
    if (end.how == RunState::worklist_full) {
      throw CapacityError(full_line(plan_, left, static_cast<std::int64_t>(chunks() * plan_.chunk_items)) + "; " +
                          std::to_string(pes[end.where].spilled_chunks) + " of " + std::to_string(chunks()) +
                          " chunks were taken when it ended");
    }
    if (end.how == RunState::transport_failed) {
      throw TransportError("an operation of PE " + std::to_string(end.where) + " towards another PE failed; " +
                           diagnose(pes));
    }
    if (end.how == RunState::stalled) {
      const std::string line = diagnose(pes);
      const std::string file = dump(pes, line);
      throw DeviceError("no progress for " + exact(plan_.stall_timeout_seconds) + " s: " + line +
                        (file.empty() ? "" : "; counters in " + file));
    }
    if (end.how == RunState::done && outstanding(pes) != 0) {
      throw DeviceError("the run ended with " + std::to_string(outstanding(pes)) + " items left: " + diagnose(pes));
    }
    return end.how;
  }

  /// What the workers of PE p counted and sent in this run.
  /// @param before  its counters when the run began
  Report counted_by(pe_t p, const PeControl& before) const {
    Report report;
    const PeControl& now = counters()[p];
    for_lane_counters([](Merge, auto& word, std::int64_t& count) { count = static_cast<std::int64_t>(word.load()); },
                      now.counts, report);
    for (pe_t q = 0; q < machine_.n_pes(); ++q) {
      const auto items = static_cast<std::int64_t>(now.send[q].tail.load() - before.send[q].tail.load());
      const auto messages = static_cast<std::int64_t>(now.send[q].messages.load() - before.send[q].messages.load());
      const auto bytes = plan_.batch_bytes > 0 ? items * static_cast<std::int64_t>(sizeof(Item)) +
                                                     messages * std::int64_t{sizeof(ticket_t)}
                                               : items * static_cast<std::int64_t>(sizeof(RemoteSlot<Item>));
      if (items > 0) report.traffic.push_back({p, q, items, messages, bytes});
    }
    return report;
  }

  const Machine& machine_;
  const LaunchPlan plan_;
  const int most_workers_;
  WorklistMemory<TaskT, TransportT> memory_;
  bool broken_ = false;
#if defined(__CUDACC__)
  std::unique_ptr<gpu::Streams> streams_;
#endif
};

}  // namespace shoal
