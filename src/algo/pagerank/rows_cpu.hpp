// A CPU PE's in-arcs, laid out for sweeps that sum over every row again and again.
//
// Rows are ordered by length, longest first (stable), and vertices are numbered by that order within their PE: "places". What
// many rows ask for then stands together and stays in the caches, and neighbouring rows take their branches alike. Where arcs
// mostly lead to vertices that are near (a road network), rows move within windows only, so that they still do. Vertices of the
// largest component come first, then the others; where every arc has its reverse, then those without arcs. Several processes
// keep the order that they have. rows.cuh is the same for GPUs.
//
// Source of the windows: SELL-C-sigma (Kreutzer et al., "A unified sparse matrix data format ...", 2014).
#pragma once
#include <cstdint>
#include <vector>

#include "shoal/core/array.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worker/thread_team.hpp"

namespace shoal {

/// Rows of one PE; targets are places, which are placed numbers where rows keep their order.
struct PageRankCpuRows {
  CsrView in;
  const std::uint32_t* degree = nullptr;  ///< [count] out-arcs
  const vertex_t* order = nullptr;        ///< [count] local placed vertex of each row; null: the same
  vertex_t largest = 0;                   ///< rows [0, largest) are of the largest component; 0: none has most vertices
  vertex_t tied = 0;                      ///< the same where every arc has its reverse, else 0
  vertex_t active = 0;                    ///< rows at and beyond this one have no arcs, if tied() is true of the whole

  vertex_t placed(vertex_t row) const { return in.first + (order != nullptr ? order[row] : row); }
};

class PageRankRowsCpu {
 public:
  /// Takes 4 bytes for each vertex; where rows are put in order, 12 more, and 4 for each arc.
  /// @param team    as many PEs as the graph; not running
  /// @param shared  with other processes, so that places are known to all: rows keep their order
  PageRankRowsCpu(const PlacedGraph& graph, ThreadTeam& team, bool shared);

  const PageRankCpuRows& of(pe_t pe) const { return pes_[pe].rows; }
  bool sorted() const { return sorted_; }
  /// Whether arcs mostly lead to vertices that are near in placed order. Not said of several processes: true.
  bool near() const { return near_; }
  /// Whether every arc has its reverse, and most vertices that have arcs are of one component (of all PEs together).
  bool tied() const { return tied_; }

 private:
  struct Pe {
    PageRankCpuRows rows;
    HostArray<arc_t> offsets;
    HostArray<vertex_t> targets, order;
    HostArray<std::uint32_t> degree;
  };
  void order_rows(const PlacedGraph& graph, ThreadTeam& team);
  void fill_rows(const PlacedGraph& graph, ThreadTeam& team);

  bool sorted_ = false, near_ = true, tied_ = false;
  std::vector<Pe> pes_;
};

}  // namespace shoal
