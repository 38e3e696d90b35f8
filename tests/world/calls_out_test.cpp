// Which call of a communication library has not returned for longest (world/calls_out.hpp).
#include "world/calls_out.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace shoal {
namespace {

// One call does not return, while calls of other threads do: for example, a small put of a sign of life may be accepted when a
// large put is not.
TEST(CallsOut, OneThatStaysOutIsSeenBesideOthers) {
  CallsOut calls;
  EXPECT_EQ(calls.longest(), 0);
  {
    const CallsOut::Call stays(calls);
    std::vector<std::thread> others;
    for (int i = 0; i < 3; ++i) {
      others.emplace_back([&] {
        for (int k = 0; k < 20; ++k) {
          const CallsOut::Call comes_back(calls);
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      });
    }
    for (std::thread& other : others) other.join();
    EXPECT_GE(calls.longest(), .02);
    std::vector<std::unique_ptr<CallsOut::Call>> many(200);  // more calls than CallsOut can record
    for (auto& call : many) call = std::make_unique<CallsOut::Call>(calls);
  }
  EXPECT_EQ(calls.longest(), 0);
}

}  // namespace
}  // namespace shoal
