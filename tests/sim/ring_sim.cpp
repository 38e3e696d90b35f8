// The shipped ring (queue/slot_ring.hpp): pushers with private spill, poppers, and workers that do both with private credits.
// In half of the cases the poppers claim tickets; in the other half they hold tickets, even while they wait to push. Also the
// pool of free chunks (queue/spill.hpp), with one chunk for each worker, so that a worker that takes one at a time must always
// get one.
#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "harness.hpp"
#include "number_ring.hpp"
#include "shoal/queue/slot_ring.hpp"
#include "shoal/queue/spill.hpp"

namespace {

using namespace shoal;

constexpr std::uint32_t kSalt = 0x5EA51DE5u;

/// 8 bytes: a slot is read and written by one access.
struct Small {
  std::uint32_t number, check;
};
/// Larger: the sequence of a slot is accessed separately.
struct Large {
  std::uint32_t number, check, more;
};

/// @tparam kOrders  as in the ring. If false, poppers do not read what the pusher wrote before.
template <class Item, bool kOrders>
class RingScenario final : public sim::Scenario {
 public:
  std::string set_up(sim::Machine& machine, sim::Random& random) override {
    const ticket_t capacity = ticket_t{2} << random.below(3);  // 2, 4, 8
    const lane_t pushers = random.below(4), poppers = random.below(3),
                 both = pushers * poppers == 0 ? 2 : random.below(2);
    n_items_ = 4 + random.below(20);
    batch_ = 1 + random.below(4);
    holds_ = random.below(2) == 0;
    slots_.assign(capacity, Slot<Item>{});
    for (auto& slot : slots_) slot.value.number = 0xFFFFFFFFu;
    ring_ = {slots_.data(), capacity, &counters_};
    ring_.advance = random.below(3);
    ring_.empty_below = random.below(2) * capacity;
    ring_.reset_counters();
    for (ticket_t i = 0; i < capacity; ++i) ring_.reset_slot(i);
    state_.store(0);
    note_.assign(n_items_, 0);
    times_popped_.assign(n_items_, 0);
    next_ = popped_ = 0;

    machine.name(slots_.data(), sizeof slots_[0], capacity, "slot");
    machine.name(note_.data(), 4, n_items_, "note");
    machine.name(&counters_.tail, 8, 1, "tail");
    machine.name(&counters_.head, 8, 1, "head");
    machine.name(&counters_.credits, 8, 1, "credits");
    for (lane_t w = 0; w < pushers; ++w) machine.add_worker(0, [this] { work(true, false); });
    for (lane_t w = 0; w < poppers; ++w) machine.add_worker(0, [this] { work(false, true); });
    for (lane_t w = 0; w < both; ++w) machine.add_worker(0, [this] { work(true, true); });
    return "capacity " + std::to_string(capacity) + ", " + std::to_string(pushers) + " pushers, " +
           std::to_string(poppers) + " poppers, " + std::to_string(both) + " of both, poppers " +
           (holds_ ? "hold, " : "claim, ") + std::to_string(n_items_) + " items, batches of at most " +
           std::to_string(batch_) + ", items of " + std::to_string(sizeof(Item)) + " bytes" +
           (kOrders ? "" : ", self-contained");
  }

  std::string judge() override {
    for (std::uint32_t i = 0; i < n_items_; ++i) {
      if (times_popped_[i] != 1) {
        return "item " + std::to_string(i) + " was popped " + std::to_string(times_popped_[i]) + " times";
      }
    }
    if (counters_.tail.load() != n_items_ ||
        (holds_ ? counters_.head.load() < n_items_ : counters_.head.load() != n_items_))
      return "head or tail is not the item count";
    if (counters_.credits.load() != static_cast<std::int64_t>(ring_.capacity)) {
      return "credits were lost or made: there are " + std::to_string(counters_.credits.load());
    }
    return {};
  }

  unsigned expected_steps() const override { return 400; }
  std::uint64_t max_steps() const override { return 20000; }

 private:
  // next_, popped_ and times_popped_ are for judge() only; they are not part of the simulated memory.
  struct Worker {
    bool pushes, pops;
    std::array<std::uint32_t, 8> spill{};
    lane_t n_spill = 0, credit = 0;
    Hand<Item> hand{};
  };

