// Breadth-first search level by level on CPU threads, from whichever side is cheaper: the frontier looks for unreached
// vertices (top-down), or unreached vertices look for the frontier (bottom-up). What comes back is a level per vertex.
//
// Source: Beamer, Asanovic, Patterson, "Direction-Optimizing Breadth-First Search", SC 2012. Differs: levels instead of
// parents, so that two threads which find one vertex write the same word and need no compare-and-swap; one thread works
// alone, without barriers, while the frontier is small (a road network has thousands of such levels); PEs own vertices, and
// those of one thread each meet once for a narrow level (docs/decisions/0053-narrow-levels-meet-once.md).
//
// PEs of other processes (lockstep/exchange.hpp) are told which of their vertices were found, after a top-down level, and every
// process gets the frontier as bits, before a bottom-up level. The steps inside a process are the same.
#pragma once
#include <cstdint>
#include <memory>

#include "algo/engine.hpp"
#include "shoal/core/span.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worker/thread_team.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

/// When to change the side, and how to share work. Levels do not depend on any of these. Defaults suit 2 to 64 threads.
struct BfsLevelsTuning {
  double alpha = 15;        ///< go bottom-up when the frontier has more than 1 / alpha of the unexplored arcs; 0: never
  double beta = 18;         ///< go back top-down when the frontier shrinks below 1 / beta of the vertices
  std::int64_t solo = 128;  ///< one thread alone expands frontiers of up to so many vertices (one PE only); 0: never
  arc_t solo_arcs = 1024;   ///< ... and of up to so many arcs
  /// PEs of one thread each and one process meet once for a level, not twice, while frontiers have up to so many vertices and
  /// cannot be worth going bottom-up from. Not in a run that is traced, whose levels are steps. 0: never
  std::int64_t narrow = 1 << 16;
  int chunk = 64;                       ///< frontier vertices that a thread takes at once, at least 1
  arc_t hub_arcs = 1 << 14;             ///< a row longer than this is shared by the threads of its PE, at least 1
  std::int64_t sent_at_once = 1 << 18;  ///< most vertices that a process tells a PE of another together, at least 1
};

/// Searches a graph that was placed on CPU PEs, many times. All memory is allocated here, save queues that grow.
class BfsLevelsCpu : public Engine<vertex_t> {
 public:
  /// @param graph  on CPU PEs; must stay alive and unchanged. `in` is used when the graph is not symmetric.
  /// @param team   as many PEs as the graph; must stay alive; not running while run() runs
  /// @param world  of several processes, each of which makes a search of its part of the graph, and runs it; null: one process
  /// @throws UsageError     the team's PEs are not the graph's, or the graph lies on GPUs
  /// @throws CapacityError  what the processes share has no space for what they give each other
  BfsLevelsCpu(const PlacedGraph& graph, ThreadTeam& team, const BfsLevelsTuning& tuning = {}, World* world = nullptr);
  ~BfsLevelsCpu() override;

  /// Finds the level of every vertex. Only threads of its owner write a vertex's level. Adds to `report`: seconds (from
  /// before the levels are cleared until the last one is written), rounds, traffic between PEs, and the sides taken.
  /// @param placed_source  [0, num_vertices), a placed number
  /// @throws UsageError  no such vertex; std::bad_alloc: a queue could not grow (the levels are then undefined)
  void run(vertex_t placed_source, Report& report) override;

  /// The levels of the vertices that `pe` owns, in placed order; kUnreached where there is no path (and before the first
  /// search). Valid until the next search.
  Span<const level_t> level(pe_t pe) const;
  Words words() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal
