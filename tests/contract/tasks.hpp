// The tasks of the contract tests, and serial code that computes what each should leave in the ledger.
#pragma once
#include <cstdint>
#include <vector>

#include "ledger.hpp"
#include "shoal/core/atomic.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/spin.hpp"
#include "shoal/core/types.hpp"
#include "shoal/worklist/kernel_set.hpp"

namespace shoal::contract {

/// A range whose elements are the numbers 0 to count - 1.
struct Numbers {
  std::int64_t count = 0;
  SHOAL_FN std::int64_t size() const { return count; }
  SHOAL_FN std::int64_t operator[](std::int64_t i) const { return i; }
};

/// The shape of a tree: the root has `root_children` children. Every other item above `depth` has 0 to `most_children`
/// children; a hash chooses how many.
struct Shape {
  std::uint32_t root_children = 3;
  std::uint32_t most_children = 4;
  std::uint32_t depth = 5;
  std::uint64_t seed = 1;
};

/// The kernels of a task that have variants (kVariants): few, as they take long to compile. With SHOAL_TESTS_AS_SHIPPED those that a
/// user's task has.
constexpr KernelSet variants([[maybe_unused]] KernelSet few = {}) {
#if defined(SHOAL_TESTS_AS_SHIPPED)
  return kAutoKernels;
#else
  return few;
#endif
}

struct TreeItem {
  std::uint64_t number;    ///< a hash of the path from the root
  std::uint32_t depth;     ///< 0 at the root
  std::uint32_t producer;  ///< the PE that made it
};

/// The base of all tree tasks.
struct Grower {
  static constexpr KernelSet kKernels = kAllKernels;
  LedgerView ledger;
  Shape shape;
  pe_t me = 0;
  pe_t n_pes = 1;
  pe_t owners = 1;  ///< PEs [0, owners) own items; fewer than n_pes leaves PEs without any

  SHOAL_FN pe_t owner_of(const TreeItem& item) const { return static_cast<pe_t>((item.number >> 20) % owners); }
  SHOAL_FN std::uint32_t children(const TreeItem& item) const {
    if (item.depth == 0) return shape.root_children;
    return item.depth >= shape.depth ? 0 : static_cast<std::uint32_t>((item.number >> 40) % (shape.most_children + 1));
  }
  SHOAL_FN TreeItem child(const TreeItem& item, std::int64_t i) const {
    return {mix(item.number * 0x10001 + static_cast<std::uint64_t>(i) + 1), item.depth + 1,
            static_cast<std::uint32_t>(me)};
  }
  /// The same child, for serial code, which is on no PE and therefore names the producer.
  TreeItem child_made_by(pe_t producer, const TreeItem& item, std::int64_t i) const {
    TreeItem made = child(item, i);
    made.producer = static_cast<std::uint32_t>(producer);
    return made;
  }
  TreeItem root(std::uint64_t i, pe_t producer) const {
    return {mix(shape.seed * 1000003 + i), 0, static_cast<std::uint32_t>(producer)};
  }
};

/// Fan-out through range() and make(). Some items are refused after a look; blocks of a GPU sift them. Every other item is judged
/// once and run once.
struct Tree : Grower {
  using Item = TreeItem;
  static constexpr KernelSet kVariants = variants(KernelSet::of(WorkerKind::warp, KernelKind::persistent));
  static constexpr bool kRefusesMost = true;
  SHOAL_FN static bool is_hopeless(const Item& item) { return item.depth > 0 && item.number % 13 == 1; }

  SHOAL_FN pe_t owner(Item item) const { return owner_of(item); }
  SHOAL_FN bool look(bool asks, Item item) const { return asks && is_hopeless(item); }
  SHOAL_FN bool promising(Item, bool look) const { return !look; }
  SHOAL_FN bool accept(Item item) const {
    ledger.note(kJudged, static_cast<pe_t>(item.producer), item.number);
    return true;
  }
  SHOAL_FN Numbers range(Item item) const {
    // Called once for each item that runs, and only at its owner, so a note here counts the runs.
    ledger.note(kRun, static_cast<pe_t>(item.producer), item.number);
    return {children(item)};
  }
  SHOAL_FN Item make(Item item, std::int64_t i) const { return child(item, i); }
};

/// operator() with push and push_each. Some items are dropped by accept(), some by promising() before they are judged, some are
/// stale, and some are not worth sending.
struct Picky : Grower {
  static constexpr KernelSet kVariants = variants();
  using Item = TreeItem;
  SHOAL_FN static bool drops(const Item& item) { return item.number % 11 == 1; }
  SHOAL_FN static bool is_hopeless(const Item& item) { return item.number % 13 == 1; }
  SHOAL_FN static bool is_stale(const Item& item) { return item.number % 7 == 1; }
  SHOAL_FN static bool is_worth(const Item& item) { return item.number % 5 != 1; }

