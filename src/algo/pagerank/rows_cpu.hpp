// The in-arcs of a CPU PE, laid out for sweeps that sum over every row again and again.
//
// Rows are sorted by length, longest first (stable), and vertices are numbered by that order within their PE: "places".
// Contributions that many rows read are then next to each other and stay in the caches, and consecutive rows take the same
// branches. Where arcs mostly lead to near vertices (a road network), rows move only within windows, so that neighbours stay near.
// Vertices of the largest component come first, then the others, then, where every arc has its reverse, those without arcs. With
// several processes, the largest component is found only where every arc has its reverse. rows.cuh is the counterpart for GPUs.
//
// Source of the windows: SELL-C-sigma (Kreutzer et al., "A unified sparse matrix data format ...", 2014).
#pragma once
#include <cstdint>
#include <vector>

#include "shoal/core/array.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worker/thread_team.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// The rows of one PE. Targets are places.
struct PageRankCpuRows {
  CsrView in;
  const std::uint32_t* degree = nullptr;  ///< [count] out-arcs
  const vertex_t* order = nullptr;        ///< [count] local placed vertex of each row
  vertex_t largest = 0;                   ///< rows [0, largest) are in the largest component; 0: none has most
  vertex_t tied = 0;                      ///< the same if every arc has its reverse, otherwise 0
  vertex_t active = 0;                    ///< rows from this one on have no arcs, if tied() of the whole is true

  vertex_t placed(vertex_t row) const { return in.first + order[row]; }
};

class PageRankRowsCpu {
 public:
  /// Takes 16 bytes for each vertex of the PEs, and 4 for each arc.
  /// @param team   as many PEs as the graph; must not be running
  /// @param world  the world of several processes, all of which make this object; null: one process
  PageRankRowsCpu(const PlacedGraph& graph, ThreadTeam& team, World* world);

  const PageRankCpuRows& of(pe_t pe) const { return pes_[pe].rows; }
  /// Whether arcs mostly lead to vertices that are near in placed order.
  bool near() const { return near_; }
  /// Whether every arc has its reverse, and most vertices with arcs are in one component (of all PEs together).
  bool tied() const { return tied_; }

 private:
  struct Pe {
    PageRankCpuRows rows;
    HostArray<arc_t> offsets;
    HostArray<vertex_t> targets, order;
    HostArray<std::uint32_t> degree;
  };
  void order_rows(const PlacedGraph& graph, ThreadTeam& team, World* world);
  void fill_rows(const PlacedGraph& graph, ThreadTeam& team, World* world);

  bool near_ = true, tied_ = false;
  std::vector<Pe> pes_;
};

}  // namespace shoal
