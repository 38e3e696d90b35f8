#include "shoal/blocks/units.hpp"

namespace shoal::blocks {

void order_units(std::vector<Unit>& units, const std::vector<int>& devices, bool words_do) {
  const auto device = [&](const Unit& unit) { return devices[unit.pe]; };
  for (Unit& unit : units) {
    std::erase_if(unit.after, [&](std::int64_t other) { return words_do && device(units[other]) != device(unit); });
    // A kernel that waits may keep other kernels of its GPU from running: those behind it in a queue, or those that find no free
    // multiprocessor. So it comes after all kernels of the step before for which other GPUs wait. Then no kernel that is waited
    // for, on any GPU, is behind one that waits (docs/decisions/0045-blocks-between-gpus.md).
    for (std::int64_t other = 0; other < std::ssize(units) && unit.wired; ++other) {
      const Unit& its = units[other];
      if (its.wired && &its != &unit && device(its) == device(unit)) unit.after.push_back(other);
    }
    std::sort(unit.after.begin(), unit.after.end());
    unit.after.erase(std::unique(unit.after.begin(), unit.after.end()), unit.after.end());
  }
}

}  // namespace shoal::blocks