  SHOAL_FN pe_t owner(Item item) const { return owner_of(item); }
  SHOAL_FN bool accept(Item item) const {
    ledger.note(kJudged, static_cast<pe_t>(item.producer), item.number);
    return !drops(item);
  }
  SHOAL_FN bool promising(Item item) const { return !is_hopeless(item); }
  SHOAL_FN bool stale(Item item) const { return is_stale(item); }
  SHOAL_FN bool worth_sending(Item item) const { return is_worth(item); }
  template <class W, class Out>
  SHOAL_FN void operator()(const W& w, Item item, Out& out) const {
    if (w.lane() == 0) ledger.note(kRun, static_cast<pe_t>(item.producer), item.number);
    const std::uint32_t n = children(item);
    if (n == 0) return;
    out.push(w, child(item, 0));
    const Grower grower = *this;
    out.push_each(w, Numbers{n - 1}, [=](std::int64_t i) { return grower.child(item, i + 1); });
  }
};

/// One item that visits the PEs one after another. At every `rest_every`-th hop, the worker holds it for a while.
struct Chain {
  static constexpr KernelSet kKernels = kAllKernels;
  struct Item {
    std::uint32_t hop;
  };
  std::uint64_t* visits;  ///< the number of hops that ran on this PE
  std::uint32_t last;     ///< the hop at which it ends
  pe_t n_pes = 1;
  std::uint32_t rest_every = 64;  ///< at every so many hops, the item is held for `rest_spins`
  std::uint32_t rest_spins = 2000;
  std::uint32_t hangs_at = ~0u;                 ///< at this hop the item is held until the run ends
  std::uint64_t enough_at = ~std::uint64_t{0};  ///< enough() returns true on a PE with this many visits

  SHOAL_FN pe_t owner(Item item) const { return static_cast<pe_t>(item.hop % static_cast<std::uint32_t>(n_pes)); }
  SHOAL_FN bool accept(Item) const { return true; }
  SHOAL_FN bool enough() const { return load(*visits) >= enough_at; }
  template <class W, class Out>
  SHOAL_FN void operator()(const W& w, Item item, Out& out) const {
    if (w.lane() == 0) fetch_add(*visits, std::uint64_t{1});
    if (item.hop % rest_every == 0) {
      Backoff backoff;
      while (backoff.spins() < rest_spins) backoff.pause();
    }
    if (item.hop == hangs_at) spin_wait(out.state(), [] { return false; });
    if (item.hop < last) out.push(w, {item.hop + 1});
  }
};

/// Random updates of a table that is spread over the PEs. accept() does all the work, and no item ever runs.
struct Gups {
  static constexpr KernelSet kKernels = kAllKernels;
  static constexpr KernelSet kVariants = variants();
  struct Item {
    std::uint32_t index;
    std::uint32_t addend;
  };
  std::uint64_t* table;  ///< [rows] of this PE; element `index` is row index / n_pes of PE index % n_pes
  pe_t n_pes = 1;
  SHOAL_FN pe_t owner(Item item) const { return static_cast<pe_t>(item.index % static_cast<std::uint32_t>(n_pes)); }
  SHOAL_FN bool accept(Item item) const {
    fetch_add(table[item.index / static_cast<std::uint32_t>(n_pes)], std::uint64_t{item.addend});
    return false;
  }
  template <class W, class Out>
  SHOAL_FN void operator()(const W&, Item, Out&) const {}
};

/// What the ledger and the report should hold after a tree.
struct Expected {
  Page page;
  std::int64_t pushed = 0, withheld = 0, accepted = 0, dropped = 0, stale = 0, run = 0;
};

/// Serial: grows the trees of all roots. Root i is pushed by PE i % n_pes.
template <class Task>
Expected grow(const Task& task, std::uint64_t roots) {
  Expected e;
  e.page = empty_page(task.n_pes);
  std::vector<TreeItem> todo;
  const auto push = [&](const TreeItem& item) {
    ++e.pushed;
    if constexpr (requires { Task::is_worth(item); }) {
      if (task.owner(item) != static_cast<pe_t>(item.producer) && !Task::is_worth(item)) return void(++e.withheld);
    }
    todo.push_back(item);
  };
  for (std::uint64_t i = 0; i < roots; ++i) push(task.root(i, static_cast<pe_t>(i % task.n_pes)));
  while (!todo.empty()) {
    const TreeItem item = todo.back();
    todo.pop_back();
    const pe_t owner = task.owner(item);
    if constexpr (requires { Task::is_hopeless(item); }) {
      if (Task::is_hopeless(item)) {
        ++e.dropped;
        continue;
      }
    }
    std::vector<Sums>& sums = e.page[owner][item.producer];
    sums[kJudged].note(item.number);
    if constexpr (requires { Task::drops(item); }) {
      if (Task::drops(item)) {
        ++e.dropped;
        continue;
      }
    }
    ++e.accepted;
    if constexpr (requires { Task::is_stale(item); }) {
      if (Task::is_stale(item)) {
        ++e.stale;
        continue;
      }
    }
    ++e.run;
    sums[kRun].note(item.number);
    for (std::uint32_t i = 0; i < task.children(item); ++i) push(task.child_made_by(owner, item, i));
  }
  return e;
}

}  // namespace shoal::contract
