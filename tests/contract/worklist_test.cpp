// The worklist's contract on CPU threads, for transports x PEs x threads x kernels x capacities: every pushed item is judged
// exactly once by its owner, every accepted item is run exactly once or is stale, and no item is left.
#include "shoal/worklist/worklist.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "algo/bfs/reference.hpp"
#include "shapes.hpp"
#include "shoal/algo/bfs.hpp"
#include "shoal/graph/generate.hpp"
#include "tasks.hpp"
#include "tree_runs.hpp"

namespace shoal::contract {
namespace {

template <class Kind>
class WorklistContract : public ::testing::Test {
 protected:
  WorklistContract() { state_.arm(Kind::plan()); }

  /// Grows trees on every machine and plan, twice on one object: in the second run tickets continue, and no queue is reset.
  template <class Task>
  void grow_everywhere(Shape shape, std::uint64_t roots) {
    for_each_shape([&](const Machine& machine, const LaunchPlan& plan) {
      SCOPED_TRACE(std::string(Kind::kName) + ", " + describe(machine, plan));
      Worklist<Task, typename Kind::Transport> list(machine, plan, Kind::make(state_));
      grow_and_compare<Task>(machine, list, shape, roots, machine.n_pes());
      shape.seed += 17;
      grow_and_compare<Task>(machine, list, shape, roots, machine.n_pes());
    });
  }

  FaultState state_;
};

using Kinds = ::testing::Types<Direct, Delayed, Reordered>;
class KindNames {
 public:
  template <class Kind>
  static std::string GetName(int) {
    return Kind::kName;
  }
};
TYPED_TEST_SUITE(WorklistContract, Kinds, KindNames);

TYPED_TEST(WorklistContract, EveryItemOfATreeIsJudgedAndRunOnce) {
  this->template grow_everywhere<Tree>({.root_children = 5, .most_children = 4, .depth = 6, .seed = 3}, 5);
}

TYPED_TEST(WorklistContract, DroppedStaleAndWithheldItemsAreNotRun) {
  this->template grow_everywhere<Picky>({.root_children = 6, .most_children = 5, .depth = 6, .seed = 5}, 7);
}

TYPED_TEST(WorklistContract, WideFanOutSpills) {
  this->template grow_everywhere<Tree>({.root_children = 1000, .most_children = 1, .depth = 2, .seed = 9}, 1);
}

TYPED_TEST(WorklistContract, WideFanOutByPushEachSpills) {
  this->template grow_everywhere<Picky>({.root_children = 1000, .most_children = 1, .depth = 2, .seed = 4}, 3);
}

TYPED_TEST(WorklistContract, PesThatOwnNothing) {
  for_each_shape([&](const Machine& machine, const LaunchPlan& plan) {
    SCOPED_TRACE(describe(machine, plan));
    Worklist<Tree, typename TypeParam::Transport> list(machine, plan, TypeParam::make(this->state_));
    grow_and_compare<Tree>(machine, list, {.seed = 21}, 4, (machine.n_pes() + 1) / 2);
  });
}

TYPED_TEST(WorklistContract, NoSeedsNoWork) {
  for_each_shape([&](const Machine& machine, const LaunchPlan& plan) {
    SCOPED_TRACE(describe(machine, plan));
    Worklist<Tree, typename TypeParam::Transport> list(machine, plan, TypeParam::make(this->state_));
    grow_and_compare<Tree>(machine, list, {}, 0, machine.n_pes());
    grow_and_compare<Tree>(machine, list, {}, 2, machine.n_pes());
    grow_and_compare<Tree>(machine, list, {}, 0, machine.n_pes());
  });
}

// There is always one item somewhere, and all workers without it are idle. Termination detection that relied on idle workers
// would end the run too early.
TYPED_TEST(WorklistContract, OneItemTravelsRoundThePes) {
  for_each_shape([&](const Machine& machine, const LaunchPlan& plan) {
    SCOPED_TRACE(describe(machine, plan));
    const pe_t n = machine.n_pes();
    const std::uint32_t last = 150;
    std::vector<Chain> tasks;
    std::vector<std::uint64_t> counts(n, 0);
    for (pe_t p = 0; p < n; ++p) tasks.push_back({&counts[p], last, n});
    std::vector<std::vector<Chain::Item>> seeds(n);
    seeds[n - 1].push_back({0});
    Worklist<Chain, typename TypeParam::Transport> list(machine, plan, TypeParam::make(this->state_));
    const Report report = list.run(tasks, seeds);
    for (pe_t p = 0; p < n; ++p) EXPECT_EQ(counts[p], (last - static_cast<unsigned>(p)) / n + 1) << "PE " << p;
    EXPECT_EQ(report.run, last + 1);
  });
}

// Chains without an end: each has one item somewhere at any time. None of these items is lost or doubled when enough() ends the
// run.
TYPED_TEST(WorklistContract, EnoughEndsARunWithItemsLeft) {
  constexpr std::uint32_t kChains = 7, kEnough = 60, kLast = 40;
  for_each_shape([&](const Machine& machine, const LaunchPlan& plan) {
    SCOPED_TRACE(describe(machine, plan));
    const pe_t n = machine.n_pes();
    std::vector<std::uint64_t> counts(n, 0);
    std::vector<Chain> tasks;
    for (pe_t p = 0; p < n; ++p) {
      tasks.push_back({.visits = &counts[p], .last = ~0u, .n_pes = n, .rest_spins = 4, .enough_at = kEnough});
    }
    std::vector<std::vector<Chain::Item>> seeds(n);
    for (std::uint32_t i = 0; i < kChains; ++i) seeds[i % n].push_back({i});
    Worklist<Chain, typename TypeParam::Transport> list(machine, plan, TypeParam::make(this->state_));
    const Report report = list.run(tasks, seeds);
    EXPECT_EQ(report.left, kChains);
    EXPECT_GE(*std::max_element(counts.begin(), counts.end()), kEnough);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), report.run);
    for (pe_t p = 0; p < n; ++p) {
      counts[p] = 0;
      tasks[p].last = kLast;
      tasks[p].enough_at = ~std::uint64_t{0};
    }
    const Report whole = list.run(tasks, seeds);
    EXPECT_EQ(whole.left, 0);
    EXPECT_EQ(whole.run, kChains * (kLast + 1) - kChains * (kChains - 1) / 2);
  });
}

