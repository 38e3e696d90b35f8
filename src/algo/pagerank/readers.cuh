// Which PEs read a vertex's contribution, so that several GPUs need not send each other all contributions in every sweep.
#pragma once
#include <cstdint>
#include <vector>

#include "rows.cuh"
#include "shoal/device/device_memory.cuh"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// One byte per row: bit q is set if a row of PE q, other than the row's owner, reads the row's place. A sweep writes each
/// contribution to its readers only: for a road network in strips these are the borders, for a skewed graph nearly everything.
///
/// Copies are stored in the readers' memory at the same place as in the owner's, so that rows need no second numbering for
/// contributions from other PEs. The price is an array of all vertices on every PE, most of which is untouched.
class PageRankReadersGpu {
 public:
  static constexpr pe_t kMostPes = 8;  ///< number of bits

  /// Works in two passes: each PE marks what its rows read (takes about as long as a sweep), then each PE fetches its bits from
  /// all. During this, it needs one byte per vertex on every PE.
  /// @param rows   of the same graph; its devices must be able to access each other's memory (LockstepTeam ensures that)
  /// @param world  the same as for the rows
  /// @param reach  wire: lists are made, and of() is null
  /// @throws CapacityError, DeviceError, and as World::exchange()
  PageRankReadersGpu(const PlacedGraph& graph, const PageRankRowsGpu& rows, World* world = nullptr,
                     World::Reach reach = World::Reach::memory);

  /// Places, PE by PE, in ascending order: sender and receiver have the same order.
  struct List {
    std::vector<std::int64_t> begin;  ///< [all PEs + 1]
    DeviceArray<vertex_t> places;
  };
  const List& sent_by(pe_t p) const { return sent_by_[p]; }          ///< places that PE p of this process sends
  const List& received_by(pe_t p) const { return received_by_[p]; }  ///< places that it receives

  /// [count] by row of PE p of this process; null if there is only one PE.
  const std::uint8_t* of(pe_t p) const { return pes_[p].data(); }
  /// Contributions that travel in a sweep; each is counted once for every PE that reads it.
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
