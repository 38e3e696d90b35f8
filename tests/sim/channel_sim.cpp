// The shipped channel (queue/channel.hpp) with the direct transport: workers of PE 0 send, workers of PE 1 drain.
#include <array>
#include <string>
#include <vector>

#include "harness.hpp"
#include "lanes.hpp"
#include "shoal/queue/channel.hpp"
#include "shoal/transport/direct.hpp"

namespace {

using namespace shoal;

constexpr std::uint32_t kSalt = 0xC4A44E11u;

/// 8 bytes: a slot is read and written by one access.
struct Small {
  std::uint32_t number, check;
};
/// Larger: the signal of a slot is accessed separately.
struct Large {
  std::uint32_t number, check, more;
};

/// @tparam kOrders  as in the channel. If false, receivers do not read what the sender wrote before.
template <class Item, bool kOrders>
class ChannelScenario final : public sim::Scenario {
 public:
  std::string set_up(sim::Machine& machine, sim::Random& random) override {
    const ticket_t capacity = ticket_t{1} << random.below(5);  // 1 to 16: credits are given back 1, 2 or 4 at a time
    const lane_t senders = 1 + random.below(3), receivers = 1 + random.below(3);
    n_items_ = 3 + random.below(random.below(4) == 0 ? 48 : 18);
    batch_ = 1 + random.below(4);
    desk_ = 1 + random.below(20);
    slots_.assign(capacity, RemoteSlot<Item>{});
    for (auto& slot : slots_) slot.value.number = 0xFFFFFFFFu;
    send_.tail.store(0);
    send_.credits.store(static_cast<std::int64_t>(capacity));
    send_.messages.store(0);
    receive_.drain.store(0);
    receive_.home.store(0);
    for (auto& read : receive_.read) read.store(0);
    note_.assign(n_items_, 0);
    times_received_.assign(n_items_, 0);
    next_ = received_ = 0;

    machine.name(slots_.data(), sizeof slots_[0], capacity, "slot");
    machine.name(&send_.tail, 8, 1, "tail");
    machine.name(&send_.credits, 8, 1, "credits");
    machine.name(&receive_.drain, 8, 1, "drain");
    machine.name(receive_.read, sizeof receive_.read[0], kMostShares, "read");
    machine.name(&receive_.home, 8, 1, "home");
    machine.name(note_.data(), 4, n_items_, "note");
    for (lane_t w = 0; w < senders; ++w) machine.add_worker(0, [this] { send(); });
    for (lane_t w = 0; w < receivers; ++w) machine.add_worker(1, [this] { receive(); });
    return "capacity " + std::to_string(capacity) + ", " + std::to_string(senders) + " senders, " +
           std::to_string(receivers) + " receivers, " + std::to_string(n_items_) + " items, sent " +
           std::to_string(batch_) + " and received " + std::to_string(desk_) + " at once, items of " +
           std::to_string(sizeof(Item)) + " bytes" + (kOrders ? "" : ", self-contained");
  }

  std::string judge() override {
    for (std::uint32_t i = 0; i < n_items_; ++i) {
      if (times_received_[i] != 1) {
        return "item " + std::to_string(i) + " was received " + std::to_string(times_received_[i]) + " times";
      }
    }
    if (send_.tail.load() != n_items_ || receive_.head() != n_items_) return "head or tail is not the item count";
    const ticket_t kept_back = n_items_ % credit_share(slots_.size());
    if (send_.credits.load() != static_cast<std::int64_t>(slots_.size() - kept_back)) {
      return "credits were lost or made: there are " + std::to_string(send_.credits.load());
    }
    return receive_.unread() != 0 ? std::to_string(receive_.unread()) + " items were claimed and not read" : "";
  }

  unsigned expected_steps() const override { return 300; }
  std::uint64_t max_steps() const override { return 20000; }

 private:
  // next_, received_ and times_received_ are for judge() only; they are not part of the simulated memory.
  void send() {
    const ChannelSender<Item, true, kOrders> channel{slots_.data(), slots_.size(), &send_};
    std::array<std::uint32_t, 8> spill{};
    lane_t n_spill = 0;
    while (next_ < n_items_ || n_spill > 0) {
      while (n_spill < batch_ && next_ < n_items_) spill[n_spill++] = next_++;
      const Tickets t = channel.reserve(n_spill);
      if (t.count > n_spill) sim::fail("reserve gave more tickets than were wanted");
      for (lane_t i = 0; i < t.count; i += 2) {  // two items at once, as a lane of a warp does
        bool now[2] = {true, i + 1 < t.count};
        ticket_t ticket[2] = {t.first + i, t.first + i + 1};
        Item item[2]{};
        for (int k = 0; k < 2; ++k) {
          if (!now[k]) continue;
          item[k].number = spill[--n_spill];
          item[k].check = item[k].number ^ kSalt;
          plain_write(note_[item[k].number], item[k].check);
        }
        channel.put_some(transport_, 1, now, ticket, item);
      }
      if (t.count == 0) sim::yield();
    }
  }

  void receive() {
    const ChannelReceiver<Item, true, kOrders> channel{slots_.data(), slots_.size(), &receive_, &send_.credits};
    while (received_ < n_items_) {
      ticket_t head = 0;
      std::array<Item, 20> items{};
      const Claim claim =
          channel.waiting(head) ? channel.claim_arrived(sim::SimThread{}, head, items.data(), desk_) : Claim{};
      if (claim.count == 0) {
        sim::yield();
        continue;
      }
      channel.give_back(transport_, 0, claim);
      for (lane_t i = 0; i < claim.count; ++i) judge_item(items[claim.skip + i], claim.first_ticket + i);
    }
  }

  void judge_item(const Item& item, ticket_t ticket) {
    if (item.number >= n_items_ || item.check != (item.number ^ kSalt)) {
      sim::fail("ticket " + std::to_string(ticket) + " held " + std::to_string(item.number) + ", which nobody sent");
    }
    if (kOrders && plain_read(note_[item.number]) != item.check) sim::fail("what the sender wrote before is not there");
    if (++times_received_[item.number] > 1) sim::fail("item " + std::to_string(item.number) + " was received twice");
    ++received_;
  }

  DirectTransport transport_;
  std::vector<RemoteSlot<Item>> slots_;
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
  shoal::sim::OneOf<ChannelScenario<Large, true>, ChannelScenario<Small, true>, ChannelScenario<Small, false>> scenario;
  return shoal::sim::run_scenario("channel", scenario, argc, argv);
}
