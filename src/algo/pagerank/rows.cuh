// The in-arcs of a PE, laid out for sweeps that sum over every row again and again.
//
// Rows are sorted by length, longest first (stable), and vertices are numbered by that order within their PE: "places".
// Contributions that many rows read are then next to each other and stay in the caches, warps get rows of equal length, and
// vertices without in-arcs come last, where a sweep skips them. A road network or mesh (short rows, neighbours near each other)
// keeps its order.
//
//   rows [0, num_block)          one block per row
//   rows [num_block, num_long)   in units of some hundred arcs or more; a warp takes a unit
//   the rest                     32 rows make a slice, one lane per row: entry k of lane l at slice[s] + 32 k + l, padded
//
// Where every arc has its reverse and most vertices with arcs are in one component, rows of the other components come after all of
// its rows, and short rows have places of their own, after those of all PEs' other rows: phases.cuh sweeps them separately.
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
inline constexpr std::uint32_t kPageRankBlockRow = 4096;  ///< each row longer than this gets a block

/// The rows as kernels use them. Entries are places of any PE; entry `pad` (one beyond the last place) stands for no arc.
struct PageRankRows {
  std::uint32_t first, count;  ///< this PE's vertices, by placed number
  std::uint32_t active;        ///< rows from this one on (local) have no in-arcs and need no sweep
  std::uint32_t tied;          ///< rows [0, tied) are in the largest component; count if these are not separated
  std::uint32_t first_short;   ///< rows from this one on have places apart; the first of a slice, or count: none has
  std::uint32_t place_of_long, place_of_short;  ///< the place that row 0 would have if it were such a row (modulo 2^32)
  std::uint32_t long_places;                    ///< over all PEs: places from this one on are of short rows
  std::uint32_t num_block, num_long, num_units, num_slices;
  const arc_t* offsets;       ///< [num_long + 1]
  const vertex_t* targets;    ///< of long rows, ascending within a row
  const std::uint32_t* unit;  ///< [num_units + 1] rows
  const arc_t* slice;         ///< [num_slices + 1]
  const vertex_t* slice_targets;
  const std::uint32_t* degree;  ///< [count] out-arcs
  const vertex_t* order;        ///< [count] local placed vertex of each row; null: the row's own number

  SHOAL_FN std::uint32_t place(std::uint32_t row) const {
    return row + (row < first_short ? place_of_long : place_of_short);
  }
};

/// Owns the rows of this process's PEs, which are counted from 0.
class PageRankRowsGpu {
 public:
  /// Takes some tens of milliseconds per billion arcs and, while it sorts, 16 bytes for each of up to 2^28 arcs. Keeps about 4
  /// bytes per arc beside the graph.
  /// @param graph  on devices that can access each other's memory
  /// @param world  the world of several processes, each of which makes the rows of its PEs; null: there is one process
  /// @throws CapacityError, DeviceError, and as World::exchange()
  explicit PageRankRowsGpu(const PlacedGraph& graph, World* world = nullptr);

  const PageRankRows& rows(pe_t p) const { return pes_[p].view; }
  /// All entries of a PE's rows, and their number: of long rows, and of slices with padding.
  std::pair<const vertex_t*, arc_t> long_targets(pe_t p) const { return {pes_[p].view.targets, pes_[p].long_arcs}; }
  std::pair<const vertex_t*, arc_t> slice_targets(pe_t p) const {
    return {pes_[p].view.slice_targets, pes_[p].slice_entries};
  }
  bool sorted() const { return sorted_; }
  /// Whether every arc has its reverse, and most vertices with arcs are in one component (of all PEs together). Always false with
  /// several processes.
  bool tied() const { return tied_; }
  /// Whether short rows have places apart, and it pays to sweep them more often.
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
