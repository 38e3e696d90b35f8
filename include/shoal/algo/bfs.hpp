// Breadth-first search as a task: an item says "v can be reached in `level` hops"; the owner of v keeps it only when that
// is better than what it knows; whoever runs it offers level + 1 to every neighbour. The search is over when no item is
// left on any PE. Levels are exact whatever the order, because a later, better item runs again.
//
// Source: Atos, Listing 5. Differs: the owner judges (Groute's OnReceive), so no transport needs a remote minimum; with
// `--judge remote` the pusher does, as in Atos over NVLink. In either case the pusher keeps, as Atos does, what it has offered.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/placement/symmetric.hpp"
#include "shoal/worker/task.hpp"
#include "shoal/worklist/kernel_set.hpp"

namespace shoal {

struct Bfs {
  struct Item {
    vertex_t v;
    level_t level;
  };

  static constexpr bool kSelfContained = true;  ///< an item has its level: what it finds in memory may be older
  static constexpr bool kKnowsOthers = true;
  static constexpr KernelSet kKernels = kAllKernels;

  CsrView graph;      ///< this PE's rows
  OwnerTable owners;  ///< who owns which vertex
  /// [vertices] by placed number: hops of this PE's own vertices, and for the others the least that was offered from here;
  /// kUnreached where not reached yet. Most arcs between PEs offer nothing new, and go no further.
  level_t* known;
  Symmetric<level_t> levels;  ///< the own part of every PE's, for accept_at
  bool look_first = true;     ///< look before the minimum: fewer atomics, one more latency per hop

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }

  /// Most arcs lead back, and a look spares them the atomic.
  SHOAL_FN bool promising(Item item) const { return looks_better(known[item.v], item); }
  /// Lowers the level; true if it was lowered.
  SHOAL_FN bool accept(Item item) const { return lower(known[item.v], item); }
  SHOAL_FN bool worth_sending(Item item) const { return lower(known[item.v], item); }
  /// Without a look: half of what gets here is news, and a look far away costs as much.
  SHOAL_FN bool accept_at(pe_t pe, Item item) const { return lower(levels.part[pe][item.v - owners.begin[pe]], item); }
  /// A better item has overtaken this one.
  SHOAL_FN bool stale(Item item) const { return load<Scope::system>(known[item.v]) < item.level; }

  SHOAL_FN level_t priority(Item item) const { return item.level; }
  SHOAL_FN vertex_t key(Item item) const { return item.v; }
  SHOAL_FN Item combine(Item a, Item b) const { return a.level < b.level ? a : b; }

  SHOAL_FN Span<const vertex_t> range(Item item) const { return graph.neighbors(item.v); }
  SHOAL_FN Item make(Item item, vertex_t neighbor) const { return {neighbor, item.level + 1}; }

 private:
  SHOAL_FN bool looks_better(const level_t& level, Item item) const {
    return !look_first || load<Scope::system>(level) > item.level;
  }
  SHOAL_FN static bool lower(level_t& level, Item item) {
    return fetch_min<Scope::system>(level, item.level) > item.level;
  }
};

}  // namespace shoal
