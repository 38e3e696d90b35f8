// PageRank on CPU threads: sweeps over all vertices, in which each vertex sums the contributions of its in-neighbours. The result
// is ranks with a bound of their L1 error.
//
// The system y = alpha A'y + c p (reference.hpp) is solved in place (Gauss-Seidel): a vertex reads the contributions of
// in-neighbours from this sweep or, if these come later, from the one before. After each sweep c is set from the sums over y, so
// that the size of y, the slowest part to settle, need not settle at all. Where every arc has its reverse, this is done for the
// largest component alone: the sum of each other component is known then, and is right from the start. Steps are lengthened
// (successive over-relaxation) by a factor that follows from the rate at which changes shrink, as long as they do: the relation
// holds for real eigenvalues. Short rows, which settle last, are swept once more before each sweep if they have few of all arcs.
// rows_cpu.hpp lays out the rows for all of this.
//
// The bound: in a sweep each vertex changes once, by delta(v) = omega * (the value that follows from what it read, minus its old
// value). Afterwards its error is (1/omega - 1) delta(v), plus what in-neighbours have changed since it read them, which sums to at
// most alpha sum |delta|. So |residual| <= (|1/omega - 1| + alpha) sum |delta| + |change of c|, whichever of the two values each
// read saw, and whatever was done before the sweep began. A component with its own c is multiplied in the end by the factor that
// makes this c equal to that of all others, and its part of the residual is multiplied, too. So threads need no order within a
// sweep, nor do processes: the contributions are in the memory of one process or, if not all processes can store there, they are
// put into the other processes after parts of a sweep (lockstep/exchange.hpp). In the latter case steps are not lengthened:
// over-relaxation with old values may grow without limit.
//
// Source: Arasu et al., "PageRank Computation and the Structure of the Web", 2002 (Gauss-Seidel); Young, "Iterative Solution of
// Large Linear Systems", 1971 (the factor). Differences from GAP's pr: a changing c, over-relaxation, rows sorted by length,
// float64 sums, and a bound of the error instead of a threshold on the last change.
#pragma once
#include <cstdint>
#include <memory>

#include "algo/engine.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worker/thread_team.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

/// The requirements on ranks.
struct PageRankRules {
  double alpha = 0.85;
  double tolerance = 1e-6;  ///< bound for the L1 error
  bool wide = false;        ///< contributions in float64; false: float32
  bool firm = false;        ///< the user asked for that precision: it must not be changed even if it does not suffice
};

/// The L1 error that rounding of contributions alone may cause; no smaller tolerance can be met.
double pagerank_rounding(const PageRankRules& rules);

/// The outcome of a ranking.
struct PageRankOutcome {
  double error_bound = 0;   ///< bound of the L1 error
  std::int64_t sweeps = 0;  ///< sweeps over all vertices
};

using PageRankEngine = Engine<const double*, PageRankOutcome&>;  // engines.hpp

/// Ranks a graph that was placed on CPU PEs, any number of times. All memory is allocated in the constructor.
class PageRankPullCpu : public PageRankEngine {
 public:
  /// @param graph  on CPU PEs; must stay alive and unchanged
  /// @param team   as many PEs as the graph; must stay alive; must not be running anything else while run() runs
  /// @param world  the world of several processes, each of which makes this object for its part of the graph and runs it; null: one
  ///               process
  /// @throws UsageError     the team's PEs are not the graph's, or the graph lies on GPUs
  /// @throws CapacityError  the shared heap of the processes has no space for what they exchange
  PageRankPullCpu(const PlacedGraph& graph, ThreadTeam& team, const PageRankRules& rules, World* world = nullptr);
  ~PageRankPullCpu() override;

  /// Ranks all vertices. Only threads of its owner write a vertex's rank. Adds seconds, rounds (sweeps) and the over-relaxation
  /// factor to `report`.
  /// @param personal  [num_vertices] by placed number, at least 0, sums to 1; null: uniform
  /// @throws DeviceError  the tolerance was not reached although it is above what rounding allows (a fault of this code or of the
  ///                      memory); ranks are then undefined
  void run(const double* personal, PageRankOutcome& outcome, Report& report) override;
  Words words() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal
