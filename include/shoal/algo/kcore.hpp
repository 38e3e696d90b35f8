// K-cores: how deep each vertex lies in the graph. The k-core is what is left of a graph when vertices with fewer than k
// neighbours are removed until there are none. A vertex's core number is the largest k whose k-core contains it. This header
// has the task, and the interface for programs that do not write tasks.
//
// The task peels one level k. When it begins, every vertex with fewer than k neighbours has been removed. An item says "a
// neighbour of v has gone". The owner of v decrements the count of v's neighbours, and accepts the item if this makes the count
// fall from above k to k or less. Then v goes as well: the worker that runs the item pushes such an item to every neighbour of
// v. When no item is left on any PE, the vertices that have gone in this level have core number k.
//
// Why each vertex goes once: counts only fall, so only one item takes the count of a vertex from above k to k or less. Vertices
// that have k neighbours when the level begins are seeds. Their count is first set to k + 1, and the seed counts as one neighbour
// that has gone. So if an item of a neighbour comes before the seed, the seed is refused.
//
// Source: Batagelj, Zaversnik, "An O(m) Algorithm for Cores Decomposition of Networks", 2003; by levels in parallel as Dasari,
// Desh, Zubair, "ParK", 2014. Differs: inside a level there are no rounds.
#pragma once
#include <cstdint>
#include <string>

#include "shoal/algo/graph_runner.hpp"
#include "shoal/core/array.hpp"
#include "shoal/core/atomic.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/placement/symmetric.hpp"
#include "shoal/worklist/kernel_set.hpp"
#include "shoal/world/options.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

struct KCore {
  static constexpr bool kSelfContained = true;
  static constexpr bool kAnyOrder = true;  ///< each vertex goes once
  static constexpr KernelSet kKernels = kAllKernels;
  static constexpr std::int32_t kStretchSize = 1024;  ///< most vertices of one stretch
  struct Item {
    vertex_t v;
    /// Above 0: this many neighbours of v have gone. Below 0: a seed of the PE that owns v; it stands for -gone entries of
    /// `seeds`, from the entry at the local number of v on.
    std::int32_t gone;
  };
  /// Vertices of which each loses a neighbour.
  using Row = Span<const vertex_t>;

  CsrView graph;                    ///< this PE's rows: symmetric, without loops, no target twice in a row
  OwnerTable owners;                ///< who owns which vertex
  std::int32_t* degree;             ///< [graph.count] neighbours that are left; at most k for vertices that have gone
  Symmetric<std::int32_t> degrees;  ///< `degree` of every PE, for ask_at
  const vertex_t* seeds;            ///< [graph.count] placed numbers of this PE's vertices with which the level begins
  std::int32_t k;                   ///< the level

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }
  SHOAL_FN bool owns(pe_t pe, Item item) const { return owners.owns(pe, item.v); }

  /// For promising(): vertices that have gone already need no counting.
  SHOAL_FN std::int32_t look(bool asks, Item item) const {
    return load_if<Scope::system>(asks, degree + (asks ? graph.local(item.v) : 0), 0);
  }
  SHOAL_FN bool promising(Item item, std::int32_t look) const { return item.gone < 0 || look > k; }
  /// The count of neighbours before this item; k for seeds and for items for which `asks` is false.
  using Answer = std::int32_t;
  SHOAL_FN Answer ask(bool asks, Item item) const { return fall(asks, degree[graph.local(item.v)], item.gone); }
  SHOAL_FN Answer ask_at(bool asks, pe_t pe, Item item) const {
    return fall(asks, degrees.part[pe][item.v - owners.begin[pe]], item.gone);
  }
  /// True if the count falls from above k to k or less.
  SHOAL_FN bool accepts(Item item, Answer before) const {
    return item.gone < 0 || (before > k && before - item.gone <= k);
  }

  SHOAL_FN Row range(Item item) const {
    if (item.gone < 0) return {seeds + graph.local(item.v), -item.gone};
    return graph.neighbors(item.v);
  }
  SHOAL_FN Item make(Item, vertex_t neighbor) const { return {neighbor, 1}; }

  SHOAL_FN arc_t locate(bool asks, Item item) const { return graph.locate(asks && item.gone > 0, item.v); }
  SHOAL_FN void prefetch(bool accepted, Item, arc_t begin) const { graph.prefetch(accepted, begin); }

  SHOAL_FN vertex_t key(Item item) const { return item.v; }
  SHOAL_FN Item combine(Item a, Item b) const { return {a.v, a.gone + b.gone}; }

 private:
  SHOAL_FN Answer fall(bool asks, std::int32_t& count, std::int32_t gone) const {
    return add_relaxed_if<Scope::system>(asks && gone > 0, count, -gone, k);
  }
};

enum class KCoreStrategy {
  automatic,
  async,  ///< the task above, driven by the worklist
};
const char* name(KCoreStrategy);
/// The inverse of name(); `auto` is legal too. @throws UsageError naming the text and the legal values
KCoreStrategy parse_kcore_strategy(const std::string& text);

struct KCoreOptions : Options {
  KCoreStrategy strategy = KCoreStrategy::automatic;
};

struct KCoreResult {
  HostArray<std::int32_t> cores;  ///< [n] core numbers, in the input's numbers
  std::int32_t highest = 0;       ///< the largest core number: the graph's degeneracy
  std::int64_t innermost = 0;     ///< vertices that have this core number
  Report report;
};

/// A graph that has been placed on PEs, ready to be peeled. Arcs count as undirected edges; loops do not count, and several
/// arcs between the same two vertices count once. A graph that has loops, duplicates or one-way arcs is converted into a copy
/// without them; graph() and num_arcs() then describe the copy.
class KCoreRunner : public Runner<KCoreOptions, KCoreResult> {
 public:
  using Runner::Runner;
  /// Finds all core numbers, from scratch.
  Report run();
};

}  // namespace shoal
