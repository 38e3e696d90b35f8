// Litmus tests of the simulator: outcomes that the memory model allows must occur, and outcomes that it forbids must never
// occur.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "machine.hpp"
#include "shoal/core/atomic.hpp"

namespace {

using shoal::sim::AtomicRef;
using shoal::sim::Machine;
using shoal::sim::Order;
using shoal::sim::Schedule;
using shoal::sim::Verdict;
using Outcomes = std::set<std::string>;

constexpr int kSeeds = 4000;

struct Words {
  std::uint64_t x = 0, y = 0, z = 0;
  shoal::sim::Pair pair{};
  std::uint64_t r[4] = {};
};
std::uint64_t get(std::uint64_t& word, Order order) { return AtomicRef<std::uint64_t>(word).load(order); }
void put(std::uint64_t& word, std::uint64_t v, Order order) { AtomicRef<std::uint64_t>(word).store(v, order); }
std::uint64_t add(std::uint64_t& word, Order order) { return AtomicRef<std::uint64_t>(word).fetch_add(1, order); }

/// Runs the bodies under many seeds and collects the values of r[0]..r[registers-1] of each run, or the first word of its
/// failure.
template <class... Bodies>
Outcomes outcomes(int registers, Bodies... bodies) {
  Outcomes seen;
  Machine machine;
  Words words;
  (machine.add_worker(0, [&words, bodies] { bodies(words); }), ...);
  for (int seed = 1; seed <= kSeeds; ++seed) {
    words = Words{};
    const Verdict verdict = machine.run(Schedule::from_seed(seed, 8, 1000));
    if (!verdict.ok) {
      seen.insert(verdict.what.substr(0, verdict.what.find(' ', 5)));
      continue;
    }
    std::string values;
    for (int i = 0; i < registers; ++i) values += std::to_string(words.r[i]);
    seen.insert(values);
  }
  return seen;
}

Outcomes message_passing(Order publish, Order look) {
  return outcomes(
      2, [=](Words& w) { put(w.x, 1, Order::relaxed), put(w.y, 1, publish); },
      [=](Words& w) { w.r[0] = get(w.y, look), w.r[1] = get(w.x, Order::relaxed); });
}

TEST(Litmus, MessagePassingNeedsBothOrders) {
  const Outcomes weak{"00", "01", "10", "11"}, strong{"00", "01", "11"};
  EXPECT_EQ(message_passing(Order::relaxed, Order::relaxed), weak);
  EXPECT_EQ(message_passing(Order::release, Order::relaxed), weak);
  EXPECT_EQ(message_passing(Order::relaxed, Order::acquire), weak);
  EXPECT_EQ(message_passing(Order::release, Order::acquire), strong);
}

TEST(Litmus, StoreBufferingIsAllowedUnderReleaseAcquire) {
  const auto half = [](std::uint64_t Words::*mine, std::uint64_t Words::*other, int r) {
    return [=](Words& w) { put(w.*mine, 1, Order::release), w.r[r] = get(w.*other, Order::acquire); };
  };
  EXPECT_EQ(outcomes(2, half(&Words::x, &Words::y, 0), half(&Words::y, &Words::x, 1)),
            (Outcomes{"00", "01", "10", "11"}));
}

TEST(Litmus, StoreBufferingThroughReadModifyWritesOfOneWordIsForbidden) {
  const auto half = [](std::uint64_t Words::*mine, std::uint64_t Words::*other, int r) {
    return [=](Words& w) {
      put(w.*mine, 1, Order::relaxed), add(w.z, Order::acq_rel), w.r[r] = get(w.*other, Order::relaxed);
    };
  };
  EXPECT_EQ(outcomes(2, half(&Words::x, &Words::y, 0), half(&Words::y, &Words::x, 1)), (Outcomes{"01", "10", "11"}));
}

TEST(Litmus, APairIsReadAsItWasStored) {
  const auto writer = [](Words& w) {
    for (std::uint64_t i = 1; i <= 2; ++i) pair_store(&w.pair, true, {i, i + 5}, Order::relaxed);
  };
  const auto reader = [](Words& w) {
    const auto found = pair_load(&w.pair, true, Order::relaxed);
    w.r[0] = found.first, w.r[1] = found.second;
  };
  EXPECT_EQ(outcomes(2, writer, reader), (Outcomes{"00", "16", "27"}));
}

TEST(Litmus, APairOrdersOtherWordsOnlyByReleaseAndAcquire) {
  const auto run = [](Order publish, Order look) {
    return outcomes(
        2,
        [=](Words& w) {
          put(w.x, 1, Order::relaxed), pair_store(&w.pair, true, {1, 1}, publish);
        },
        [=](Words& w) { w.r[0] = pair_load(&w.pair, true, look).first, w.r[1] = get(w.x, Order::relaxed); });
  };
  EXPECT_TRUE(run(Order::relaxed, Order::acquire).count("10"));
  EXPECT_TRUE(run(Order::release, Order::relaxed).count("10"));
  EXPECT_EQ(run(Order::release, Order::acquire), (Outcomes{"00", "01", "11"}));
}

TEST(Litmus, OneWordNeverGoesBack) {
  const auto writer = [](Words& w) { put(w.x, 1, Order::relaxed), put(w.x, 2, Order::relaxed); };
  const auto reader = [](Words& w) { w.r[0] = get(w.x, Order::relaxed), w.r[1] = get(w.x, Order::relaxed); };
  EXPECT_EQ(outcomes(2, writer, reader), (Outcomes{"00", "01", "02", "11", "12", "22"}));
}

TEST(Litmus, ReadModifyWritesLoseNothing) {
  const auto twice = [](Words& w) { add(w.x, Order::relaxed), add(w.x, Order::relaxed); };
  const auto last = [](Words& w) {
    add(w.x, Order::relaxed);
    std::uint64_t seen = 0;
    while ((seen = get(w.x, Order::relaxed)) != 5) shoal::sim::yield();
    w.r[0] = seen;
  };
  EXPECT_EQ(outcomes(1, twice, twice, last), (Outcomes{"5"}));
}

TEST(Litmus, ReleaseSequencePassesThroughRelaxedReadModifyWrite) {
  const auto run = [](Order head) {
    return outcomes(
        2, [=](Words& w) { put(w.x, 1, Order::relaxed), put(w.y, 1, head); },
        [](Words& w) { add(w.y, Order::relaxed); },
        [](Words& w) { w.r[0] = get(w.y, Order::acquire), w.r[1] = get(w.x, Order::relaxed); });
  };
  EXPECT_EQ(run(Order::release),
            (Outcomes{"00", "01", "10", "11", "21"}));  // "10": only the other worker's add was seen
  EXPECT_TRUE(run(Order::relaxed).count("20"));
}

TEST(Litmus, CausalityIsTransitive) {
  const auto run = [](Order middle) {
    return outcomes(
        3, [](Words& w) { put(w.x, 1, Order::relaxed), put(w.z, 1, Order::release); },
        [=](Words& w) { w.r[0] = get(w.z, middle), put(w.y, 1, Order::release); },
        [](Words& w) { w.r[1] = get(w.y, Order::acquire), w.r[2] = get(w.x, Order::relaxed); });
  };
  EXPECT_FALSE(run(Order::acquire).count("110"));
  EXPECT_TRUE(run(Order::relaxed).count("110"));
}

TEST(Litmus, IndependentReadersMayDisagree) {
  const auto reader = [](std::uint64_t Words::*first, std::uint64_t Words::*second, int r) {
    return [=](Words& w) { w.r[r] = get(w.*first, Order::acquire), w.r[r + 1] = get(w.*second, Order::acquire); };
  };
  EXPECT_TRUE(outcomes(
                  4, [](Words& w) { put(w.x, 1, Order::release); }, [](Words& w) { put(w.y, 1, Order::release); },
                  reader(&Words::x, &Words::y, 0), reader(&Words::y, &Words::x, 2))
                  .count("1010"));
}

TEST(Litmus, LoadBufferingIsNotModelled) {  // a limit of the simulator, stated in machine.hpp
  const auto half = [](std::uint64_t Words::*from, std::uint64_t Words::*to, int r) {
    return [=](Words& w) { w.r[r] = get(w.*from, Order::relaxed), put(w.*to, 1, Order::relaxed); };
  };
  EXPECT_FALSE(outcomes(2, half(&Words::x, &Words::y, 0), half(&Words::y, &Words::x, 1)).count("11"));
}

TEST(Litmus, CompareExchangeWinsOnce) {
  const auto take = [](int r) {
    return [=](Words& w) {
      std::uint64_t expected = 0;
      w.r[r] = AtomicRef<std::uint64_t>(w.x).compare_exchange_strong(expected, 1, Order::acquire, Order::relaxed);
    };
  };
  EXPECT_EQ(outcomes(2, take(0), take(1)), (Outcomes{"01", "10"}));
}

Outcomes plain_message(Order publish, Order look) {
  return outcomes(
      1,
      [=](Words& w) {
        shoal::plain_write(w.x, std::uint64_t{7});
        put(w.y, 1, publish);
      },
      [=](Words& w) {
        if (get(w.y, look) == 1) w.r[0] = shoal::plain_read(w.x);
      });
}

TEST(Races, PlainMessageNeedsBothOrders) {
  EXPECT_EQ(plain_message(Order::release, Order::acquire), (Outcomes{"0", "7"}));
  EXPECT_EQ(plain_message(Order::relaxed, Order::acquire), (Outcomes{"0", "data race"}));
  EXPECT_EQ(plain_message(Order::release, Order::relaxed), (Outcomes{"0", "data race"}));
}

TEST(Races, OverwritingWhatSomebodyReads) {
  const auto run = [](Order back) {
    return outcomes(
        0,
        [=](Words& w) {
          (void)shoal::plain_read(w.x);
          put(w.y, 1, back);
        },
        [](Words& w) {
          if (get(w.y, Order::acquire) == 1) shoal::plain_write(w.x, std::uint64_t{1});
        });
  };
  EXPECT_EQ(run(Order::release), (Outcomes{""}));
  EXPECT_TRUE(run(Order::relaxed).count("data race"));
}

TEST(Scopes, DeviceWordBelongsToOnePe) {
  Machine machine;
  shoal::Word<std::uint32_t, shoal::Scope::device> word{};
  const auto touch = [&] { word.fetch_add(1); };
  machine.add_worker(0, touch), machine.add_worker(0, touch);
  EXPECT_TRUE(machine.run(Schedule{}).ok);
  machine.add_worker(1, touch);
  const Verdict verdict = machine.run(Schedule{});
  EXPECT_FALSE(verdict.ok);
  EXPECT_NE(verdict.what.find("scope"), std::string::npos) << verdict.what;
}

struct Contest {  // workers that take turns and wait for each other
  std::uint64_t turn = 0, count = 0;
  void add_to(Machine& machine) {
    for (std::uint64_t me = 0; me < 3; ++me) {
      machine.add_worker(0, [this, me] {
        for (int i = 0; i < 10; ++i) {
          while (get(turn, Order::acquire) % 3 != me) shoal::sim::yield();
          shoal::plain_write(count, count + 1);
          add(turn, Order::release);
        }
      });
    }
  }
};

TEST(Machine, SameSeedSameTrace) {
  Contest contest;
  Machine machine, other;
  contest.add_to(machine), contest.add_to(other);
  std::set<std::uint64_t> hashes;
  std::set<shoal::sim::Policy> policies;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Schedule schedule = Schedule::from_seed(seed, 100, 10000);
    policies.insert(schedule.policy);
    contest.turn = contest.count = 0;
    const Verdict first = machine.run(schedule);
    ASSERT_TRUE(first.ok) << first.what;
    ASSERT_EQ(contest.count, 30u);
    contest.turn = contest.count = 0;
    ASSERT_EQ(other.run(schedule).trace_hash, first.trace_hash) << "seed " << seed;
    hashes.insert(first.trace_hash);
  }
  EXPECT_GT(hashes.size(), 190u);
  EXPECT_EQ(policies.size(), 4u);
}

