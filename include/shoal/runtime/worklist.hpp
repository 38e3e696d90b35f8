// The worklist's owner: allocates the queues of all PEs of a machine, runs a task on them, and reports.
//
// One object serves many runs of the same task type: nothing is reset between them (tickets only grow). After a run that
// failed, the queues are made anew.
#pragma once
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/queue/worklist.hpp"
#include "shoal/runtime/launch_cpu.hpp"
#include "shoal/runtime/machine.hpp"
#include "shoal/runtime/report.hpp"
#include "shoal/runtime/stall.hpp"
#include "shoal/runtime/worklist_plan.hpp"
#include "shoal/transport/direct.hpp"
#if defined(__CUDACC__)
#include "shoal/runtime/launch_gpu.cuh"
#endif

namespace shoal {

#if defined(__CUDACC__)
#define SHOAL_GPU_CODE true
#else
#define SHOAL_GPU_CODE false
#endif

/// @tparam kWithGpu  whether this translation unit has the GPU's code; keeps the two kinds of objects apart when linking
template <class TaskT, class TransportT = DirectTransport, bool kWithGpu = SHOAL_GPU_CODE>
class Worklist {
  static_assert(check_task<TaskT>());

 public:
  using Item = typename TaskT::Item;
  using View = WorklistView<TaskT, TransportT>;

  /// Allocates the queues of every PE.
  /// @throws CapacityError; UsageError: the plan wants what the task has not (priorities, judging by the pusher, combining)
  Worklist(const Machine& machine, const LaunchPlan& plan, TransportT transport = {})
      : machine_(machine), plan_(plan), transport_(transport), most_workers_(most_workers()) {
    check_plan();
    make_queues();
#if defined(__CUDACC__)
    if (machine.on_gpu()) lanes_ = std::make_unique<gpu::Lanes>(machine);
#endif
  }

