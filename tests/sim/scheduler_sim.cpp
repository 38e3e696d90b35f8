// The shipped worklist, scheduler and quiescence: several PEs, several workers each, tiny capacities, a random tree of items.
//
// Running item n pushes its children. The judge knows which items must be judged and which must be run: each exactly once,
// none left, and everything the tasks wrote is visible to every worker when it leaves. If the spill is made too small the
// run may end as worklist_full, but then too nothing is run twice and nothing is run that nobody pushed.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "harness.hpp"
#include "lanes.hpp"
#include "shoal/runtime/schedule.hpp"
#include "shoal/transport/direct.hpp"

namespace {

using namespace shoal;
constexpr std::uint32_t kSalt = 0x7A5C0000u;
constexpr lane_t kDesk = 5;  // items: the most that any of the workers takes at once

struct Item {
  std::uint32_t node, check;
};

/// What the run is judged by. Not part of the simulated memory, but for `note`.
struct Tree {
  struct Node {
    pe_t owner = 0;
    std::vector<std::uint32_t> children;
    bool dropped = false, stale = false;  ///< what the task says of it
    bool judge = false, run = false;      ///< what must happen to it
    int judged = 0, ran = 0;
  };
  std::vector<Node> nodes;
  std::vector<std::uint32_t>
      note;  ///< [2 * nodes] plain data: written by the pusher and by accept, read by whoever runs it
};

/// The four members; `Base` tasks differ in how they push.
struct TreeTask {
  using Item = ::Item;
  Tree* tree = nullptr;
  pe_t me = 0;

  Tree::Node& at(const Item& item) const {
    if (item.node >= tree->nodes.size() || item.check != (item.node ^ kSalt)) {
      sim::fail("an item that nobody pushed: " + std::to_string(item.node));
    }
    return tree->nodes[item.node];
  }
  Item make_item(std::uint32_t child) const {
    plain_write(tree->note[2 * child], child + 1);
    return {child, child ^ kSalt};
  }
  pe_t owner(const Item& item) const { return at(item).owner; }
  bool accept(const Item& item) const {
    Tree::Node& node = at(item);
    if (node.owner != me) sim::fail("item " + std::to_string(item.node) + " was judged by another PE");
    if (++node.judged > 1) sim::fail("item " + std::to_string(item.node) + " was judged twice");
    if (plain_read(tree->note[2 * item.node]) != item.node + 1) sim::fail("what the pusher wrote is not there");
    plain_write(tree->note[2 * item.node + 1], item.node + 1);
    return !node.dropped;
  }
  bool stale(const Item& item) const { return at(item).stale; }
  void runs(const Item& item) const {
    Tree::Node& node = at(item);
    if (node.owner != me) sim::fail("item " + std::to_string(item.node) + " was run by another PE");
    if (node.dropped || node.stale) sim::fail("item " + std::to_string(item.node) + " was run though it was refused");
    if (plain_read(tree->note[2 * item.node + 1]) != item.node + 1) sim::fail("what accept wrote is not there");
  }
};

/// Pushes by range and make. range() is also asked of stale items, so running is counted in make and for leaves in range.
struct FanOutTree : TreeTask {
  Span<const std::uint32_t> range(const Item& item) const {
    Tree::Node& node = at(item);
    if (!node.stale) {
      runs(item);
      if (++node.ran > 1) sim::fail("item " + std::to_string(item.node) + " was run twice");
    }
    return {node.children.data(), static_cast<std::int64_t>(node.children.size())};
  }
  Item make(const Item&, std::uint32_t child) const { return make_item(child); }
};

/// Pushes by hand: some children one by one, the rest as a range.
struct HandTree : TreeTask {
  template <class W, class O>
  void operator()(const W& w, const Item& item, O& out) const {
    Tree::Node& node = at(item);
    if (w.lane() == 0) {
      runs(item);
      if (++node.ran > 1) sim::fail("item " + std::to_string(item.node) + " was run twice");
    }
    const auto n = static_cast<std::int64_t>(node.children.size());
    const std::int64_t single = n / 3;
    for (std::int64_t i = 0; i < single; ++i) {
      Item child{};
      if (w.lane() == 0) child = make_item(node.children[i]);
      child.node = w.from_leader(child.node);
      child.check = w.from_leader(child.check);
      out.push(w, child);
    }
    out.push_each(w, Span<const std::uint32_t>{node.children.data() + single, n - single},
                  [&](std::uint32_t child) { return make_item(child); });
  }
};

class SchedulerScenario final : public sim::Scenario {
 public:
  SchedulerScenario() {
    for (auto& control : control_) control = std::make_unique<PeControl>();
  }

  std::string set_up(sim::Machine& machine, sim::Random& random) override {
    n_pes_ = 1 + static_cast<pe_t>(random.below(3));
    kind_ = random.below(4);
    const bool fan_out = random.below(2) == 0;
    lanes_ = kind_ == 2 ? 2 : kind_ == 3 ? 3 : 1;
    workers_ = 1 + random.below(lanes_ == 1 ? 3 : 2);
    while (static_cast<lane_t>(n_pes_) * workers_ * lanes_ > sim::kMaxWorkers) --workers_;
    fetch_ = 1 + random.below(kind_ == 0 ? sim::SimThread::kMaxFetch : lanes_);
    capacity_ = ticket_t{2} << random.below(3);
    channel_capacity_ = ticket_t{1} << random.below(4);
    advance_ = random.below(3);
    scarce_ = random.below(8) == 0;
    chunks_ = scarce_ ? random.below(workers_) : workers_;  // one each is enough: fewer items than a chunk
    grow_tree(random);
    for (pe_t p = 0; p < n_pes_; ++p) prepare(machine, random, p);
    discrete_ = random.below(4) == 0;
    rounds_ = 0;
    for (pe_t p = 0; p < n_pes_; ++p) limit_[p] = 0;
    for (pe_t p = 0; p < n_pes_; ++p) pe_[p].lists.assign(workers_, SpillList{});
    add_workers_ =
        fan_out ? &SchedulerScenario::add_workers_of<FanOutTree> : &SchedulerScenario::add_workers_of<HandTree>;
    (this->*add_workers_)(machine);
    static const char* const kinds[] = {"threads", "ticket holders", "two lanes", "three lanes"};
    return std::to_string(n_pes_) + " PEs, each " + std::to_string(workers_) + " workers (" + kinds[kind_] +
           "), fetch " + std::to_string(fetch_) + ", ring " + std::to_string(capacity_) + ", channels " +
           std::to_string(channel_capacity_) + ", spill chunks " + std::to_string(chunks_) +
           (fan_out ? ", fan-out" : ", by hand") + (discrete_ ? ", discrete" : ", persistent") + ", " +
           std::to_string(tree_.nodes.size()) + " items";
  }

  /// Discrete runs: what the host does between two rounds (runtime/launch_cpu.hpp).
  bool again(sim::Machine& machine) override {
    if (!discrete_ || control_[0]->state.load() != 0) return false;
    std::uint64_t created = 0, completed = 0;
    for (pe_t p = 0; p < n_pes_; ++p) {
      PeControl& c = *control_[p];
      created += c.entered.load() + c.ring.tail.load();
      for (pe_t q = 0; q < n_pes_; ++q) created += c.send[q].tail.load();
      completed += c.completed.load();
    }
    if (created == completed || ++rounds_ > 400) return false;
    for (pe_t p = 0; p < n_pes_; ++p) {
      control_[p]->ring.head.store(limit_[p]);  // tickets claimed beyond the limit go back
      limit_[p] = control_[p]->ring.tail.load();
    }
    machine.clear_workers();
    (this->*add_workers_)(machine);
    return true;
  }

  std::string judge() override {
    if (rounds_ > 400) return "no end after 400 rounds";
    for (pe_t p = 0; p < n_pes_; ++p) {
      const auto state = static_cast<RunState>(control_[p]->state.load());
      if (state == (discrete_ ? RunState::running : RunState::done)) continue;
      if (state == RunState::worklist_full && scarce_) return {};
      return "PE " + std::to_string(p) + " ended in state " + std::to_string(static_cast<int>(state));
    }
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      const Tree::Node& node = tree_.nodes[i];
      if (node.judged != node.judge || node.ran != node.run) {
        return "item " + std::to_string(i) + " was judged " + std::to_string(node.judged) + " times and run " +
               std::to_string(node.ran) + " times; right would be " + std::to_string(node.judge) + " and " +
               std::to_string(node.run);
      }
    }
    for (pe_t p = 0; p < n_pes_; ++p) {
      const auto room = control_[p]->ring.room.load();
      if (room != static_cast<std::int64_t>(capacity_)) {
        return "ring credits of PE " + std::to_string(p) + " were lost or made: " + std::to_string(room);
      }
      const auto free = control_[p]->spill_free.tail.load() - control_[p]->spill_free.head.load();
      if (free != chunks_)
        return "spill chunks of PE " + std::to_string(p) + " were lost: " + std::to_string(free) + " left";
    }
    return {};
  }

  unsigned expected_steps() const override { return 1500; }
  std::uint64_t max_steps() const override { return 1000000; }

 private:
  struct Pe {
    std::vector<Slot<Item>> ring;
    std::vector<SpillChunk<Item>> chunks;
    std::vector<Slot<std::uint32_t>> free;
    std::vector<RemoteSlot<Item>> inbox[3];
    std::vector<Item> seeds;
    std::vector<SpillList> lists;
    std::vector<std::vector<Item>> desks;
    std::vector<std::vector<Span<const std::uint32_t>>> ranges;
    std::vector<std::vector<lane_t>> starts;
    std::vector<sim::Meeting<2>> two;
    std::vector<sim::Meeting<3>> three;
  };