TYPED_TEST(WorklistContract, AcceptAloneUpdatesATable) {
  constexpr std::uint32_t kRows = 64, kUpdates = 700;
  for_each_shape([&](const Machine& machine, const LaunchPlan& plan) {
    SCOPED_TRACE(describe(machine, plan));
    const pe_t n = machine.n_pes();
    std::vector<std::vector<std::uint64_t>> table(n, std::vector<std::uint64_t>(kRows, 0));
    std::vector<std::uint64_t> expected(kRows * n, 0);
    std::vector<Gups> tasks;
    std::vector<std::vector<Gups::Item>> seeds(n);
    for (pe_t p = 0; p < n; ++p) {
      tasks.push_back({table[p].data(), n});
      for (std::uint32_t i = 0; i < kUpdates; ++i) {
        const std::uint64_t h = mix(i * 64 + p);
        seeds[p].push_back({static_cast<std::uint32_t>(h % expected.size()), static_cast<std::uint32_t>(h >> 40)});
        expected[seeds[p].back().index] += seeds[p].back().addend;
      }
    }
    Worklist<Gups, typename TypeParam::Transport> list(machine, plan, TypeParam::make(this->state_));
    const Report report = list.run(tasks, seeds);
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(table[i % n][i / n], expected[i]) << "element " << i;
    EXPECT_EQ(report.dropped, static_cast<std::int64_t>(kUpdates) * n);
    EXPECT_EQ(report.run, 0);
    if (plan.batch_bytes == 0 || plan.capacity < 1024) return;
    std::int64_t items = 0, messages = 0;  // seeds are pushed one by one, but travel several to a message
    for (const Traffic& pair : report.traffic) items += pair.items, messages += pair.messages;
    EXPECT_LE(2 * messages, items);
  });
}

/// accept() waits until every worker is judging an item.
struct Meeting {
  struct Item {
    std::uint32_t number;
  };
  struct Room {
    std::mutex door;
    std::set<std::thread::id> present;
    bool missed = false;
  };
  Room* room;
  std::size_t workers;

  pe_t owner(Item) const { return 0; }
  bool accept(Item) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    for (;; std::this_thread::yield()) {
      const std::lock_guard lock(room->door);
      room->present.insert(std::this_thread::get_id());
      if (room->present.size() == workers || room->missed) return false;
      room->missed = std::chrono::steady_clock::now() > deadline;
    }
  }
  template <class W, class Out>
  void operator()(const W&, Item, Out&) const {}
};

