// What a search reached. The PEs count it from the words that the search's engine left, so nothing is copied to the host.
#pragma once
#include <cstdint>

#include "algo/engine.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/world/machine.hpp"

namespace shoal {

struct Reached {
  std::int64_t vertices = 0;   ///< vertices whose word is not all ones
  arc_t arcs = 0;              ///< out-arcs of these vertices
  std::uint64_t farthest = 0;  ///< the largest of these words, 0 if there are none
};

/// @param words  of 4 or 8 bytes, ordered as unsigned numbers (float64 from 0 on are as well); all ones: not reached
Reached count_reached(const Machine& machine, const PlacedGraph& graph, const Words& words);
Reached count_reached_on_devices(const PlacedGraph& graph, const Words& words);

}  // namespace shoal
