// A copy of a slice's arcs in another order. Without CUDA's sorting headers, which take long to compile.
#pragma once
#include "shoal/device/device_memory.cuh"
#include "shoal/graph/csr.hpp"

namespace shoal {

/// The arcs of a slice, each row in ascending order of weight; offsets are those of the slice.
template <class Weight>
struct SortedArcs {
  DeviceArray<vertex_t> targets;
  DeviceArray<Weight> weights;
};

/// On the current device, which holds the slice. Needs the result's size once more while it sorts.
/// @throws CapacityError, DeviceError; nothing is left then
SortedArcs<std::int32_t> sort_rows(const CsrView& rows, const std::int32_t* weights);
SortedArcs<double> sort_rows(const CsrView& rows, const double* weights);

}  // namespace shoal
