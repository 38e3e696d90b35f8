// PageRank as a task. An item says "v gets `share` of somebody's residual". The owner of v adds the share to the
// residual of v, which is what v has not passed on yet. It accepts the item only if the residual reaches v's limit with
// it; v is then queued. The worker that runs v takes all of its residual, adds it to the rank, and passes alpha of it
// on to the out-neighbours in equal shares. A run is over when no residual is at its limit.
//
// The invariant, with y the ranks so far, r the residuals and s the shares on their way: y + r + s - alpha A'y = c p,
// which is the system of pagerank_reference.hpp. Any c will do, because y is divided by its sum at the end. The sum of
// y is what takes longest to settle, so between runs c is moved to where the residuals sum to 0; they may be negative
// then. A run begins with items for a stretch of vertices each, which move the residuals along with c and queue the
// vertices at their limit.
//
// A limit is epsilon times the out-degree. So the cost of passing on, per unit of residual that disappears, is the same
// for all vertices, and hubs wait until it pays off. Epsilon shrinks from run to run, so large residuals go first. No
// residual is lost: what stays below its limit remains in r at its owner, counts in the error bound, and is added to
// the ranks at the end (one step, without its consequences). Vertices without out-arcs have nothing to pass on and are
// never queued.
//
// Why no vertex is forgotten: a residual reaches its limit by an addition, and the item of that addition stays queued
// until the vertex is run or its residual is below the limit again. Why a run ends: a vertex that is run takes at least
// its limit, and at least 1 - alpha of what it takes disappears.
//
// On GPUs a share is a float32, so that an item has 8 bytes and a queue's slot is written and read as one word. Nothing is lost
// by it: a vertex passes on exactly what its neighbours get, and what the rounding leaves (6e-8 of what it took) goes back into
// its residual. That is not looked at before the next run, in the rare case that it is more than the limit.
//
// Source: Atos (PageRank of its section IV), Groute 5.2; limits by degree: Andersen, Chung, Lang, "Local Graph
// Partitioning using PageRank Vectors", 2006. Differs: a vertex is triggered when it reaches its limit, as in Groute,
// and not by a scan of all residuals; shares are sent whatever their size; the limits shrink and c moves
// (docs/decisions/0008-pagerank.md); epsilon follows from the wanted tolerance, and the error that was reached is part
// of the result (Atos and Groute both stop at .01 and report no error).
#pragma once
#include <cstdint>
#include <limits>

#include "shoal/core/atomic.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/placement/symmetric.hpp"
#include "shoal/worker/task.hpp"
#include "shoal/worklist/kernel_set.hpp"

namespace shoal {

/// @tparam ShareT  float or double
template <class ShareT>
struct PageRankOf {
  struct Item {
    vertex_t v;
    ShareT share;  ///< adds as much to v's residual, whoever owns v; or one of the two below, which no share is
  };
  /// A run's first item for v, at its owner: moves its residual along with c, and queues v if it is at its limit.
  static constexpr ShareT kLook = std::numeric_limits<ShareT>::infinity();
  /// A seed: pushes a kLook for each of kStretchSize vertices from v on.
  static constexpr ShareT kStretch = -kLook;
  static constexpr vertex_t kStretchSize = 1024;
  /// The worker that runs a vertex reads its residual as it is then. If it missed the addition that queued the vertex,
  /// the next run's kLook would find what was left.
  static constexpr bool kSelfContained = true;
  static constexpr KernelSet kKernels = kAllKernels;
  static constexpr bool kHasDegrees = sizeof(ShareT) < sizeof(double);  ///< whether `degrees` is there: on GPUs
  /// What running one item gives, and to whom.
  struct Row {
    struct Element {
      vertex_t v;
      ShareT share;
    };
    const vertex_t* targets;  ///< null: the vertices from `first` on
    ShareT share;
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
  double* residual;             ///< [graph.count] what has not been passed on yet
  Symmetric<double> residuals;  ///< `residual` of every PE, for ask_at
  Symmetric<const arc_t> arcs;  ///< graph.offsets of every PE, likewise; unless kHasDegrees
  /// [vertices] by placed number: shares for vertices of other PEs that are not worth a way there yet; or null: each goes on
  /// its own. Where the pusher judges on GPUs: an addition in another GPU's memory takes three times as long as one here.
  double* owed;
  /// [vertices] out-degrees by placed number, here: less to load than offsets. If kHasDegrees.
  const std::uint32_t* degrees;
  const double* personal;  ///< [graph.count] p; null: `uniform` everywhere
  double uniform;          ///< 1 / n
  double alpha;
  double epsilon;  ///< above 0: the limit per out-arc
  double shift;    ///< how far c moves at the start of the run

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }

