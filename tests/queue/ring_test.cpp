// The ring on CPU threads, with both ways of popping: no item is lost, doubled or torn, at tiny and ordinary capacities, with
// first tickets just before a power of two, with batches, and with delays between reserving, writing and publishing.
//
// SHOAL_RING_OPERATIONS=100000000 makes the concurrent tests longer (pushes plus pops; default 10^6).
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ring_bed.hpp"

namespace {

using namespace shoal;
using test::Pop;
using test::Tally;

struct Item {
  std::uint64_t producer = 0, number = 0, check = 0;
};
Item make_item(std::uint64_t producer, std::uint64_t number) {
  return {producer, number, Tally::hash(producer << 40 ^ number)};
}

constexpr std::array<ticket_t, 4> kCapacities = {2, 4, 8, 1024};
constexpr ticket_t before_power(int k) { return (ticket_t{1} << k) - 3; }
constexpr std::array<ticket_t, 5> kStarts = {0, before_power(8), before_power(16), before_power(32), before_power(63)};

std::uint64_t operations() {
  const char* text = std::getenv("SHOAL_RING_OPERATIONS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1000000;
}

/// Pseudo-random delays: mostly none, sometimes a few pauses, rarely a yield of the core.
class Stall {
 public:
  explicit Stall(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return state_ = Tally::hash(state_); }
  void maybe() {
    const std::uint64_t r = next();
    if (r % 256 == 0) std::this_thread::yield();
    if (r % 16 == 1) {
      for (Backoff pause; pause.spins() < (r >> 8) % 60;) pause.pause();
    }
  }

 private:
  std::uint64_t state_;
};

template <class Bed, Pop kPop>
struct Kind {
  using bed = Bed;
  static constexpr Pop kWay = kPop;
};
template <class K>
class Ring : public ::testing::Test {};
using Kinds = ::testing::Types<Kind<test::SlotBed<Item>, Pop::claim>, Kind<test::SlotBed<Item>, Pop::hold>>;
constexpr std::uint64_t kKinds = 2;
TYPED_TEST_SUITE(Ring, Kinds);

/// Pops in either way: returns an item, or nothing if none is available now.
template <class K>
class Popper {
 public:
  Popper(typename K::bed& bed, lane_t batch) : bed_(bed), batch_(batch) {}

  std::optional<Item> pop(const StateWord& state, lane_t& credit) {
    Item item;
    if constexpr (K::kWay == Pop::claim) {
      if (claimed_.count == 0) {
        ticket_t waiting;
        claimed_ = bed_.ring.claim(batch_, waiting);
        if (claimed_.count == 0) return {};
      }
      if (!bed_.ring.take(claimed_.first, item, state)) return {};
      ++claimed_.first;
      --claimed_.count;
    } else {
      if (!hand_.holds) hand_ = {bed_.ring.claim_ahead(1), true, false, {}};
      bed_.ring.poll(hand_);
      if (!hand_.has) return {};
      hand_.has = false;
      item = hand_.value;
    }
    bed_.popped(1, credit);
    return item;
  }
  /// Polls the held slot while this thread waits for something else, so that the slot becomes free.
  void poll_while_waiting() {
    if constexpr (K::kWay == Pop::hold) {
      if (!hand_.has) bed_.ring.poll(hand_);
    }
  }
  /// True while claimed tickets are left. They must be taken before this thread waits for anything else, as other threads may
  /// wait for their slots.
  bool must_go_on() const { return claimed_.count > 0; }
  bool has() const { return hand_.has; }
  Item take_has(lane_t& credit) {
    hand_.has = false;
    bed_.popped(1, credit);
    return hand_.value;
  }

 private:
  typename K::bed& bed_;
  lane_t batch_;
  Tickets claimed_;
  Hand<Item> hand_;
};

template <class Bed>
bool push_one(Bed& bed, const Item& item, lane_t& credit) {
  const Tickets t = bed.ring.reserve(1, credit);
  if (t.count == 0) return false;
  EXPECT_TRUE(bed.try_write(t.first, item));
  bed.commit(t);
  return true;
}

TYPED_TEST(Ring, FillsAndEmptiesInOrder) {
  StateWord state{};
  for (const ticket_t capacity : kCapacities) {
    for (const ticket_t start : kStarts) {
      typename TypeParam::bed bed(capacity, start);
      Popper<TypeParam> popper(bed, 3);
      lane_t credit = 0;
      for (int lap = 0; lap < 3; ++lap) {
        ticket_t pushed = 0;
        while (push_one(bed, make_item(lap, pushed), credit)) ++pushed;
        EXPECT_EQ(pushed, capacity);
        for (ticket_t i = 0; i < pushed; ++i) {
          const auto item = popper.pop(state, credit);
          ASSERT_TRUE(item.has_value()) << "capacity " << capacity << ", first ticket " << start << ", item " << i;
          EXPECT_EQ(item->number, i);
          EXPECT_EQ(item->check, make_item(lap, i).check);
        }
        EXPECT_FALSE(popper.pop(state, credit).has_value()) << "an empty ring returned an item";
      }
    }
  }
}

TYPED_TEST(Ring, AWrittenItemBehindAnUnwrittenOneIsNotMistakenForIt) {
  typename TypeParam::bed bed(8, 0);
  lane_t credit = 0;
  const Tickets first = bed.ring.reserve(1, credit), second = bed.ring.reserve(1, credit);
  ASSERT_TRUE(bed.try_write(second.first, make_item(0, 2)));
  bed.commit(second);
  Hand<Item> hand{first.first, true, false, {}};
  bed.ring.poll(hand);
  EXPECT_FALSE(hand.has) << "an unwritten slot was read";
  ASSERT_TRUE(bed.try_write(first.first, make_item(0, 1)));
  bed.commit(first);
  bed.ring.poll(hand);
  ASSERT_TRUE(hand.has);
  EXPECT_EQ(hand.value.number, 1u);
  hand = {second.first, true, false, {}};
  bed.ring.poll(hand);
  ASSERT_TRUE(hand.has);
  EXPECT_EQ(hand.value.number, 2u);
}

TYPED_TEST(Ring, TooMuchIsCutAndNothingIsLostByIt) {
  typename TypeParam::bed bed(4, 0);
  lane_t credit = 0;
  const Tickets all = bed.ring.reserve(100, credit);
  EXPECT_EQ(all.count, 4u);
  EXPECT_EQ(bed.ring.reserve(1, credit).count, 0u);
  EXPECT_EQ(bed.counters.credits.load(), 0);
}

TYPED_TEST(Ring, WaitsEndWhenTheRunIsAborted) {
  StateWord state{};
  state.store(static_cast<std::uint32_t>(RunState::stalled));
  typename TypeParam::bed bed(2, 0);
  lane_t credit = 0;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(push_one(bed, make_item(0, i), credit));
  EXPECT_FALSE(bed.ring.put(2, make_item(0, 2), state)) << "no slot was free for ticket 2";
  Item item;
  EXPECT_FALSE(bed.ring.take(2, item, state)) << "nobody filled ticket 2";
}

/// One concurrent case. Workers 0 to 2 push, workers 3 and 4 pop, and worker 5 does both alternately.
template <class K>
class Case {
 public:
  static constexpr int kPushers = 3, kPoppers = 2, kWorkers = kPushers + kPoppers + 1;

  Case(ticket_t capacity, ticket_t start, std::uint64_t per_producer, std::uint64_t seed)
      : bed_(capacity, start), per_producer_(per_producer), seed_(seed) {}

  void run() {
    std::vector<std::thread> threads;
    for (int w = 0; w < kWorkers; ++w) threads.emplace_back([this, w] { work(w); });
    for (auto& thread : threads) thread.join();
    ASSERT_EQ(state_.load(), 0u) << "no progress for a minute: tail " << bed_.counters.tail.load() << ", head "
                                 << bed_.counters.head.load() << ", credits " << bed_.counters.credits.load();
    std::array<Tally, kWorkers> total;
    std::uint64_t torn = 0;
    for (int w = 0; w < kWorkers; ++w) {
      for (int p = 0; p < kWorkers; ++p) total[p].add(popped_by_[w].of[p]);
      torn += popped_by_[w].torn;
    }
    EXPECT_EQ(torn, 0u);
    for (int p = 0; p < kWorkers; ++p) {
      const bool pushes = p < kPushers || p == kWorkers - 1;
      Tally want;
      for (std::uint64_t i = 0; pushes && i < per_producer_; ++i) want.add(p, i);
      EXPECT_EQ(total[p], want) << "producer " << p << ": " << total[p].count << " items popped of " << want.count;
    }
  }

 private:
  struct alignas(kCacheLine) Seen {
    std::array<Tally, kWorkers> of;
    std::uint64_t torn = 0;
  };

  void work(int me) {
    const bool pushes = me < kPushers || me == kWorkers - 1, pops = me >= kPushers;
    const std::uint64_t all = (kPushers + 1) * per_producer_;
    Stall stall(seed_ * 64 + me);
    Popper<K> popper(bed_, 1 + stall.next() % 5);
    Seen& seen = popped_by_[me];
    lane_t credit = 0;
    std::uint64_t next = 0;
    Backoff backoff;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto note = [&](const Item& item) {
      const bool right = item.producer < kWorkers && item.check == make_item(item.producer, item.number).check;
      if (right)
        seen.of[item.producer].add(item.producer, item.number);
      else
        ++seen.torn;
      popped_.fetch_add(1);
    };
    while ((pushes && next < per_producer_) || (pops && popped_.load() < all)) {
      bool moved = false;
      if (pushes && next < per_producer_) {
        const std::uint64_t left = per_producer_ - next, most = 1 + stall.next() % 7;
        const Tickets t = bed_.ring.reserve(static_cast<lane_t>(left < most ? left : most), credit);
        stall.maybe();
        for (lane_t i = 0; i < t.count; ++i) {
          const Item item = make_item(me, next++);
          for (Backoff wait; !bed_.try_write(t.first + i, item); wait.pause()) {
            popper.poll_while_waiting();
            if (late(deadline)) return;
          }
          stall.maybe();
        }
        bed_.commit(t);
        moved = t.count > 0;
      }
      if (pops) {
        if (popper.has()) {
          note(popper.take_has(credit));
          moved = true;
        }
        for (int i = 0; i < 3 || popper.must_go_on(); ++i) {
          const auto item = popper.pop(state_, credit);
          if (!item) break;
          note(*item);
          stall.maybe();
          moved = true;
        }
      }
      if (moved) {
        backoff.reset();
      } else {
        bed_.ring.release(credit);
        backoff.pause();
        if (late(deadline)) return;
      }
    }
    bed_.ring.release(credit);
  }

  bool late(std::chrono::steady_clock::time_point deadline) {
    if (state_.load() == 0 && std::chrono::steady_clock::now() > deadline) {
      state_.store(static_cast<std::uint32_t>(RunState::stalled));
    }
    return state_.load() != 0;
  }

  typename K::bed bed_;
  std::uint64_t per_producer_, seed_;
  StateWord state_{};
  PaddedWord<std::uint64_t, Scope::device> popped_{};
  std::array<Seen, kWorkers> popped_by_;
};

TYPED_TEST(Ring, NothingIsLostDoubledOrTorn) {
  const std::uint64_t seed = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  const std::uint64_t per_producer = operations() / 2 / kKinds / (kCapacities.size() * kStarts.size()) / 4 + 1;
  for (const ticket_t capacity : kCapacities) {
    for (const ticket_t start : kStarts) {
      SCOPED_TRACE("capacity " + std::to_string(capacity) + ", first ticket " + std::to_string(start) + ", seed " +
                   std::to_string(seed));
      auto one = std::make_unique<Case<TypeParam>>(capacity, start, per_producer, seed);
      one->run();
      if (this->HasFailure()) return;
    }
  }
}

// Tests the check itself: a lost, a doubled and an exchanged item must show, even if the count is right.
TEST(Tally, SeesWhatIsWrong) {
  Tally want, lost, doubled, exchanged, other_order;
  for (std::uint64_t i = 0; i < 100; ++i) {
    want.add(7, i);
    if (i != 50) lost.add(7, i);
    doubled.add(7, i == 50 ? 51 : i);                   // the count is right
    exchanged.add(7, i == 50 ? 49 : i == 51 ? 52 : i);  // count and sum are right
    other_order.add(7, 99 - i);
  }
  EXPECT_NE(lost, want);
  EXPECT_NE(doubled, want);
  EXPECT_EQ(exchanged.count, want.count);
  EXPECT_EQ(exchanged.sum, want.sum);
  EXPECT_NE(exchanged, want);
  EXPECT_EQ(other_order, want);
}

}  // namespace
