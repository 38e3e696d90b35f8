// The verifier of levels where the levels are: on the GPUs. Without CUDA types; only in builds with CUDA.
#pragma once
#include <string>

#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {

/// Checks the levels of a search on a graph that is placed on devices, with the per-vertex rule of bfs_reference.hpp.
/// Each device needs room for one level of every vertex beside what it holds.
/// @param level_slices   [n_pes] device memory of each PE: [count] levels of its vertices
/// @param placed_source  the source in placed numbers
/// @param on_host        of several processes: the levels of all vertices, by placed number; each checks those of its PEs
/// @return empty when right; else one line about the first wrong vertex in placed order, in the input's numbers
/// @throws UsageError (the graph is not on devices), CapacityError, DeviceError
std::string verify_levels_on_devices(const PlacedGraph& graph, const level_t* const* level_slices,
                                     vertex_t placed_source, const level_t* on_host = nullptr);

}  // namespace shoal
