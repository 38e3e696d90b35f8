// Connected components on CPU threads by hooking and compressing trees of parents. A vertex's parent is a smaller vertex of
// its component, or itself: so trees have no cycles, and a root is the smallest vertex of its tree. In five steps:
//
//   tiles     a thread unites runs of consecutive vertices along the first arcs of each row, without atomics, in its cache;
//             a tree's root that has an arc to a smaller vertex outside the run is hooked there, which needs no atomics either
//   links     what of the first two arcs of each row that left open: compare-and-swap hooks
//   giant     the tree that most of some sampled vertices are in
//   rest      all other arcs, of vertices outside that tree only; a vertex that has come into it stops
//   compress  every vertex points to its root
//
// Why a vertex may stop once it is in the giant tree (and giant vertices need not begin): an arc is seen from both ends. If
// either end went through all its arcs, this one was seen. If neither did, both ends are in the giant tree.
//
// Source: Sutton, Ben-Nun, Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling" (Afforest),
// IPDPS 2018. Differs: the first arcs need no compare-and-swap where they stay inside a tile or lead to smaller vertices,
// no compression between rounds (rows are visited in ascending order, and parents are smaller), and vertices stop early.
#pragma once
#include <memory>

#include "algo/engine.hpp"
#include "shoal/core/span.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worker/thread_team.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

/// How work is shared. Labels do not depend on any of these.
struct ComponentsHookTuning {
  vertex_t tile = 16384;  ///< consecutive vertices that a thread unites in its cache, at least 1
  int samples = 1024;  ///< vertices whose trees are compared to find the giant one; 0: no giant, every arc is looked at
};

/// Labels a graph that was placed on CPU PEs, as often as wanted. All memory is allocated here.
class ComponentsHookCpu : public Engine<> {
 public:
  /// @param graph  on CPU PEs; must stay alive and unchanged. `in` is used when the graph is not symmetric.
  /// @param team   as many PEs as the graph; must stay alive; not running while run() runs
  /// @throws UsageError  the team's PEs are not the graph's, the graph lies on GPUs, or tuning is out of range
  ComponentsHookCpu(const PlacedGraph& graph, ThreadTeam& team, const ComponentsHookTuning& tuning = {});
  ~ComponentsHookCpu() override;

  /// Finds the label of every vertex: the smallest placed number of its component. Adds to `report`: seconds, from before
  /// the first parent is written until the last label is, and how much the sampling spared.
  void run(Report& report) override;

  /// The labels of the vertices that `pe` owns, in placed order; valid until the next run.
  Span<const vertex_t> label(pe_t pe) const;
  Words words() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal
