// The segment ring (queue/segment_ring.hpp) in the simulator, as tests/sim/ring_sim.cpp does it for the slot ring: pushers,
// poppers, and workers that do both. In half of the cases poppers claim batches, in the other half they hold tickets.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "harness.hpp"
#include "shoal/queue/segment_ring.hpp"

namespace {

using namespace shoal;

struct Item {
  std::uint32_t number, check;
};
constexpr std::uint32_t kSalt = 0x5EA51DE5u;

class SegmentRingScenario final : public sim::Scenario {
 public:
  std::string set_up(sim::Machine& machine, sim::Random& random) override {
    const ticket_t capacity = ticket_t{2} << random.below(3);  // 2, 4, 8
    const lane_t pushers = random.below(4), poppers = random.below(3),
                 both = pushers * poppers == 0 ? 2 : random.below(2);
    n_items_ = 4 + random.below(20);
    batch_ = 1 + random.below(4);
    holds_ = random.below(2) == 0;
    slots_.assign(capacity, Item{0xFFFFFFFFu, 0});
    ring_ = {};
    ring_.set_capacity(capacity);
    segments_.assign(ring_.num_segments(), SegmentCounters{});
    ring_.slots = slots_.data();
    ring_.segments = segments_.data();
    ring_.counters = &counters_;
    start_ = random.below(2) == 0 ? 0 : (ticket_t{1} << (8 * (1 + random.below(4)))) - 3;
    ring_.advance = random.below(3);
    ring_.reset_counters(start_);
    for (ticket_t i = 0; i < ring_.num_segments(); ++i) ring_.reset_segment(i, start_);
    state_.store(0);
    times_popped_.assign(n_items_, 0);
    next_ = popped_ = 0;

    machine.name(slots_.data(), sizeof slots_[0], capacity, "slot");
    machine.name(segments_.data(), sizeof segments_[0], segments_.size(), "segment");
    machine.name(&counters_.tail, 8, 1, "tail");
    machine.name(&counters_.head, 8, 1, "head");
    machine.name(&counters_.room, 8, 1, "room");
    for (lane_t w = 0; w < pushers; ++w) machine.add_worker(0, [this] { work(true, false); });
    for (lane_t w = 0; w < poppers; ++w) machine.add_worker(0, [this] { work(false, true); });
    for (lane_t w = 0; w < both; ++w) machine.add_worker(0, [this] { work(true, true); });
    return "capacity " + std::to_string(capacity) + ", " + std::to_string(pushers) + " pushers, " +
           std::to_string(poppers) + " poppers, " + std::to_string(both) + " of both, poppers " +
           (holds_ ? "hold, " : "claim, ") + std::to_string(n_items_) + " items, batches of at most " +
           std::to_string(batch_);
  }

  std::string judge() override {
    for (std::uint32_t i = 0; i < n_items_; ++i) {
      if (times_popped_[i] != 1) {
        return "item " + std::to_string(i) + " was popped " + std::to_string(times_popped_[i]) + " times";
      }
    }
    const ticket_t end = start_ + n_items_;
    if (counters_.tail.load() != end || (holds_ ? counters_.head.load() < end : counters_.head.load() != end))
      return "head or tail is not the item count";
    if (counters_.room.load() != static_cast<std::int64_t>(ring_.capacity - (end & (ring_.segment_size() - 1)))) {
      return "credits were lost or made: room is " + std::to_string(counters_.room.load());
    }
    return {};
  }

  unsigned expected_steps() const override { return 400; }
  std::uint64_t max_steps() const override { return 20000; }

 private:
  // next_, popped_ and times_popped_ belong to the judge: they are not part of the simulated memory.
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
      if (pops) moved |= holds_ ? pop_held(me) : pop_claimed();
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
      while (!ring_.try_write(t.first + i, Item{number, number ^ kSalt})) {  // as Out::place does
        ring_.poll(me.hand);
        sim::yield();
      }
    }
    ring_.commit(CpuThread(), t);
    return t.count > 0;
  }

  bool pop_claimed() {
    ticket_t waiting = 0;
    const Tickets t = ring_.claim(batch_, waiting);
    for (lane_t i = 0; i < t.count; ++i) {
      if (!spin_wait(state_, [&] { return ring_.ready(t.first + i); }))
        sim::fail("a wait gave up though nobody stopped the run");
      judge_item(ring_.read(t.first + i));
    }
    ring_.free(CpuThread(), t);
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
    judge_item(me.hand.value);
    return true;
  }

  void judge_item(const Item& item) {
    if (item.number >= n_items_ || item.check != (item.number ^ kSalt)) {
      sim::fail("a slot held " + std::to_string(item.number) + ", which nobody pushed");
    }
    if (++times_popped_[item.number] > 1) sim::fail("item " + std::to_string(item.number) + " was popped twice");
    ++popped_;
  }

  std::vector<Item> slots_;
  std::vector<SegmentCounters> segments_;
  RingCounters counters_{};
  SegmentRing<Item> ring_;
  ticket_t start_ = 0;
  StateWord state_{};
  std::uint32_t n_items_ = 0, next_ = 0, popped_ = 0;
  lane_t batch_ = 1;
  bool holds_ = false;
  std::vector<int> times_popped_;
};

}  // namespace

int main(int argc, char** argv) {
  SegmentRingScenario scenario;
  return shoal::sim::run_scenario("segment_ring", scenario, argc, argv);
}