  void work(bool pushes, bool pops) {
    Worker me{pushes, pops};
    while (pushes ? (next_ < n_items_ || me.n_spill > 0 || (pops && popped_ < n_items_)) : popped_ < n_items_) {
      bool moved = false;
      if (pushes) {
        while (me.n_spill < batch_ && next_ < n_items_) me.spill[me.n_spill++] = next_++;
        if (me.n_spill > 0) moved |= push(me);
      }
      if (pops) moved |= holds_ ? pop_held(me) : pop_claimed(me);
      if (!moved) {
        ring_.release(me.credit);
        sim::yield();
      }
    }
    if (me.hand.has) sim::fail("a worker left with a value in its hand though all were counted");
    ring_.release(me.credit);
  }

  bool push(Worker& me) {
    const Tickets t = ring_.reserve(me.n_spill, me.credit);
    if (t.count > me.n_spill) sim::fail("reserve gave more tickets than were wanted");
    for (lane_t i = 0; i < t.count; ++i) {
      const std::uint32_t number = me.spill[--me.n_spill];
      Item item{};
      item.number = number;
      item.check = number ^ kSalt;
      plain_write(note_[number], item.check);
      if (!me.hand.holds) {
        if (!ring_.put(t.first + i, item, state_)) sim::fail("put gave up though nobody stopped the run");
        continue;
      }
      while (!ring_.try_put(t.first + i, item)) {  // as Out::place does
        ring_.poll(me.hand);
        sim::yield();
      }
    }
    return t.count > 0;
  }

  bool pop_claimed(Worker& me) {
    ticket_t waiting = 0;
    const Tickets t = ring_.claim(batch_, waiting);
    for (lane_t i = 0; i < t.count; ++i) {
      Item item{};
      if (!ring_.take(t.first + i, item, state_)) sim::fail("take gave up though nobody stopped the run");
      judge_item(item);
    }
    me.credit += t.count;
    return t.count > 0;
  }

  bool pop_held(Worker& me) {
    if (!me.hand.holds && !me.hand.has) {
      me.hand.ticket = ring_.claim_ahead(1);
      me.hand.holds = true;
    }
    ring_.poll(me.hand);
    if (!me.hand.has) return false;
    me.hand.has = false;
    ++me.credit;
    judge_item(me.hand.value);
    return true;
  }

  void judge_item(const Item& item) {
    if (item.number >= n_items_ || item.check != (item.number ^ kSalt)) {
      sim::fail("a slot held " + std::to_string(item.number) + ", which nobody pushed");
    }
    if (kOrders && plain_read(note_[item.number]) != item.check) sim::fail("what the pusher wrote before is not there");
    if (++times_popped_[item.number] > 1) sim::fail("item " + std::to_string(item.number) + " was popped twice");
    ++popped_;
  }

  std::vector<Slot<Item>> slots_;
  RingCounters counters_{};
  SlotRing<Item, kOrders> ring_;
  StateWord state_{};
  std::vector<std::uint32_t> note_;  ///< [n_items_] plain data, written before the item is pushed
  std::uint32_t n_items_ = 0, next_ = 0, popped_ = 0;
  lane_t batch_ = 1;
  bool holds_ = false;
  std::vector<int> times_popped_;
};

class PoolScenario final : public sim::Scenario {
 public:
  std::string set_up(sim::Machine& machine, sim::Random& random) override {
    const std::uint32_t workers = 2 + random.below(3);
    turns_ = 2 + random.below(5);
    chunks_.assign(workers, 0);
    chains_.assign(workers, 0);
    holders_.assign(workers, 0);
    numbers_.clear();
    sim::fill_ring(numbers_, counters_, std::bit_ceil(workers), workers);
    pool_ = {chunks_.data(), chains_.data(), 1, {numbers_.data(), numbers_.size(), &counters_}, nullptr};
    state_.store(0);
    machine.name(numbers_.data(), sizeof numbers_[0], numbers_.size(), "number");
    machine.name(&counters_.tail, 8, 1, "tail");
    machine.name(&counters_.head, 8, 1, "head");
    machine.name(&counters_.credits, 8, 1, "credits");
    for (std::uint32_t w = 0; w < workers; ++w) machine.add_worker(0, [this, w] { work(w); });
    return std::to_string(workers) + " workers take and give back as many chunks, " + std::to_string(turns_) +
           " times each";
  }

