// The end of a run across processes, none of which sees the counters of another: two waves. In the first every process says
// how many items its PEs have completed. Only when all have said it does each read how many its PEs have created, and says
// that in the second. If both sums are equal, then at a moment between the two no item was left anywhere.
//
// This is the argument of worklist/quiescence.hpp, with a wave in place of a pass over memory: an item is counted as created
// before anybody can see it, also before it is in a segment that waits to be carried, and as completed after everything
// that it pushed was counted. So completed never exceeds created, and what is read as completed first and as created later
// can only be equal if nothing changed in between. What depends on the moment, such as the nearest bucket that is parked, is
// read in the second wave: from the quiet moment on it does not change. All processes get the same sums, so each decides by
// itself, and all decide the same. models/waves.pml checks this, with ten wrong variants.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/queue/buckets.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// What one process says in the second wave, and what is true of all processes together.
struct WaveAnswer {
  std::uint64_t created = 0;   ///< items so far
  lane_t nearest = kNoBucket;  ///< the nearest bucket that may be parked; all together: the smallest
  std::uint32_t ended = 0;     ///< a RunState that somebody ended the run with; all together: the largest
};

/// For one thread of every process, within a call that all have begun. May be repeated at any time; asking before the own
/// PEs have nothing to do is right, and useless.
/// @param completed  () -> std::uint64_t: how many items the PEs of this process have completed
/// @param answer     () -> WaveAnswer of this process; called when all processes have said what is completed
/// @param all        the answers of all processes together
/// @return the same on all processes; true: no item was left anywhere at some moment of the call
/// @throws as World::exchange()
template <class Completed, class Answer>
bool two_waves(World& world, const Completed& completed, const Answer& answer, WaveAnswer& all) {
  std::uint64_t sum = 0;
  const std::uint64_t done = completed();
  for (const auto& bytes : world.exchange(World::Call{"first wave"}, std::as_bytes(std::span(&done, std::size_t{1})))) {
    std::uint64_t its = 0;
    std::memcpy(&its, bytes.data(), std::min(bytes.size(), sizeof its));
    sum += its;
  }
  const WaveAnswer mine = answer();
  all = {};
  for (const auto& bytes :
       world.exchange(World::Call{"second wave"}, std::as_bytes(std::span(&mine, std::size_t{1})))) {
    WaveAnswer its;
    std::memcpy(&its, bytes.data(), std::min(bytes.size(), sizeof its));
    all.created += its.created;
    all.nearest = std::min(all.nearest, its.nearest);
    all.ended = std::max(all.ended, its.ended);
  }
  return sum == all.created;
}

}  // namespace shoal
