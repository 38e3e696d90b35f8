// The shipped worklist with priorities, idle, judging by the pusher and combining: phases are ordered at quiescence and carried
// out once by every worker, and the run ends neither too early nor never.
//
// When node n runs, it pushes its children and gives amounts to rows. Some nodes are hidden: accept() only raises a flag, and
// idle() finds the node and either pushes an alias of it or runs it itself. judge() knows which nodes must be judged and which
// must be run, each once, and the sum of every row. No node may run before the threshold has reached its bucket.
#include <cstring>

#include "worklist_bed.hpp"

namespace {

using namespace shoal;
constexpr std::uint32_t kSalt = 0x3C0A0000u, kRows = 5;

enum What : std::uint32_t { kNode, kAlias, kGive };

struct Item {
  std::uint32_t node, what, amount, check;
};
Item item_of(std::uint32_t node, What what, std::uint32_t amount = 0) {
  return {node, what, amount, node ^ kSalt ^ (what << 8)};
}

/// The data that judge() checks. Only the atomic words and `note` are simulated memory.
struct World {
  struct Node {
    pe_t owner = 0;
    std::uint32_t parent = ~0u, priority = 0;
    std::vector<std::uint32_t> children;
    std::vector<Item> gives;
    std::vector<Item> pushes;                               ///< the children's items, and the gives
    std::vector<std::uint32_t> numbers;                     ///< of these: 0, 1, ...
    bool dropped = false, stale = false, withheld = false;  ///< the answers of the task for this node
    bool hidden = false, direct = false;                    ///< found by idle(); and run by idle() itself
    bool judge = false, run = false;                        ///< whether it must be judged, and run
    int judged = 0, ran = 0;
  };
  std::vector<Node> nodes;
  std::vector<std::uint32_t> note;  ///< [2 * nodes] plain data: written by the pusher and by accept
  std::vector<SharedWord<std::uint32_t>> raised, claims, rows;
  std::uint64_t expected_row[kRows] = {};
  const PeControl* control[sim::kBedPes] = {};
  Buckets buckets;

  /// The bucket up to which items of PE `pe` may run, from the newest value of the phase word of that PE.
  lane_t near(pe_t pe) const { return sim::near_on(*control[pe]); }
};

/// The common members of the tasks below, which differ in how they push.
/// @tparam kLooksBack  judging and running an item read what was written before the item was pushed
template <bool kLooksBack>
struct WorldTask {
  using Item = ::Item;
  World* world = nullptr;
  pe_t me = 0, n_pes = 1;