  /// Runs `task[p]` on every PE p from `seeds[p]` (pushed by PE p; owners judge them) until no item is left anywhere, or
  /// the task's enough() says so on some PE.
  /// @return counts and seconds of this run
  /// @throws CapacityError (ring and spill full), TransportError, DeviceError (no progress, or the device failed)
  Report run(const std::vector<TaskT>& task, const std::vector<std::vector<Item>>& seeds) {
    const pe_t n = machine_.n_pes();
    if (task.size() != static_cast<std::size_t>(n) || seeds.size() != task.size()) {
      throw UsageError(std::to_string(task.size()) + " tasks and " + std::to_string(seeds.size()) +
                       " lists of seeds for " + std::to_string(n) + " PEs; one of each per PE");
    }
    if (broken_) make_queues();
    broken_ = true;  // until the run has ended well
    for (pe_t p = 0; p < n; ++p) {
      PeControl& control = mirror_[p];
      machine_.copy_out(p, &control, control_[p].get(), sizeof(PeControl));
      control.state.store(0);
      control.seeds_taken.store(0);
      control.ring.head.store(control.ring.tail.load());  // tickets that were held when the last run ended
      control.entered.fetch_add(seeds[p].size());
      control.phase.store(0);
      for (auto& slot : control.nearest) slot.store(kNoBucket);
      if (seen_[p]) {
        const std::vector<std::uint64_t> none(static_cast<std::size_t>(most_workers_));
        machine_.copy_in(p, seen_[p].get(), none.data(), none.size() * sizeof(none[0]));
      }
      for (auto& word : control.tally) word.store(0);
      machine_.copy_in(p, control_[p].get(), &control, sizeof(PeControl));
      if (seeds[p].size() > seed_room_[p]) {
        seed_room_[p] = seeds[p].size();
        seeds_[p] = machine_.allocate(p, seed_room_[p] * sizeof(Item), "seeds");
      }
      if (!seeds[p].empty()) machine_.copy_in(p, seeds_[p].get(), seeds[p].data(), seeds[p].size() * sizeof(Item));
      views_[p].task = task[p];
      views_[p].seeds = static_cast<const Item*>(seeds_[p].get());
      views_[p].n_seeds = seeds[p].size();
    }
    const std::vector<PeControl> before = mirror_;
    Report report;
    launch(report);
    for (pe_t p = 0; p < n; ++p) machine_.copy_out(p, &mirror_[p], control_[p].get(), sizeof(PeControl));
    const RunState end = check_end();
    count(before, report);
    if (end == RunState::enough) {  // what is left is thrown away before the next run, because broken_ stays
      report.left = report.pushed - report.withheld - report.combined - report.dropped - report.stale - report.run;
      for (pe_t p = 0; p < n; ++p) {
        report.left += static_cast<std::int64_t>(seeds[p].size() - mirror_[p].seeds_taken.load());
      }
      return report;
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
  void check_plan() const {
    if (plan_.queue == QueueKind::priority && !HasPriority<TaskT>) {
      throw UsageError("queue 'priority' needs a task with priority(item); this one has none: use --queue fifo");
    }
    if (plan_.judge_remote && !HasRemoteJudge<TaskT>) {
      throw UsageError("judge 'remote' needs a task with accept_at(pe, item); this one has none: use --judge owner");
    }
    if (plan_.combine && !HasCombine<TaskT>) {
      throw UsageError("combining needs a task with key(item) and combine(a, b); this one has none: use --combine off");
    }
    if (plan_.combine && plan_.judge_remote) {
      throw UsageError("combining merges items before they are judged; with judge 'remote' use --combine off");
    }
    if (plan_.buckets < 1 || plan_.buckets > kMostLists || !(plan_.threshold_delta > 0)) {
      throw UsageError("a priority queue has 1 to 16 buckets and a threshold delta above 0");
    }
  }

  int most_workers() const {
#if defined(__CUDACC__)
    if (machine_.on_gpu()) return gpu::most_workers<View>(machine_, plan_);
#endif
    if (machine_.on_gpu()) throw UsageError("this program was compiled without CUDA; use --device cpu");
    const int threads = machine_.threads_per_pe();
    return plan_.workers > 0 ? std::min(plan_.workers, threads) : threads;
  }

  void make_queues() {
    const pe_t n = machine_.n_pes();
    mirror_ = std::vector<PeControl>(n);
    views_.assign(n, View{});
    control_.resize(n), ring_.resize(n), near_.resize(n), far_.resize(n), free_.resize(n), lists_.resize(n);
    seeds_.resize(n), seed_room_.assign(n, 0), far_chunks_.resize(n), far_numbers_.resize(n), seen_.resize(n),
        held_.resize(n);
    inbox_.assign(n, {});
    const auto chunks_of = [](std::int64_t items) { return (items + kChunkItems - 1) / kChunkItems; };
    // A chunk per worker on top: a list holds whole chunks, and the last chunk of one must not starve another.
    const bool prioritised = HasPriority<TaskT> && plan_.queue == QueueKind::priority;
    const Buckets buckets{plan_.threshold, 1 / plan_.threshold_delta, prioritised ? plan_.buckets : 0};
    const std::size_t slots = prioritised ? buckets.slots() : 0;
    const std::int64_t near = plan_.spill_near + plan_.spill_far > 0
                                  ? chunks_of(plan_.spill_near) + most_workers_ * static_cast<std::int64_t>(1 + slots)
                                  : 0;
    const std::int64_t far = chunks_of(plan_.spill_far);
    chunks_ = near + far;
    const ticket_t free_capacity = std::bit_ceil(static_cast<ticket_t>(std::max<std::int64_t>(chunks_, 2)));
    for (pe_t p = 0; p < n; ++p) {
      control_[p] = machine_.allocate(p, sizeof(PeControl), "worklist counters");
      ring_[p] = machine_.allocate(p, plan_.capacity * sizeof(Slot<Item>), "worklist ring");
      near_[p] = machine_.allocate(p, static_cast<std::size_t>(near) * sizeof(SpillChunk<Item>), "spill");
      far_[p] =
          machine_.allocate_host(static_cast<std::size_t>(far) * sizeof(SpillChunk<Item>), "spill in host memory");
      free_[p] = machine_.allocate(p, free_capacity * sizeof(Slot<std::uint32_t>), "spill numbers");
      lists_[p] = machine_.allocate(p, static_cast<std::size_t>(most_workers_) * sizeof(SpillList), "spill lists");
      if (kPhased<TaskT>) {
        seen_[p] = machine_.allocate(p, static_cast<std::size_t>(most_workers_) * sizeof(std::uint64_t), "phases");
      }
      if (HasCombine<TaskT> && plan_.combine) {
        held_[p] = machine_.allocate(p, static_cast<std::size_t>(most_workers_) * kHeldSlots * sizeof(HeldSlot<Item>),
                                     "items to be combined");
      }
      if (prioritised) {
        const std::vector<FarChunk> none(static_cast<std::size_t>(most_workers_) * slots);
        far_chunks_[p] = machine_.allocate(p, none.size() * sizeof(FarChunk), "chunks of parked items");
        machine_.copy_in(p, far_chunks_[p].get(), none.data(), none.size() * sizeof(FarChunk));
        const std::size_t numbers = slots * free_capacity;
        far_numbers_[p] = machine_.allocate(p, numbers * sizeof(Slot<std::uint32_t>), "numbers of parked chunks");
        std::vector<Slot<std::uint32_t>> empty(numbers);
        for (std::size_t i = 0; i < numbers; ++i) empty[i].sequence.store(i % free_capacity);
        machine_.copy_in(p, far_numbers_[p].get(), empty.data(), numbers * sizeof(empty[0]));
      }
      for (pe_t q = 0; q < n; ++q) {
        inbox_[p].push_back(
            q == p ? nullptr : machine_.allocate(p, plan_.channel_capacity * sizeof(RemoteSlot<Item>), "channel"));
      }
    }
    for (pe_t p = 0; p < n; ++p) {
      View& view = views_[p];
      view.transport = transport_;
      view.me = p;
      view.n_pes = n;
      view.channel_capacity = plan_.channel_capacity;
      view.n_workers = static_cast<lane_t>(most_workers_);
      view.seen = static_cast<std::uint64_t*>(seen_[p].get());
      view.judge_remote = plan_.judge_remote;
      view.held = static_cast<HeldSlot<Item>*>(held_[p].get());
      for (pe_t q = 0; q < n; ++q) {
        view.control[q] = static_cast<PeControl*>(control_[q].get());
        view.inbox[q] = static_cast<RemoteSlot<Item>*>(inbox_[p][q].get());
        view.outbox[q] = static_cast<RemoteSlot<Item>*>(inbox_[q][p].get());
      }
      PeControl* control = view.control[p];
      view.far = {buckets, static_cast<FarChunk*>(far_chunks_[p].get()),
                  static_cast<Slot<std::uint32_t>*>(far_numbers_[p].get()), free_capacity, control->far};
      view.ring = {
          static_cast<Slot<Item>*>(ring_[p].get()), plan_.capacity, &control->ring,
          static_cast<lane_t>(std::min<ticket_t>(32, plan_.capacity / (8 * static_cast<ticket_t>(most_workers_))))};
      view.spill.near = static_cast<SpillChunk<Item>*>(near_[p].get());
      view.spill.far = static_cast<SpillChunk<Item>*>(far_[p].get());
      view.spill.near_chunks = static_cast<std::uint32_t>(near);
      view.spill.free = {static_cast<Slot<std::uint32_t>*>(free_[p].get()), free_capacity, &control->spill_free};
      view.spill.lists = static_cast<SpillList*>(lists_[p].get());

      // The ring starts empty, the ring of free chunks full: slot i holds chunk i.
      std::vector<Slot<Item>> slots(plan_.capacity);
      for (ticket_t i = 0; i < plan_.capacity; ++i) slots[i].sequence.store(i);
      machine_.copy_in(p, ring_[p].get(), slots.data(), slots.size() * sizeof(slots[0]));
      std::vector<Slot<std::uint32_t>> numbers(free_capacity);
      for (ticket_t i = 0; i < free_capacity; ++i) {
        const bool holds = i < static_cast<ticket_t>(chunks_);
        numbers[i].sequence.store(holds ? i + 1 : i);
        numbers[i].value = static_cast<std::uint32_t>(i);
      }
      machine_.copy_in(p, free_[p].get(), numbers.data(), numbers.size() * sizeof(numbers[0]));
      const std::vector<SpillList> empty(static_cast<std::size_t>(most_workers_));
      machine_.copy_in(p, lists_[p].get(), empty.data(), empty.size() * sizeof(SpillList));
      PeControl& start = mirror_[p];
      std::memset(static_cast<void*>(&start), 0, sizeof(start));
      for (auto& far : start.far) far.room.store(static_cast<std::int64_t>(free_capacity));
      start.ring.room.store(static_cast<std::int64_t>(plan_.capacity));
      start.spill_free.tail.store(static_cast<ticket_t>(chunks_));
      start.spill_free.room.store(static_cast<std::int64_t>(free_capacity) - chunks_);
      for (pe_t q = 0; q < n; ++q) start.send[q].room.store(static_cast<std::int64_t>(plan_.channel_capacity));
      machine_.copy_in(p, control_[p].get(), &start, sizeof(start));
    }
  }

  void launch(Report& report) {
#if defined(__CUDACC__)
    if (machine_.on_gpu()) {
      gpu::launch(machine_, plan_, views_, most_workers_, static_cast<std::uint64_t>(chunks_), *lanes_, report);
      return;
    }
#endif
    cpu::launch(machine_, plan_, views_, most_workers_, static_cast<std::uint64_t>(chunks_), report);
  }

  /// How it ended, if well.
  RunState check_end() {
    std::vector<PeSnapshot> pes;
    RunState worst = RunState::done;
    pe_t where = 0;
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      pes.push_back(snapshot(mirror_[p], machine_.n_pes(), static_cast<std::uint64_t>(chunks_)));
      const RunState state = static_cast<RunState>(pes.back().state);
      if (state > worst) worst = state, where = p;
      if (state == RunState::running) worst = RunState::stalled, where = p;
    }
    if (worst == RunState::worklist_full) {
      throw CapacityError("worklist full: a ring of " + std::to_string(plan_.capacity) + " items and spill of " +
                          std::to_string(chunks_ * kChunkItems) + " items per PE hold less than the " +
                          std::to_string(outstanding(pes)) + " items that wait; raise --capacity or --spill");
    }
    if (worst == RunState::transport_failed) {
      throw TransportError("an operation towards PE " + std::to_string(where) + " failed; " + diagnose(pes));
    }
    if (worst == RunState::stalled) {
      const std::string line = diagnose(pes);
      const std::string file = dump(pes, line);
      throw DeviceError("no progress for " + std::to_string(plan_.stall_timeout_seconds) + " s: " + line +
                        (file.empty() ? "" : "; counters in " + file));
    }
    if (worst == RunState::done && outstanding(pes) != 0) {
      throw DeviceError("the run ended with " + std::to_string(outstanding(pes)) + " items left: " + diagnose(pes));
    }
    return worst;
  }

  void count(const std::vector<PeControl>& before, Report& report) {
    const pe_t n = machine_.n_pes();
    if (kPhased<TaskT>) report.thresholds = static_cast<std::int64_t>(Phase::number(mirror_[0].phase.load()));
    for (pe_t p = 0; p < n; ++p) {
      const auto tally = [&](int i) { return static_cast<std::int64_t>(mirror_[p].tally[i].load()); };
      report.pushed += tally(0);
      report.withheld += tally(1);
      report.accepted += tally(2);
      report.dropped += tally(3);
      report.stale += tally(4);
      report.run += tally(5);
      report.spilled += tally(6);
      report.parked += tally(7);
      report.combined += tally(8);
      report.idle_calls += tally(9);
      report.peak_ring = std::max(report.peak_ring, tally(10));
      for (pe_t q = 0; q < n; ++q) {
        const auto items = static_cast<std::int64_t>(mirror_[p].send[q].tail.load() - before[p].send[q].tail.load());
        if (items == 0) continue;
        const auto messages =
            static_cast<std::int64_t>(mirror_[p].send[q].messages.load() - before[p].send[q].messages.load());
        report.traffic.push_back({p, q, items, messages, items * static_cast<std::int64_t>(sizeof(RemoteSlot<Item>))});
      }
    }
  }

  const Machine& machine_;
  LaunchPlan plan_;
  TransportT transport_;
  int most_workers_;
  std::int64_t chunks_ = 0;
  bool broken_ = false;
  std::vector<PeControl> mirror_;
  std::vector<View> views_;
  std::vector<std::shared_ptr<void>> control_, ring_, near_, far_, free_, lists_, seeds_, far_chunks_, far_numbers_,
      seen_, held_;
  std::vector<std::size_t> seed_room_;
  std::vector<std::vector<std::shared_ptr<void>>> inbox_;
#if defined(__CUDACC__)
  std::unique_ptr<gpu::Lanes> lanes_;
#endif
};

}  // namespace shoal
