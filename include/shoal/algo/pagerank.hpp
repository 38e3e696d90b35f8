// PageRank as a task: an item says "`share` of somebody's residual goes to v". The owner of v adds it to what v has not passed
// on yet, and keeps the item only when that crosses epsilon: then v is queued, once. Whoever runs v takes all of its
// residual, adds it to the rank, and gives alpha of it to the out-neighbours in equal shares. The run is over when no residual
// is above epsilon.
//
// What holds throughout, with y the ranks so far, r the residuals and s what is on its way:  y + r + s - alpha A'y = c p,
// the system of pagerank_reference.hpp with c = 1 - alpha. No residual is lost: what stays below epsilon is in r, at its
// owner, counts in the bound of the error, and is added to the ranks at the end (one step without its consequences).
//
// Why nothing sleeps: residuals only grow until an exchange makes them zero, so between two exchanges exactly one addition
// crosses epsilon, and its item is in the queue until the next exchange.
//
// Source: Atos (PageRank of its section IV), Groute 5.2. Differs: triggered by the crossing, as Groute, not by a scan of all
// residuals; shares are sent whatever their size and in float64; epsilon follows from the tolerance that is asked for, and
// the error that was reached is part of the result (Atos and Groute stop at .01 each and tell none).
#pragma once
#include <cstdint>
#include <cstring>

#include "shoal/core/atomic.hpp"
#include "shoal/data/csr.hpp"
#include "shoal/pgas/partition.hpp"
#include "shoal/pgas/symmetric.hpp"
#include "shoal/worker/task.hpp"

namespace shoal {

struct PageRank {
  struct Item {
    vertex_t v;
    double share;
  };

  CsrView graph;                ///< this PE's rows
  OwnerTable owners;            ///< who owns which vertex
  double* y;                    ///< [graph.count] ranks before they are divided by their sum
  double* residual;             ///< [graph.count] what is not passed on yet
  Symmetric<double> residuals;  ///< `residual` of every PE, for accept_at
  double alpha;
  double epsilon;  ///< above 0: residuals below it are not passed on

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }

  /// Adds; true if the residual crossed epsilon just now.
  SHOAL_FN bool accept(Item item) const { return add(residual[graph.local(item.v)], item); }
  /// Most shares cross nothing: with `--judge remote` those are an addition in the owner's memory, and no item.
  SHOAL_FN bool accept_at(pe_t pe, Item item) const { return add(residuals.part[pe][item.v - owners.begin[pe]], item); }

  template <class W, class Out>
  SHOAL_FN void operator()(const W& w, Item item, Out& out) const {
    const vertex_t i = graph.local(item.v);
    const Span<const vertex_t> row = graph.neighbors(item.v);
    std::uint64_t bits = 0;  // of the share: workers pass whole numbers
    double share = 0;
    if (w.lane() == 0) {
      const double taken = exchange<Scope::system>(residual[i], 0.0);
      add_relaxed(y[i], taken);  // from here on v may be queued again, and run by somebody else at the same time
      share = alpha * taken / static_cast<double>(row.size());
      std::memcpy(&bits, &share, sizeof bits);
    }
    bits = w.from_leader(bits);
    std::memcpy(&share, &bits, sizeof share);
    out.push_each(w, row, [share](vertex_t neighbor) { return Item{neighbor, share}; });
  }

 private:
  SHOAL_FN bool add(double& sum, Item item) const {
    const double before = add_relaxed<Scope::system>(sum, item.share);
    return before < epsilon && before + item.share >= epsilon;
  }
};

/// The same, and shares for one vertex may travel as their sum.
struct PageRankSummed : PageRank {
  SHOAL_FN std::uint64_t key(Item item) const { return item.v; }
  SHOAL_FN Item combine(Item a, Item b) const { return {a.v, a.share + b.share}; }
};

}  // namespace shoal
