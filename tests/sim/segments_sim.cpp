// The shipped segments (queue/segments.hpp) with the direct transport: workers of PE 0 send, workers of PE 1 claim.
#include <array>
#include <string>
#include <vector>

#include "harness.hpp"
#include "lanes.hpp"
#include "shoal/queue/segments.hpp"
#include "shoal/transport/direct.hpp"

namespace {

using namespace shoal;

constexpr std::uint32_t kSalt = 0x5E93E275u;

struct Item {
  std::uint32_t number, check, more;
};

class SegmentsScenario final : public sim::Scenario {
 public:
  std::string set_up(sim::Machine& machine, sim::Random& random) override {
    shape_ = {};
    shape_.on = true;
    shape_.log_items = random.below(4);
    shape_.log_segments = random.below(4);
    shape_.wait = random.below(2) * random.below(4);
    if (shape_.wait == 0) shape_.wait_us = random.below(2) * random.below(200);
    const lane_t senders = 1 + random.below(3), receivers = 1 + random.below(3);
    n_items_ = 3 + random.below(random.below(4) == 0 ? 48 : 18);
    batch_ = 1 + random.below(4);
    desk_ = 1 + random.below(20);
    items_.assign(shape_.capacity(), Item{0xFFFFFFFFu, 0, 0});
    starts_.assign(shape_.segments(), SegmentStart{});
    ends_.assign(shape_.segments(), SegmentEnd{});
    send_.tail.store(0);
    send_.credits.store(static_cast<std::int64_t>(shape_.capacity()));
    send_.messages.store(0);
    receive_.drain.store(0);
    for (auto& read : receive_.read) read.store(0);
    note_.assign(n_items_, 0);
    times_received_.assign(n_items_, 0);
    next_ = received_ = 0;

    machine.name(items_.data(), sizeof items_[0], items_.size(), "item");
    machine.name(&send_.tail, 8, 1, "tail");
    machine.name(&send_.credits, 8, 1, "credits");
    for (ticket_t s = 0; s < shape_.segments(); ++s) {
      const std::string of = "segment" + std::to_string(s) + ".";
      machine.name(&starts_[s].filled, 8, 1, of + "filled");
      machine.name(&starts_[s].told, 8, 1, of + "told");
      machine.name(&starts_[s].home, 8, 1, of + "home");
      machine.name(&ends_[s].written, 8, 1, of + "written");
      machine.name(&ends_[s].claimed, 8, 1, of + "claimed");
      machine.name(&ends_[s].read, 8, 1, of + "read");
    }
    machine.name(&starts_[0].granted, 8, 1, "granted");
    machine.name(&ends_[0].oldest, 8, 1, "oldest");
    machine.name(note_.data(), 4, n_items_, "note");
    for (lane_t w = 0; w < senders; ++w) machine.add_worker(0, [this] { send(); });
    for (lane_t w = 0; w < receivers; ++w) machine.add_worker(1, [this, w] { receive(w); });
    return std::to_string(shape_.segments()) + " segments of " + std::to_string(shape_.items()) + ", wait " +
           std::to_string(shape_.wait) + ", " + std::to_string(shape_.wait_us) + " steps, " + std::to_string(senders) +
           " senders, " + std::to_string(receivers) + " receivers, " + std::to_string(n_items_) + " items, sent " +
           std::to_string(batch_) + " and received " + std::to_string(desk_) + " at once";
  }

  std::string judge() override {
    for (std::uint32_t i = 0; i < n_items_; ++i) {
      if (times_received_[i] != 1) {
        return "item " + std::to_string(i) + " was received " + std::to_string(times_received_[i]) + " times";
      }
    }
    if (send_.tail.load() != n_items_ || receive_.head() != n_items_) return "head or tail is not the item count";
    if (receive_.unread() != 0) return std::to_string(receive_.unread()) + " items were claimed and not read";
    // Every segment that was filled has been given back, and is a credit or will become one.
    ticket_t home = 0, filled = 0;
    for (const SegmentStart& start : starts_) home += start.home.load(), filled += start.filled.load();
    if (filled != n_items_) return "the segments count " + std::to_string(filled) + " items";
    if (home != n_items_ >> shape_.log_items) return std::to_string(home) + " segments were given back";
    const ticket_t credits = shape_.capacity() + (starts_[0].granted.load() << shape_.log_items) - n_items_;
    if (send_.credits.load() != static_cast<std::int64_t>(credits)) {
      return "credits were lost or made: there are " + std::to_string(send_.credits.load());
    }
    return send_.messages.load() > n_items_ ? "more messages than items" : "";
  }

