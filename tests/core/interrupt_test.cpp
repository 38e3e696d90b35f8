// Cancellation: which threads notice it and which do not. tests/algo/called_off_test.cpp tests cancelled runs.
#include "shoal/core/interrupt.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>
#include <thread>
#include <utility>

#include "shoal/core/parallel.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal {
namespace {

TEST(Interrupt, ScopesNest) {
  std::stop_source outer, inner;
  EXPECT_FALSE(interrupt_token().stop_possible());
  {
    const Interruptible first(outer.get_token());
    {
      const Interruptible second(inner.get_token());
      outer.request_stop();
      EXPECT_NO_THROW(throw_if_interrupted());
      inner.request_stop();
      EXPECT_THROW(throw_if_interrupted(), Interrupted);
    }
    EXPECT_EQ(interrupt_token(), outer.get_token());
    EXPECT_THROW(throw_if_interrupted(), Interrupted);
  }
  EXPECT_NO_THROW(throw_if_interrupted());
}

TEST(Interrupt, EndsALoopOfAllThreadsBetweenTwoChunks) {
  std::stop_source stop;
  const Interruptible scope(stop.get_token());
  std::atomic<int> begun{0};
  const auto loop = [&] {
    parallel_ranges(1000, 1, [&](std::int64_t, std::int64_t) {
      if (++begun == 17) stop.request_stop();
    });
  };
  EXPECT_THROW(loop(), Interrupted);
  EXPECT_GE(begun, 17);
  EXPECT_LT(begun, 17 + static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
}

TEST(Interrupt, IsInheritedByTheThreadsOfALoop) {
  std::stop_source stop;
  const Interruptible scope(stop.get_token());
  std::atomic<int> same{0};
  parallel_ranges(64, 1, [&](std::int64_t, std::int64_t) { same += interrupt_token() == stop.get_token(); });
  EXPECT_EQ(same, 64);
}

TEST(Interrupt, LeavesOtherThreadsAlone) {
  std::stop_source stop;
  stop.request_stop();
  const Interruptible scope(stop.get_token());
  EXPECT_THROW(generate(parse_generator("kron:10")), Interrupted);
  std::int64_t elsewhere = 0;
  std::thread([&] { elsewhere = generate(parse_generator("kron:10")).num_vertices(); }).join();
  EXPECT_EQ(elsewhere, 1024);
}

}  // namespace
}  // namespace shoal