  /// What the residual, or what is owed, was before the share was added, the share, and the vertex's out-degree. The sum of both is
  /// formed by who uses it: a question that used its atomic's result would have the next question wait for it.
  struct Answer {
    double before, share;
    std::uint32_t degree;
    SHOAL_FN double after() const { return before + share; }
  };
  SHOAL_FN Answer ask(bool asks, Item item) const {
    const vertex_t i = graph.local(item.v);
    const bool own = i >= 0 && i < graph.count;
    const bool gathers = !own && owed != nullptr;
    asks = asks && item.share != kStretch && (own || gathers);
    return add(asks, gathers ? owed + item.v : residual + (own ? i : 0), amount(asks, item),
               degree_of(asks, item.v, graph.offsets + (own ? i : 0)));
  }
  /// What is owed goes when it is a part of the limit. Few such parts reach the limit in turn: the others are an addition in the
  /// owner's memory, and no item travels.
  SHOAL_FN bool worth_sending(Item, Answer answer) const {
    if (owed == nullptr) return true;
    return at_limit(kPart * answer.after(), answer.degree) && !at_limit(kPart * answer.before, answer.degree);
  }
  SHOAL_FN Answer ask_at(bool asks, pe_t pe, Item item) const {
    const vertex_t i = item.v - owners.begin[pe];
    const double share = owed != nullptr ? exchange_if(asks, owed[item.v], 0.0, 0.0) : amount(asks, item);
    return add(asks, residuals.part[pe] + i, share, degree_of(asks, item.v, arcs.part[pe] + i));
  }
  /// True if the residual has reached its limit with this share.
  SHOAL_FN bool accepts(Item item, Answer answer) const {
    if (item.share == kStretch) return true;
    return at_limit(answer.after(), answer.degree) && (item.share == kLook || !at_limit(answer.before, answer.degree));
  }

  /// Takes the residual of the vertex that is run. Called once per item, by one lane; this task has no stale(), so it
  /// may change data here.
  SHOAL_FN Row range(Item item) const {
    const vertex_t i = graph.local(item.v);
    if (item.share == kStretch) {
      const vertex_t left = graph.count - i;
      return {nullptr, kLook, item.v, left < kStretchSize ? left : kStretchSize};
    }
    const arc_t begin = graph.offsets[i], degree = graph.offsets[i + 1] - begin;
    if (!at_limit(load<Scope::system>(residual[i]), degree)) return {nullptr, 0, item.v, 0};
    double taken = exchange<Scope::system>(residual[i], 0.0);
    const auto share = static_cast<ShareT>(alpha * taken / static_cast<double>(degree));
    if constexpr (sizeof(ShareT) < sizeof(double)) {
      const double left = alpha > 0 ? taken - static_cast<double>(share) * static_cast<double>(degree) / alpha : 0;
      add_relaxed<Scope::system>(residual[i], left);
      taken -= left;
    }
    add_relaxed(y[i], taken);  // v may be queued again by now, and another worker may run it at the same time
    return {graph.targets + begin, share, item.v, static_cast<std::uint32_t>(degree)};
  }
  SHOAL_FN Item make(Item, typename Row::Element to) const { return {to.v, to.share}; }

 private:
  /// What an item that is asked for adds to its vertex's residual; not of a kStretch.
  SHOAL_FN double amount(bool asks, Item item) const {
    const bool looks = item.share == kLook, of_its_own = asks && looks && personal != nullptr;
    const double p = load_if(of_its_own, personal + (of_its_own ? graph.local(item.v) : 0), uniform);
    return looks ? shift * p : static_cast<double>(item.share);
  }
  SHOAL_FN bool at_limit(double r, arc_t degree) const {
    return degree > 0 && (r < 0 ? -r : r) >= epsilon * static_cast<double>(degree);
  }
  /// The out-degree of v, if it is asked for. @param offsets  of v, at its owner
  SHOAL_FN std::uint32_t degree_of(bool asks, vertex_t v, const arc_t* offsets) const {
    if constexpr (kHasDegrees) {
      return load_if(asks, degrees + v, std::uint32_t{0});
    } else {
      return asks ? static_cast<std::uint32_t>(offsets[1] - offsets[0]) : 0;
    }
  }
  static SHOAL_FN Answer add(bool asks, double* sum, double share, std::uint32_t degree) {
    return {add_relaxed_if<Scope::system>(asks, *sum, share, 0.0), share, degree};
  }
  static constexpr double kPart = 4;  ///< of a limit
};

/// What GPUs run.
using PageRank = PageRankOf<float>;

/// What CPU threads run: shares for one vertex may travel as their sum, which nobody could make good the rounding of.
struct PageRankSummed : PageRankOf<double> {
  SHOAL_FN std::uint64_t key(Item item) const { return item.v; }
  SHOAL_FN Item combine(Item a, Item b) const { return {a.v, a.share + b.share}; }
};

}  // namespace shoal