  void grow_tree(sim::Random& random) {
    const std::uint32_t n = 1 + random.below(random.below(4) == 0 ? 60 : 16), shape = random.below(4);
    tree_.nodes.assign(n, {});
    tree_.note.assign(2 * n, 0);
    const std::uint32_t n_seeds = random.below(std::min(n + 1, 4u));  // none is legal
    n_seeds_ = n_seeds;
    for (std::uint32_t i = 0; i < n; ++i) {
      Tree::Node& node = tree_.nodes[i];
      node.owner = static_cast<pe_t>(random.below(static_cast<std::uint32_t>(n_pes_)));
      node.dropped = random.below(10) == 0;
      node.stale = random.below(10) == 0;
      if (i >= n_seeds && i > 0) {
        const std::uint32_t parent = shape == 0 ? i - 1 : shape == 1 ? 0 : random.below(i);
        tree_.nodes[parent].children.push_back(i);
        node.judge = tree_.nodes[parent].run;
      } else {
        node.judge = i < n_seeds;
      }
      node.run = node.judge && !node.dropped && !node.stale;
    }
  }

  void prepare(sim::Machine& machine, sim::Random& random, pe_t p) {
    PeControl& control = *control_[p];
    Pe& pe = pe_[p];
    pe.seeds.clear();
    for (std::uint32_t i = 0; i < n_seeds_; ++i) {  // a seed may start on any PE
      if (seed_pe_.size() <= i) seed_pe_.resize(i + 1);
      if (p == 0) seed_pe_[i] = static_cast<pe_t>(random.below(static_cast<std::uint32_t>(n_pes_)));
      if (seed_pe_[i] == p) pe.seeds.push_back({i, i ^ kSalt}), tree_.note[2 * i] = i + 1;
    }
    control.state.store(0);
    control.completed.store(0);
    control.entered.store(pe.seeds.size());
    control.seeds_taken.store(0);
    for (auto& word : control.tally) word.store(0);
    pe.ring.assign(capacity_, Slot<Item>{{}, {~0u, 0}});
    control.ring.tail.store(0);
    control.ring.head.store(0);
    control.ring.room.store(static_cast<std::int64_t>(capacity_));
    for (ticket_t i = 0; i < capacity_; ++i) pe.ring[i].sequence.store(i);
    pe.chunks.assign(chunks_, {});
    pe.free.assign(32, {});
    control.spill_free.tail.store(chunks_);
    control.spill_free.head.store(0);
    control.spill_free.room.store(static_cast<std::int64_t>(pe.free.size()) - chunks_);
    for (std::uint32_t i = 0; i < pe.free.size(); ++i) {
      pe.free[i].sequence.store(i < chunks_ ? i + 1 : i);
      pe.free[i].value = i;
    }
    for (pe_t q = 0; q < n_pes_; ++q) {
      control.send[q].tail.store(0);
      control.send[q].room.store(static_cast<std::int64_t>(channel_capacity_));
      control.send[q].messages.store(0);
      control.receive[q].drain.store(0);
      pe.inbox[q].assign(channel_capacity_, RemoteSlot<Item>{{}, {~0u, 0}});
    }
    pe.desks.assign(workers_, std::vector<Item>(kDesk, Item{~0u, 0}));
    pe.ranges.assign(workers_, std::vector<Span<const std::uint32_t>>(lanes_));
    pe.starts.assign(workers_, std::vector<lane_t>(lanes_));
    pe.two.assign(workers_, {});
    pe.three.assign(workers_, {});
    name(machine, p);
  }

  void name(sim::Machine& machine, pe_t p) {
    PeControl& c = *control_[p];
    Pe& pe = pe_[p];
    const std::string at = "PE" + std::to_string(p) + ".";
    machine.name(&c.state, 8, 1, at + "state");
    machine.name(&c.completed, 8, 1, at + "completed");
    machine.name(&c.entered, 8, 1, at + "entered");
    machine.name(&c.ring.tail, 8, 1, at + "ring.tail");
    machine.name(&c.ring.head, 8, 1, at + "ring.head");
    machine.name(&c.ring.room, 8, 1, at + "ring.room");
    machine.name(&c.spill_free.tail, 8, 1, at + "free.tail");
    machine.name(&c.spill_free.head, 8, 1, at + "free.head");
    machine.name(&c.spill_free.room, 8, 1, at + "free.room");
    machine.name(pe.ring.data(), sizeof pe.ring[0], pe.ring.size(), at + "ring.slot");
    machine.name(pe.free.data(), sizeof pe.free[0], pe.free.size(), at + "free.slot");
    for (pe_t q = 0; q < n_pes_; ++q) {
      const std::string to = "channel" + std::to_string(p) + std::to_string(q) + ".";
      const std::string from = "channel" + std::to_string(q) + std::to_string(p) + ".";
      machine.name(&c.send[q].tail, 8, 1, to + "tail");
      machine.name(&c.send[q].room, 8, 1, to + "room");
      machine.name(&c.receive[q].drain, 8, 1, from + "drain");
      machine.name(pe.inbox[q].data(), sizeof pe.inbox[q][0], pe.inbox[q].size(), from + "slot");
    }
    machine.name(c.tally, sizeof c.tally[0], sizeof c.tally / sizeof c.tally[0], at + "tally");
    if (p == 0) machine.name(tree_.note.data(), 4, tree_.note.size(), "note");
  }

