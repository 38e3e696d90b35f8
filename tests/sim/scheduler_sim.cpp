// The shipped worklist, scheduler and quiescence detection: several PEs with several workers each, tiny capacities, and a
// random tree of items.
//
// When item n runs, it pushes its children. judge() knows which items must be judged and which must be run: each exactly once,
// none is left, and everything that tasks wrote is visible to every worker when it leaves. If the case has too little spill,
// the run may end as worklist_full; even then no item is run twice, and no item is run that was not pushed.
#include <algorithm>
#include <set>
#include <utility>

#include "worklist_bed.hpp"

namespace {

using namespace shoal;
constexpr std::uint32_t kSalt = 0x7A5C0000u;

/// 8 bytes: a slot is read and written by one access.
struct Small {
  std::uint32_t node, check;
};
/// Larger: the sequence of a slot is accessed separately.
struct Large {
  std::uint32_t node, check, more;
};

/// The data that judge() checks. Only `note` is part of the simulated memory.
struct Tree {
  struct Node {
    pe_t owner = 0;
    std::vector<std::uint32_t> children;
    bool dropped = false, stale = false;  ///< the answers of the task for this node
    bool refused = false;                 ///< not promising, for tasks that look; or not worth sending
    bool judge = false, run = false;      ///< whether it must be judged, and run
    int judged = 0, ran = 0;
  };
  std::vector<Node> nodes;
  bool looks = true;                                   ///< BedShape::looks
  std::set<std::pair<pe_t, std::uint32_t>> refreshed;  ///< PE and part
  std::vector<std::uint32_t>
      note;  ///< [2 * nodes] plain data: written by the pusher and by accept, read by the worker that runs the item
};

/// The common members of the tasks below, which differ in how they push.
/// @tparam kLooksBack  judging and running an item read what was written before the item was pushed
template <class ItemT, bool kLooksBack>
struct TreeTask {
  static constexpr bool kAnyOrder = true;
  using Item = ItemT;
  Tree* tree = nullptr;
  pe_t me = 0;

