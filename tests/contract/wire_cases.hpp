// The worklist's contract on PEs of several processes that communicate over wires only. These cases hold for every kind of
// connection between the processes. Each test program defines a type for its kind of connection and instantiates the suite with
// it. The type has
//
//   Processes, List<Task>                    the processes, and a worklist on them that takes the tasks and seeds of all PEs
//   for_each_world(body)                     calls body(machine with as many PEs, processes, plan) for many shapes and plans
//   with_a_world(draw, number, body)         calls body(machine with as many PEs, processes) in a world chosen by `draw`
//   kSoakRuns                                the number of such random worlds
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "options_runs.hpp"
#include "see.hpp"
#include "shapes.hpp"
#include "shoal/core/error.hpp"
#include "slow_task.hpp"
#include "tasks.hpp"
#include "tree_runs.hpp"

namespace shoal::contract {

template <class Kind>
class WireContract : public ::testing::Test {
 protected:
  template <class Task>
  using List = typename Kind::template List<Task>;
  using Processes = typename Kind::Processes;

  template <class Task>
  static void grow_everywhere(Shape shape, std::uint64_t roots) {
    Kind::for_each_world([&](const Machine& all, Processes& processes, const LaunchPlan& plan) {
      List<Task> list(processes, plan);
      grow_and_compare<Task>(all, list, shape, roots, all.n_pes());
      shape.seed += 17;
      grow_and_compare<Task>(all, list, shape, roots, all.n_pes());
    });
  }

  /// Calls body for `runs` random worlds, each with a plan and options of another shape.
  /// @param runs  the number of runs, unless the environment variable SHOAL_SOAK_RUNS gives another
  template <class Body>
  static void soak(std::uint64_t runs, Body body) {
    if (const char* const text = std::getenv("SHOAL_SOAK_RUNS")) runs = std::strtoull(text, nullptr, 10);
    for (std::uint64_t run = 1; run <= runs && !::testing::Test::HasFailure(); ++run) {
      std::uint64_t h = mix(run);
      const auto draw = [&](std::uint64_t below) { return (h = mix(h)) % below; };
      Kind::with_a_world(draw, run, [&](const Machine& all, Processes& processes) {
        LaunchPlan plan = small_plan(kKernels[draw(4) == 0], ticket_t{2} << draw(9));
        plan.channel_capacity = ticket_t{1} << draw(7);
        plan.fetch = static_cast<lane_t>(1 + draw(16));
        apply(plan, draw(2) == 0 ? Sending::segments : Sending::combine_in_segments, static_cast<lane_t>(draw(6)),
              static_cast<double>(draw(20)), static_cast<double>(1 + draw(12)));
        const std::uint64_t bytes = draw(200);
        const std::uint64_t least = sizeof(Flow::Item);  // the largest items of these tasks
        plan.batch_bytes =
            bytes == 0 ? 0 : static_cast<std::int64_t>(std::max(bytes, least));  // 0: the default of wires
        plan.batch_wait = static_cast<lane_t>(draw(3));
        if (plan.batch_wait == 0) plan.batch_wait_us = static_cast<lane_t>(draw(2) * draw(300));
        SCOPED_TRACE("run " + std::to_string(run) + ": " + describe(all, plan) + describe_options(plan));
        try {
          body(all, processes, plan, draw, run);
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();  // here SCOPED_TRACE still adds the shape
        }
      });
    }
  }

