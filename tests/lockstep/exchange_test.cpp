// Data that processes of a bulk-synchronous run put to each other arrives even if puts are late or reordered, and if one
// process fails, all processes get the error.
#include "lockstep/exchange.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "contract/walled_runs.hpp"
#include "shoal/core/error.hpp"

namespace shoal {
namespace {

using contract::Walled;
using lockstep::Exchange;

constexpr std::size_t kBytes = 4096;

/// One Exchange for each process.
class Exchanges {
 public:
  explicit Exchanges(int processes, const WalledPlan& plan = {})
      : walled_(std::vector<pe_t>(static_cast<std::size_t>(processes), 1), 1, plan), exchanges_(walled_.processes()) {
    walled_.on_each([&](std::size_t p) {
      exchanges_[p] = std::make_unique<Exchange>(walled_.world(p), kBytes, "what a test gives");
    });
  }

  /// Calls body(process, exchange, report) on each process as one run. @return the text of what each process threw, or ""
  template <class Body>
  std::vector<std::string> run(Body body) {
    std::vector<std::string> thrown(walled_.processes());
    walled_.on_each([&](std::size_t p) {
      Report report;
      try {
        exchanges_[p]->together(report, [&](Report& mine) { body(static_cast<int>(p), *exchanges_[p], mine); });
      } catch (const std::exception& error) {
        thrown[p] = error.what();
      }
    });
    return thrown;
  }

 private:
  Walled walled_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;
};

/// A number that identifies the sender, the round and the position.
std::uint32_t mark(int from, int round, std::size_t i) {
  return static_cast<std::uint32_t>(from * 1000003 + round * 1009) + static_cast<std::uint32_t>(i);
}

/// Rounds in which each process puts marks to all others and then meets them. Rounds alternate between two places, because a
/// process that has met the others may put again while they still read.
void give_and_compare(int me, Exchange& exchange, int rounds) {
  constexpr std::size_t kCount = 60;
  const auto place = [](int round, int from) { return (static_cast<std::size_t>(round % 2) * 4 + from) * kCount * 4; };
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::uint32_t> mine(kCount);
    for (std::size_t i = 0; i < kCount; ++i) mine[i] = mark(me, round, i);
    for (int to = 0; to < exchange.processes(); ++to) {
      if (to != me) exchange.put(to, place(round, me), mine.data(), kCount * sizeof(std::uint32_t));
    }
    std::vector<int> heard;
    ASSERT_TRUE(exchange.meet(me * 100 + round, heard));
    for (int from = 0; from < exchange.processes(); ++from) {
      ASSERT_EQ(heard[static_cast<std::size_t>(from)], from * 100 + round);
      if (from == me) continue;
      std::vector<std::uint32_t> its(kCount);
      std::memcpy(its.data(), exchange.at(place(round, from)), kCount * sizeof(std::uint32_t));
      for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(its[i], mark(from, round, i)) << "round " << round;
    }
    if (round % 3 == 0) {
      ASSERT_TRUE(exchange.meet());
    }
  }
}

TEST(Exchange, WhatIsPutIsThereWhenAllHaveMet) {
  for (const int processes : {2, 3}) {
    for (const bool reorder : {false, true}) {
      Exchanges exchanges(processes, {.seed = 5, .late_percent = 60, .reorder = reorder});
      for (int run = 0; run < 2; ++run) {
        const auto thrown = exchanges.run([](int me, Exchange& exchange, Report& report) {
          give_and_compare(me, exchange, 40);
          report.rounds = 40;
        });
        EXPECT_EQ(thrown, std::vector<std::string>(static_cast<std::size_t>(processes)));
      }
    }
  }
}

TEST(Exchange, WhatOneThrowsAllThrow) {
  Exchanges exchanges(3);
  const auto thrown = exchanges.run([](int me, Exchange& exchange, Report&) {
    for (int round = 0; exchange.meet(); ++round) {
      if (me == 1 && round == 7) throw CapacityError("planted");
    }
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3, "planted"));
  const auto again = exchanges.run([](int me, Exchange& exchange, Report&) { give_and_compare(me, exchange, 10); });
  EXPECT_EQ(again, std::vector<std::string>(3));
}

TEST(Exchange, OneThatLeavesWithoutAWordIsAnErrorEverywhere) {
  Exchanges exchanges(2);
  const auto thrown = exchanges.run([](int me, Exchange& exchange, Report&) {
    for (int round = 0; exchange.meet(); ++round) {
      if (me == 1 && round == 7) exchange.leave();
    }
  });
  for (const std::string& line : thrown) EXPECT_NE(line.find("left a run in steps"), std::string::npos) << line;
}

TEST(Exchange, APutThatFailsEndsTheRun) {
  for (const int process : {0, 1}) {
    Exchanges exchanges(2, {.fail_at = 11, .at_process = process});
    const auto thrown = exchanges.run([](int me, Exchange& exchange, Report&) {
      std::vector<int> heard;
      for (int round = 0; round < 20; ++round) {
        exchange.put(1 - me, 0, &round, sizeof round);
        if (!exchange.meet(me, heard)) return;
      }
    });
    const std::string expected = "process " + std::to_string(process) + " could not write to the shared heap";
    for (const std::string& line : thrown) EXPECT_EQ(line.substr(0, expected.size()), expected);
  }
}

TEST(Exchange, NeedsSpaceInTheHeap) {
  Walled walled({1, 1}, 1, {});
  const auto too_much = [&](std::size_t p) { Exchange exchange(walled.world(p), std::size_t{1} << 30, "too much"); };
  EXPECT_THROW(walled.on_each(too_much), CapacityError);
}

}  // namespace
}  // namespace shoal
