// The worklist's contract with priorities, idle, judging by the pusher and combining, on CPU threads.
#include <gtest/gtest.h>

#include <chrono>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "options_runs.hpp"
#include "shapes.hpp"
#include "shoal/core/error.hpp"

namespace shoal::contract {
namespace {

using Transport = FaultyTransport<>;  // without a fault plan it acts as the direct one

// ThreadSanitizer makes the tests ten times slower, so it gets only shapes that differ in kind.
#if defined(__SANITIZE_THREAD__)
constexpr ticket_t kFewCapacities[] = {2, 1024};
constexpr pe_t kFewPes = 2;
#else
constexpr ticket_t kFewCapacities[] = {2, 8, 1024};
constexpr pe_t kFewPes = kMostPes;
#endif

/// Calls body(machine, plan) for PEs 1 to kFewPes x kernels x capacities x sendings x numbers of buckets (0: no priorities).
template <class Body>
void for_each_option(std::vector<lane_t> buckets, double threshold, double delta, Body body) {
  for (pe_t pes = 1; pes <= kFewPes; ++pes) {
    const Machine machine = cpu_machine(pes, pes <= 2 ? 2 : 1);
    for (const KernelKind kernel : kKernels) {
      for (const ticket_t capacity : kFewCapacities) {
        for (const Sending sending : kSendings) {
          for (const lane_t lists : buckets) {
            LaunchPlan plan = small_plan(kernel, capacity);
            apply(plan, sending, lists, threshold, delta);
            SCOPED_TRACE(describe(machine, plan) + describe_options(plan));
            body(machine, plan);
          }
        }
      }
    }
  }
}

TEST(WorklistOptions, ShortestPathsWhateverTheOrder) {
  const Roads roads = Roads::random(150, 4, 30, 5);
  const std::vector<std::uint32_t> expected = roads.distances_from(3);
  std::int64_t parked = 0, combined = 0;
  for_each_option({0, 1, 2, 4, kMostLists}, 10, 7, [&](const Machine& machine, const LaunchPlan& plan) {
    Worklist<Paths, Transport> list(machine, plan);
    PathRuns<Paths> runs(machine, roads);
    for (int again = 0; again < 2; ++again) {
      const Report report = runs.run(list, 3, expected);
      EXPECT_EQ(report.parked > 0, plan.queue == QueueKind::priority);
      if (plan.queue != QueueKind::priority) {
        EXPECT_EQ(report.thresholds, 0);
      }
      if (!plan.combine) {
        EXPECT_EQ(report.combined, 0);
      }
      EXPECT_EQ(report.idle_calls, 0);
      parked += report.parked, combined += report.combined;
    }
  });
  EXPECT_GT(parked, 0);
  EXPECT_GT(combined, 0);
}

// Buckets are as wide as the smallest weight, and do not overlap. So the distance of a vertex that runs is final, and every vertex runs
// once, on any number of workers.
TEST(WorklistOptions, NarrowBucketsRunEveryVertexOnce) {
  const Roads roads = Roads::detours(40);
  const std::vector<std::uint32_t> expected = roads.distances_from(0);
  for_each_option({0, 1, 4}, 1, 1, [&](const Machine& machine, LaunchPlan plan) {
    plan.overlap = 0;
    Worklist<Paths, Transport> list(machine, plan);
    const Report report = PathRuns<Paths>(machine, roads).run(list, 0, expected);
    if (plan.queue == QueueKind::priority) {
      EXPECT_EQ(report.run, roads.size());
      EXPECT_LT(report.thresholds, 2 * roads.size()) << "the threshold moved too often: some moves did not advance it";
    } else if (machine.n_pes() == 1 && plan.capacity == 1024 && plan.kernel == KernelKind::discrete) {
      EXPECT_GT(report.run, 3 * roads.size()) << "without priorities few vertices run again: this graph shows nothing";
    }
  });
}

// Vertices that only idle() finds, together with priorities, judging by the pusher and combining.
TEST(WorklistOptions, WhatIdleFindsIsRun) {
  const Roads roads = Roads::random(120, 3, 20, 8);
  const std::vector<std::uint32_t> expected = roads.distances_from(7);
  for_each_option({0, 1, 4}, 10, 5, [&](const Machine& machine, const LaunchPlan& plan) {
    Worklist<LazyPaths, Transport> list(machine, plan);
    const auto parts = static_cast<std::size_t>(list.workers_per_pe()) * 8;
    PathRuns<LazyPaths> runs(machine, roads, /*lazy=*/3, parts);
    for (const std::uint32_t again : {0, 1}) {
      (void)again;
      const Report report = runs.run(list, 7, expected);
      EXPECT_GT(report.thresholds, 0);
      for (pe_t p = 0; p < machine.n_pes(); ++p) {
        const auto looks = runs.looks(p);
        for (std::size_t i = 0; i < parts; ++i) EXPECT_GT(looks[i].load(), 0u) << "part " << i << " of PE " << p;
      }
    }
  });
}

TEST(WorklistOptions, ASearchOfNothingLooksOnceAndEnds) {
  const Roads roads = Roads::random(20, 0, 1, 1);
  std::vector<std::uint32_t> expected(20, ~0u);
  expected[4] = 0;
  for_each_option({0, 4}, 1, 1, [&](const Machine& machine, const LaunchPlan& plan) {
    Worklist<LazyPaths, Transport> list(machine, plan);
    const auto parts = static_cast<std::size_t>(list.workers_per_pe()) * 8;
    PathRuns<LazyPaths> runs(machine, roads, 0, parts);
    const Report report = runs.run(list, 4, expected);
    EXPECT_GE(report.idle_calls, static_cast<std::int64_t>(parts) * machine.n_pes());
    EXPECT_LE(report.thresholds, 3);
  });
}

TEST(WorklistOptions, SumsAreConserved) {
  std::int64_t combined = 0;
  for_each_option({0}, 0, 1, [&](const Machine& machine, const LaunchPlan& plan) {
    Worklist<Sprays, Transport> list(machine, plan);
    for (const std::uint32_t rows : {1, 12, 100}) {
      const Report report = run_sums(machine, list, rows, 9, 130);
      if (!plan.combine) {
        EXPECT_EQ(report.combined, 0);
      }
      if (plan.combine && machine.n_pes() > 1 && rows > 1 && plan.kernel == KernelKind::discrete) {
        EXPECT_GT(report.combined, 0) << rows << " rows";
      }
      combined += report.combined;
    }
  });
  EXPECT_GT(combined, 1000);
}

// accept() returns true for no amount that arrives: only idle() finds out that there is work, again and again, on every PE.
TEST(WorklistOptions, AmountsThatOnlyIdleSeesReachTheEnd) {
  for_each_option({0}, 0, 1, [&](const Machine& machine, const LaunchPlan& plan) {
    Worklist<Flow, Transport> list(machine, plan);
    for (const bool direct : {false, true}) {
      SCOPED_TRACE(direct ? "passed on by idle()" : "passed on by items");
      const Report report = run_flow(machine, list, 60, direct, plan.capacity);
      EXPECT_EQ(direct, report.accepted == 0);
      if (plan.kernel == KernelKind::discrete) {
        EXPECT_GE(report.thresholds, 2);
      }
    }
  });
}

// Many runs, each of another shape, with rings and channels of few slots and a transport that delays and reorders.
TEST(WorklistOptions, Soak) {
#if defined(__SANITIZE_THREAD__)
  constexpr std::uint64_t kRuns = 150;
#else
  constexpr std::uint64_t kRuns = 1000;
#endif
  std::vector<Machine> machines;
  for (pe_t pes = 1; pes <= 3; ++pes) {
    for (int threads = 1; threads <= 2; ++threads) machines.push_back(cpu_machine(pes, threads));
  }
  FaultState faults;
  for (std::uint64_t run = 1; run <= kRuns && !::testing::Test::HasFailure(); ++run) {
    std::uint64_t h = mix(run);
    const auto draw = [&](std::uint64_t below) {
      h = mix(h);
      return h % below;
    };
    const Machine& machine = machines[draw(machines.size())];
    LaunchPlan plan = small_plan(kKernels[draw(2)], ticket_t{2} << draw(3));
    plan.channel_capacity = ticket_t{1} << draw(4);
    plan.channels = 1 << draw(3);
    plan.fetch = static_cast<lane_t>(1 + draw(6));
    apply(plan, kSendings[draw(std::size(kSendings))], static_cast<lane_t>(draw(6)), static_cast<double>(draw(20)),
          static_cast<double>(1 + draw(12)));
    faults.arm({.seed = run, .delay_percent = static_cast<int>(draw(4)) * 10, .reorder = draw(2) == 0});
    SCOPED_TRACE("run " + std::to_string(run) + ": " + describe(machine, plan) + describe_options(plan));
    switch (draw(4)) {
      case 0: {
        const Roads roads = Roads::random(static_cast<std::uint32_t>(2 + draw(40)), 3, 12, run);
        Worklist<Paths, Transport> list(machine, plan, Transport(&faults));
        PathRuns<Paths>(machine, roads).run(list, 1, roads.distances_from(1));
        break;
      }
      case 1: {
        plan.queue = QueueKind::fifo;
        Worklist<Sprays, Transport> list(machine, plan, Transport(&faults));
        run_sums(machine, list, static_cast<std::uint32_t>(1 + draw(20)), 4, 30);
        break;
      }
      case 2: {
        plan.queue = QueueKind::fifo;
        Worklist<Flow, Transport> list(machine, plan, Transport(&faults));
        run_flow(machine, list, static_cast<std::uint32_t>(2 + draw(20)), draw(2) == 0, run);
        break;
      }
      default: {
        const Roads roads = Roads::random(static_cast<std::uint32_t>(2 + draw(40)), 3, 12, run);
        Worklist<LazyPaths, Transport> list(machine, plan, Transport(&faults));
        PathRuns<LazyPaths>(machine, roads, static_cast<std::uint32_t>(draw(4))).run(list, 1, roads.distances_from(1));
      }
    }
  }
}

TEST(WorklistOptions, WhatTheTaskHasNotIsRefused) {
  const Machine machine = cpu_machine(1, 1);
  const auto expect_refused = [&](auto task, LaunchPlan plan, const std::string& words) {
    using Task = decltype(task);
    try {
      Worklist<Task, Transport> list(machine, plan);
      ADD_FAILURE() << "accepted, instead of: " << words;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  const LaunchPlan plain = small_plan(KernelKind::persistent, 8);
  const auto with = [&](auto change) {
    LaunchPlan plan = plain;
    change(plan);
    return plan;
  };
  expect_refused(Sprays{}, with([](LaunchPlan& p) { p.queue = QueueKind::priority; }), "use --queue fifo");
  expect_refused(Chain{}, with([](LaunchPlan& p) { p.judge_remote = true; }), "use --judge owner");
  expect_refused(Chain{}, with([](LaunchPlan& p) { p.combine = true; }), "use --combine off");
  expect_refused(Paths{}, with([](LaunchPlan& p) { p.combine = p.judge_remote = true; }), "use --combine off");
  for (const lane_t buckets : {lane_t{0}, kMostLists + 1}) {
    expect_refused(Paths{}, with([&](LaunchPlan& p) { p.buckets = buckets; }),
                   "1 to " + std::to_string(kMostLists) + " buckets");
  }
  for (const double delta : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    expect_refused(Paths{}, with([&](LaunchPlan& p) { p.threshold_delta = delta; }), "delta above 0");
  }
  expect_refused(Chain{}, with([](LaunchPlan& p) { p.batch_bytes = 3; }),
                 "--batch-bytes 3 is less than one item, which has 4 bytes here; use --batch-bytes 4 or more");
  expect_refused(Flow{}, with([](LaunchPlan& p) { p.batch_bytes = 15; }), "use --batch-bytes 16 or more");
  EXPECT_NO_THROW((Worklist<Flow, Transport>(machine, with([](LaunchPlan& p) { p.batch_bytes = 16; }))));
}

TEST(WorklistOptions, APriorityMayBeAnyNumber) {
  const Buckets buckets{.threshold = 2, .per_delta = 0.5, .lists = 4};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double first : {-kInfinity, -1e300, -3.0, -1e-9, 0.0, 1.9}) EXPECT_EQ(buckets.of(first), 0u) << first;
  EXPECT_EQ(buckets.of(2), 1u);
  EXPECT_EQ(buckets.of(3.9), 1u);
  EXPECT_EQ(buckets.of(4), 2u);
  for (const double last : {1e10, 1e300, kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(buckets.of(last), kLastBucket) << last;
  }
}

/// Breaks the contract: idle() always pushes an item, and accept() refuses it.
struct Restless {
  struct Item {
    std::uint32_t number;
  };
  pe_t owner(Item) const { return 0; }
  bool accept(Item) const { return false; }
  template <class W, class Out>
  void operator()(const W&, Item, Out&) const {}
  template <Worker W, class Out>
  void idle(const W& w, Out& out, lane_t part, lane_t) const {
    out.push(w, Item{part});
  }
};

TEST(WorklistOptions, ATaskThatNeverFindsNothingIsStopped) {
  const Machine machine = cpu_machine(1, 1);
  for (const KernelKind kernel : kKernels) {
    LaunchPlan plan = small_plan(kernel, 8);
    plan.stall_timeout_seconds = 0.3;
    Worklist<Restless, Transport> list(machine, plan);
    const auto start = std::chrono::steady_clock::now();
    try {
      list.run({Restless{}}, {{}});
      ADD_FAILURE() << "the run ended, " << name(kernel);
    } catch (const DeviceError& error) {
      const std::string line = error.what();
      EXPECT_NE(line.find("no progress for 0.3 s"), std::string::npos) << line;
      if (const std::size_t file = line.find("shoal-stall-"); file != std::string::npos) {
        std::remove(line.substr(file).c_str());
      }
    }
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 10);
  }
}

// Parked items wait in spill. Without spill there is no space for them, and the run ends with a CapacityError.
TEST(WorklistOptions, NothingToParkInIsAnError) {
  const Machine machine = cpu_machine(1, 1);
  const Roads roads = Roads::detours(100);
  LaunchPlan plan = small_plan(KernelKind::persistent, 1024);
  apply(plan, Sending::plain, 4, 1, 1);
  plan.spill = 0;
  Worklist<Paths, Transport> list(machine, plan);
  PathRuns<Paths> runs(machine, roads);
  for (int again = 0; again < 2; ++again) {
    EXPECT_THROW(runs.run(list, 0, roads.distances_from(0)), CapacityError);
    const std::vector<std::uint32_t> alone = [&] {
      std::vector<std::uint32_t> expected(roads.size(), ~0u);
      expected[roads.size() - 1] = 0;
      return expected;
    }();
    runs.run(list, roads.size() - 1, alone);  // nothing to park: the same object works again
  }
}

}  // namespace
}  // namespace shoal::contract
