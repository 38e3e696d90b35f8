// For the form `kernels` of GPUs: which blocks of a PE take a step together, and what comes after what.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/forms.hpp"

namespace shoal::blocks {

/// Blocks of a PE whose steps are launched together: one, or all of them.
struct Unit {
  pe_t pe = 0;                          ///< of those that are here
  std::int64_t block = 0;               ///< where it is one
  std::uint32_t first = 0, blocks = 0;  ///< of the PE's
  std::uint64_t tiles = 0;              ///< of the block that has most
  bool wired = false;                   ///< it waits for other GPUs
  std::vector<std::int64_t> after;  ///< units whose step before comes before: those that have neighbours of its blocks
};

/// Fills in `after`, which has the units of neighbours. Kernels wait for other GPUs themselves; within a GPU, one that may wait comes
/// after all that may, of the step before.
/// @param devices   [PEs]
/// @param words_do  else kernels come after those of neighbours on other GPUs, too
void order_units(std::vector<Unit>& units, const std::vector<int>& devices, bool words_do);

/// All units of a process, numbered as blocks are, or as PEs.
class Units {
 public:
  static constexpr std::int64_t kQueue = 512;  ///< launches that a GPU's queue has room for, with as many events

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
  /// All blocks of a PE are one.
  bool together() const { return options_.fusion == Fusion::d; }
  bool wired() const {
    return std::any_of(begin(), end(), [](const Unit& unit) { return unit.wired; });
  }
  /// At most.
  std::int64_t launches_a_step() const {
    const std::int64_t sides = options_.fusion == Fusion::none ? 12 : 2;
    return std::max<std::int64_t>(size(), 1) * (options_.fusion == Fusion::c || together() ? 1 : 1 + sides);
  }

 private:
  /// Whether all kernels of a graph fit a GPU's queue. Else the host might wait in a launch, for a GPU that waits for another one's part
  /// of the same graph, which is launched afterwards.
  bool fits_queues() const { return launches_a_step() * std::max(options_.graph, 1) <= kQueue; }

  LaunchOptions options_;
  std::vector<Unit> units_;
};

}  // namespace shoal::blocks
