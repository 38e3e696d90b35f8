#include "shoal/worker/thread_team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

#include "shoal/core/error.hpp"

namespace shoal {
namespace {

using Shape = std::tuple<int, int>;  // PEs, threads per PE

class Team : public ::testing::TestWithParam<Shape> {
 protected:
  pe_t pes() const { return std::get<0>(GetParam()); }
  int threads() const { return std::get<1>(GetParam()); }
};

TEST_P(Team, CallsEveryThreadOnceInEveryRun) {
  ThreadTeam team(pes(), threads());
  std::vector<int> calls(team.size(), 0);  // each thread writes its own element; run() orders it before the reads
  for (int round = 1; round <= 200; ++round) {
    team.run([&](pe_t pe, int thread) { ++calls[pe * threads() + thread]; });
    for (int count : calls) ASSERT_EQ(count, round);
  }
}

TEST_P(Team, WakesFromSleep) {
  ThreadTeam team(pes(), threads());
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // long enough for all to be asleep
    PaddedWord<int, Scope::device> calls;
    calls.store(0);
    team.run([&](pe_t, int) { calls.fetch_add(1); });
    EXPECT_EQ(calls.load(), team.size());
  }
}

TEST_P(Team, WaitsForASlowThread) {
  ThreadTeam team(pes(), threads());
  std::vector<int> finished(team.size(), 0);
  const int slow = team.size() - 1;
  team.run([&](pe_t pe, int thread) {
    const int me = pe * threads() + thread;
    if (me == slow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    finished[me] = 1;
  });
  EXPECT_EQ(std::count(finished.begin(), finished.end(), 1), team.size());
}

TEST_P(Team, UsesDistinctThreadsAndTheCaller) {
  ThreadTeam team(pes(), threads());
  std::vector<std::thread::id> ids(team.size());
  team.run([&](pe_t pe, int thread) { ids[pe * threads() + thread] = std::this_thread::get_id(); });
  EXPECT_EQ(ids[0], std::this_thread::get_id());
  EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), ids.size());
}

TEST_P(Team, RethrowsTheFirstErrorAndGoesOn) {
  ThreadTeam team(pes(), threads());
  const int thrower = team.size() / 2;
  for (int round = 0; round < 3; ++round) {
    std::vector<int> finished(team.size(), 0);
    try {
      team.run([&](pe_t pe, int thread) {
        const int me = pe * threads() + thread;
        if (me == thrower) throw std::out_of_range("thread " + std::to_string(me));
        finished[me] = 1;
      });
      FAIL() << "nothing was thrown";
    } catch (const std::out_of_range& error) {
      EXPECT_EQ(error.what(), "thread " + std::to_string(thrower));
    }
    EXPECT_EQ(std::count(finished.begin(), finished.end(), 1), team.size() - 1);
  }
  int calls = 0;
  team.run([&](pe_t pe, int thread) {
    if (pe == 0 && thread == 0) ++calls;
  });
  EXPECT_EQ(calls, 1);
}

TEST_P(Team, BarrierSeparatesRounds) {
  ThreadTeam team(pes(), threads());
  SpinBarrier barrier(team.size());
  std::vector<int> at(team.size(), 0);  // plain: a thread that a barrier lets through early gives a race
  std::vector<int> wrong(team.size(), 0);
  team.run([&](pe_t pe, int thread) {
    const int me = pe * threads() + thread;
    for (int round = 1; round <= 300; ++round) {
      at[me] = round;
      barrier.arrive_and_wait();
      for (int other : at) wrong[me] += other != round;
      barrier.arrive_and_wait();
    }
  });
  for (int count : wrong) EXPECT_EQ(count, 0);
}

