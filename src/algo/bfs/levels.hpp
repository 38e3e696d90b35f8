// Breadth-first search level by level on CPU threads, each level in the cheaper direction: frontier vertices look for unreached
// vertices (top-down), or unreached vertices look for frontier vertices (bottom-up). The result is one level per vertex.
//
// Source: Beamer, Asanovic, Patterson, "Direction-Optimizing Breadth-First Search", SC 2012. Differences: levels instead of
// parents, so that two threads which find the same vertex write the same word and need no compare-and-swap; one thread works alone,
// without barriers, while the frontier is small (a road network has thousands of such levels); PEs own vertices, and PEs of one
// thread each meet once per narrow level (docs/decisions/0053-narrow-levels-meet-once.md).
//
// With several processes (lockstep/exchange.hpp), each PE is sent the vertices of its own that other processes found after a
// top-down level, and every process gets the frontier as a bitmap before a bottom-up level. The steps within a process are the
// same.
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

/// When to change direction, and how to share work. Levels do not depend on any of these. The defaults suit 2 to 64 threads.
struct BfsLevelsTuning {
  double alpha = 15;        ///< go bottom-up when the frontier has more than 1 / alpha of the unexplored arcs; 0: never
  double beta = 18;         ///< go back top-down when the frontier shrinks below 1 / beta of the vertices
  std::int64_t solo = 128;  ///< one thread alone expands frontiers of up to this many vertices (one PE only); 0: never
  arc_t solo_arcs = 1024;   ///< ... and of at most this many arcs
  /// With PEs of one thread each in one process, PEs meet once per level instead of twice while frontiers have at most this many
  /// vertices and cannot be large enough to go bottom-up. A traced run does not do this, since its levels are steps. 0: never
  std::int64_t narrow = 1 << 16;
  int chunk = 64;                       ///< frontier vertices that a thread takes at once, at least 1
  arc_t hub_arcs = 1 << 14;             ///< the threads of a PE share a row that is longer than this; at least 1
  std::int64_t sent_at_once = 1 << 18;  ///< most vertices that a process sends at once to a PE of another; at least 1
};

/// Searches a graph that was placed on CPU PEs, any number of times. All memory is allocated in the constructor, except for queues
/// that grow.
class BfsLevelsCpu : public Engine<vertex_t> {
 public:
  /// @param graph  on CPU PEs; must stay alive and unchanged. `in` is used when the graph is not symmetric.
  /// @param team   as many PEs as the graph; must stay alive; must not be running anything else while run() runs
  /// @param world  the world of several processes, each of which makes this object for its part of the graph and runs it; null: one
  ///               process
  /// @throws UsageError     the team's PEs are not the graph's, or the graph lies on GPUs
  /// @throws CapacityError  the shared heap of the processes has no space for what they exchange
  BfsLevelsCpu(const PlacedGraph& graph, ThreadTeam& team, const BfsLevelsTuning& tuning = {}, World* world = nullptr);
  ~BfsLevelsCpu() override;

  /// Finds the level of every vertex. Only threads of its owner write a vertex's level. Adds to `report`: seconds (from before the
  /// levels are cleared until the last one is written), rounds, traffic between PEs, and the number of levels in each direction.
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
