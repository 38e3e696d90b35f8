// Work that takes longer than the stall timeout and moves no queue is no stall.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "shapes.hpp"
#include "shoal/core/span.hpp"
#include "shoal/worklist/worklist.hpp"

namespace shoal::contract {
namespace {

constexpr double kTimeoutSeconds = 0.6;
constexpr auto kPause = std::chrono::microseconds(100);  ///< of a judge, who refuses
constexpr auto kLongPause = std::chrono::milliseconds(80);
constexpr std::uint32_t kMany =
    5000;  ///< pauses that take longer than the timeout together, sixteen long ones likewise

enum class Kind : std::uint32_t { refused, fans_out, pushes, takes_long };

LaunchPlan plan_of(KernelKind kernel, ticket_t capacity) {
  LaunchPlan plan = small_plan(kernel, capacity);
  plan.stall_timeout_seconds = kTimeoutSeconds;
  return plan;
}

/// Its items push others that are refused, or only take their time.
struct Slow {
  struct Item {
    Kind kind;
  };
  pe_t owner(Item) const { return 0; }
  bool accept(Item item) const {
    if (item.kind == Kind::refused) std::this_thread::sleep_for(kPause);
    return item.kind != Kind::refused;
  }
  template <class W, class Out>
  void operator()(const W& w, Item item, Out& out) const {
    if (item.kind == Kind::takes_long) std::this_thread::sleep_for(kLongPause);
    if (item.kind == Kind::fans_out)
      out.push_each(w, Numbers{kMany}, [](std::uint32_t) { return Item{Kind::refused}; });
    for (std::uint32_t i = 0; item.kind == Kind::pushes && i < kMany; ++i) out.push(w, {Kind::refused});
  }

 private:
  struct Numbers {
    std::uint32_t n;
    std::int64_t size() const { return n; }
    std::uint32_t operator[](std::int64_t i) const { return static_cast<std::uint32_t>(i); }
  };
};

/// One item with a range of which nothing is accepted.
struct Wide {
  struct Item {
    std::uint32_t root;
  };
  pe_t owner(Item) const { return 0; }
  bool accept(Item item) const {
    if (item.root == 0) std::this_thread::sleep_for(kPause);
    return item.root != 0;
  }
  Span<const char> range(Item) const {
    static const std::vector<char> elements(kMany);
    return {elements.data(), kMany};
  }
  Item make(Item, char) const { return {0}; }
};

/// Each item pushes the next one of its chain, and takes long.
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
  /// Runs `seeds` on one thread; it must take longer than the timeout, or the test says nothing.
  template <class Task>
  Report run(const std::vector<typename Task::Item>& seeds, ticket_t capacity = 1024) {
    const Machine machine = cpu_machine(1, 1);
    Worklist<Task> list(machine, plan_of(GetParam(), capacity));
    const Report report = list.run({Task{}}, {seeds});
    EXPECT_GT(report.seconds, 1.2 * kTimeoutSeconds);
    return report;
  }
};

TEST_P(WorkThatMovesNoQueue, SeedsThatAreAllRefused) {
  EXPECT_EQ(run<Slow>(std::vector<Slow::Item>(kMany, {Kind::refused})).dropped, kMany);
}
TEST_P(WorkThatMovesNoQueue, ARangeThatIsAllRefused) { EXPECT_EQ(run<Wide>({{1}}).dropped, kMany); }
TEST_P(WorkThatMovesNoQueue, ARangeOfAnItemThatPushes) { EXPECT_EQ(run<Slow>({{Kind::fans_out}}).dropped, kMany); }
TEST_P(WorkThatMovesNoQueue, OnePushAfterAnother) { EXPECT_EQ(run<Slow>({{Kind::pushes}}).dropped, kMany); }
TEST_P(WorkThatMovesNoQueue, ABatchOfLongTasks) {
  EXPECT_EQ(run<Slow>(std::vector<Slow::Item>(16, {Kind::takes_long})).run, 16);
}
// The first two items fill the ring until the chain has ended; the worker runs the third one's chain from its spill.
TEST_P(WorkThatMovesNoQueue, AChainThatStaysInSpill) {
  EXPECT_EQ(run<Chain>({{0}, {0}, {15}}, /*capacity=*/2).run, 18);
}

INSTANTIATE_TEST_SUITE_P(Kernels, WorkThatMovesNoQueue, ::testing::ValuesIn(kKernels),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace shoal::contract
