// Worklist: the host object that owns the queues of all PEs of a machine. It allocates them, runs a task on them, and
// reports what the run did.
//
// One object serves many runs of the same task type. The queues are not reset between runs, because ticket numbers only
// grow. Only after a run that failed, or that enough() ended, are they initialised again.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/core/interrupted.hpp"
#include "shoal/transport/direct.hpp"
#include "shoal/worklist/kernel_set.hpp"
#include "shoal/worklist/launch_cpu.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/worklist/memory.hpp"
#include "shoal/worklist/pe_worklist.hpp"
#include "shoal/worklist/run_end.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/report.hpp"
#include "shoal/world/world.hpp"
#if defined(__CUDACC__)
#include "shoal/worklist/kernels_gpu.cuh"
#endif
#if defined(__CUDACC__) || defined(SHOAL_CODE_FOR)
#define SHOAL_LAUNCHES_KERNELS
#include "shoal/worklist/launch_gpu.cuh"
#endif

namespace shoal {

/// The processors for which a translation unit compiles its worklists. As a template parameter of Worklist it makes instances
/// for different processors different types at link time. A source file that runs worklists on GPUs only can define SHOAL_CODE_FOR
/// as CodeFor::gpu before it includes this header: the CPU code is left out, which saves compile time. If the kernels are compiled in
/// another source (cmake/Kernels.cmake), the C++ compiler compiles this one, in a third of nvcc's time.
enum class CodeFor { cpu, cpu_and_gpu, gpu };
#if !defined(SHOAL_LAUNCHES_KERNELS)
#define SHOAL_CODE_FOR CodeFor::cpu
#elif !defined(SHOAL_CODE_FOR)
#define SHOAL_CODE_FOR CodeFor::cpu_and_gpu
#endif

template <class TaskT, class TransportT = DirectTransport, CodeFor kCodeFor = SHOAL_CODE_FOR>
class Worklist {
  static_assert(check_task<TaskT>() && kernels_of<TaskT>().bits != 0);

 public:
  using Item = typename TaskT::Item;
  using View = WorklistView<TaskT, TransportT>;

  /// Allocates the queues of every PE of this process. If there are several processes, each must construct its Worklist at
  /// the same point of the program. Items for PEs of other processes travel over wires (wires.hpp).
  /// @throws CapacityError: not enough memory; UsageError: the plan asks for something that the task does not provide
  ///   (priorities, judging by the pusher, combining), or that wires or GPUs do not support, or a segment has no room for an
  ///   item; also as World::exchange()
  Worklist(const Machine& machine, const LaunchPlan& plan, TransportT transport = {})
      : machine_(machine),
        plan_(checked(machine, plan)),
        most_workers_(most_workers()),
        memory_(machine, plan_, transport, most_workers_) {
#if defined(SHOAL_LAUNCHES_KERNELS)
    if (machine.on_gpu()) streams_ = std::make_unique<gpu::Streams>(machine);
#endif
  }

