// Verifies levels on the GPUs that hold them. Without CUDA types; only in builds with CUDA.
#pragma once
#include <string>

#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {

/// Checks the levels of a search on a graph that is placed on devices, with the per-vertex rules of reference.hpp. Each device
/// needs free memory for one level of every vertex.
/// @param level_slices   [n_pes] device memory of each PE: [count] levels of its vertices
/// @param placed_source  the source in placed numbers
/// @param on_host        with several processes: the levels of all vertices, by placed number; each process checks those of its PEs
/// @return empty when right; else one line about the first wrong vertex in placed order, in the input's numbers
/// @throws UsageError (the graph is not on devices), CapacityError, DeviceError
std::string verify_levels_on_devices(const PlacedGraph& graph, const level_t* const* level_slices,
                                     vertex_t placed_source, const level_t* on_host = nullptr);

}  // namespace shoal