TEST(Machine, RunWithoutEndIsReported) {
  Machine machine;
  Words words;
  machine.name(&words.x, 8, 1, "gate");
  machine.add_worker(0, [&] {
    while (get(words.x, Order::acquire) == 0) shoal::sim::yield();
  });
  machine.add_worker(0, [] {});
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Verdict verdict = machine.run(Schedule::from_seed(seed, 10, 2000));
    EXPECT_FALSE(verdict.ok);
    EXPECT_NE(verdict.what.find("no end after 2000 steps"), std::string::npos) << verdict.what;
  }
}

TEST(Machine, TraceNamesWordsAndWorkers) {
  Machine machine;
  Words words;
  machine.name(&words.x, 8, 3, "word");
  machine.add_worker(2, [&] { put(words.y, 5, Order::release); });
  Schedule schedule;
  schedule.trace = true;
  EXPECT_TRUE(machine.run(schedule).ok);
  EXPECT_NE(machine.trace(10).find("worker 0 (PE 2)  store release  word[1]  5"), std::string::npos)
      << machine.trace(10);
}

TEST(Machine, WorkerMayFailTheRun) {
  Machine machine;
  machine.add_worker(0, [] { shoal::sim::fail("twice"); });
  EXPECT_EQ(machine.run(Schedule{}).what, "twice");
}

}  // namespace