  World::Node& at(const Item& item) const {
    if (item.what > kGive || item.check != (item.node ^ kSalt ^ (item.what << 8)) ||
        item.node >= (item.what == kGive ? kRows : world->nodes.size())) {
      sim::fail("an item that nobody pushed: " + std::to_string(item.node));
    }
    return world->nodes[item.what == kGive ? 0 : item.node];
  }
  pe_t owner(const Item& item) const {
    const World::Node& node = at(item);
    return item.what == kGive ? static_cast<pe_t>(item.node) % n_pes : node.owner;
  }
  using Answer = bool;
  bool ask_at(bool asks, pe_t pe, const Item& item) const { return asks && judge_at(pe, item); }
  bool ask(bool asks, const Item& item) const { return ask_at(asks, me, item); }
  bool accepts(const Item&, bool answer) const { return answer; }
  bool judge_at(pe_t pe, const Item& item) const {
    World::Node& node = at(item);
    if (owner(item) != pe) sim::fail("item " + std::to_string(item.node) + " was judged for another PE");
    if (item.what == kGive) {
      world->rows[item.node].fetch_add(item.amount);
      return false;
    }
    if (item.what == kAlias) return world->claims[item.node].fetch_add(1) == 0;
    if (++node.judged > 1) sim::fail("node " + std::to_string(item.node) + " was judged twice");
    if (kLooksBack && plain_read(world->note[2 * item.node]) != item.node + 1)
      sim::fail("what the pusher wrote is not there");
    if (node.hidden) {
      world->raised[item.node].store(1);
      return false;
    }
    plain_write(world->note[2 * item.node + 1], item.node + 1);
    return !node.dropped;
  }
  bool stale(const Item& item) const { return at(item).stale; }
  bool worth_sending(const Item& item) const { return item.what != kNode || !at(item).withheld; }
  double priority(const Item& item) const { return item.what == kGive ? 1000 : at(item).priority; }
  std::uint64_t key(const Item& item) const {
    return item.what == kGive ? item.node / static_cast<std::uint32_t>(n_pes) : (std::uint64_t{1} << 32) + item.node;
  }
  Item combine(const Item& a, const Item& b) const {
    if (a.what != kGive || b.what != kGive || a.node != b.node) sim::fail("items of different keys were combined");
    return item_of(a.node, kGive, a.amount + b.amount);
  }
  void runs(const Item& item) const {
    const World::Node& node = at(item);
    if (node.owner != me || item.what == kGive) sim::fail("an item was run that must not be, or not here");
    if (node.dropped || node.stale) sim::fail("node " + std::to_string(item.node) + " was run though it was refused");
    if (world->buckets.lists > 0 && world->buckets.of(node.priority) > world->near(me)) {
      sim::fail("node " + std::to_string(item.node) + " was run before the threshold reached it");
    }
  }
};

/// Pushes by range and make, so that short batches follow each other (expand). Several lanes may call range() for one item, also for a
/// stale one. A second run shows in children that are judged twice.
struct RangedTask : WorldTask<false> {
  static constexpr bool kSelfContained = true;
  Span<const std::uint32_t> range(const Item& item) const {
    World::Node& node = at(item);
    if (!node.stale) {
      runs(item);
      node.ran = 1;
    }
    return {node.numbers.data(), static_cast<std::int64_t>(node.numbers.size())};
  }
  Item make(const Item& item, std::uint32_t number) const { return at(item).pushes[number]; }
};

struct PriorityTask : WorldTask<true> {
  template <class W, class O>
  void run(const W& w, std::uint32_t number, O& out) const {
    World::Node& node = world->nodes[number];
    if (w.lane() == 0 && ++node.ran > 1) sim::fail("node " + std::to_string(number) + " was run twice");
    if (number % 2 == 1) {
      for (const std::uint32_t child : node.children) {
        if (w.lane() == 0) plain_write(world->note[2 * child], child + 1);
        out.push(w, item_of(child, kNode));
      }
    } else {  // all together: a lane may push more than one
      out.push_each(w, Span<const std::uint32_t>{node.children.data(), static_cast<std::int64_t>(node.children.size())},
                    [&](std::uint32_t child) {
                      plain_write(world->note[2 * child], child + 1);
                      return item_of(child, kNode);
                    });
    }
    const auto n = static_cast<std::int64_t>(node.gives.size());
    out.push_each(w, Span<const Item>{node.gives.data(), n}, [](const Item& give) { return give; });
  }
  template <class W, class O>
  void operator()(const W& w, const Item& item, O& out) const {
    runs(item);
    if (w.lane() == 0 && item.what == kNode && plain_read(world->note[2 * item.node + 1]) != item.node + 1) {
      sim::fail("what accept wrote is not there");
    }
    run(w, item.node, out);
  }
};

struct IdleTask : PriorityTask {
  template <class W, class O>
  void idle(const W& w, O& out, lane_t part, lane_t parts) const {
    const auto n = static_cast<lane_t>(world->nodes.size());
    for (lane_t i = n * part / parts; i < n * (part + 1) / parts; ++i) {
      const World::Node& node = world->nodes[i];
      if (!node.hidden || node.owner != me) continue;
      lane_t found = 0;
      if (w.lane() == 0) found = world->raised[i].load() == 1 && world->claims[i].load() == 0;
      if (node.direct && found != 0) found = world->claims[i].fetch_add(1) == 0;
      if (w.from_leader(found) == 0) continue;
      if (node.direct) {
        run(w, i, out);
      } else {
        out.push(w, item_of(i, kAlias));
      }
    }
  }
};

class PhasesScenario final : public sim::Scenario {
 public:
  std::string set_up(sim::Machine& machine, sim::Random& random) override {
    sim::BedShape& shape = bed_.shape;
    shape.draw(random);
    const bool idle = random.below(2) == 0, ranged = !idle && random.below(2) == 0;
    if (random.below(2) == 0) {
      shape.buckets = {1, 1, 2 + random.below(2)};  // narrow buckets, few of which have lists of their own
    } else {
      shape.buckets = {static_cast<double>(random.below(4)), 1.0 / (1 + random.below(3)), random.below(4)};
      if (!idle && shape.buckets.lists == 0) shape.buckets.lists = 1;
    }
    if (!shape.discrete && random.below(2) == 0) shape.overlap = 1 + random.below(random.below(4) == 0 ? 1000 : 8);
    const std::uint32_t sending = random.below(3);
    shape.judge_remote = sending == 1;
    shape.combine = sending == 2;
    grow(random, idle);
    const auto items = static_cast<std::uint32_t>(world_.nodes.size()) * (kMostGives + 1);
    shape.chunks = shape.workers * (1 + shape.buckets.slots()) + items / sim::kChunkItems;
    bed_.prepare(machine);
    world_.buckets = shape.buckets;
    for (pe_t p = 0; p < shape.n_pes; ++p) world_.control[p] = &bed_.control(p);
    machine.name(world_.note.data(), 4, world_.note.size(), "note");
    machine.name(world_.raised.data(), 4, world_.raised.size(), "raised");
    machine.name(world_.claims.data(), 4, world_.claims.size(), "claims");
    machine.name(world_.rows.data(), 4, world_.rows.size(), "row");
    if (idle) {
      add_workers<IdleTask>(machine);
    } else if (ranged) {
      add_workers<RangedTask>(machine);
    } else {
      add_workers<PriorityTask>(machine);
    }
    return shape.text() +
           (idle     ? ", idle"
            : ranged ? ", ranged"
                     : "") +
           (shape.buckets.lists > 0 ? ", " + std::to_string(shape.buckets.lists) + " buckets" : ", no priorities") +
           (shape.judge_remote ? ", judged by the pusher"
            : shape.combine    ? ", combining"
                               : "") +
           ", " + std::to_string(world_.nodes.size()) + " nodes";
  }

