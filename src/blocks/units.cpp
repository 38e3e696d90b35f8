#include "shoal/blocks/units.hpp"

namespace shoal::blocks {

void order_units(std::vector<Unit>& units, const std::vector<int>& devices, bool words_do) {
  const auto device = [&](const Unit& unit) { return devices[unit.pe]; };
  for (Unit& unit : units) {
    std::erase_if(unit.after, [&](std::int64_t other) { return words_do && device(units[other]) != device(unit); });
    // One that waits may keep others of its GPU from running, which are behind it in a queue, or find no multiprocessor. So it comes
    // after all of the step before that other GPUs wait for: what it waits for, here and there, is never behind one that waits.
    for (std::int64_t other = 0; other < std::ssize(units) && unit.wired; ++other) {
      const Unit& its = units[other];
      if (its.wired && &its != &unit && device(its) == device(unit)) unit.after.push_back(other);
    }
    std::sort(unit.after.begin(), unit.after.end());
    unit.after.erase(std::unique(unit.after.begin(), unit.after.end()), unit.after.end());
  }
}

}  // namespace shoal::blocks