  unsigned expected_steps() const override { return 400; }
  std::uint64_t max_steps() const override { return 30000; }

 private:
  // next_, received_ and times_received_ are for judge() only; they are not part of the simulated memory.
  void send() {
    const SegmentSender<Item> queue{ends_.data(), items_.data(), starts_.data(), &send_, shape_};
    std::array<std::uint32_t, 8> spill{};
    lane_t n_spill = 0;
    while (next_ < n_items_ || n_spill > 0) {
      while (n_spill < batch_ && next_ < n_items_) spill[n_spill++] = next_++;
      const Tickets t = queue.reserve(n_spill);
      if (t.count > n_spill) sim::fail("reserve gave more tickets than were wanted");
      for (lane_t i = 0; i < t.count; i += 2) {  // two items at once, as a lane of a warp does
        const bool now[2] = {true, i + 1 < t.count};
        const ticket_t ticket[2] = {t.first + i, t.first + i + 1};
        Item item[2]{};
        for (int k = 0; k < 2; ++k) {
          if (!now[k]) continue;
          item[k].number = spill[--n_spill];
          item[k].check = item[k].number ^ kSalt;
          plain_write(note_[item[k].number], item[k].check);
        }
        queue.put_some(now, ticket, item);
      }
      if (t.count > 0) queue.publish(transport_, 1, t);
      if (t.count == 0) {
        if (queue.has_credits()) continue;
        if (shape_.puts_off()) queue.offer(transport_, 1);
        sim::yield();
      }
    }
    // A message that waits for the clock is not sent by the first offer, so the sender offers again and again.
    while (shape_.puts_off() && queue.offer(transport_, 1) && shape_.wait_us > 0 && received_ < n_items_) sim::yield();
  }

  void receive(lane_t turn) {
    const SegmentReceiver<Item> queue{ends_.data(), items_.data(), starts_.data(), &receive_, shape_};
    const lane_t looks = static_cast<lane_t>(shape_.segments() < 4 ? shape_.segments() : 4);
    while (received_ < n_items_) {
      ticket_t segment = 0;
      bool found = false;
      for (lane_t i = 0; i < looks && !found; ++i) found = queue.waiting((turn + i) % looks, segment);
      std::array<Item, 20> items{};
      const SegmentClaim claim =
          found ? queue.claim_arrived<2>(sim::SimThread{}, segment, items.data(), desk_) : SegmentClaim{};
      if (claim.count == 0) {
        sim::yield();
        continue;
      }
      queue.give_back(transport_, 0, claim);
      for (lane_t i = 0; i < claim.count; ++i) judge_item(items[i]);
    }
  }

  void judge_item(const Item& item) {
    if (item.number >= n_items_ || item.check != (item.number ^ kSalt)) {
      sim::fail("received " + std::to_string(item.number) + ", which nobody sent");
    }
    if (plain_read(note_[item.number]) != item.check) sim::fail("what the sender wrote before is not there");
    if (++times_received_[item.number] > 1) sim::fail("item " + std::to_string(item.number) + " was received twice");
    ++received_;
  }

  DirectTransport transport_;
  SegmentShape shape_;
  std::vector<Item> items_;
  std::vector<SegmentStart> starts_;
  std::vector<SegmentEnd> ends_;
  ChannelSendCounters send_{};
  ChannelReceiveCounters receive_{};
  std::uint32_t n_items_ = 0, next_ = 0, received_ = 0;
  std::vector<std::uint32_t> note_;  ///< [n_items_] plain data, written before the item is sent
  lane_t batch_ = 1;                 ///< items that a sender offers at once
  lane_t desk_ = 1;                  ///< items that a receiver takes at once
  std::vector<int> times_received_;
};

}  // namespace

int main(int argc, char** argv) {
  SegmentsScenario scenario;
  return shoal::sim::run_scenario("segments", scenario, argc, argv);
}
