// PageRank as a task: an item says "`share` of somebody's residual goes to v". The owner of v adds it to what v has not passed
// on yet, and keeps the item only when that crosses v's limit: then v is queued. Whoever runs v takes all of its residual, adds
// it to the rank, and gives alpha of it to the out-neighbours in equal shares. A run is over when no residual is at its limit.
//
// What holds throughout, with y the ranks so far, r the residuals and s what is on its way:  y + r + s - alpha A'y = c p,
// the system of pagerank_reference.hpp. Any c will do, so between runs c is moved to where the residuals, which may be negative
// then, sum to 0: the size of y is what takes longest to settle, and is divided away at the end. A run begins with items that
// look at a stretch of vertices each, move their residuals along with c, and queue what is at its limit.
//
// A limit is epsilon times the out-degree: what passing on costs per residual that goes away is then the same for all, and hubs
// wait until it pays. From run to run epsilon shrinks, large residuals first. No residual is lost: what stays below its limit is
// in r, at its owner, counts in the bound of the error, and is added to the ranks at the end (one step without its
// consequences). Vertices without out-arcs have nothing to pass on and are never queued.
//
// Why nothing sleeps: a residual comes from below its limit to it by an addition, whose item is in the queue until the vertex is
// run, or finds itself below the limit again. Why it ends: what is taken is at least the limit, and at least 1 - alpha of it
// goes away.
//
// Source: Atos (PageRank of its section IV), Groute 5.2; limits by degree: Andersen, Chung, Lang, "Local Graph Partitioning
// using PageRank Vectors", 2006. Differs: triggered by the crossing, as Groute, not by a scan of all residuals; shares are sent
// whatever their size and in float64; shrinking limits and a moving c (with both, kron:16 passes on 5.8 times as many shares as
// it has arcs, without 51); epsilon follows from the tolerance that is asked for, and the error that was reached is part of the
// result (Atos and Groute stop at .01 each and tell none).
#pragma once
#include <cstdint>

#include "shoal/core/atomic.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/placement/symmetric.hpp"
#include "shoal/worker/task.hpp"
#include "shoal/worklist/kernel_set.hpp"

namespace shoal {

struct PageRank {
  enum Kind : std::uint32_t {
    kShare,  ///< adds `share` to v's residual; may be for another PE
    kLook,  ///< moves v's residual by `share`, the first item of a run for v: queued if at its limit, whatever it was before
    kStretch,  ///< a seed: makes a kLook for each of kStretchSize vertices from v on
  };
  static constexpr vertex_t kStretchSize = 1024;
  /// Who runs a vertex looks at its residual as it is then. Did it miss the addition that queued it, the next run's look would
  /// find what was left.
  static constexpr bool kSelfContained = true;
  static constexpr KernelSet kKernels = kAllKernels;
  struct Item {
    vertex_t v;
    std::uint32_t kind;
    double share;
  };
  /// What one item gives, and to whom.
  struct Row {
    struct Element {
      vertex_t v;
      double share;
    };
    const vertex_t* targets;  ///< null: `first` and those that follow it
    double share;
    vertex_t first;
    std::uint32_t count;
    SHOAL_FN std::int64_t size() const { return count; }
    SHOAL_FN Element operator[](std::int64_t e) const {
      return {targets != nullptr ? targets[e] : first + static_cast<vertex_t>(e), share};
    }
  };

  CsrView graph;                ///< this PE's rows
  OwnerTable owners;            ///< who owns which vertex
  double* y;                    ///< [graph.count] ranks before they are divided by their sum
  double* residual;             ///< [graph.count] what is not passed on yet
  Symmetric<double> residuals;  ///< `residual` of every PE, for accept_at
  Symmetric<const arc_t> arcs;  ///< graph.offsets of every PE, likewise
  const std::uint32_t*
      degrees;             ///< [vertices] out-degrees by placed number, here: spares reading `arcs` far away; or null
  const double* personal;  ///< [graph.count] p; null: `uniform` everywhere
  double uniform;          ///< 1 / n
  double alpha;
  double epsilon;  ///< above 0: residual per out-arc that is passed on
  double shift;    ///< how far c moves as the run begins

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }

  /// Adds; true if the residual came to its limit just now.
  SHOAL_FN bool accept(Item item) const {
    if (item.kind == kStretch) return true;
    const vertex_t i = graph.local(item.v);
    return add(residual[i], degree_of(graph.offsets + i), item);
  }
  /// Most shares cross nothing: with `--judge remote` those are an addition in the owner's memory, and no item.
  SHOAL_FN bool accept_at(pe_t pe, Item item) const {
    const vertex_t i = item.v - owners.begin[pe];
    return add(residuals.part[pe][i], degrees != nullptr ? degrees[item.v] : degree_of(arcs.part[pe] + i), item);
  }

  /// Takes the residual of a vertex that is run; called once for an item, by one lane.
  SHOAL_FN Row range(Item item) const {
    const vertex_t i = graph.local(item.v);
    if (item.kind == kStretch) {
      const vertex_t left = graph.count - i;
      return {nullptr, 0, item.v, left < kStretchSize ? left : kStretchSize};
    }
    const arc_t begin = graph.offsets[i], degree = graph.offsets[i + 1] - begin;
    if (!at_limit(load<Scope::system>(residual[i]), degree)) return {nullptr, 0, item.v, 0};
    const double taken = exchange<Scope::system>(residual[i], 0.0);
    add_relaxed(y[i], taken);  // v may be queued again by now, and be run by somebody else at the same time
    return {graph.targets + begin, alpha * taken / static_cast<double>(degree), item.v,
            static_cast<std::uint32_t>(degree)};
  }
  SHOAL_FN Item make(Item item, Row::Element to) const {
    if (item.kind != kStretch) return {to.v, kShare, to.share};
    return {to.v, kLook, shift * (personal != nullptr ? personal[graph.local(to.v)] : uniform)};
  }

 private:
  SHOAL_FN bool at_limit(double r, arc_t degree) const {
    return degree > 0 && (r < 0 ? -r : r) >= epsilon * static_cast<double>(degree);
  }
  static SHOAL_FN arc_t degree_of(const arc_t* offsets) { return offsets[1] - offsets[0]; }
  SHOAL_FN bool add(double& sum, arc_t degree, Item item) const {
    const double before = add_relaxed<Scope::system>(sum, item.share);
    return at_limit(before + item.share, degree) && (item.kind == kLook || !at_limit(before, degree));
  }
};

/// The same, and shares for one vertex may travel as their sum.
struct PageRankSummed : PageRank {
  SHOAL_FN std::uint64_t key(Item item) const { return item.v; }
  SHOAL_FN Item combine(Item a, Item b) const { return {a.v, kShare, a.share + b.share}; }
};

}  // namespace shoal
