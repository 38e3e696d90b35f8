// PageRank as a task. An item says "v gets `share` of another vertex's residual". The residual of a vertex is what the vertex
// has not passed on yet. The owner of v adds the share to the residual of v. It accepts the item only if this makes the
// residual reach v's limit; v is then queued. The worker that runs v takes the whole residual, adds it to the rank of v, and
// passes alpha times it on to the out-neighbours, in equal shares. A run is over when no residual is at its limit.
//
// The invariant is y + r + s - alpha A'y = c p, where y are the ranks so far, r the residuals, and s the shares in flight. This
// is the system of src/algo/pagerank/reference.hpp. Any c will do, because y is divided by its sum at the end. The sum of y
// takes longest to settle. So between runs c is moved to where the residuals sum to 0; some may be negative then. A run begins
// with items for a stretch of vertices each. These change the residuals as the new c requires, and queue the vertices that are
// at their limit.
//
// A limit is epsilon times the out-degree, on GPUs rounded to a power of two. So the cost of passing on, per unit of residual that
// disappears, is about the same for all vertices, and hubs wait until it pays off. Epsilon shrinks from run to run, so large
// residuals are passed on first. No residual is lost: what stays below its limit remains in r at its owner, counts in the error
// bound, and is added to the ranks at the end (one step, without its consequences). Vertices without out-arcs have nothing to pass
// on and are never queued.
//
// Why no vertex is forgotten: a residual reaches its limit by an addition, and the item of that addition stays queued until the
// vertex is run or its residual is below the limit again. Why a run ends: a vertex that is run takes at least its limit, and at
// least 1 - alpha of what it takes disappears.
//
// On GPUs a share is a float32, so that an item has 8 bytes, and a queue's slot is written and read as one word. This loses
// nothing: a vertex gives up exactly what its neighbours get, and the rest that rounding leaves (6e-8 of what it took) goes back
// into its residual. In the rare case that this rest reaches the limit, the vertex is queued only in the next run.
//
// Source: Atos (PageRank of its section IV), Groute 5.2; limits by degree: Andersen, Chung, Lang, "Local Graph
// Partitioning using PageRank Vectors", 2006. Differs: a vertex is queued when it reaches its limit, as in Groute, and not by a
// scan of all residuals; shares are sent whatever their size; the limits shrink and c moves
// (docs/decisions/0008-pagerank.md); epsilon follows from the tolerance that was asked for, and the error bound that was
// reached is part of the result (Atos and Groute both stop at .01 and report no error).
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "shoal/core/atomic.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/placement/symmetric.hpp"
#include "shoal/worker/task.hpp"
#include "shoal/worklist/kernel_set.hpp"

namespace shoal {

inline constexpr std::uint8_t kNoOutArcs = 255;
/// The logarithm to base 2 of a power of two near an out-degree, the largest that is at most 1.5 times the degree: 0 for 1, 1 for 2,
/// 2 for 3 to 5, 3 for 6 to 10. kNoOutArcs for a degree of 0.
SHOAL_FN inline std::uint8_t log_of_degree(arc_t degree) {
  if (degree == 0) return kNoOutArcs;
  const auto more = static_cast<std::uint64_t>(degree + degree / 2);
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint8_t>(63 - __clzll(static_cast<long long>(more)));
#else
  return static_cast<std::uint8_t>(std::bit_width(more) - 1);
#endif
}

/// @tparam ShareT  float or double
template <class ShareT>
struct PageRankOf {
  struct Item {
    vertex_t v;
    ShareT share;  ///< the amount to add to v's residual; or kLook or kStretch, which are never shares
  };
  /// Marks a run's first item for v, at its owner: changes v's residual as the new c requires, and queues v if it is at its
  /// limit.
  static constexpr ShareT kLook = std::numeric_limits<ShareT>::infinity();
  /// Marks a seed: pushes a kLook item for each of kStretchSize vertices from v on.
  static constexpr ShareT kStretch = -kLook;
  static constexpr vertex_t kStretchSize = 1024;
  /// The worker that runs a vertex reads the residual that it finds. If it did not see the addition that queued the vertex, the
  /// next run's kLook would find what was left.
  static constexpr bool kSelfContained = true;
  static constexpr bool kRefusesMost = true;  ///< few shares make a residual reach its limit
  static constexpr KernelSet kKernels = kAllKernels;
  static constexpr bool kHasLogs = sizeof(ShareT) < sizeof(double);  ///< whether `log_degrees` is used: on GPUs
  /// The share that running one item gives to each of some vertices.
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
  Symmetric<const arc_t> arcs;  ///< graph.offsets of every PE, for ask_at; unless kHasLogs
  /// [vertices] by placed number: this PE's sums of shares for vertices of other PEs that are not worth sending yet; null: each
  /// share is sent by itself. Used where the pusher judges on GPUs, because an addition in another GPU's memory takes three
  /// times as long as one in this GPU's.
  double* owed;
  /// [vertices] log_of_degree() by placed number, in this PE's memory: so little that it fits in the cache. Only if kHasLogs.
  const std::uint8_t* log_degrees;
  const double* personal;  ///< [graph.count] p; null: `uniform` everywhere
  double uniform;          ///< 1 / n
  double alpha;
  double epsilon;  ///< above 0: the limit per out-arc
  double shift;    ///< how far c moves at the start of the run

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }
  SHOAL_FN bool owns(pe_t pe, Item item) const { return owners.owns(pe, item.v); }

  /// The residual, or the owed sum, before the share was added; the share; and the vertex's code(). The sum before + share is
  /// not formed in ask(): if ask() used the result of its atomic, the lane's next ask() would wait for it.
  struct Answer {
    double before, share;
    std::uint32_t code;
    SHOAL_FN double after() const { return before + share; }
  };
  SHOAL_FN Answer ask(bool asks, Item item) const {
    const vertex_t i = graph.local(item.v);
    const bool own = i < graph.count;  // vertices before the first wrap to large numbers
    const bool gathers = !own && owed != nullptr;
    asks = asks && item.share != kStretch && (own || gathers);
    return add(asks, gathers ? owed + item.v : residual + (own ? i : 0), amount(asks, item),
               code_of(asks, item.v, graph.offsets + (own ? i : 0)));
  }
  /// Sends the owed sum when it reaches 1 / kPart of the limit. Few of these sums make the residual reach its limit. The others
  /// only cost an addition in the owner's memory, and no item is sent.
  SHOAL_FN bool worth_sending(Item, Answer answer) const {
    if (owed == nullptr) return true;
    return at_limit(kPart * answer.after(), answer.code) && !at_limit(kPart * answer.before, answer.code);
  }
  SHOAL_FN Answer ask_at(bool asks, pe_t pe, Item item) const {
    const vertex_t i = item.v - owners.begin[pe];
    const double share = owed != nullptr ? exchange_if(asks, owed[item.v], 0.0, 0.0) : amount(asks, item);
    return add(asks, residuals.part[pe] + i, share, code_of(asks, item.v, arcs.part[pe] + i));
  }
  /// True if this share made the residual reach its limit; for a kLook, if the residual is at its limit.
  SHOAL_FN bool accepts(Item item, Answer answer) const {
    if (item.share == kStretch) return true;
    return at_limit(answer.after(), answer.code) && (item.share == kLook || !at_limit(answer.before, answer.code));
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
    if (!at_limit(load<Scope::system>(residual[i]), code(degree))) return {nullptr, 0, item.v, 0};
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
  /// The amount that an item adds to its vertex's residual. Not for a kStretch.
  SHOAL_FN double amount(bool asks, Item item) const {
    const bool looks = item.share == kLook, of_its_own = asks && looks && personal != nullptr;
    const double p = load_if(of_its_own, personal + (of_its_own ? graph.local(item.v) : 0), uniform);
    return looks ? shift * p : static_cast<double>(item.share);
  }
  /// What a vertex's limit is computed from: log_of_degree() if kHasLogs, else the out-degree.
  static SHOAL_FN std::uint32_t code(arc_t degree) {
    return kHasLogs ? log_of_degree(degree) : static_cast<std::uint32_t>(degree);
  }
  /// The code() of v if `asks`, else that of a vertex without out-arcs. @param offsets  of v, at its owner
  SHOAL_FN std::uint32_t code_of(bool asks, vertex_t v, const arc_t* offsets) const {
    if constexpr (kHasLogs) {
      return load_if(asks, log_degrees + v, kNoOutArcs);
    } else {
      return asks ? static_cast<std::uint32_t>(offsets[1] - offsets[0]) : 0;
    }
  }
  SHOAL_FN bool at_limit(double r, std::uint32_t code) const {
    if (code == (kHasLogs ? kNoOutArcs : 0)) return false;
    return (r < 0 ? -r : r) >= (kHasLogs ? times_power(epsilon, code) : epsilon * static_cast<double>(code));
  }
  /// x * 2^log for a normal number x, by an addition to its exponent.
  static SHOAL_FN double times_power(double x, std::uint32_t log) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    bits += std::uint64_t{log} << 52;
    std::memcpy(&x, &bits, sizeof(bits));
    return x;
  }
  static SHOAL_FN Answer add(bool asks, double* sum, double share, std::uint32_t code) {
    return {add_relaxed_if<Scope::system>(asks, *sum, share, 0.0), share, code};
  }
  static constexpr double kPart = 4;  ///< of a limit
};

/// The task for GPUs.
using PageRank = PageRankOf<float>;

/// The task for CPU threads. Shares for the same vertex may be combined into their sum. With float32 shares the rounding error of
/// that sum would be lost, so shares are doubles.
struct PageRankSummed : PageRankOf<double> {
  SHOAL_FN std::uint64_t key(Item item) const { return item.v; }
  SHOAL_FN Item combine(Item a, Item b) const { return {a.v, a.share + b.share}; }
};

}  // namespace shoal
