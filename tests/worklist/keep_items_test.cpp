// How many items a warp keeps for its next batch. Needs no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "shoal/worklist/launch_plan.hpp"

namespace shoal {
namespace {

struct Planned {
  lane_t keeps;
  Decisions why;
};
/// @param options  its queue is priority unless it says another
Planned planned(Options options, double fan_out, bool on_gpu = true, WarpTraits task = {}) {
  Planned planned{};
  if (options.queue == QueueKind::automatic) options.queue = QueueKind::priority;
  LaunchPlan plan = plan_launch(options, on_gpu, 1, 1 << 20, fan_out, planned.why);
  EXPECT_EQ(plan.keeps, 0u);
  keep_items(plan, options, fan_out, task, planned.why);
  planned.keeps = plan.keeps;
  return planned;
}
/// "value: reason" of an option; empty: nothing is said of it.
std::string said(const Planned& planned, const std::string& option) {
  for (const Decision& one : planned.why) {
    if (one.option == option) return one.value + ": " + one.reason;
  }
  return "";
}

TEST(KeepItems, TheirElementsFillTheLanes) {
  EXPECT_EQ(planned({}, 4).keeps, 8u);
  EXPECT_EQ(planned({}, 2.4).keeps, 13u);
  EXPECT_EQ(planned({}, 1).keeps, 32u);
  EXPECT_EQ(planned({}, 0.3).keeps, 32u);
  EXPECT_EQ(planned({}, 0).keeps, 32u);
  EXPECT_EQ(planned({.worker = WorkerKind::warp}, 100).keeps, 1u);
  EXPECT_NE(said(planned({}, 4), "keep").find("8: "), std::string::npos);
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
