// A run that works for longer than the stall timeout without moving a queue has not stalled.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "shapes.hpp"
#include "shoal/core/span.hpp"
#include "shoal/worklist/worklist.hpp"
#include "slow_task.hpp"

namespace shoal::contract {
namespace {

LaunchPlan plan_of(KernelKind kernel, ticket_t capacity) {
  LaunchPlan plan = small_plan(kernel, capacity);
  plan.stall_timeout_seconds = kSlowTimeoutSeconds;
  return plan;
}

/// One item with a range; accept() refuses all items that are made of it.
struct Wide {
  struct Item {
    std::uint32_t root;
  };
  pe_t owner(Item) const { return 0; }
  bool accept(Item item) const {
    if (item.root == 0) std::this_thread::sleep_for(kSlowPause);
    return item.root != 0;
  }
  Span<const char> range(Item) const {
    static const std::vector<char> elements(kManyPauses);
    return {elements.data(), kManyPauses};
  }
  Item make(Item, char) const { return {0}; }
};

/// Each item takes long and pushes the next item of its chain.
struct Chain {
  struct Item {
    std::uint32_t left;
  };
  pe_t owner(Item) const { return 0; }
  bool accept(Item) const { return true; }
  template <class W, class Out>
  void operator()(const W& w, Item item, Out& out) const {
    std::this_thread::sleep_for(kLongPause);
    if (item.left > 0) out.push(w, {item.left - 1});
  }
};

class WorkThatMovesNoQueue : public ::testing::TestWithParam<KernelKind> {
 protected:
  /// Runs `seeds` on one thread. The run must take longer than the timeout, or the test would show nothing.
  template <class Task>
  Report run(const std::vector<typename Task::Item>& seeds, ticket_t capacity = 1024) {
    const Machine machine = cpu_machine(1, 1);
    Worklist<Task> list(machine, plan_of(GetParam(), capacity));
    const Report report = list.run({Task{}}, {seeds});
    EXPECT_GT(report.seconds, 1.2 * kSlowTimeoutSeconds);
    return report;
  }
};

TEST_P(WorkThatMovesNoQueue, SeedsThatAreAllRefused) {
  EXPECT_EQ(run<Slow>(std::vector<Slow::Item>(kManyPauses, {Slow::Kind::refused})).dropped, kManyPauses);
}
TEST_P(WorkThatMovesNoQueue, ARangeThatIsAllRefused) { EXPECT_EQ(run<Wide>({{1}}).dropped, kManyPauses); }
TEST_P(WorkThatMovesNoQueue, ARangeOfAnItemThatPushes) {
  EXPECT_EQ(run<Slow>({{Slow::Kind::fans_out}}).dropped, kManyPauses);
}
TEST_P(WorkThatMovesNoQueue, OnePushAfterAnother) { EXPECT_EQ(run<Slow>({{Slow::Kind::pushes}}).dropped, kManyPauses); }
TEST_P(WorkThatMovesNoQueue, ABatchOfLongTasks) {
  EXPECT_EQ(run<Slow>(std::vector<Slow::Item>(16, {Slow::Kind::takes_long})).run, 16);
}
// The first two items fill the ring until the chain has ended, so the worker runs the chain of the third item from its spill.
TEST_P(WorkThatMovesNoQueue, AChainThatStaysInSpill) {
  EXPECT_EQ(run<Chain>({{0}, {0}, {15}}, /*capacity=*/2).run, 18);
}

INSTANTIATE_TEST_SUITE_P(Kernels, WorkThatMovesNoQueue, ::testing::ValuesIn(kKernels),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace shoal::contract
