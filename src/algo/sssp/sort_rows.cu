#include "sort_rows.cuh"

#include <cub/device/device_segmented_sort.cuh>

#include "device/with_scratch.cuh"

namespace shoal {
namespace {

template <class Weight>
SortedArcs<Weight> sort(const CsrView& rows, const Weight* weights) {
  arc_t arcs = 0;
  if (rows.count != 0) SHOAL_CUDA(cudaMemcpy(&arcs, rows.offsets + rows.count, sizeof(arcs), cudaMemcpyDefault));
  SortedArcs<Weight> out{DeviceArray<vertex_t>(arcs, "arcs in order of weight"),
                         DeviceArray<Weight>(arcs, "weights in order")};
  if (arcs == 0) return out;
  with_scratch("sorting, scratch", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSegmentedSort::SortPairs(scratch, bytes, weights, out.weights.data(), rows.targets,
                                               out.targets.data(), arcs, std::int64_t{rows.count}, rows.offsets,
                                               rows.offsets + 1);
  });
  return out;
}

}  // namespace

SortedArcs<std::int32_t> sort_rows(const CsrView& rows, const std::int32_t* weights) { return sort(rows, weights); }
SortedArcs<double> sort_rows(const CsrView& rows, const double* weights) { return sort(rows, weights); }

}  // namespace shoal
