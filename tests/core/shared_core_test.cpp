// When a waiting thread sleeps instead of yielding, by how long its yields took and what CPU time its process had.
#include "core/shared_core.hpp"

#include <gtest/gtest.h>

namespace shoal {
namespace {

constexpr std::int64_t kSlice = 3'000'000;
constexpr int kCores = 2;

/// A thread that yields on a machine of two cores.
class Yields {
 public:
  /// One yield takes a time slice, while the process has `busy` cores.
  void long_one(double busy) {
    now_ += kSlice;
    used_ += static_cast<std::int64_t>(busy * kSlice);
    core_.yielded_for_long(now_, used_, kCores);
  }
  void short_one() { core_.yielded_shortly(); }
  /// How often the thread sleeps before it yields again.
  unsigned sleeps() {
    unsigned n = 0;
    while (core_.may_sleep() && core_.sleeps(now_)) ++n;
    return n;
  }
  /// The thread works, or is blocked, and the process uses one core.
  void do_else(std::int64_t nanoseconds) {
    now_ += nanoseconds;
    used_ += nanoseconds;
  }
  /// The process is a new one.
  void fork() { used_ = 0; }

 private:
  SharedCore core_;
  std::int64_t now_ = kSlice, used_ = 0;
};

TEST(SharedCore, ShortYieldsNeverLeadToSleep) {
  Yields thread;
  for (int i = 0; i < 100; ++i) thread.short_one();
  EXPECT_EQ(thread.sleeps(), 0);
}

TEST(SharedCore, OneLongYieldMayHaveBeenAnInterrupt) {
  Yields thread;
  for (int i = 0; i < 10; ++i) {
    thread.long_one(1);
    EXPECT_EQ(thread.sleeps(), 0) << i;
    thread.short_one();
  }
}

TEST(SharedCore, ALongTimeAfterAShortYieldItBeginsAnew) {
  Yields thread;
  thread.long_one(1);
  for (int i = 0; i < 8; ++i) {
    thread.long_one(1);
    thread.sleeps();
  }
  thread.short_one();
  thread.do_else(3'600'000'000'000);
  thread.long_one(1);
  thread.long_one(1);
  EXPECT_EQ(thread.sleeps(), SharedCore::kFewest);
}

TEST(SharedCore, ThreadsOfTheSameProcessAreNoReasonToSleep) {
  Yields thread;
  for (int i = 0; i < 10; ++i) thread.long_one(1.9);
  EXPECT_EQ(thread.sleeps(), 0);
}

TEST(SharedCore, SleepsMoreOftenTheLongerOthersStay) {
  Yields thread;
  thread.long_one(1);
  for (unsigned expected = SharedCore::kFewest; expected < SharedCore::kMost; expected *= 2) {
    thread.long_one(1);
    EXPECT_EQ(thread.sleeps(), expected);
  }
  for (int i = 0; i < 3; ++i) {
    thread.long_one(1);
    EXPECT_EQ(thread.sleeps(), SharedCore::kMost);
  }
  thread.long_one(1.9);  // they have left
  EXPECT_EQ(thread.sleeps(), 0);
  thread.long_one(1);
  EXPECT_EQ(thread.sleeps(), SharedCore::kFewest);
}

TEST(SharedCore, WhatIsKnownIsForgottenWhenTheThreadDoesSomethingElse) {
  Yields thread;
  thread.long_one(1);
  thread.long_one(1);
  thread.do_else(100'000'000);  // with sleeps left
  EXPECT_EQ(thread.sleeps(), 0);
  thread.long_one(1);
  EXPECT_EQ(thread.sleeps(), 0) << "one long yield may be an interrupt again";
  thread.do_else(100'000'000);
  thread.long_one(1);
  EXPECT_EQ(thread.sleeps(), 0) << "two with something else between them do not follow each other";
  thread.long_one(1);
  EXPECT_EQ(thread.sleeps(), SharedCore::kFewest);
}

TEST(SharedCore, AForkKnowsNothing) {
  Yields thread;
  thread.do_else(kSlice);
  thread.long_one(1);
  thread.fork();
  thread.long_one(1);
  EXPECT_EQ(thread.sleeps(), 0);
}

}  // namespace
}  // namespace shoal
