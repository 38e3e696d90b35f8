// Programs whose PEs make calls together: shown pointers stay valid until all PEs have read them, and if PEs do not make the
// same calls, the program soon ends with an error that says at which call each PE is.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "run_on.hpp"

namespace shoal {
namespace {

int run_on(int pes, const std::string& stall_timeout, const Body& body) {
  return status_of(body, pes, {"--stall-timeout", stall_timeout});
}

/// A task that does nothing.
template <int kNumber>
struct Nothing {
  struct Item {
    pe_t at;
  };
  SHOAL_FN pe_t owner(Item item) const { return item.at; }
  SHOAL_FN bool accept(Item) const { return true; }
  template <class W, class Out>
  SHOAL_FN void operator()(const W&, Item, Out&) const {}
};
void run_nothing(Context& ctx) { run(ctx, Nothing<0>{}, {}); }

// A fast PE shows its next pointer while others still read the previous ones.
TEST(Calls, WhatIsShownIsReadInPeace) {
  constexpr int kRounds = 30, kPes = 3;
  static std::array<std::array<int, kRounds>, kPes> shown;
  std::atomic<int> wrong{0};
  const auto body = [&](Context& ctx) {
    for (int round = 0; round < kRounds; ++round) {
      const std::vector<const void*> all = ctx.show(&shown[ctx.my_pe()][round]);
      if (ctx.my_pe() == round % kPes) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      for (int p = 0; p < kPes; ++p) wrong += all[p] != &shown[p][round];
    }
    return true;
  };
  EXPECT_EQ(run_on(kPes, "10", body), 0);
  EXPECT_EQ(wrong, 0);
}

struct Case {
  const char* name;
  int pes;
  Body body;
  const char* expected;  ///< regular expression for the error text
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Disagreement : public ::testing::TestWithParam<Case> {};

TEST_P(Disagreement, IsNamedInTime) {
  const auto start = std::chrono::steady_clock::now();
  ::testing::internal::CaptureStderr();
  const int status = run_on(GetParam().pes, "60", GetParam().body);
  const std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(status, 2);
  EXPECT_TRUE(std::regex_search(line, std::regex(GetParam().expected))) << line;
  EXPECT_NE(line.find("every PE must make the same calls in the same order\n"), std::string::npos) << line;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10)) << "far less than the stall timeout";
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Disagreement,
    ::testing::Values(
        Case{"OnlyTheLeaderRuns", 2,
             [](Context& ctx) {
               if (ctx.leader()) run_nothing(ctx);
               return true;
             },
             "PE 0 waits in run\\(\\) \\(call 1\\), PE 1 has ended before its first call"},
        Case{"TheLeaderDoesNotRun", 3,
             [](Context& ctx) {
               if (!ctx.leader()) run_nothing(ctx);
               return true;
             },
             "PE [12] waits in run\\(\\) \\(call 1\\), PE 0 has ended before its first call"},
        Case{"OneBarrierMore", 3,
             [](Context& ctx) {
               run_nothing(ctx);
               if (ctx.my_pe() == 2) ctx.barrier();
               return true;
             },
             "PE 2 waits in barrier\\(\\) \\(call 2\\), PE [01] has ended after call 1"},
        Case{"RunAndBarrier", 2,
             [](Context& ctx) {
               ctx.leader() ? run_nothing(ctx) : ctx.barrier();
               return true;
             },
             "PE [01] waits in (run|barrier)\\(\\) \\(call 1\\), PE [01] waits in (run|barrier)\\(\\) \\(call 1\\)"},
        Case{"TwoOrders", 2,
             [](Context& ctx) {
               const auto array = ctx.alloc<int>(1, 0);
               if (ctx.leader()) ctx.barrier();
               ctx.concatenate(array);
               if (!ctx.leader()) ctx.barrier();
               return true;
             },
             "PE [01] waits in (barrier|concatenate)\\(\\) \\(call 1\\), PE [01] waits in"},
        Case{"TwoTypes", 2,
             [](Context& ctx) { return ctx.leader() ? ctx.reduce_sum(1) == 2 : ctx.reduce_sum(1.0) == 2; },
             "PE [01] waits in reduce_sum\\(\\) \\(call 1\\), PE [01] waits in reduce_sum\\(\\) \\(call 1\\) of "
             "another type"},
        Case{"TwoTasks", 2,
             [](Context& ctx) {
               ctx.leader() ? run(ctx, Nothing<1>{}, {}) : run(ctx, Nothing<2>{}, {});
               return true;
             },
             "PE [01] waits in run\\(\\) \\(call 1\\), PE [01] waits in run\\(\\) \\(call 1\\) of another type"}),
    [](const auto& info) { return std::string(info.param.name); });

// One PE waits for something that happens only after the call in which the others wait.
TEST(Calls, APeThatWaitsForAnotherInACall) {
  std::atomic<bool> over{false};
  const auto body = [&](Context& ctx) {
    struct AtTheEnd {
      std::atomic<bool>& over;
      ~AtTheEnd() { over = true; }
    };
    if (ctx.leader()) {
      const AtTheEnd tell{over};
      ctx.barrier();
    } else {
      while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ctx.barrier();
    }
    return true;
  };
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run_on(2, "0.5", body), 2);
  const std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(
      line.find(
          "PE 0 waits in barrier() (call 1), PE 1 runs other code before its first call, and nothing has happened for "
          "0.5 s: every PE must make"),
      std::string::npos)
      << line;
}

TEST(CallsDeath, APeThatNeverComes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto body = [](Context& ctx) {
    while (!ctx.leader()) std::this_thread::sleep_for(std::chrono::seconds(1));
    ctx.barrier();
    return true;
  };
  EXPECT_EXIT(run_on(2, "0.2", body), ::testing::ExitedWithCode(75), "program: error: PE 0 waits in barrier\\(\\)");
}

// A PE may compute for longer than the stall timeout while others wait for it, as a serial reference may.
TEST(Calls, APeThatWorksIsWaitedFor) {
  const auto body = [](Context& ctx) {
    const auto start = std::chrono::steady_clock::now();
    volatile std::uint64_t sum = 0;
    while (ctx.leader() && std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1500)) sum = sum + 1;
    ctx.barrier();
    return true;
  };
  EXPECT_EQ(run_on(3, "0.75", body), 0);
}

// The program prints the error of the body that threw, and not the errors that follow from it on other PEs.
TEST(Calls, TheErrorOfOnePeIsTheProgramS) {
  for (pe_t guilty = 0; guilty < 3; ++guilty) {
    ::testing::internal::CaptureStderr();
    const int status = run_on(3, "60", [&](Context& ctx) {
      run_nothing(ctx);
      if (ctx.my_pe() == guilty) throw CapacityError("too small");
      return ctx.reduce_sum(1) == 3;
    });
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "program: error: too small\n");
    EXPECT_EQ(status, 3);
  }
}

}  // namespace
}  // namespace shoal
