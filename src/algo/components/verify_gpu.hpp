// The verifier of component labels where they are: on the GPUs. Without CUDA types; only in builds with CUDA.
#pragma once
#include <string>

#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {

/// Checks the labels of a graph that is placed on devices by the rules of components_reference.hpp: 1 and 2 vertex by vertex;
/// 3 by a flood along arcs from all vertices that are their own labels, which must arrive everywhere. (An arc joins vertices
/// of one label, so what arrives at a vertex began at the vertex that its label names.) The flood takes
/// a kernel for each step: thousands for a road. Each device needs room for 4 bytes of every vertex and 8 of its own.
/// @param label_slices  [n_pes] device memory of each PE: [count] labels of its vertices, placed numbers
/// @return empty when right; else one line about a wrong vertex, in the input's numbers
/// @throws UsageError (the graph is not on devices), CapacityError, DeviceError
std::string verify_components_on_devices(const PlacedGraph& graph, const vertex_t* const* label_slices);

}  // namespace shoal
