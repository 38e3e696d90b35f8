// Verifies component labels on the GPUs that hold them. Without CUDA types; only in builds with CUDA.
#pragma once
#include <string>

#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {

/// Checks the labels of a graph that is placed on devices by the rules of reference.hpp: rules 1 and 2 vertex by vertex; rule 3 by
/// a flood along arcs from all vertices that are their own labels, which must reach every vertex. (An arc joins vertices with the
/// same label, so a flood that reaches a vertex began at the vertex that its label names.) The flood needs one kernel per step:
/// thousands for a road network. Each device needs free memory for 4 bytes per vertex of the graph and 8 per vertex of its own.
/// @param label_slices  [n_pes] device memory of each PE: [count] labels of its vertices, placed numbers
/// @return empty when right; otherwise one line about a wrong vertex, in the input's numbers
/// @throws UsageError (the graph is not on devices), CapacityError, DeviceError
std::string verify_components_on_devices(const PlacedGraph& graph, const vertex_t* const* label_slices);

}  // namespace shoal
