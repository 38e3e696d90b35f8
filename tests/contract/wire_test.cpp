// The worklist's contract on PEs of several processes that communicate over wires only. The processes are threads behind walls
// here: puts arrive late, in pieces, and in any order between fences.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "under_tsan.hpp"
#include "walled_runs.hpp"
#include "wire_cases.hpp"

namespace shoal::contract {
namespace {

/// Processes that are threads, behind walls.
struct BehindWalls {
  using Processes = Walled;
  template <class Task>
  using List = WalledWorklist<Task>;
  static constexpr std::uint64_t kSoakRuns = test::kUnderTsan ? 10 : 40;

  /// Calls body for worlds x threads x kernels x capacities, with puts that are late, reordered, both or neither.
  template <class Body>
  static void for_each_world(Body body) {
    std::uint64_t seed = 1;
    for (const std::vector<pe_t>& pes_of : kWorlds) {
      for (int threads = 1; threads <= 2; ++threads) {
        const Machine all = machine_of(pes_of, threads);
        for (const KernelKind kernel : kKernels) {
          for (const ticket_t capacity : {ticket_t{2}, ticket_t{1024}}) {
            ++seed;
            if (pes_of.size() + static_cast<std::size_t>(threads) > 4) continue;  // more threads than cores take long
            if (test::kUnderTsan && seed % 3 != 1) continue;                      // some shapes of each world
            Walled walled(pes_of, threads,
                          {.seed = seed, .late_percent = seed % 3 == 0 ? 0 : 50, .reorder = seed % 2 == 0});
            const LaunchPlan plan = segment_plan(kernel, capacity);
            SCOPED_TRACE(describe_world(pes_of) + describe(all, plan) + ", seed " + std::to_string(seed));
            try {
              body(all, walled, plan);
            } catch (const std::exception& error) {
              ADD_FAILURE() << error.what();  // here SCOPED_TRACE still adds the shape
            }
            if (::testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
  template <class Draw, class Body>
  static void with_a_world(Draw draw, std::uint64_t number, Body body) {
    const std::vector<pe_t>& pes_of = kWorlds[draw(kWorlds.size())];
    const int threads = static_cast<int>(1 + draw(2));
    const WalledPlan walls = {.seed = number,
                              .late_percent = static_cast<int>(draw(4)) * 30,
                              .reorder = draw(2) == 0,
                              .delay_us = draw(2) * draw(200)};
    Walled walled(pes_of, threads, walls);
    SCOPED_TRACE(describe_world(pes_of));
    body(machine_of(pes_of, threads), walled);
  }

 private:
  /// The PEs of each process.
  static inline const std::vector<std::vector<pe_t>> kWorlds = {{1, 1}, {2, 1}, {1, 1, 1}};

  static Machine machine_of(const std::vector<pe_t>& pes_of, int threads) {
    return cpu_machine(std::accumulate(pes_of.begin(), pes_of.end(), pe_t{0}), threads);
  }
  static std::string describe_world(const std::vector<pe_t>& pes_of) {
    std::string text = "processes of";
    for (const pe_t n : pes_of) text += " " + std::to_string(n);
    return text + ": ";
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Walled, WireContract, BehindWalls);

TEST(Wire, PartsWaitForTheClock) {
  for (const bool processes : {true, false}) {
    for (const KernelKind kernel : kKernels) {
      LaunchPlan plan = segment_plan(kernel, 1024);  // no segment fills: a full one would not wait
      plan.batch_wait_us = 10'000;
      SCOPED_TRACE(std::string(processes ? "processes, " : "PEs of a process, ") + name(kernel));
      const std::uint32_t last = 8;
      std::uint64_t counts[2] = {};
      const std::vector<Chain> tasks = {{&counts[0], last, 2}, {&counts[1], last, 2}};
      const std::vector<std::vector<Chain::Item>> seeds = {{{0}}, {}};
      const Machine all = cpu_machine(2, 1);
      Walled walled({1, 1}, 1, {});
      const Report report = processes ? WalledWorklist<Chain>(walled, plan).run(tasks, seeds)
                                      : Worklist<Chain>(all, plan).run(tasks, seeds);
      EXPECT_EQ(report.run, last + 1);
      EXPECT_GE(report.seconds, last * plan.batch_wait_us * 1e-6);
    }
  }
}

/// Runs a tree on processes with these walls and returns the text of the Error that it throws. If `again`, checks that another
/// run of the same object succeeds.
template <class Error>
std::string thrown_by(const WalledPlan& walls, double stall_seconds = 20, bool again = true) {
  const Machine all = cpu_machine(2, 1);
  Walled walled({1, 1}, 1, walls);
  LaunchPlan plan = segment_plan(KernelKind::persistent, 64);
  plan.stall_timeout_seconds = stall_seconds;
  WalledWorklist<Tree> list(walled, plan);
  Ledger ledger(all);
  std::vector<Tree> tasks(2);
  std::vector<std::vector<TreeItem>> seeds(2);
  for (pe_t p = 0; p < 2; ++p) static_cast<Grower&>(tasks[p]) = {ledger.view(p), {.depth = 6}, p, 2, 2};
  for (std::uint64_t i = 0; i < 9; ++i) seeds[0].push_back(tasks[0].root(i, 0));
  std::string line;
  try {
    list.run(tasks, seeds);
    ADD_FAILURE() << "the run ended well";
  } catch (const Error& error) {
    line = error.what();
  }
  if (again) grow_and_compare<Tree>(all, list, {.seed = 21}, 4, 2);  // the same object works again
  return line;
}

TEST(Wire, APutThatFailsEndsTheRun) {
  for (const int process : {0, 1}) {
    // The first puts are often those of the watchdog, which reports the progress of its process.
    for (const std::int64_t put : {0, 1, 2, 6}) {
      SCOPED_TRACE("put " + std::to_string(put));
      const std::string line = thrown_by<TransportError>({.fail_at = put, .at_process = process});
      EXPECT_NE(line.find("an operation of PE " + std::to_string(process)), std::string::npos) << line;
    }
  }
}

TEST(Wire, APutThatIsLostEndsTheRun) {
  const std::string line = thrown_by<DeviceError>({.lose_from = 6}, 0.5, /*again=*/false);
  EXPECT_NE(line.find("no progress for 0.5 s"), std::string::npos) << line;
  if (const std::size_t file = line.find("shoal-stall-"); file != std::string::npos)
    std::remove(line.substr(file).c_str());
}

/// One item of PE 0 keeps pushing items to PE 1 until PE 1 has judged one of them.
struct LongTask {
  struct Item {
    std::uint32_t to;
  };
  std::uint64_t* heard;
  std::uint64_t* meanwhile;  ///< 1 if that was before all items had been pushed
  std::uint32_t most;
  pe_t owner(Item item) const { return static_cast<pe_t>(item.to); }
  bool accept(Item item) const {
    if (item.to == 1) store(*heard, std::uint64_t{1});
    return item.to == 0;
  }
  template <class W, class Out>
  void operator()(const W& w, Item, Out& out) const {
    Backoff backoff;
    for (std::uint32_t i = 0; i < most && load(*heard) == 0; ++i) {
      out.push(w, Item{1});
      backoff.pause();
    }
    *meanwhile = load(*heard);
  }
};

TEST(Wire, WhatALongTaskPushesArrivesMeanwhile) {
  Walled walled({1, 1}, 1, {.late_percent = 30});
  LaunchPlan plan = segment_plan(KernelKind::persistent, 1 << 12);
  plan.spill = 1 << 20;
  std::uint64_t heard = 0, meanwhile = 0;
  const std::vector<LongTask> tasks(2, {&heard, &meanwhile, 100'000});
  WalledWorklist<LongTask>(walled, plan).run(tasks, {{{0}}, {}});
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(meanwhile, 1);
}

TEST(Wire, WhatWiresLackIsRefused) {
  Walled walled({1, 1}, 1, {});
  LaunchPlan plan = small_plan(KernelKind::persistent, 8);
  plan.judge_remote = true;
  EXPECT_THROW(WalledWorklist<LazyPaths>(walled, plan), UsageError);
  plan.judge_remote = false;
  plan.capacity = 1 << 24;
  plan.batch_bytes = 4096;
  plan.channel_capacity = 1 << 22;  // more than the walled heap holds
  EXPECT_THROW(WalledWorklist<LazyPaths>(walled, plan), CapacityError);
}

// The walls do make later puts overtake earlier ones.
TEST(Walls, LaterPutsOvertake) {
  WalledMemory memory(2, 1 << 20);
  WalledHeap heap(memory, 0, {.late_percent = 60, .reorder = true});
  const std::uint64_t before[2] = {1, 2};
  bool late = false;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    heap.put(1, 64, before, sizeof before);
    heap.fence();
    heap.put_word(1, 0, i);
    std::uint64_t told = 0;
    std::memcpy(&told, memory.heap(1), sizeof told);
    late |= told < i;
    heap.quiet();
    std::memcpy(&told, memory.heap(1), sizeof told);
    ASSERT_EQ(told, i);
  }
  EXPECT_TRUE(late);
  EXPECT_GT(heap.overtaken(), 10);
}

}  // namespace
}  // namespace shoal::contract