  template <class TaskT>
  void add_workers_of(sim::Machine& machine) {
    auto views = std::make_shared<std::vector<WorklistView<TaskT, DirectTransport>>>(n_pes_);
    for (pe_t p = 0; p < n_pes_; ++p) {
      auto& view = (*views)[p];
      Pe& pe = pe_[p];
      view.task.tree = &tree_;
      view.task.me = view.me = p;
      view.n_pes = n_pes_;
      for (pe_t q = 0; q < n_pes_; ++q) {
        view.control[q] = control_[q].get();
        view.outbox[q] = pe_[q].inbox[p].data();
        view.inbox[q] = pe.inbox[q].data();
      }
      view.ring = {pe.ring.data(), capacity_, &control_[p]->ring};
      view.ring.advance = advance_;
      view.spill.near = pe.chunks.data();
      view.spill.near_chunks = chunks_;
      view.spill.free = {pe.free.data(), pe.free.size(), &control_[p]->spill_free};
      view.channel_capacity = channel_capacity_;
      view.seeds = pe.seeds.data();
      view.n_seeds = pe.seeds.size();
    }
    for (pe_t p = 0; p < n_pes_; ++p) {
      for (lane_t w = 0; w < workers_; ++w) {
        for (lane_t lane = 0; lane < lanes_; ++lane) {
          machine.add_worker(p, [this, views, p, w, lane] {
            const auto& view = (*views)[p];
            if (kind_ == 0) work(sim::SimThread{}, view, w);
            if (kind_ == 1) work(sim::SimHolder{}, view, w);
            if (kind_ == 2) work(sim::SimLane<2>(pe_[p].two[w], lane), view, w);
            if (kind_ == 3) work(sim::SimLane<3>(pe_[p].three[w], lane), view, w);
          });
        }
      }
    }
  }

  template <class W, class View>
  void work(const W& w, const View& view, lane_t index) {
    Pe& pe = pe_[view.me];
    using Range = typename RangeOf<typename View::Task>::Type;
    Range* range = nullptr;
    if constexpr (FanOutTask<typename View::Task>) range = pe.ranges[index].data();
    Scheduler<W, View> scheduler(
        w, view, pe.lists[index],
        Desk<typename View::Task>{pe.desks[index].data(), kDesk, range, pe.starts[index].data()}, fetch_, index);
    if (discrete_) {
      scheduler.run_round(limit_[view.me]);
      if (w.lane() == 0) pe.lists[index] = scheduler.out().list();
      return;
    }
    scheduler.run_persistent();
    if (control_[view.me]->state.load() != static_cast<std::uint32_t>(RunState::done)) return;
    if (scheduler.out().list().top != kNoChunk) sim::fail("the run ended while this worker had items in its spill");
    if (scheduler.out().hand().has) sim::fail("the run ended while this worker had an item in its hand");
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      if (tree_.nodes[i].judged > 0 && plain_read(tree_.note[2 * i + 1]) != i + 1) sim::fail("a result is missing");
    }
  }

  pe_t n_pes_ = 1;
  unsigned kind_ = 0;
  lane_t workers_ = 1, lanes_ = 1, fetch_ = 1;
  ticket_t capacity_ = 2, channel_capacity_ = 2;
  lane_t advance_ = 0;
  std::uint32_t chunks_ = 0, n_seeds_ = 0;
  bool scarce_ = false, discrete_ = false;
  int rounds_ = 0;
  ticket_t limit_[3] = {};
  void (SchedulerScenario::*add_workers_)(sim::Machine&) = nullptr;
  Tree tree_;
  std::vector<pe_t> seed_pe_;
  std::unique_ptr<PeControl> control_[3];
  Pe pe_[3];
};

}  // namespace

int main(int argc, char** argv) {
  SchedulerScenario scenario;
  return shoal::sim::run_scenario("scheduler", scenario, argc, argv);
}