  bool again(sim::Machine& machine) override { return bed_.next_round(machine); }

  std::string judge() override {
    if (const RunState state = bed_.ended(); state != RunState::done) {
      return "the run ended in state " + std::to_string(static_cast<int>(state));
    }
    if (std::string wrong = sim::treated_wrongly(world_.nodes); !wrong.empty()) return wrong;
    for (std::uint32_t r = 0; r < kRows; ++r) {
      if (world_.rows[r].load() != world_.expected_row[r]) {
        return "row " + std::to_string(r) + " is " + std::to_string(world_.rows[r].load()) + ", not " +
               std::to_string(world_.expected_row[r]);
      }
    }
    return bed_.judge();
  }

  unsigned expected_steps() const override { return 2500; }
  std::uint64_t max_steps() const override { return 1000000; }

 private:
  static constexpr std::uint32_t kMostGives = 3;

  void grow(sim::Random& random, bool idle) {
    const std::uint32_t n = 1 + random.below(random.below(4) == 0 ? 30 : 10), shape = random.below(4);
    const std::uint32_t n_seeds = random.below(std::min(n + 1, 4u)),
                        most_priority = 1 + random.below(random.below(2) == 0 ? 7 : 14);
    world_ = World{};
    world_.nodes.resize(n);
    world_.note.assign(2 * n, 0);
    world_.raised = std::vector<SharedWord<std::uint32_t>>(n);
    world_.claims = std::vector<SharedWord<std::uint32_t>>(n);
    world_.rows = std::vector<SharedWord<std::uint32_t>>(kRows);
    for (auto& seeds : bed_.seeds) seeds.clear();
    const auto pes = static_cast<std::uint32_t>(bed_.shape.n_pes);
    for (std::uint32_t i = 0; i < n; ++i) {
      World::Node& node = world_.nodes[i];
      node.owner = static_cast<pe_t>(random.below(pes));
      node.priority = random.below(most_priority);
      node.hidden = idle && random.below(3) == 0;
      node.direct = node.hidden && random.below(2) == 0;
      node.dropped = !node.hidden && random.below(10) == 0;
      node.stale = !node.direct && random.below(10) == 0;
      node.withheld = random.below(10) == 0;
      for (std::uint32_t k = random.below(kMostGives + 1); k > 0; --k) {
        node.gives.push_back(item_of(random.below(kRows), kGive, 1 + random.below(100)));
        node.pushes.push_back(node.gives.back());
      }
      if (i < n_seeds || i == 0) {
        const auto pe = static_cast<pe_t>(random.below(pes));
        if (i < n_seeds) bed_.seeds[pe].push_back(item_of(i, kNode)), world_.note[2 * i] = i + 1;
        node.judge = i < n_seeds && !(node.withheld && node.owner != pe);
      } else {
        node.parent = shape == 0 ? i - 1 : shape == 1 ? 0 : random.below(i);
        World::Node& parent = world_.nodes[node.parent];
        parent.children.push_back(i);
        parent.pushes.push_back(item_of(i, kNode));
        node.judge = parent.run && !(node.withheld && node.owner != parent.owner);
      }
      node.run = node.judge && !node.dropped && !node.stale;
      for (const Item& give : node.gives) world_.expected_row[give.node] += node.run ? give.amount : 0;
    }
    for (World::Node& node : world_.nodes) {
      for (std::uint32_t k = 0; k < node.pushes.size(); ++k) node.numbers.push_back(k);
    }
  }

  template <class TaskT>
  void add_workers(sim::Machine& machine) {
    const auto task_of = [this](pe_t p) {
      TaskT task;
      task.world = &world_;
      task.me = p;
      task.n_pes = bed_.shape.n_pes;
      return task;
    };
    bed_.add_workers<TaskT>(machine, task_of, [this] {
      for (std::size_t i = 0; i < world_.nodes.size(); ++i) {
        const World::Node& node = world_.nodes[i];
        if (node.judged == 0 || node.hidden) continue;
        if (plain_read(world_.note[2 * i + 1]) != i + 1) sim::fail("a result is missing");
      }
    });
  }

  World world_;
  sim::WorklistBed<Item> bed_;
};

}  // namespace

int main(int argc, char** argv) {
  PhasesScenario scenario;
  return shoal::sim::run_scenario("phases", scenario, argc, argv);
}
