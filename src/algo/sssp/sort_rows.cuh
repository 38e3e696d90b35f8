// Sorts a slice's arcs into a copy. This header does not include CUDA's sorting headers, which take long to compile.
#pragma once
#include "shoal/device/device_memory.cuh"
#include "shoal/graph/csr.hpp"

namespace shoal {

/// The arcs of a slice, each row in ascending order of weight; the slice's offsets apply.
template <class Weight>
struct SortedArcs {
  DeviceArray<vertex_t> targets;
  DeviceArray<Weight> weights;
};

/// Runs on the current device, which must hold the slice. While sorting, it needs memory for the size of the result twice.
/// @throws CapacityError, DeviceError; no memory is held then
SortedArcs<std::int32_t> sort_rows(const CsrView& rows, const std::int32_t* weights);
SortedArcs<double> sort_rows(const CsrView& rows, const double* weights);

}  // namespace shoal
