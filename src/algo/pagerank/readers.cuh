// Which PEs read what a vertex gives: what several GPUs need not send each other in every sweep.
#pragma once
#include <cstdint>
#include <vector>

#include "rows.cuh"
#include "shoal/device/device_memory.cuh"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// A byte per row: bit q is set where a row of PE q, other than the row's owner, reads the row's place. A sweep writes each
/// contribution to its readers alone: a road network in strips sends its borders, a skewed graph nearly everything.
///
/// Copies stand in the readers' memory at the same place as in the owner's, so that rows need no second numbering for what
/// comes from elsewhere. The price is an array of all vertices on every PE, most of it untouched.
class PageRankReadersGpu {
 public:
  static constexpr pe_t kMostPes = 8;  ///< bits

  /// Takes two passes: each PE marks what its rows read (about as long as a sweep), then each fetches its bits from all.
  /// Needs a byte for each vertex on every PE meanwhile.
  /// @param rows  of the same graph; its devices reach each other's memory (LockstepTeam sees to that)
  /// @param world  as of the rows
  /// @param reach  wire: lists are made, of() is null
  /// @throws CapacityError, DeviceError, and as World::exchange()
  PageRankReadersGpu(const PlacedGraph& graph, const PageRankRowsGpu& rows, World* world = nullptr,
                     World::Reach reach = World::Reach::memory);

  /// Places, PE by PE, ascending: sender and receiver have the same order.
  struct List {
    std::vector<std::int64_t> begin;  ///< [all PEs + 1]
    DeviceArray<vertex_t> places;
  };
  const List& sent_by(pe_t p) const { return sent_by_[p]; }          ///< what PE p of this process gives to each PE
  const List& received_by(pe_t p) const { return received_by_[p]; }  ///< what it reads of each

  /// [count] by row of PE p of this process; null when there is one PE in all.
  const std::uint8_t* of(pe_t p) const { return pes_[p].data(); }
  /// Contributions that travel in a sweep, each counted once for every PE that reads it.
  std::int64_t sent() const { return sent_; }

 private:
  void collect_of_processes(const PlacedGraph& graph, const PageRankRowsGpu& rows, World& world,
                            const std::vector<DeviceArray<std::uint8_t>>& reads, World::Reach reach);
  void make_lists(const PlacedGraph& graph, const std::uint8_t* bits);

  std::vector<DeviceArray<std::uint8_t>> pes_;
  std::vector<List> sent_by_, received_by_;
  std::int64_t sent_ = 0;
};

}  // namespace shoal