  /// True for one plan of each world. Tests that take seconds run with this plan only.
  static bool is_for_waits(const Machine& all, const LaunchPlan& plan) {
    return plan.capacity == 1024 && plan.kernel == KernelKind::persistent && all.threads_per_pe() == 1;
  }
  /// The text of the Error that `run` must throw.
  template <class Error, class Run>
  static std::string line_of(Run run) {
    try {
      run();
      ADD_FAILURE() << "it ended well";
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};
TYPED_TEST_SUITE_P(WireContract);

TYPED_TEST_P(WireContract, EveryItemOfATreeIsJudgedAndRunOnce) {
  this->template grow_everywhere<Tree>({.root_children = 5, .most_children = 4, .depth = 5, .seed = 3}, 5);
}

TYPED_TEST_P(WireContract, DroppedStaleAndWithheldItemsAreNotRun) {
  this->template grow_everywhere<Picky>({.root_children = 6, .most_children = 4, .depth = 5, .seed = 5}, 7);
}

TYPED_TEST_P(WireContract, WideFanOutSpills) {
  this->template grow_everywhere<Tree>({.root_children = 400, .most_children = 1, .depth = 2, .seed = 9}, 1);
}

TYPED_TEST_P(WireContract, PesThatOwnNothingAndRunsOfNothing) {
  TypeParam::for_each_world([&](const Machine& all, auto& processes, const LaunchPlan& plan) {
    typename TestFixture::template List<Tree> list(processes, plan);
    grow_and_compare<Tree>(all, list, {.seed = 21}, 4, (all.n_pes() + 1) / 2);
    grow_and_compare<Tree>(all, list, {}, 0, all.n_pes());
  });
}

TYPED_TEST_P(WireContract, OneItemTravelsRoundThePes) {
  TypeParam::for_each_world([&](const Machine& all, auto& processes, const LaunchPlan& plan) {
    const pe_t n = all.n_pes();
    const std::uint32_t last = 60;
    std::vector<Chain> tasks;
    std::vector<std::uint64_t> counts(n, 0);
    for (pe_t p = 0; p < n; ++p) tasks.push_back({&counts[p], last, n});
    std::vector<std::vector<Chain::Item>> seeds(n);
    seeds[n - 1].push_back({0});
    typename TestFixture::template List<Chain> list(processes, plan);
    const Report report = list.run(tasks, seeds);
    for (pe_t p = 0; p < n; ++p) {
      see(p, &counts[p], sizeof counts[p]);
      EXPECT_EQ(counts[p], (last - static_cast<unsigned>(p)) / n + 1) << "PE " << p;
    }
    EXPECT_EQ(report.run, last + 1);
    for (const Traffic& pair : report.traffic) EXPECT_EQ(pair.messages, pair.items) << "each item has its own message";
  });
}

TYPED_TEST_P(WireContract, EnoughEndsARunWithItemsLeft) {
  constexpr std::uint32_t kChains = 7, kEnough = 40, kLast = 30;
  TypeParam::for_each_world([&](const Machine& all, auto& processes, const LaunchPlan& plan) {
    const pe_t n = all.n_pes();
    std::vector<std::uint64_t> counts(n, 0);
    std::vector<Chain> tasks;
    for (pe_t p = 0; p < n; ++p) {
      tasks.push_back({.visits = &counts[p], .last = ~0u, .n_pes = n, .rest_spins = 4, .enough_at = kEnough});
    }
    std::vector<std::vector<Chain::Item>> seeds(n);
    for (std::uint32_t i = 0; i < kChains; ++i) seeds[i % static_cast<std::uint32_t>(n)].push_back({i});
    typename TestFixture::template List<Chain> list(processes, plan);
    const Report report = list.run(tasks, seeds);
    for (pe_t p = 0; p < n; ++p) see(p, &counts[p], sizeof counts[p]);
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

TYPED_TEST_P(WireContract, AcceptAloneUpdatesATable) {
  constexpr std::uint32_t kRows = 64, kUpdates = 700;
  TypeParam::for_each_world([&](const Machine& all, auto& processes, const LaunchPlan& plan) {
    const pe_t n = all.n_pes();
    std::vector<std::vector<std::uint64_t>> table(n, std::vector<std::uint64_t>(kRows, 0));
    std::vector<std::uint64_t> expected(kRows * n, 0);
    std::vector<Gups> tasks;
    std::vector<std::vector<Gups::Item>> seeds(n);
    for (pe_t p = 0; p < n; ++p) {
      tasks.push_back({table[p].data(), n});
      for (std::uint32_t i = 0; i < kUpdates; ++i) {
        const std::uint64_t h = mix(i * 64 + p);
        seeds[p].push_back({static_cast<std::uint32_t>(h % expected.size()), static_cast<std::uint32_t>(h >> 40)});
        expected[seeds[p].back().index] += seeds[p].back().addend;
      }
    }
    typename TestFixture::template List<Gups> list(processes, plan);
    const Report report = list.run(tasks, seeds);
    for (pe_t p = 0; p < n; ++p) see(p, table[p].data(), kRows * sizeof(std::uint64_t));
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(table[i % n][i / n], expected[i]) << "element " << i;
    EXPECT_EQ(report.dropped, static_cast<std::int64_t>(kUpdates) * n);
    EXPECT_EQ(report.run, 0);
  });
}

TYPED_TEST_P(WireContract, ShortestPathsWhateverTheOrder) {
  this->soak(TypeParam::kSoakRuns,
             [](const Machine& all, auto& processes, const LaunchPlan& plan, auto draw, std::uint64_t run) {
               const Roads roads = Roads::random(static_cast<std::uint32_t>(2 + draw(120)), 4, 30, run);
               const std::vector<std::uint32_t> expected = roads.distances_from(1);
               PathRuns<LazyPaths> runs(all, roads, static_cast<std::uint32_t>(draw(4)));
               typename TestFixture::template List<LazyPaths> list(processes, plan);
               for (int again = 0; again < 2; ++again) runs.run(list, 1, expected);
             });
}

// Buckets are as wide as the smallest weight, and do not overlap. So the distance of a vertex that runs is final, and every vertex runs
// once.
TYPED_TEST_P(WireContract, NarrowBucketsRunEveryVertexOnce) {
  const Roads roads = Roads::detours(40);
  const std::vector<std::uint32_t> expected = roads.distances_from(0);
  TypeParam::for_each_world([&](const Machine& all, auto& processes, LaunchPlan plan) {
    for (const lane_t buckets : {1, 4}) {
      apply(plan, buckets == 1 ? Sending::combine_in_segments : Sending::segments, buckets, 1, 1);
      plan.overlap = 0;
      typename TestFixture::template List<Paths> list(processes, plan);
      const Report report = PathRuns<Paths>(all, roads).run(list, 0, expected);
      EXPECT_EQ(report.run, roads.size()) << describe_options(plan);
      EXPECT_LT(report.thresholds, 2 * roads.size()) << "the threshold moved too often: some moves did not advance it";
    }
  });
}

TYPED_TEST_P(WireContract, SumsAreConserved) {
  std::int64_t combined = 0;
  bool travels = false;
  TypeParam::for_each_world([&](const Machine& all, auto& processes, LaunchPlan plan) {
    for (const Sending sending : {Sending::segments, Sending::combine_in_segments}) {
      apply(plan, sending, 0, 0, 1);
      typename TestFixture::template List<Sprays> list(processes, plan);
      const Report report = run_sums(all, list, 12, 9, 130);
      EXPECT_TRUE(plan.combine || report.combined == 0);
      combined += report.combined, travels = travels || all.n_pes() > 1;
    }
  });
  EXPECT_EQ(combined > 0, travels);
}

// accept() returns true for no amount that arrives: only idle() finds out that there is work, again and again, on every PE.
TYPED_TEST_P(WireContract, AmountsThatOnlyIdleSeesReachTheEnd) {
  this->soak(TypeParam::kSoakRuns / 2,
             [](const Machine& all, auto& processes, LaunchPlan plan, auto draw, std::uint64_t run) {
               plan.queue = QueueKind::fifo;
               typename TestFixture::template List<Flow> list(processes, plan);
               for (const bool direct : {false, true})
                 run_flow(all, list, static_cast<std::uint32_t>(2 + draw(50)), direct, run);
             });
}

/// One item that goes round the PEs. owner() names a PE that does not exist at hop `astray_at`, and operator() throws at hop
/// `throws_at`.
struct Breaks {
  struct Item {
    std::uint32_t hop;
  };
  pe_t n_pes = 1;
  std::uint32_t last = ~0u, astray_at = ~0u, throws_at = ~0u;
  pe_t owner(Item item) const {
    return item.hop == astray_at ? n_pes : static_cast<pe_t>(item.hop % static_cast<std::uint32_t>(n_pes));
  }
  bool accept(Item) const { return true; }
  template <class W, class Out>
  void operator()(const W& w, Item item, Out& out) const {
    if (item.hop == throws_at) throw CapacityError("planted");
    if (item.hop < last) out.push(w, Item{item.hop + 1});
  }
};

// The task breaks its contract on the last PE, which is in the last process. Afterwards the same object works again.
TYPED_TEST_P(WireContract, ATaskThatBreaksItsContractEndsTheRunEverywhere) {
  TypeParam::for_each_world([&](const Machine& all, auto& processes, const LaunchPlan& plan) {
    const pe_t n = all.n_pes();
    typename TestFixture::template List<Breaks> list(processes, plan);
    const auto run = [&](Breaks task) {
      task.n_pes = n;
      std::vector<std::vector<Breaks::Item>> seeds(n);
      seeds[0].push_back({0});
      return list.run(std::vector<Breaks>(n, task), seeds);
    };
    const std::uint32_t on_last = 12 * static_cast<std::uint32_t>(n) - 1;
    const Breaks right{.last = on_last};
    if (n > 1) {  // a run on one PE calls owner() for its seeds only
      const std::string line = TestFixture::template line_of<UsageError>([&] { run({.astray_at = on_last + 1}); });
      EXPECT_NE(line.find("returned " + std::to_string(n) + " for an item pushed on PE " + std::to_string(n - 1)),
                std::string::npos)
          << line;
      EXPECT_EQ(run(right).run, on_last + 1);
    }
    EXPECT_EQ(TestFixture::template line_of<CapacityError>([&] { run({.throws_at = on_last}); }), "planted");
    EXPECT_EQ(run(right).run, on_last + 1);
  });
}

TYPED_TEST_P(WireContract, AFullWorklistSaysItsSizesAndWorksAfterwards) {
  TypeParam::for_each_world([&](const Machine& all, auto& processes, LaunchPlan plan) {
    if (plan.capacity != 2) return;
    plan.spill = 0;
    typename TestFixture::template List<Tree> list(processes, plan);
    const std::string line = TestFixture::template line_of<CapacityError>([&] {
      grow_and_compare<Tree>(all, list, {.root_children = 1000, .most_children = 1, .depth = 2}, 1, all.n_pes());
    });
    EXPECT_NE(line.find("a PE has a ring of 2 items and spill of 0,"), std::string::npos) << line;
    grow_and_compare<Tree>(all, list, {.root_children = 0}, 1, all.n_pes());
  });
}

// An item is held until the run ends. The watchdog ends the run with an error after the stall timeout, and the next run is
// right.
TYPED_TEST_P(WireContract, ARunThatStandsStillIsEndedInTime) {
  TypeParam::for_each_world([&](const Machine& all, auto& processes, LaunchPlan plan) {
    if (!TestFixture::is_for_waits(all, plan)) return;
    plan.stall_timeout_seconds = 1.5;  // also for the next run, which may have to wait for a core
    const pe_t n = all.n_pes();
    const std::uint32_t last = 5 * static_cast<std::uint32_t>(n) - 1;
    std::vector<std::uint64_t> counts(n, 0);
    std::vector<Chain> tasks;
    for (pe_t p = 0; p < n; ++p) {  // no rest: at each of its pauses another process may take the core for milliseconds
      tasks.push_back({.visits = &counts[p], .last = last, .n_pes = n, .rest_spins = 0, .hangs_at = last});
    }
    std::vector<std::vector<Chain::Item>> seeds(n);
    seeds[0].push_back({0});
    typename TestFixture::template List<Chain> list(processes, plan);
    const auto start = std::chrono::steady_clock::now();
    const std::string line = TestFixture::template line_of<DeviceError>([&] { list.run(tasks, seeds); });
    EXPECT_NE(line.find("no progress for 1.5 s"), std::string::npos) << line;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15)) << "ten times the stall timeout";
    std::remove(("shoal-stall-" + std::to_string(::getpid()) + ".json").c_str());  // each process has written a dump
    for (Chain& task : tasks) task.hangs_at = ~0u;
    EXPECT_EQ(list.run(tasks, seeds).run, last + 1) << "the next run";
  });
}

// PE 0 works for longer than the stall timeout, and the PEs of other processes have nothing to do.
TYPED_TEST_P(WireContract, WorkThatMovesNoQueueIsNoStall) {
  TypeParam::for_each_world([&](const Machine& all, auto& processes, LaunchPlan plan) {
    if (!TestFixture::is_for_waits(all, plan)) return;
    plan.stall_timeout_seconds = kSlowTimeoutSeconds;
    typename TestFixture::template List<Slow> list(processes, plan);
    std::vector<std::vector<Slow::Item>> seeds(all.n_pes());
    seeds[0].assign(16, {Slow::Kind::takes_long});
    const Report report = list.run(std::vector<Slow>(all.n_pes()), seeds);
    EXPECT_EQ(report.run, 16);
    EXPECT_GT(report.seconds, 1.2 * kSlowTimeoutSeconds);
  });
}

REGISTER_TYPED_TEST_SUITE_P(WireContract, EveryItemOfATreeIsJudgedAndRunOnce, DroppedStaleAndWithheldItemsAreNotRun,
                            WideFanOutSpills, PesThatOwnNothingAndRunsOfNothing, OneItemTravelsRoundThePes,
                            EnoughEndsARunWithItemsLeft, AcceptAloneUpdatesATable, ShortestPathsWhateverTheOrder,
                            NarrowBucketsRunEveryVertexOnce, SumsAreConserved, AmountsThatOnlyIdleSeesReachTheEnd,
                            ATaskThatBreaksItsContractEndsTheRunEverywhere, AFullWorklistSaysItsSizesAndWorksAfterwards,
                            ARunThatStandsStillIsEndedInTime, WorkThatMovesNoQueueIsNoStall);

}  // namespace shoal::contract