  Tree::Node& at(const Item& item) const {
    if (item.node >= tree->nodes.size() || item.check != (item.node ^ kSalt)) {
      sim::fail("an item that nobody pushed: " + std::to_string(item.node));
    }
    return tree->nodes[item.node];
  }
  Item make_item(std::uint32_t child) const {
    if constexpr (kLooksBack) plain_write(tree->note[2 * child], child + 1);
    Item item{};
    item.node = child;
    item.check = child ^ kSalt;
    return item;
  }
  pe_t owner(const Item& item) const { return at(item).owner; }
  bool owns(pe_t pe, const Item& item) const { return at(item).owner == pe; }
  bool accept(const Item& item) const {
    Tree::Node& node = at(item);
    if (node.owner != me) sim::fail("item " + std::to_string(item.node) + " was judged by another PE");
    if (++node.judged > 1) sim::fail("item " + std::to_string(item.node) + " was judged twice");
    if (kLooksBack && plain_read(tree->note[2 * item.node]) != item.node + 1) {
      sim::fail("what the pusher wrote is not there");
    }
    plain_write(tree->note[2 * item.node + 1], item.node + 1);
    return !node.dropped;
  }
  bool stale(const Item& item) const { return at(item).stale; }
  void runs(const Item& item) const {
    Tree::Node& node = at(item);
    if (node.owner != me) sim::fail("item " + std::to_string(item.node) + " was run by another PE");
    if (node.dropped || node.stale) sim::fail("item " + std::to_string(item.node) + " was run though it was refused");
    if (kLooksBack && plain_read(tree->note[2 * item.node + 1]) != item.node + 1) {
      sim::fail("what accept wrote is not there");
    }
  }
};

/// Pushes by range and make. range() is also called for stale items, and, if the task is self-contained, by several lanes for one item. Then
/// a second run shows in children that are judged twice, and in the count of runs.
template <bool kLooksBack>
struct FanOut : TreeTask<Small, kLooksBack> {
  using Item = Small;
  static constexpr bool kSelfContained = !kLooksBack;
  static constexpr const char* kName = kLooksBack ? "fan-out" : "self-contained";
  Span<const std::uint32_t> range(const Item& item) const {
    Tree::Node& node = this->at(item);
    if (!node.stale) {
      this->runs(item);
      if (++node.ran > 1 && kLooksBack) sim::fail("item " + std::to_string(item.node) + " was run twice");
      node.ran = 1;
    }
    return {node.children.data(), static_cast<std::int64_t>(node.children.size())};
  }
  Item make(const Item&, std::uint32_t child) const { return this->make_item(child); }
};

/// The same, and pushers look first at the items that they own; with kKnowsOthers, at those of other PEs, too.
template <bool kOthers>
struct Sifted : FanOut<false> {
  static constexpr bool kRefusesMost = true;
  static constexpr bool kKnowsOthers = kOthers;
  static constexpr const char* kName = kOthers ? "sifted" : "sifted, others unknown";
  bool look(bool asks, const Item& item) const {
    if (!asks) return false;
    if (!kOthers && this->at(item).owner != this->me) sim::fail("the pusher looked at an item of another PE");
    return !this->at(item).refused;
  }
  bool promising(const Item&, bool look) const { return look; }
  bool accept(const Item& item) const {
    if (!this->tree->looks && this->at(item).refused) return false;  // in place of promising()
    return FanOut<false>::accept(item);
  }
};

/// The same, and learns what other PEs know.
struct Refreshed : Sifted<true> {
  static constexpr const char* kName = "sifted and refreshed";
  template <class W>
  void refresh(const W& w, pe_t pe, std::uint32_t part) const {
    if (pe != me) sim::fail("a PE refreshed what another PE remembers");
    if (w.any(part != w.from_leader(part))) sim::fail("the lanes of a worker refresh different parts");
    if (w.lane() == 0 && !tree->refreshed.insert({pe, part}).second) sim::fail("a part was refreshed twice");
  }
};

/// Nobody looks first.
struct Unlooked : FanOut<false> {
  static constexpr bool kRefusesMost = true;
};

/// The same as Base, but judged in two steps, by the pusher if the run says so.
template <class Base>
struct Asked : Base {
  static constexpr const char* kName = LooksFirst<Base> ? "sifted and asked" : "sifted by answer";
  using Item = Small;
  using Answer = bool;
  Answer ask(bool asks, const Item& item) const { return asks && this->accept(item); }
  Answer ask_at(bool asks, pe_t pe, const Item& item) const {
    Asked its = *this;
    its.me = pe;
    return its.ask(asks, item);
  }
  bool accepts(const Item&, Answer answer) const { return answer; }
  std::uint32_t locate(bool asks, const Item& item) const {
    if (!asks) return 0;
    if (this->at(item).owner != this->me) sim::fail("the place of an item of another PE was looked up");
    return item.node + 1;
  }
  void prefetch(bool accepted, const Item& item, std::uint32_t place) const {
    if (!accepted) return;
    if (place != item.node + 1) sim::fail("data was fetched from a place that was not looked up");
    if (this->at(item).dropped || this->at(item).judged == 0) sim::fail("data of a refused item was fetched");
  }
};

/// Judged in two steps; for an item of another PE the first says whether the item is worth sending.
struct SiftedByWorth : Asked<Unlooked> {
  static constexpr const char* kName = "sifted by worth";
  Answer ask(bool asks, const Item& item) const {
    if (!asks) return false;
    return at(item).owner == me ? accept(item) : !at(item).refused;
  }
  bool worth_sending(const Item&, Answer answer) const { return answer; }
  Answer ask_at(bool asks, pe_t pe, const Item& item) const {
    if (asks && at(item).refused) sim::fail("item " + std::to_string(item.node) + " is not worth sending");
    return Asked::ask_at(asks, pe, item);
  }
};

/// Pushes in operator(): some children one by one, the rest as a range.
struct ByHand : TreeTask<Large, true> {
  static constexpr const char* kName = "by hand";
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

template <class TaskT>
class SchedulerScenario final : public sim::Scenario {
 public:
  using Item = typename TaskT::Item;

  std::string set_up(sim::Machine& machine, sim::Random& random) override {
    sim::BedShape& shape = bed_.shape;
    shape.draw(random);
    shape.judge_remote = HasRemoteJudge<TaskT> && random.below(2) == 0;
    scarce_ = random.below(8) == 0;
    grow_tree(random);
    // An item has left its queue when it pushes its children, so no more items wait at the same time than the tree has leaves.
    const auto leaves =
        std::count_if(tree_.nodes.begin(), tree_.nodes.end(), [](const auto& node) { return node.children.empty(); });
    const auto enough = shape.workers + static_cast<std::uint32_t>(leaves) / sim::kChunkItems;
    shape.chunks = scarce_ ? random.below(enough) : enough;
    bed_.prepare(machine);
    machine.name(tree_.note.data(), 4, tree_.note.size(), "note");
    add_workers(machine);
    return shape.text() + (shape.judge_remote ? ", judged by the pusher" : "") + ", " + TaskT::kName + ", " +
           std::to_string(tree_.nodes.size()) + " items";
  }

