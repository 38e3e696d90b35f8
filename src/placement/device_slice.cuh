// The rows of one PE in its device's memory, and how they are generated there. Private to this folder.
#pragma once
#include <cstdint>

#include "shoal/device/device_memory.cuh"
#include "shoal/graph/csr.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/graph/weights.hpp"
#include "shoal/placement/random_placement.hpp"

namespace shoal {

inline constexpr int kSliceThreads = 256;  ///< threads per block of the kernels on slices

/// Owns the memory of one PE's rows. Offsets begin at 0.
struct DeviceSlice {
  DeviceArray<arc_t> offsets;             ///< [count + 1]
  DeviceArray<vertex_t> targets;          ///< [arcs] placed numbers, ascending in each row
  DeviceArray<std::int32_t> int_weights;  ///< [arcs] or empty
  DeviceArray<double> real_weights;       ///< [arcs] or empty
  vertex_t first = 0, count = 0;

  CsrView view() const { return {offsets.data(), targets.data(), first, count}; }
};

/// Computes the placed numbers of input vertices in a kernel.
struct Placement {
  bool identity;
  RandomPlacement random;

  SHOAL_FN vertex_t operator()(vertex_t input) const { return identity ? input : random(input); }
};

/// Generates rows [first, first + count) of the graph, or of its reverse, on the current device.
/// @param reverse  generate the in-arcs of these vertices; the same as their out-arcs unless spec.directed
/// @throws CapacityError, DeviceError; nothing is left on the device then
DeviceSlice generate_slice(const GeneratorSpec& spec, const Placement& placement, vertex_t first, vertex_t count,
                           bool reverse);

struct SliceMeasures {
  arc_t max_degree;  ///< the largest row; 0 if there is none
  arc_t cut_arcs;    ///< arcs whose target another PE owns
};

/// Measures a slice on the current device, and waits for the result.
SliceMeasures measure_slice(const DeviceSlice& slice);

/// PlacedGraph::sample_levels of rows on the current device. Searches do not leave them. Waits for the result.
int sample_levels(const CsrView& rows);

/// Computes the slice's weights on the current device, and waits until they are complete.
/// @param source           hash255 or unit
/// @param input_of_placed  [all vertices] on this device, or null if both numberings are the same
void weigh_slice(DeviceSlice& slice, WeightSource source, const vertex_t* input_of_placed);

}  // namespace shoal
