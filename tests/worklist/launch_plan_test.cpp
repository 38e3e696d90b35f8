// What plan_launch() and those that adapt its plan decide. Needs no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "shoal/core/error.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/worklist/run_end.hpp"

namespace shoal {
namespace {

// On a GPU, the default worker is a warp for tasks with few elements per item and a block for tasks with more. A worker that
// the user chose is kept.
TEST(LaunchPlan, AWorkerForTheElementsOfAnItem) {
  Decisions why;
  const auto worker = [&](const Options& options, bool on_gpu, double fan_out) {
    return plan_launch(options, on_gpu, 1, 1 << 20, fan_out, why).worker;
  };
  EXPECT_EQ(worker(Options(), true, 2.4), WorkerKind::warp);
  EXPECT_EQ(worker(Options(), true, 7), WorkerKind::block);
  EXPECT_EQ(worker(Options(), false, 7), WorkerKind::thread);
  Options warp;
  warp.worker = WorkerKind::warp;
  EXPECT_EQ(worker(warp, true, 32), WorkerKind::warp);
  EXPECT_THROW(worker(warp, false, 32), UsageError);
}

// Where a warp has few items to judge at a time, a look at them before would only make each hop longer.
TEST(LaunchPlan, WarpsLookFirstWhereItemsHaveSomeElements) {
  const auto looks = [](WorkerKind worker, bool on_gpu, double fan_out) {
    Options options;
    options.worker = worker;
    Decisions why;
    return plan_launch(options, on_gpu, 1, 1 << 20, fan_out, why).looks;
  };
  EXPECT_FALSE(looks(WorkerKind::automatic, true, 2.4));
  EXPECT_FALSE(looks(WorkerKind::warp, true, 3.6));
  EXPECT_TRUE(looks(WorkerKind::warp, true, 4));
  EXPECT_TRUE(looks(WorkerKind::block, true, 2.4));
  EXPECT_TRUE(looks(WorkerKind::automatic, false, 2.4));
}

TEST(LaunchPlan, TellsTheSpillThatARunHas) {
  for (const QueueKind queue : {QueueKind::fifo, QueueKind::priority}) {
    Options options;
    options.queue = queue;
    Decisions why;
    const LaunchPlan plan = plan_launch(options, /*on_gpu=*/true, 1, 1'000'000, 1, why);
    const auto told = std::find_if(why.begin(), why.end(), [](const Decision& one) { return one.option == "spill"; });
    ASSERT_NE(told, why.end());
    EXPECT_EQ(told->value, std::to_string(plan.spill));
  }
}

TEST(LaunchPlan, NumbersThatNoRunCanHaveAreRefused) {
  const auto refuses = [](auto change) {
    LaunchPlan plan;
    change(plan);
    EXPECT_THROW(check_plan(plan, 8, false, false, false), UsageError);
  };
  EXPECT_NO_THROW(check_plan(LaunchPlan(), 8, false, false, false));
  refuses([](LaunchPlan& plan) { plan.capacity = 1000; });
  refuses([](LaunchPlan& plan) { plan.capacity = 1; });
  refuses([](LaunchPlan& plan) { plan.channel_capacity = 0; });
  refuses([](LaunchPlan& plan) { plan.channels = 3; });
  refuses([](LaunchPlan& plan) { plan.fetch = 0; });
  refuses([](LaunchPlan& plan) { plan.chunk_items = 0; });
  refuses([](LaunchPlan& plan) { plan.spill = -1; });
}

// In one round, all items of a PE may be waiting at the same time, and a poor order of execution pushes more than one item per
// element. The default sizes of ring and spill hold them all.
TEST(LaunchPlan, OnePeHasRoomForItsItemsAndTheirElements) {
  const auto room = [](bool on_gpu, std::int64_t items, double fan_out) {
    Decisions why;
    const LaunchPlan plan = plan_launch(Options(), on_gpu, 1, items, fan_out, why);
    return static_cast<std::int64_t>(plan.capacity) + plan.spill;
  };
  for (const bool on_gpu : {false, true}) {
    for (const std::int64_t items : {1000, 1 << 24, 30000000, 67108864, 174002482}) {
      EXPECT_GE(room(on_gpu, items, 2), items) << (on_gpu ? "GPU" : "CPU threads");
    }
    EXPECT_GE(room(on_gpu, 1 << 20, 32), 2 * (32 << 20)) << (on_gpu ? "GPU" : "CPU threads");
  }
}

// In the order of arrival, vertices wait more than once; a GPU that has no slot for them runs them from spill, which takes much longer.
// The more GPUs there are, the fewer slots has each of the others.
TEST(LaunchPlan, RingsAndChannelsOfGpusDoNotFill) {
  const auto plan = [](bool on_gpu, pe_t n_pes, std::int64_t items) {
    Decisions why;
    return plan_launch(Options(), on_gpu, n_pes, items, 31, why);
  };
  EXPECT_EQ(plan(true, 1, 1 << 24).capacity, 1u << 25);
  EXPECT_EQ(plan(true, 1, std::int64_t{1} << 30).capacity, 1u << 27);
  EXPECT_EQ(plan(false, 1, 1 << 24).capacity, 1u << 24);
  for (const auto& [n_pes, slots, channels] : {std::tuple{2, 1 << 23, 8}, {3, 1 << 22, 8}, {4, 1 << 21, 4}}) {
    const LaunchPlan among = plan(true, n_pes, 1 << 23);
    EXPECT_EQ(among.channel_capacity, static_cast<ticket_t>(slots)) << n_pes;
    EXPECT_EQ(among.channels, static_cast<lane_t>(channels)) << n_pes;
  }
  const LaunchPlan small = plan(true, 2, 1 << 19);
  EXPECT_EQ(small.channel_capacity, 1u << 20);
  EXPECT_EQ(small.channels, 4u);
  Options segments;
  segments.batch_bytes = 4096;
  Decisions why;
  EXPECT_EQ(plan_launch(segments, true, 2, 1 << 23, 31, why).channel_capacity, 1u << 20);
}
TEST(LaunchPlan, SaysWhetherARingHasASlotForEachVertex) {
  const auto reason = [](bool on_gpu, std::int64_t items) {
    Decisions why;
    plan_launch(Options(), on_gpu, 1, items, 4, why);
    for (const Decision& one : why) {
      if (one.option == "capacity") return one.reason;
    }
    return std::string();
  };
  for (const bool on_gpu : {false, true}) {
    EXPECT_NE(reason(on_gpu, 1 << 20).find("number of vertices"), std::string::npos);
    EXPECT_EQ(reason(on_gpu, 174002481), "the most by default; what finds no slot waits in spill");
  }
}

// Several GPUs of one process use larger segments by default. A size that the user chose is kept.
TEST(LaunchPlan, SegmentsWhereEveryPushTravels) {
  const auto bytes = [](const Options& options, bool on_gpu, pe_t n_pes, bool processes) {
    Decisions why;
    LaunchPlan plan = plan_launch(options, on_gpu, n_pes, 1 << 20, 16, why, processes);
    gather_in_segments(plan, options, on_gpu, n_pes, processes, why);
    EXPECT_EQ(std::count_if(why.begin(), why.end(), [](const Decision& one) { return one.option == "batch_bytes"; }),
              n_pes > 1);
    return plan.batch_bytes;
  };
  EXPECT_EQ(bytes(Options(), true, 2, false), 65536);
  EXPECT_EQ(bytes(Options(), true, 3, false), 32768);
  EXPECT_EQ(bytes(Options(), true, 1, false), 0);
  EXPECT_EQ(bytes(Options(), false, 2, false), 0);
  EXPECT_EQ(bytes(Options(), true, 2, true), 4096);
  Options channels, small;
  channels.batch_bytes = 0;
  small.batch_bytes = 1024;
  EXPECT_EQ(bytes(channels, true, 2, false), 0);
  EXPECT_EQ(bytes(small, true, 2, false), 1024);
}

struct Planned {
  lane_t keeps, deals;
  Decisions why;
};
/// @param options  its queue is priority unless it says another
Planned planned(Options options, double fan_out, bool on_gpu = true, WarpTraits task = {}) {
  Planned planned{};
  if (options.queue == QueueKind::automatic) options.queue = QueueKind::priority;
  LaunchPlan plan = plan_launch(options, on_gpu, 1, 1 << 20, fan_out, planned.why);
  EXPECT_EQ(plan.keeps, 0u);
  keep_items(plan, options, fan_out, task, planned.why);
  planned.keeps = plan.keeps, planned.deals = plan.deals;
  return planned;
}
/// "value: reason" of an option; empty: nothing is said of it.
std::string said(const Planned& planned, const std::string& option) {
  for (const Decision& one : planned.why) {
    if (one.option == option) return one.value + ": " + one.reason;
  }
  return "";
}

TEST(OverlapBuckets, OnlyIfAskedForOrTheTaskCorrectsWhatRanTooEarly) {
  const auto overlap = [](Options options, bool corrects, int gpus = 1, bool processes = false) {
    Planned planned{};
    if (options.queue == QueueKind::automatic) options.queue = QueueKind::priority;
    LaunchPlan plan = plan_launch(options, gpus > 0, 1, 1 << 20, 4, planned.why, processes);
    if (corrects) overlap_buckets(plan, options, gpus, planned.why);
    return std::pair{plan.overlap, said(planned, "not used")};
  };
  EXPECT_EQ(overlap({}, false).first, 0u);
  EXPECT_EQ(overlap({}, true).first, 2048u);
  EXPECT_EQ(overlap({}, true, /*gpus=*/2).first, 4096u);
  EXPECT_EQ(overlap({}, true, /*gpus=*/0).first, 0u);
  EXPECT_EQ(overlap({.queue = QueueKind::fifo}, true).first, 0u);
  EXPECT_EQ(overlap({.kernel = KernelKind::discrete}, true).first, 0u);
  EXPECT_EQ(overlap({.overlap = 0}, true).first, 0u);
  for (const bool corrects : {false, true}) {
    EXPECT_EQ(overlap({.overlap = 7}, corrects).first, 7u);
    EXPECT_EQ(overlap({.overlap = 7}, corrects, /*gpus=*/0).first, 7u);
    const auto rounds = overlap({.kernel = KernelKind::discrete, .overlap = 7}, corrects);
    EXPECT_EQ(rounds.first, 0u);
    EXPECT_EQ(rounds.second.rfind("--overlap: in rounds", 0), 0u) << rounds.second;
    const auto across = overlap({.overlap = 7}, corrects, /*gpus=*/0, /*processes=*/true);
    EXPECT_EQ(across.first, 0u);
    EXPECT_EQ(across.second.rfind("--overlap: several processes", 0), 0u) << across.second;
  }
}

TEST(KeepItems, TheirElementsFillTheLanes) {
  EXPECT_EQ(planned({}, 4).keeps, 8u);
  EXPECT_EQ(planned({}, 2.4, true, {.deals = false}).keeps, 13u);
  EXPECT_EQ(planned({}, 1).keeps, 32u);
  EXPECT_EQ(planned({}, 0.3).keeps, 32u);
  EXPECT_EQ(planned({}, 0).keeps, 32u);
  EXPECT_EQ(planned({.worker = WorkerKind::warp}, 100).keeps, 1u);
  EXPECT_NE(said(planned({}, 4), "keep").find("8: "), std::string::npos);
}

TEST(KeepItems, WarpsDealWherePathsAreLong) {
  EXPECT_EQ(planned({}, 4).deals, 8u);
  EXPECT_EQ(planned({.queue = QueueKind::fifo}, 4).deals, 8u);
  EXPECT_EQ(planned({.kernel = KernelKind::discrete}, 4).deals, 8u);
  EXPECT_EQ(planned({}, 4, true, {.deals = false}).deals, 0u);
  EXPECT_EQ(planned({}, 4, true, {.long_paths = false}).deals, 0u);
  EXPECT_EQ(planned({.worker = WorkerKind::block}, 4).deals, 0u);
  EXPECT_EQ(planned({}, 4, /*on_gpu=*/false).deals, 0u);
}

TEST(KeepItems, NoMoreThanCanBeDealtOut) {
  EXPECT_EQ(planned({}, 2.4).keeps, 8u);
  EXPECT_EQ(planned({}, 2).keeps, 8u);
  EXPECT_EQ(planned({}, 6).keeps, 5u);
  EXPECT_EQ(planned({}, 1.9).keeps, 17u) << "most lanes would have no element";
  EXPECT_EQ(planned({.keep = 12}, 2.4).keeps, 12u);
}

TEST(KeepItems, OneIfAWarpRunsThemOneAfterAnother) {
  EXPECT_EQ(planned({}, 2, true, {.shares = false}).keeps, 1u);
  EXPECT_EQ(planned({.keep = 5}, 2, true, {.shares = false}).keeps, 5u);
}

TEST(KeepItems, NoneWherePathsAreShort) {
  EXPECT_EQ(planned({}, 4, true, {.long_paths = false}).keeps, 0u);
  EXPECT_EQ(planned({.keep = 5}, 4, true, {.long_paths = false}).keeps, 5u);
}

TEST(KeepItems, AsManyAsWereAskedFor) {
  EXPECT_EQ(planned({.keep = 0}, 4).keeps, 0u);
  EXPECT_EQ(planned({.keep = 32}, 4).keeps, 32u);
}

TEST(KeepItems, OnlyWarpsDoInThePersistentKernel) {
  for (const Options& options : {Options{.worker = WorkerKind::block}, Options{.worker = WorkerKind::thread},
                                 Options{.kernel = KernelKind::discrete}}) {
    Options asked = options;
    EXPECT_EQ(planned(options, 4).keeps, 0u);
    EXPECT_EQ(said(planned(options, 4), "not used"), "");
    asked.keep = 4;
    EXPECT_EQ(planned(asked, 4).keeps, 0u);
    EXPECT_EQ(said(planned(asked, 4), "not used").rfind("--keep: only warps", 0), 0u);
  }
  EXPECT_EQ(planned({}, 4, /*on_gpu=*/false).keeps, 0u);
}

TEST(KeepItems, ByPriorityUnlessAnyOrderWillDo) {
  EXPECT_EQ(planned({.queue = QueueKind::fifo}, 4).keeps, 0u);
  EXPECT_EQ(planned({.queue = QueueKind::fifo}, 4, true, {.any_order = true}).keeps, 8u);
  EXPECT_EQ(planned({}, 4, true, {.any_order = true}).keeps, 8u);
}

/// Most warps per multiprocessor.
int warps_of(Options options, std::int64_t items, WarpTraits task, pe_t n_pes = 1) {
  Decisions why;
  LaunchPlan plan = plan_launch(options, /*on_gpu=*/true, n_pes, items, 4, why);
  keep_items(plan, options, 4, task, why);
  more_warps(plan, options, n_pes, items, task, why);
  const bool said = std::any_of(why.begin(), why.end(), [](const Decision& one) { return one.option == "workers"; });
  EXPECT_EQ(said, plan.warps_per_multiprocessor > 8 && plan.worker == WorkerKind::warp);
  return plan.warps_per_multiprocessor;
}

TEST(MoreWarps, WhereManyItemsRunAtATime) {
  const Options by_priority{.queue = QueueKind::priority};
  EXPECT_EQ(warps_of(by_priority, 1 << 22, {}), 16);
  EXPECT_EQ(warps_of(by_priority, 1 << 21, {}), 8);
  EXPECT_EQ(warps_of(by_priority, 1 << 21, {.many_items = 1 << 21}), 16);
  EXPECT_EQ(warps_of(by_priority, 1 << 22, {}, 2), 8) << "half of them on each PE";
  EXPECT_EQ(warps_of(by_priority, 1 << 23, {}, 2), 12) << "the kernel for several PEs has registers for twelve";
}

TEST(MoreWarps, InTheOrderOfArrivalOnlyWherePathsAreShort) {
  EXPECT_EQ(warps_of({}, 1 << 24, {}), 8);
  EXPECT_EQ(warps_of({}, 1 << 24, {.any_order = true}), 16) << "warps keep items";
  EXPECT_EQ(warps_of({.keep = 0}, 1 << 24, {.any_order = true}), 8);
  EXPECT_EQ(warps_of({}, 1 << 19, {.long_paths = false}), 16);
  EXPECT_EQ(warps_of({}, 1 << 18, {.long_paths = false}), 8);
}

TEST(MoreWarps, NotWhereTheUserSaysHowMany) {
  EXPECT_EQ(warps_of({.workers = 100}, 1 << 24, {.long_paths = false}), 8);
  EXPECT_EQ(warps_of({.worker = WorkerKind::block}, 1 << 24, {.long_paths = false}), 0);
}

}  // namespace
}  // namespace shoal
