// The worklist's contract with priorities, idle, judging by the pusher and combining, on GPUs: the tasks of the CPU suite for
// workers x kernels x capacities x PEs.
#define SHOAL_CODE_FOR CodeFor::gpu
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "gpu_shapes.hpp"
#include "options_runs.hpp"
#include "shapes.hpp"
#include "shoal/world/devices.hpp"

namespace shoal::contract {
namespace {

class WorklistOptionsOnGpus : public OnGpusOfAShape {
 protected:
  struct Size {
    ticket_t capacity;
    lane_t buckets;  ///< 0: no priorities
  };

  static std::vector<Sending> sendings(pe_t pes) {
    if (pes == 1) return {Sending::plain};
    if (pes == 2) return {Sending::plain, Sending::judge_remote, Sending::combine, Sending::segments};
    if (pes == 3) return {Sending::judge_remote, Sending::segments};
    return {Sending::plain, Sending::combine, Sending::combine_in_segments};
  }
  /// Calls body(machine, plan) for PEs 1 to 4, all sizes and some sendings.
  template <class Body>
  void for_each_plan(std::vector<Size> sizes, double threshold, double delta, Body body) {
    for (pe_t pes = 1; pes <= 4; ++pes) {
      const Machine machine(options_of(pes, gpus_));
      for (const Size& size : sizes) {
        for (const Sending sending : sendings(pes)) {
          LaunchPlan plan = small_plan(std::get<1>(GetParam()), size.capacity);
          plan.worker = std::get<0>(GetParam());
          plan.block_threads = size.capacity == 8 ? 64 : 256;
          // Few workers with small rings. Otherwise as many as can be resident together (0), or a part of these if workers are
          // threads.
          plan.workers = size.capacity < 1024 ? 3 : plan.worker == WorkerKind::thread ? 6000 : 0;
          plan.spill = 1 << 20;
          apply(plan, sending, size.buckets, threshold, delta);
          SCOPED_TRACE(std::to_string(pes) + " PEs, worker " + name(plan.worker) + ", " + name(plan.kernel) +
                       ", capacity " + std::to_string(size.capacity) + describe_options(plan));
          body(machine, plan);
        }
      }
    }
  }
};

TEST_P(WorklistOptionsOnGpus, WhatIdleFindsIsRun) {
  const Roads roads = Roads::random(300, 4, 20, 8);
  const std::vector<std::uint32_t> expected = roads.distances_from(7);
  std::int64_t parked = 0;
  for_each_plan({{8, 4}, {1024, 0}, {1024, 1}}, 10, 5, [&](const Machine& machine, const LaunchPlan& plan) {
    Worklist<LazyPaths> list(machine, plan);
    const auto parts = static_cast<std::size_t>(list.workers_per_pe()) * 8;
    PathRuns<LazyPaths> runs(machine, roads, /*lazy=*/3, parts);
    const Report report = runs.run(list, 7, expected);
    parked += report.parked;
    EXPECT_EQ(report.parked > 0, plan.queue == QueueKind::priority);
    for (pe_t p = 0; p < machine.n_pes(); ++p) {
      std::size_t missed = 0;
      for (const auto& looks : runs.looks(p)) missed += looks.load() == 0;
      EXPECT_EQ(missed, 0u) << "of " << parts << " parts of PE " << p;
    }
  });
  EXPECT_GT(parked, 0);
}

// Buckets are as wide as the smallest weight, and do not overlap. So the distance of a vertex that runs is final, and every vertex runs
// once, on any number of workers.
TEST_P(WorklistOptionsOnGpus, NarrowBucketsRunEveryVertexOnce) {
  const Roads roads = Roads::detours(30);
  const std::vector<std::uint32_t> expected = roads.distances_from(0);
  for_each_plan({{8, 4}, {1024, 2}}, 1, 1, [&](const Machine& machine, LaunchPlan plan) {
    plan.overlap = 0;
    Worklist<LazyPaths> list(machine, plan);
    PathRuns<LazyPaths> runs(machine, roads);
    EXPECT_EQ(runs.run(list, 0, expected).run, roads.size());
  });
}

TEST_P(WorklistOptionsOnGpus, SumsAreConserved) {
  for_each_plan({{8, 0}, {1024, 0}}, 0, 1, [&](const Machine& machine, const LaunchPlan& plan) {
    Worklist<Sprays> list(machine, plan);
    for (const std::uint32_t rows : {12, 1000}) {
      const Report report = run_sums(machine, list, rows, 60, plan.capacity == 8 ? 100 : 1000);
      EXPECT_EQ(report.combined > 0, plan.combine) << rows << " rows";
    }
  });
}

// accept() returns true for no amount that arrives: only idle() finds out that there is work, again and again, on every PE.
TEST_P(WorklistOptionsOnGpus, AmountsThatOnlyIdleSeesReachTheEnd) {
  for_each_plan({{8, 0}, {1024, 0}}, 0, 1, [&](const Machine& machine, const LaunchPlan& plan) {
    Worklist<Flow> list(machine, plan);
    for (const bool direct : {false, true}) {
      SCOPED_TRACE(direct ? "passed on by idle()" : "passed on by items");
      const Report report = run_flow(machine, list, 60, direct, plan.capacity);
      EXPECT_EQ(direct, report.accepted == 0);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, WorklistOptionsOnGpus, every_gpu_shape(), describe_gpu_shape);

}  // namespace
}  // namespace shoal::contract