  std::string judge() override {
    const ticket_t free = counters_.tail.load() - counters_.head.load();
    return free == chunks_.size() ? "" : std::to_string(free) + " chunks are free";
  }

  unsigned expected_steps() const override { return 200; }
  std::uint64_t max_steps() const override { return 20000; }

 private:
  void work(std::uint32_t me) {
    for (std::uint32_t turn = 0; turn < turns_; ++turn) {
      const std::uint32_t mine = pool_.allocate(kNoChunk, state_);
      if (mine == kNoChunk) sim::fail("the pool looked empty, and there are as many chunks as workers");
      if (holders_[mine]++ > 0) sim::fail("a chunk was given to two workers");
      plain_write(*pool_.items(mine), me);
      sim::yield();
      if (plain_read(*pool_.items(mine)) != me) sim::fail("another worker has written into this one's chunk");
      --holders_[mine];
      pool_.recycle(mine, state_);
    }
  }

  std::vector<std::uint32_t> chunks_, chains_;  ///< chunks of one item
  std::vector<int> holders_;                    ///< for the check only
  std::vector<Slot<std::uint32_t>> numbers_;
  RingCounters counters_{};
  SpillPool<std::uint32_t> pool_;
  StateWord state_{};
  std::uint32_t turns_ = 0;
};

/// Workers push values that any worker may pop, and pop until all values that were pushed before they began to pop are gone. So
/// by the end every value has been popped exactly once.
class ForAllScenario final : public sim::Scenario {
 public:
  std::string set_up(sim::Machine& machine, sim::Random& random) override {
    const std::uint32_t workers = 2 + random.below(3);
    pushes_.assign(workers, 0);
    std::uint32_t values = 0;
    for (std::uint32_t& pushes : pushes_) values += pushes = random.below(4);
    times_popped_.assign(values, 0);
    next_ = 0;
    slots_.clear();
    sim::fill_ring(slots_, counters_, std::bit_ceil(std::max(values, 2u)), 0);
    counters_.credits.store(0);
    ring_ = {slots_.data(), slots_.size(), &counters_};
    state_.store(0);
    machine.name(slots_.data(), sizeof slots_[0], slots_.size(), "slot");
    machine.name(&counters_.tail, 8, 1, "tail");
    machine.name(&counters_.head, 8, 1, "head");
    machine.name(&counters_.credits, 8, 1, "credits");
    for (std::uint32_t w = 0; w < workers; ++w) machine.add_worker(0, [this, w] { work(w); });
    return std::to_string(workers) + " workers push and pop " + std::to_string(values) + " values for all";
  }

  std::string judge() override {
    for (std::size_t i = 0; i < times_popped_.size(); ++i) {
      if (times_popped_[i] == 0) return "value " + std::to_string(i) + " was never popped";
    }
    return counters_.credits.load() == 0 ? "" : "somebody is still entitled to a value";
  }

  unsigned expected_steps() const override { return 150; }
  std::uint64_t max_steps() const override { return 20000; }

 private:
  void work(std::uint32_t me) {
    for (std::uint32_t i = 0; i < pushes_[me]; ++i) ring_.put_for_all(next_++, state_);
    const ticket_t limit = counters_.tail.load();
    std::uint32_t value = 0;
    while (ring_.take_below(limit, value, state_)) {
      if (value >= times_popped_.size()) sim::fail("a value that nobody pushed");
      if (++times_popped_[value] > 1) sim::fail("value " + std::to_string(value) + " was popped twice");
    }
  }

  std::vector<Slot<std::uint32_t>> slots_;
  RingCounters counters_{};
  SlotRing<std::uint32_t> ring_;
  StateWord state_{};
  std::vector<std::uint32_t> pushes_;
  std::vector<int> times_popped_;  ///< for judge() only
  std::uint32_t next_ = 0;         ///< for judge() only
};

}  // namespace

int main(int argc, char** argv) {
  shoal::sim::OneOf<RingScenario<Large, true>, RingScenario<Small, true>, RingScenario<Small, false>, PoolScenario,
                    ForAllScenario>
      scenario;
  return shoal::sim::run_scenario("ring", scenario, argc, argv);
}
