// For the form `kernels` on GPUs: which blocks of a PE take a step together (a unit), and in which order units take their steps.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/forms.hpp"

namespace shoal::blocks {

/// Blocks of a PE whose steps are launched together: one block, or all blocks of the PE.
struct Unit {
  pe_t pe = 0;                          ///< counted from 0 in this process
  std::int64_t block = 0;               ///< its block, if it has only one
  std::uint32_t first = 0, blocks = 0;  ///< its slots on the PE: the first one, and how many
  std::uint64_t tiles = 0;              ///< of the block that has most
  bool wired = false;                   ///< its kernels wait for other GPUs
  std::vector<std::int64_t> after;      ///< it takes step s after step s - 1 of these: units of neighbours
};

/// Completes `after`, which already names the units of neighbours. On each GPU, a unit that may wait for other GPUs in step s is
/// put after all such units of step s - 1.
/// @param devices   [PEs]
/// @param words_do  kernels wait for other GPUs by counters, so units on other GPUs are removed from `after`; false: these stay
void order_units(std::vector<Unit>& units, const std::vector<int>& devices, bool words_do);

/// All units of a process. They are in order of its blocks, or one for each PE.
class Units {
 public:
  static constexpr std::int64_t kQueue = 512;  ///< launches that fit a GPU's queue, each with an event

  Units() = default;
  template <class B>
  Units(const BlockArray<B>& array, const LaunchOptions& options) : options_(options) {
    std::vector<std::int64_t> unit_of(static_cast<std::size_t>(array.size()), -1);
    if (together()) {
      units_.resize(static_cast<std::size_t>(array.machine().n_pes()));
      for (pe_t p = 0; p < array.machine().n_pes(); ++p) units_[p].pe = p;
    }
    for (std::int64_t b = 0; b < array.size(); ++b) {
      if (!array.here(b)) continue;
      unit_of[b] = together() ? array.home(b) : size();
      if (!together()) units_.push_back({array.home(b), b, array.number(b), 0, 0, false, {}});
    }
    for (std::int64_t b = 0; b < array.size(); ++b) {
      if (!array.here(b)) continue;
      const Slot<B>& slot = array.slots()[array.home(b)][array.number(b)];
      Unit& unit = units_[unit_of[b]];
      ++unit.blocks;
      unit.tiles = std::max(unit.tiles, slot.tiles);
      unit.wired |= slot.wired;
      for (const std::int64_t other : array.neighbors(b)) {
        if (array.here(other) && unit_of[other] != unit_of[b]) unit.after.push_back(unit_of[other]);
      }
    }
    order_units(units_, array.machine().devices(), options_.halos == Halos::direct && fits_queues());
  }

  std::int64_t size() const { return std::ssize(units_); }
  const Unit& operator[](std::int64_t u) const { return units_[u]; }
  auto begin() const { return units_.begin(); }
  auto end() const { return units_.end(); }
  /// Whether all blocks of a PE are one unit.
  bool together() const { return options_.fusion == Fusion::d; }
  bool wired() const {
    return std::any_of(begin(), end(), [](const Unit& unit) { return unit.wired; });
  }
  /// An upper bound of the number of kernels that are launched for one step.
  std::int64_t launches_a_step() const {
    const std::int64_t sides = options_.fusion == Fusion::none ? 12 : 2;
    return std::max<std::int64_t>(size(), 1) * (options_.fusion == Fusion::c || together() ? 1 : 1 + sides);
  }

 private:
  /// Whether all kernels of a graph fit a GPU's queue. Otherwise there could be a deadlock: the host blocks in a launch on a full
  /// queue, whose GPU waits for another GPU, whose part of the same graph is launched only afterwards.
  bool fits_queues() const { return launches_a_step() * std::max(options_.graph, 1) <= kQueue; }

  LaunchOptions options_;
  std::vector<Unit> units_;
};

}  // namespace shoal::blocks
