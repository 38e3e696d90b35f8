// A PE's in-arcs, laid out for sweeps that sum over every row again and again.
//
// Rows are ordered by length, longest first (stable), and vertices are numbered by that order within their PE: "places". What
// many rows ask for then stands together and stays in the caches, warps get rows of equal length, and vertices without in-arcs
// come last, where a sweep need not look. A road network or mesh (short rows, neighbours near each other) keeps its order.
//
//   rows [0, num_block)          a block each
//   rows [num_block, num_long)   in units of some hundred arcs or more, a warp each
//   the rest                     32 rows are a slice, a lane each: entry k of lane l at slice[s] + 32 k + l, padded
//
// Where every arc has its reverse and most vertices that have arcs are of one component, rows of the others come behind all of
// its rows, and short rows have places of their own, behind those of all PEs' other rows: phases.cuh sweeps them apart.
//
// Source: slices are SELL-C with C = 32 (Kreutzer et al., "A unified sparse matrix data format ...", 2014).
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "lockstep/peer_memory.cuh"
#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {

inline constexpr std::uint32_t kPageRankSliceRow = 32;    ///< longest row of a slice (sorted rows)
inline constexpr std::uint32_t kPageRankBlockRow = 4096;  ///< rows longer than this get a block

/// As kernels see them. Entries are places of any PE; entry `pad` (one beyond the last place) stands for no arc.
struct PageRankRows {
  std::uint32_t first, count;  ///< this PE's vertices, by placed number
  std::uint32_t active;        ///< rows at and beyond this one (local) have no in-arcs and no need of a sweep
  std::uint32_t tied;          ///< rows [0, tied) are of the largest component; count where rows are not told apart
  std::uint32_t first_short;   ///< rows at and beyond this one have places apart; the first of a slice, or count: none
  std::uint32_t place_of_long, place_of_short;  ///< of row 0, if it were such a row (modulo 2^32)
  std::uint32_t long_places;                    ///< of all PEs: places at and beyond this one are of short rows
  std::uint32_t num_block, num_long, num_units, num_slices;
  const arc_t* offsets;       ///< [num_long + 1]
  const vertex_t* targets;    ///< of long rows, ascending within a row
  const std::uint32_t* unit;  ///< [num_units + 1] rows
  const arc_t* slice;         ///< [num_slices + 1]
  const vertex_t* slice_targets;
  const std::uint32_t* degree;  ///< [count] out-arcs
  const vertex_t* order;        ///< [count] local placed vertex of each row; null: the same

  SHOAL_FN std::uint32_t place(std::uint32_t row) const {
    return row + (row < first_short ? place_of_long : place_of_short);
  }
};

/// Owns the rows of the PEs of this process, which are counted from 0 here.
class PageRankRowsGpu {
 public:
  /// Takes some tens of milliseconds per billion arcs, and while it sorts 16 bytes for each of up to 2^28 arcs. Keeps about
  /// 4 bytes per arc beside the graph.
  /// @param graph  on devices that reach each other
  /// @param world  of several processes, each of which makes the rows of its PEs; null: there is one
  /// @throws CapacityError, DeviceError, and as World::exchange()
  explicit PageRankRowsGpu(const PlacedGraph& graph, World* world = nullptr);

  const PageRankRows& rows(pe_t p) const { return pes_[p].view; }
  /// All entries of a PE's rows and how many there are: of long rows, and of slices, padding included.
  std::pair<const vertex_t*, arc_t> long_targets(pe_t p) const { return {pes_[p].view.targets, pes_[p].long_arcs}; }
  std::pair<const vertex_t*, arc_t> slice_targets(pe_t p) const {
    return {pes_[p].view.slice_targets, pes_[p].slice_entries};
  }
  bool sorted() const { return sorted_; }
  /// Whether every arc has its reverse, and most vertices that have arcs are of one component (of all PEs together). Never
  /// said of several processes.
  bool tied() const { return tied_; }
  /// Whether short rows are told apart, and it pays to sweep them more often.
  bool in_phases() const;

 private:
  struct Pe {
    PageRankRows view{};
    vertex_t* order = nullptr;
    arc_t long_arcs = 0, slice_entries = 0, short_entries = 0;
  };
  struct Scratch;
  struct Labels;
  bool order_all(const PlacedGraph& graph, std::vector<Scratch>& scratch, const Labels* labels);
  void number_rows();
  bool order_rows(const PlacedGraph& graph, pe_t p, Scratch& scratch, const Labels* labels);
  void describe_rows(const PlacedGraph& graph, pe_t p, Scratch& scratch);
  void fill_long(const PlacedGraph& graph, pe_t p, Scratch& scratch);
  void fill_slices(const PlacedGraph& graph, pe_t p, Scratch& scratch);

  bool sorted_ = false, tied_ = false;
  PeerMemory memory_;
  std::vector<Pe> pes_;
};

}  // namespace shoal
