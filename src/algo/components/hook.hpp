// Connected components on CPU threads by hooking and compressing trees of parents. A vertex's parent is a smaller vertex of its
// component, or the vertex itself; so trees have no cycles, and a root is the smallest vertex of its tree. There are five steps:
//
//   tiles     a thread unites runs of consecutive vertices along the first arcs of each row, without atomics, in its cache;
//             the root of a tree that has an arc to a smaller vertex outside the run is hooked there, also without atomics
//   links     handles those of the first two arcs of each row that the tiles left open, with compare-and-swap hooks
//   giant     determines the tree that contains most of the sampled vertices
//   rest      handles all other arcs, of vertices outside that tree only; a vertex stops when it has joined the tree
//   compress  makes every vertex point to its root
//
// Why a vertex may stop once it is in the giant tree (and giant vertices need not start): both ends see an arc. If either end went
// through all its arcs, the arc was handled. If neither did, both ends are in the giant tree.
//
// Source: Sutton, Ben-Nun, Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling" (Afforest), IPDPS
// 2018. Differences: the first arcs need no compare-and-swap if they stay inside a tile or lead to smaller vertices; there is no
// compression between rounds (rows are visited in ascending order, and parents are smaller); vertices stop early.
#pragma once
#include <memory>

#include "algo/engine.hpp"
#include "shoal/core/span.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worker/thread_team.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

/// How work is divided. Labels do not depend on any of these.
struct ComponentsHookTuning {
  vertex_t tile = 16384;  ///< consecutive vertices that a thread unites in its cache, at least 1
  int samples = 1024;     ///< vertices whose trees are compared to find the giant one; 0: none, every arc is handled
};

/// Labels a graph that was placed on CPU PEs, any number of times. The constructor allocates the labels and marks.
class ComponentsHookCpu : public Engine<> {
 public:
  /// @param graph  on CPU PEs; must stay alive and unchanged. `in` is used when the graph is not symmetric.
  /// @param team   as many PEs as the graph; must stay alive; must not be running anything else while run() runs
  /// @throws UsageError  the team's PEs are not the graph's, the graph lies on GPUs, or tuning is out of range
  ComponentsHookCpu(const PlacedGraph& graph, ThreadTeam& team, const ComponentsHookTuning& tuning = {});
  ~ComponentsHookCpu() override;

  /// Finds the label of every vertex: the smallest placed number of its component. Adds to `report`: seconds, from before the first
  /// parent is written until the last label is, and how many vertices joined the giant tree by their first arcs.
  void run(Report& report) override;

  /// The labels of the vertices that `pe` owns, in placed order; valid until the next run.
  Span<const vertex_t> label(pe_t pe) const;
  Words words() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal
