// PageRank on CPU threads: sweeps over all vertices, in which each sums what its in-neighbours give. What comes back are
// ranks whose L1 error is bounded.
//
// The system y = alpha A'y + c p (pagerank_reference.hpp) is solved in place (Gauss-Seidel): a vertex reads what its
// in-neighbours gave in this sweep or, from those that come later, in the one before. After each sweep c is set from the
// sums over y, so that the size of y, the slowest part to settle, need not settle at all. Where every arc has its reverse, that
// is done for the largest component alone: the sum of each is known then, and the others are right in it from the start.
// Steps are lengthened (successive over-relaxation) by a factor that follows from the rate at which the changes shrink, as
// long as they do: the relation is that of real eigenvalues. Short rows, which settle last, are swept once more before each
// sweep where they are few of all arcs. Rows are laid out for all that by rows_cpu.hpp.
//
// The bound: in a sweep each vertex changes once, by delta(v) = omega * (what it should be by what it read, minus what it
// was). Afterwards it is wrong by (1/omega - 1) delta(v), and by what in-neighbours have changed since it read them, which
// sums to alpha sum |delta| at most: |residual| <= (|1/omega - 1| + alpha) sum |delta| + |change of c|, whichever of the two
// values each read saw, and whatever was done before the sweep began. A component with a c of its own is in the end multiplied by
// the factor that makes it the c of all, and so is its part of the residual. Threads need no order within a sweep for that, nor processes: what their vertices
// give lies in the memory of one, or, where stores do not get there, is put into the others' after parts of a sweep
// (lockstep/exchange.hpp). In that case steps are not lengthened: over-relaxation of values that are old may grow without end.
//
// Source: Arasu et al., "PageRank Computation and the Structure of the Web", 2002 (Gauss-Seidel); Young, "Iterative Solution
// of Large Linear Systems", 1971 (the factor). Differs from GAP's pr: c moves, over-relaxation, rows in order of length, float64 sums, and a bound
// of the result instead of a threshold on the last change.
#pragma once
#include <cstdint>
#include <memory>

#include "algo/engine.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worker/thread_team.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

/// What is wanted of ranks.
struct PageRankRules {
  double alpha = 0.85;
  double tolerance = 1e-6;  ///< of the L1 error
  bool wide = false;        ///< contributions in float64, else float32
  bool firm = false;        ///< that was asked for: not to be changed when it does not do
};

/// The L1 error that rounding of contributions alone may cause: no smaller tolerance can be met.
double pagerank_rounding(const PageRankRules& rules);

/// What a ranking reached.
struct PageRankOutcome {
  double error_bound = 0;   ///< of the L1 error
  std::int64_t sweeps = 0;  ///< over all vertices
};

using PageRankEngine = Engine<const double*, PageRankOutcome&>;  // engines.hpp

/// Ranks a graph that was placed on CPU PEs, many times. All memory is allocated here.
class PageRankPullCpu : public PageRankEngine {
 public:
  /// @param graph  on CPU PEs; must stay alive and unchanged
  /// @param team   as many PEs as the graph; must stay alive; not running while run() runs
  /// @param world  of several processes, each of which makes a ranking of its part of the graph, and runs it; null: one process
  /// @throws UsageError     the team's PEs are not the graph's, or the graph lies on GPUs
  /// @throws CapacityError  what the processes share has no space for what they give each other
  PageRankPullCpu(const PlacedGraph& graph, ThreadTeam& team, const PageRankRules& rules, World* world = nullptr);
  ~PageRankPullCpu() override;

  /// Ranks all vertices. Only threads of its owner write a vertex's rank. Adds seconds, rounds (sweeps) and the factor to
  /// `report`.
  /// @param personal  [num_vertices] by placed number, at least 0, sums to 1; null: uniform
  /// @throws DeviceError  the tolerance was not reached although it is above what rounding allows (a fault of this code or
  ///                      of the memory); ranks are undefined then
  void run(const double* personal, PageRankOutcome& outcome, Report& report) override;
  Words words() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal
