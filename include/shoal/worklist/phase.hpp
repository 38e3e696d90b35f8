// The phase word. A phase is a move of the threshold, or a sweep (a call of idle() for every part of the data). It begins
// when no item that may run is left, or few are (View::overlap), and every worker carries out its share. worklist/phases.hpp orders
// phases.
#pragma once
#include <cstdint>

#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// The word packs the phase's number (30 bits); the turn, which selects slot 0 or 1 and changes when the items beyond all
/// buckets with slots of their own are looked through (queue/buckets.hpp); whether the phase is a sweep, which calls idle();
/// and the threshold `near`: the last bucket that may run.
struct Phase {
  static SHOAL_FN std::uint64_t pack(std::uint64_t number, bool turn, bool sweep, lane_t near) {
    return number << 34 | static_cast<std::uint64_t>(turn) << 33 | static_cast<std::uint64_t>(sweep) << 32 | near;
  }
  static SHOAL_FN std::uint64_t number(std::uint64_t word) { return word >> 34; }
  static SHOAL_FN bool turn(std::uint64_t word) { return (word >> 33 & 1) != 0; }
  static SHOAL_FN bool sweeps(std::uint64_t word) { return (word >> 32 & 1) != 0; }
  static SHOAL_FN lane_t near(std::uint64_t word) { return static_cast<lane_t>(word); }
};

/// What the worker that orders phases remembers between them.
struct PhaseOrders {
  std::uint64_t word = 0;     ///< the last phase
  lane_t turned_at = 0;       ///< the threshold when the turn changed last
  bool swept = false;         ///< whether there was a sweep in this run
  std::uint64_t created = 0;  ///< the created sum when the last sweep was ordered, with its tokens
};

}  // namespace shoal
