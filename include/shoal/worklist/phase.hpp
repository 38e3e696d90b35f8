// The phase word: what every worker is to do next when nothing is left that may run. worklist/phases.hpp orders phases.
#pragma once
#include <cstdint>

#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// A phase's number (30 bits), whether the items beyond all kept buckets are looked at (the turn changes), whether it asks for
/// idle(), and the bucket up to which items run.
struct Phase {
  static SHOAL_FN std::uint64_t pack(std::uint64_t number, bool turn, bool sweep, lane_t near) {
    return number << 34 | static_cast<std::uint64_t>(turn) << 33 | static_cast<std::uint64_t>(sweep) << 32 | near;
  }
  static SHOAL_FN std::uint64_t number(std::uint64_t word) { return word >> 34; }
  static SHOAL_FN bool turn(std::uint64_t word) { return (word >> 33 & 1) != 0; }
  static SHOAL_FN bool sweeps(std::uint64_t word) { return (word >> 32 & 1) != 0; }
  static SHOAL_FN lane_t near(std::uint64_t word) { return static_cast<lane_t>(word); }
};

}  // namespace shoal