  bool again(sim::Machine& machine) override { return bed_.next_round(machine); }

  std::string judge() override {
    const RunState state = bed_.ended();
    if (state == RunState::worklist_full && scarce_) return {};
    if (state != RunState::done) return "the run ended in state " + std::to_string(static_cast<int>(state));
    if (std::string wrong = sim::treated_wrongly(tree_.nodes); !wrong.empty()) return wrong;
    const auto ran = std::count_if(tree_.nodes.begin(), tree_.nodes.end(), [](const auto& node) { return node.run; });
    if (bed_.runs() != ran)
      return std::to_string(ran) + " items ran, and " + std::to_string(bed_.runs()) + " were counted";
    return bed_.judge();
  }

  unsigned expected_steps() const override { return 1500; }
  std::uint64_t max_steps() const override { return 1000000; }

 private:
  void grow_tree(sim::Random& random) {
    const std::uint32_t n = 1 + random.below(random.below(4) == 0 ? 60 : 16), shape = random.below(4);
    tree_.nodes.assign(n, {});
    tree_.note.assign(2 * n, 0);
    tree_.refreshed.clear();
    tree_.looks = bed_.shape.looks;
    for (auto& seeds : bed_.seeds) seeds.clear();
    // None is legal. In a discrete run with many, some are left for later rounds.
    const std::uint32_t n_seeds = random.below(std::min(n + 1, bed_.shape.discrete ? 16u : 4u));
    const auto pes = static_cast<std::uint32_t>(bed_.shape.n_pes);
    for (std::uint32_t i = 0; i < n; ++i) {
      Tree::Node& node = tree_.nodes[i];
      node.owner = static_cast<pe_t>(random.below(pes));
      node.dropped = random.below(10) == 0;
      node.stale = random.below(10) == 0;
      node.refused = (LooksFirst<TaskT> || HasWorthOfAnswer<TaskT>)&&random.below(3) == 0;
      if (i < n_seeds) {  // a seed may start on any PE
        const std::uint32_t start = random.below(pes);
        bed_.seeds[start].push_back(seed_item(i));
        if (HasWorthOfAnswer<TaskT>) node.refused = node.refused && start != static_cast<std::uint32_t>(node.owner);
        tree_.note[2 * i] = i + 1;
        node.judge = !node.refused;
      } else if (i > 0) {
        const std::uint32_t parent = shape == 0 ? i - 1 : shape == 1 ? 0 : random.below(i);
        tree_.nodes[parent].children.push_back(i);
        // A parent runs on its owner, and what that PE owns as well does not travel.
        if (HasWorthOfAnswer<TaskT>) node.refused = node.refused && tree_.nodes[parent].owner != node.owner;
        node.judge = tree_.nodes[parent].run && !node.refused;
      }
      node.run = node.judge && !node.dropped && !node.stale;
    }
  }

  static Item seed_item(std::uint32_t i) {
    Item item{};
    item.node = i;
    item.check = i ^ kSalt;
    return item;
  }

  void add_workers(sim::Machine& machine) {
    const auto task_of = [this](pe_t p) {
      TaskT task;
      task.tree = &tree_;
      task.me = p;
      return task;
    };
    bed_.template add_workers<TaskT>(machine, task_of, [this] {
      for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
        if (tree_.nodes[i].judged > 0 && plain_read(tree_.note[2 * i + 1]) != i + 1) sim::fail("a result is missing");
      }
    });
  }

  Tree tree_;
  bool scarce_ = false;
  sim::WorklistBed<Item> bed_;
};

}  // namespace

int main(int argc, char** argv) {
  shoal::sim::OneOf<SchedulerScenario<FanOut<true>>, SchedulerScenario<ByHand>, SchedulerScenario<FanOut<false>>,
                    SchedulerScenario<Sifted<false>>, SchedulerScenario<Refreshed>,
                    SchedulerScenario<Asked<Sifted<true>>>, SchedulerScenario<Asked<Unlooked>>,
                    SchedulerScenario<SiftedByWorth>>
      scenario;
  return shoal::sim::run_scenario("scheduler", scenario, argc, argv);
}