  /// Runs `task[p]` on every PE p of this process, beginning with `seeds[p]`, until no item is left on any PE, or until enough()
  /// is true on some PE. The workers of PE p push its seeds; the owner of each seed judges it. If there are several processes,
  /// all of them must call run() at the same time.
  /// @param task   [PEs of this process]
  /// @param seeds  [PEs of this process]
  /// @return counts and seconds of this run in this process; of_all_processes() combines the reports and errors of all
  /// @throws CapacityError (ring and spill full), TransportError, DeviceError (no progress, or the device failed),
  ///         UsageError (owner() named no PE); Interrupted (core/interrupt.hpp); whatever a member of the task threw on
  ///         a CPU thread
  Report run(const std::vector<TaskT>& task, const std::vector<std::vector<Item>>& seeds) {
    const pe_t n = machine_.n_pes();
    check_lists(n, task.size(), seeds.size());
    if (some_broken()) memory_.reset();
    broken_ = true;  // stays true unless the run ends well
    if (memory_.wires() != nullptr) memory_.wires()->begin_run();
    RunCounts counts;
    counts.first = machine_.first_pe();
    counts.all_pes = machine_.all_pes();
    Report report;
    try {
      for (pe_t p = 0; p < n; ++p) {
        memory_.begin(p, task[p], seeds[p]);
        counts.seeds.push_back(seeds[p].size());
      }
      counts.before = sent_before(memory_.counters(), counts.all_pes);
      launch(report);
    } catch (...) {
      memory_.tell_of_failure();
      throw;
    }
    memory_.read_counters();
    counts.after = memory_.counters();
    counts.chunks = memory_.chunks();
    counts.item_bytes = plan_.batch_bytes > 0 ? sizeof(Item) : sizeof(RemoteSlot<Item>);
    counts.message_bytes = plan_.batch_bytes > 0 ? sizeof(ticket_t) : 0;
    counts.phased = kPhased<TaskT>;
#if defined(SHOAL_CLOCKS)
    for (pe_t p = 0; p < n; ++p) print_clocks(p, counts.after[p].clocks);
#endif
    // If end_run() throws, or run() returns early, broken_ stays true, so the next run discards the items that are left.
    const RunState how = end_run(plan_, counts, report);
    const bool ended_elsewhere = memory_.wires() != nullptr && memory_.wires()->ended_elsewhere();
    if (ended_elsewhere) report.whole = false;
    if (how == RunState::enough || ended_elsewhere) return report;
    broken_ = false;
    return report;
  }

  const LaunchPlan& plan() const { return plan_; }
  int workers_per_pe() const { return most_workers_; }

 private:
  static LaunchPlan checked(const Machine& machine, LaunchPlan plan) {
    check_plan(plan, sizeof(Item), HasPriority<TaskT>, HasRemoteJudge<TaskT>, HasCombine<TaskT>);
    if (machine.world() != nullptr) fit_to_wires(plan);
    if (machine.on_gpu()) fit_to_gpus(plan);
    return plan;
  }

  /// Whether the last run failed or ended early, here or in another process. Collective over all processes.
  /// @throws Interrupted  the caller of some process was called off; a run may be too short for its own check of that
  bool some_broken() const {
    if (machine_.world() == nullptr) {
      throw_if_interrupted();
      return broken_;
    }
    constexpr std::byte kBroken{1}, kCalledOff{2};
    std::byte mine = broken_ ? kBroken : std::byte{0};
    try {
      throw_if_interrupted();
    } catch (const Interrupted&) {
      mine |= kCalledOff;
    }
    std::byte all{0};
    for (const auto& its : machine_.world()->exchange(World::Call{"run"}, {&mine, 1})) {
      all |= its.empty() ? kBroken : its[0];
    }
    if ((all & kCalledOff) != std::byte{0}) throw Interrupted();
    return all != std::byte{0};
  }

  int most_workers() const {
#if defined(SHOAL_LAUNCHES_KERNELS)
    if (machine_.on_gpu()) return gpu::most_workers<View>(machine_, plan_);
#endif
    if (machine_.on_gpu()) throw UsageError("this program was compiled without CUDA; use --device cpu");
    const int threads = machine_.threads_per_pe();
    return plan_.workers > 0 ? std::min(plan_.workers, threads) : threads;
  }

  void launch(Report& report) {
#if defined(SHOAL_LAUNCHES_KERNELS)
    if (machine_.on_gpu()) {
      gpu::launch(memory_, *streams_, report);
      return;
    }
#endif
    if constexpr (kCodeFor != CodeFor::gpu) {
      cpu::launch(memory_, report);
    } else {
      throw UsageError("this worklist was compiled for GPUs alone");
    }
  }

  const Machine& machine_;
  const LaunchPlan plan_;
  const int most_workers_;
  WorklistMemory<TaskT, TransportT> memory_;
  bool broken_ = false;
#if defined(SHOAL_LAUNCHES_KERNELS)
  std::unique_ptr<gpu::Streams> streams_;
#endif
};

}  // namespace shoal