TEST_P(Team, BarrierRunsLastOnceBeforeAnyoneLeaves) {
  ThreadTeam team(pes(), threads());
  SpinBarrier barrier(team.size());
  int total = 0;
  std::vector<int> added(team.size(), 0), wrong(team.size(), 0);
  team.run([&](pe_t pe, int thread) {
    const int me = pe * threads() + thread;
    for (int round = 1; round <= 300; ++round) {
      added[me] = me + round;
      barrier.arrive_and_wait([&] {
        total = 0;
        for (int x : added) total += x;
      });
      wrong[me] += total != team.size() * (team.size() - 1) / 2 + team.size() * round;
      barrier.arrive_and_wait();  // no thread writes `added` before all have read `total`
    }
  });
  for (int count : wrong) EXPECT_EQ(count, 0);
}

TEST_P(Team, CancelledBarrierLetsEverybodyGo) {
  ThreadTeam team(pes(), threads());
  SpinBarrier barrier(team.size());
  std::vector<int> passed(team.size(), -1);
  EXPECT_THROW(team.run([&](pe_t pe, int thread) {
    const int me = pe * threads() + thread;
    if (me == team.size() - 1) {
      barrier.cancel();
      throw std::runtime_error("broken");
    }
    passed[me] = barrier.arrive_and_wait();
  }),
               std::runtime_error);
  for (int me = 0; me + 1 < team.size(); ++me) EXPECT_EQ(passed[me], 0);
}

TEST_P(Team, ErrorInLastCancelsTheBarrier) {
  ThreadTeam team(pes(), threads());
  SpinBarrier barrier(team.size());
  std::vector<int> left(team.size(), 0);
  EXPECT_THROW(team.run([&](pe_t pe, int thread) {
    if (!barrier.arrive_and_wait([] { throw std::runtime_error("broken"); })) left[pe * threads() + thread] = 1;
  }),
               std::runtime_error);
  EXPECT_EQ(std::count(left.begin(), left.end(), 1), team.size() - 1);
}

// 8 and 9 threads exceed the cores of a small machine: everything above must hold there as well.
INSTANTIATE_TEST_SUITE_P(Shapes, Team,
                         ::testing::Values(Shape{1, 1}, Shape{1, 2}, Shape{2, 1}, Shape{1, 3}, Shape{3, 1}, Shape{2, 2},
                                           Shape{4, 2}, Shape{3, 3}));

TEST(ThreadTeam, RefusesNumbersOutOfRange) {
  for (auto [pes, threads] : {Shape{0, 1}, Shape{-1, 1}, Shape{kMaxPes + 1, 1}, Shape{1, 0}, Shape{1, -2},
                              Shape{1, ThreadTeam::kMaxThreads + 1}, Shape{2, ThreadTeam::kMaxThreads}}) {
    EXPECT_THROW(ThreadTeam(pes, threads), UsageError) << pes << " x " << threads;
  }
}

TEST(ThreadTeam, RefusesARunInsideARun) {
  ThreadTeam team(1, 2);
  EXPECT_THROW(team.run([&](pe_t, int) { team.run([](pe_t, int) {}); }), UsageError);
  int calls = 0;
  team.run([&](pe_t, int thread) {
    if (thread == 0) ++calls;
  });
  EXPECT_EQ(calls, 1);
}

TEST(ThreadTeam, AcceptsConstAndMutableCallables) {
  ThreadTeam team(1, 1);
  int calls = 0;
  const auto constant = [&](pe_t, int) { ++calls; };
  team.run(constant);
  auto counting = [&, n = 0](pe_t, int) mutable { calls += ++n; };
  team.run(counting);
  team.run(counting);
  EXPECT_EQ(calls, 4);
}

// Not a benchmark: this detects a team whose threads sleep and are woken by the kernel in every run, or wait for a time slice.
TEST(ThreadTeam, StartsARunQuicklyWhenCoresAreFree) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core: two threads cannot start together";
  ThreadTeam team(1, 2);
  std::vector<double> seconds;
  for (int round = 0; round < 2000; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    team.run([](pe_t, int) {});
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(seconds.begin(), seconds.end());
  std::printf("an empty run of 2 threads: fastest %.2f us, median %.2f us\n", seconds.front() * 1e6,
              seconds[seconds.size() / 2] * 1e6);
#if !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds.front(), 20e-6);
#endif
}

}  // namespace
}  // namespace shoal