TEST(WorklistSeeds, AreSharedAmongAllWorkers) {
  constexpr std::uint32_t kSeeds = 200;
  const Machine machine = cpu_machine(1, 3);
  for (const KernelKind kernel : {KernelKind::persistent, KernelKind::discrete}) {
    Meeting::Room room;
    std::vector<Meeting::Item> seeds;
    for (std::uint32_t i = 0; i < kSeeds; ++i) seeds.push_back({i});
    Worklist<Meeting> list(machine, small_plan(kernel, 64));
    const Report report = list.run({Meeting{&room, 3}}, {seeds});
    EXPECT_FALSE(room.missed) << name(kernel) << ": " << room.present.size() << " of 3 workers came";
    EXPECT_EQ(report.dropped, kSeeds) << name(kernel);
  }
}

TYPED_TEST(WorklistContract, BreadthFirstSearchOfRandomGraphs) {
  for (const char* text : {"kron:8,degree=6,seed=2", "uniform:7,degree=2,seed=5", "road:16,seed=3", "chain:100"}) {
    const Csr graph = generate(parse_generator(text));
    const vertex_t vertices = static_cast<vertex_t>(graph.num_vertices());
    vertex_t source = 0;
    while (graph.degree(source) == 0) ++source;
    const std::vector<level_t> expected = bfs_reference(graph, source);
    for_each_shape([&](const Machine& machine, const LaunchPlan& plan) {
      if (plan.capacity == 4) return;  // three capacities are enough with four graphs
      SCOPED_TRACE(std::string(text) + ", " + describe(machine, plan));
      const pe_t n = machine.n_pes();
      std::vector<std::vector<level_t>> known(n, std::vector<level_t>(vertices, kUnreached));
      OwnerTable owners;
      owners.n_pes = n;
      for (pe_t p = 0; p <= n; ++p) owners.begin[p] = static_cast<vertex_t>(std::uint64_t{vertices} * p / n);
      std::vector<Bfs> tasks;
      for (pe_t p = 0; p < n; ++p) {
        const vertex_t first = owners.begin[p];
        const CsrView rows{graph.offsets.data() + first, graph.targets.data(), first, owners.begin[p + 1] - first};
        tasks.push_back({{owners, known[p].data(), {}}, rows, plan.capacity != 8});
      }
      std::vector<std::vector<Bfs::Item>> seeds(n);
      seeds[0].push_back({source, 0});
      Worklist<Bfs, typename TypeParam::Transport> list(machine, plan, TypeParam::make(this->state_));
      list.run(tasks, seeds);
      std::vector<level_t> level(vertices);
      for (vertex_t v = 0; v < vertices; ++v) level[v] = known[owners(v)][v];
      EXPECT_EQ(level, expected);
    });
  }
}

// The suites above rely on the ledger: it must tell every wrong set of items from the right one.
TEST(LedgerOfTheSuites, SeesLostDoubledAndChangedItems) {
  const Machine machine = cpu_machine(2, 1);
  const auto page_of = [&](const std::vector<std::uint64_t>& numbers, pe_t owner = 1, pe_t producer = 0) {
    Ledger ledger(machine);
    for (const std::uint64_t number : numbers) ledger.view(owner).note(kRun, producer, number);
    return ledger.read();
  };
  const Page right = page_of({10, 20, 30, 40});
  EXPECT_EQ(page_of({40, 10, 30, 20}), right) << "the order does not matter";
  EXPECT_NE(page_of({10, 20, 30}), right) << "lost";
  EXPECT_NE(page_of({10, 20, 30, 40, 40}), right) << "doubled";
  EXPECT_NE(page_of({10, 20, 30, 30}), right) << "one lost, one doubled";
  EXPECT_NE(page_of({15, 15, 30, 40}), right) << "changed, with the same sum";
  EXPECT_NE(page_of({10, 20, 30, 40}, 0, 0), right) << "on the wrong PE";
  EXPECT_NE(page_of({10, 20, 30, 40}, 1, 1), right) << "from the wrong PE";
}

// If the reordering transport did not reorder, the suites above would prove less than they claim.
TEST(FaultyTransports, TheReorderingOneReorders) {
  const Machine machine = cpu_machine(3, 1);
  FaultState state(Reordered::plan());
  Worklist<Tree, FaultyTransport<>> list(machine, small_plan(KernelKind::persistent, 1024), Reordered::make(state));
  Ledger ledger(machine);
  std::vector<Tree> tasks(3);
  std::vector<std::vector<TreeItem>> seeds(3);
  for (pe_t p = 0; p < 3; ++p) static_cast<Grower&>(tasks[p]) = {ledger.view(p), {.depth = 7}, p, 3, 3};
  for (std::uint64_t i = 0; i < 9; ++i) seeds[0].push_back(tasks[0].root(i, 0));
  list.run(tasks, seeds);
  EXPECT_GT(state.operations(), 100);
  EXPECT_GT(state.overtaken(), state.operations() / 10);
}

}  // namespace
}  // namespace shoal::contract
