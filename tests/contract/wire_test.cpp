// The worklist's contract on PEs of several processes, which reach each other over wires alone. The processes are threads here,
// behind walls: what they put is late, comes in any order between fences, and in pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "options_runs.hpp"
#include "shapes.hpp"
#include "tasks.hpp"
#include "tree_runs.hpp"
#include "walled_runs.hpp"

namespace shoal::contract {
namespace {

/// The PEs of each process.
const std::vector<std::vector<pe_t>> kWorlds = {{1, 1}, {2, 1}, {1, 1, 1}};

std::string describe_world(const std::vector<pe_t>& pes_of, const Machine& all, const LaunchPlan& plan) {
  std::string text = "processes of";
  for (const pe_t n : pes_of) text += " " + std::to_string(n);
  return text + ": " + describe(all, plan) + describe_options(plan);
}

/// Calls body(machine with as many PEs, walled, plan) for worlds x threads x kernels x capacities x what becomes of puts.
template <class Body>
void for_each_world(Body body) {
  std::uint64_t seed = 1;
  for (const std::vector<pe_t>& pes_of : kWorlds) {
    for (int threads = 1; threads <= 2; ++threads) {
      const Machine all = cpu_machine(std::accumulate(pes_of.begin(), pes_of.end(), pe_t{0}), threads);
      for (const KernelKind kernel : kKernels) {
        for (const ticket_t capacity : {ticket_t{2}, ticket_t{1024}}) {
          ++seed;
          if (pes_of.size() + static_cast<std::size_t>(threads) > 4) continue;  // more threads than cores take long
          Walled walled(pes_of, threads,
                        {.seed = seed, .late_percent = seed % 3 == 0 ? 0 : 50, .reorder = seed % 2 == 0});
          LaunchPlan plan = segment_plan(kernel, capacity);
          SCOPED_TRACE(describe_world(pes_of, all, plan) + ", seed " + std::to_string(seed));
          try {
            body(all, walled, plan);
          } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();  // with the trace
          }
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

template <class Task>
void grow_everywhere(Shape shape, std::uint64_t roots) {
  for_each_world([&](const Machine& all, Walled& walled, const LaunchPlan& plan) {
    WalledWorklist<Task> list(walled, plan);
    grow_and_compare<Task>(all, list, shape, roots, all.n_pes());
    shape.seed += 17;
    grow_and_compare<Task>(all, list, shape, roots, all.n_pes());
  });
}

TEST(Wire, EveryItemOfATreeIsJudgedAndRunOnce) {
  grow_everywhere<Tree>({.root_children = 5, .most_children = 4, .depth = 5, .seed = 3}, 5);
}

TEST(Wire, WideFanOutSpills) {
  grow_everywhere<Tree>({.root_children = 400, .most_children = 1, .depth = 2, .seed = 9}, 1);
}

TEST(Wire, PesThatOwnNothingAndRunsOfNothing) {
  for_each_world([&](const Machine& all, Walled& walled, const LaunchPlan& plan) {
    WalledWorklist<Tree> list(walled, plan);
    grow_and_compare<Tree>(all, list, {.seed = 21}, 4, (all.n_pes() + 1) / 2);
    grow_and_compare<Tree>(all, list, {}, 0, all.n_pes());
  });
}

TEST(Wire, OneItemTravelsRoundThePes) {
  for_each_world([&](const Machine& all, Walled& walled, const LaunchPlan& plan) {
    const pe_t n = all.n_pes();
    const std::uint32_t last = 60;
    std::vector<Chain> tasks;
    std::vector<std::uint64_t> counts(n, 0);
    for (pe_t p = 0; p < n; ++p) tasks.push_back({&counts[p], last, n});
    std::vector<std::vector<Chain::Item>> seeds(n);
    seeds[n - 1].push_back({0});
    WalledWorklist<Chain> list(walled, plan);
    const Report report = list.run(tasks, seeds);
    for (pe_t p = 0; p < n; ++p) EXPECT_EQ(counts[p], (last - static_cast<unsigned>(p)) / n + 1) << "PE " << p;
    EXPECT_EQ(report.run, last + 1);
    for (const Traffic& pair : report.traffic) EXPECT_EQ(pair.messages, pair.items) << "each item is alone";
  });
}

TEST(Wire, PartsWaitForTheClock) {
  for (const bool processes : {true, false}) {
    for (const KernelKind kernel : kKernels) {
      LaunchPlan plan = segment_plan(kernel, 1024);  // segments of more items than there are: a full one does not wait
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

TEST(Wire, EnoughEndsARunWithItemsLeft) {
  constexpr std::uint32_t kChains = 7, kEnough = 40, kLast = 30;
  for_each_world([&](const Machine& all, Walled& walled, const LaunchPlan& plan) {
    const pe_t n = all.n_pes();
    std::vector<std::uint64_t> counts(n, 0);
    std::vector<Chain> tasks;
    for (pe_t p = 0; p < n; ++p) {
      tasks.push_back({.visits = &counts[p], .last = ~0u, .n_pes = n, .rest_spins = 4, .enough_at = kEnough});
    }
    std::vector<std::vector<Chain::Item>> seeds(n);
    for (std::uint32_t i = 0; i < kChains; ++i) seeds[i % static_cast<std::uint32_t>(n)].push_back({i});
    WalledWorklist<Chain> list(walled, plan);
    const Report report = list.run(tasks, seeds);
    EXPECT_FALSE(report.whole);
    EXPECT_EQ(report.left, kChains);
    EXPECT_GE(*std::max_element(counts.begin(), counts.end()), kEnough);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), report.run);
    for (pe_t p = 0; p < n; ++p) counts[p] = 0, tasks[p].last = kLast, tasks[p].enough_at = ~std::uint64_t{0};
    const Report whole = list.run(tasks, seeds);
    EXPECT_TRUE(whole.whole);
    EXPECT_EQ(whole.left, 0);
    EXPECT_EQ(whole.run, kChains * (kLast + 1) - kChains * (kChains - 1) / 2);
  });
}

/// Runs of tasks with options, each of another shape, behind walls of another kind.
/// @param runs  unless SHOAL_SOAK_RUNS says how many
template <class Body>
void soak(std::uint64_t runs, Body body) {
  if (const char* const text = std::getenv("SHOAL_SOAK_RUNS")) runs = std::strtoull(text, nullptr, 10);
  for (std::uint64_t run = 1; run <= runs && !::testing::Test::HasFailure(); ++run) {
    std::uint64_t h = mix(run);
    const auto draw = [&](std::uint64_t below) { return (h = mix(h)) % below; };
    const std::vector<pe_t>& pes_of = kWorlds[draw(kWorlds.size())];
    const int threads = static_cast<int>(1 + draw(2));
    const Machine all = cpu_machine(std::accumulate(pes_of.begin(), pes_of.end(), pe_t{0}), threads);
    Walled walled(pes_of, threads,
                  {.seed = run,
                   .late_percent = static_cast<int>(draw(4)) * 30,
                   .reorder = draw(2) == 0,
                   .delay_us = draw(2) * draw(200)});
    LaunchPlan plan = small_plan(kKernels[draw(4) == 0], ticket_t{2} << draw(9));
    plan.channel_capacity = ticket_t{1} << draw(7);
    plan.fetch = static_cast<lane_t>(1 + draw(16));
    apply(plan, draw(2) == 0 ? Sending::segments : Sending::combine_in_segments, static_cast<lane_t>(draw(6)),
          static_cast<double>(draw(20)), static_cast<double>(1 + draw(12)));
    plan.batch_bytes = static_cast<std::int64_t>(draw(200));  // 0: the wires choose
    plan.batch_wait = static_cast<lane_t>(draw(3));
    if (plan.batch_wait == 0) plan.batch_wait_us = static_cast<lane_t>(draw(2) * draw(300));
    SCOPED_TRACE("run " + std::to_string(run) + ": " + describe_world(pes_of, all, plan));
    try {
      body(all, walled, plan, draw, run);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();  // with the trace
    }
  }
}

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSoakRuns = 25;
#else
constexpr std::uint64_t kSoakRuns = 40;
#endif

TEST(Wire, ShortestPathsWhateverTheOrder) {
  soak(kSoakRuns, [](const Machine& all, Walled& walled, const LaunchPlan& plan, auto draw, std::uint64_t run) {
    const Roads roads = Roads::random(static_cast<std::uint32_t>(2 + draw(120)), 4, 30, run);
    const std::vector<std::uint32_t> expected = roads.distances_from(1);
    PathRuns<LazyPaths> runs(all, roads, static_cast<std::uint32_t>(draw(4)));
    WalledWorklist<LazyPaths> list(walled, plan);
    for (int again = 0; again < 2; ++again) runs.run(list, 1, expected);
  });
}

TEST(Wire, AmountsThatOnlyIdleSeesReachTheEnd) {
  soak(kSoakRuns / 2, [](const Machine& all, Walled& walled, LaunchPlan plan, auto draw, std::uint64_t run) {
    plan.queue = QueueKind::fifo;
    WalledWorklist<Flow> list(walled, plan);
    for (const bool direct : {false, true}) run_flow(all, list, static_cast<std::uint32_t>(2 + draw(50)), direct, run);
  });
}

/// What a run of a tree throws whose processes have these walls, and that another run of the same object goes well if `again`.
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
  if (again) grow_and_compare<Tree>(all, list, {.seed = 21}, 4, 2);  // and the same object works again
  return line;
}

TEST(Wire, APutThatFailsEndsTheRun) {
  for (const int process : {0, 1}) {
    const std::string line = thrown_by<TransportError>({.fail_at = 6, .at_process = process});
    EXPECT_NE(line.find("an operation of PE " + std::to_string(process)), std::string::npos) << line;
  }
}

TEST(Wire, APutThatIsLostEndsTheRun) {
  const std::string line = thrown_by<DeviceError>({.lose_from = 6}, 0.5, /*again=*/false);
  EXPECT_NE(line.find("no progress for 0.5 s"), std::string::npos) << line;
  if (const std::size_t file = line.find("shoal-stall-"); file != std::string::npos)
    std::remove(line.substr(file).c_str());
}

/// Owners that do not exist, and members that throw, in the last process.
struct Breaks {
  struct Item {
    std::uint32_t hop;
  };
  pe_t me = 0, n_pes = 1;
  std::uint32_t astray_at = ~0u, throws_at = ~0u;
  pe_t owner(Item item) const {
    return item.hop == astray_at ? n_pes : static_cast<pe_t>(item.hop % static_cast<std::uint32_t>(n_pes));
  }
  bool accept(Item) const { return true; }
  template <class W, class Out>
  void operator()(const W& w, Item item, Out& out) const {
    if (item.hop == throws_at) throw CapacityError("planted");
    out.push(w, Item{item.hop + 1});
  }
};

TEST(Wire, ATaskThatBreaksItsContractEndsTheRunEverywhere) {
  Walled walled({1, 1, 1}, 1, {.late_percent = 30});
  for (const KernelKind kernel : kKernels) {
    WalledWorklist<Breaks> list(walled, segment_plan(kernel, 64));
    const auto run = [&](Breaks task) {
      std::vector<Breaks> tasks(3, task);
      for (pe_t p = 0; p < 3; ++p) tasks[p].me = p, tasks[p].n_pes = 3;
      list.run(tasks, {{{0}}, {}, {}});
    };
    try {
      run({.astray_at = 33});
      ADD_FAILURE() << "it ended well";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("returned 3 for an item pushed on PE 2"), std::string::npos)
          << error.what();
    }
    EXPECT_THROW(run({.throws_at = 32}), CapacityError);
  }
}

/// PE 0 pushes to PE 1, all from one item, until PE 1 has judged one of these.
struct LongTask {
  struct Item {
    std::uint32_t to;
  };
  std::uint64_t* heard;
  std::uint64_t* meanwhile;  ///< whether that was before all had been pushed
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
  plan.spill_own = 1 << 20;
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
  plan.channel_capacity = 1 << 22;  // more than the walled heap has
  EXPECT_THROW(WalledWorklist<LazyPaths>(walled, plan), CapacityError);
}

// The walls do what they are there for.
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
