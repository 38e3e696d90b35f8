// Computes for a report the largest degree and the cut arcs of one PE's rows, on their device.
#include <algorithm>

#include "device_slice.cuh"

namespace shoal {
namespace {

/// In types that atomics accept.
struct Counts {
  unsigned long long max_degree, cut_arcs;
};

__global__ void __launch_bounds__(kSliceThreads) measure(CsrView rows, arc_t num_arcs, Counts* counts) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kSliceThreads + threadIdx.x;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kSliceThreads;
  arc_t largest = 0;
  for (std::int64_t r = first; r < rows.count; r += step) {
    const arc_t degree = rows.offsets[r + 1] - rows.offsets[r];
    largest = degree > largest ? degree : largest;
  }
  arc_t cut = 0;
  for (std::int64_t a = first; a < num_arcs; a += step) cut += rows.targets[a] - rows.first >= rows.count;
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    const arc_t other = __shfl_down_sync(0xFFFFFFFFu, largest, lanes);
    largest = other > largest ? other : largest;
    cut += __shfl_down_sync(0xFFFFFFFFu, cut, lanes);
  }
  if (threadIdx.x % 32 != 0) return;
  if (largest > 0) atomicMax(&counts->max_degree, static_cast<unsigned long long>(largest));
  if (cut > 0) atomicAdd(&counts->cut_arcs, static_cast<unsigned long long>(cut));
}

}  // namespace

SliceMeasures measure_slice(const DeviceSlice& slice) {
  DeviceArray<Counts> counts(1, "counts of a slice");
  counts.fill_bytes(0);
  const std::int64_t most = std::max<std::int64_t>(slice.count, slice.targets.size());
  measure<<<static_cast<unsigned>(std::clamp<std::int64_t>((most + kSliceThreads - 1) / kSliceThreads, 1, 4096)),
            kSliceThreads>>>(slice.view(), slice.targets.size(), counts.data());
  SHOAL_CUDA(cudaGetLastError());
  Counts found{};
  counts.download(&found, 1);
  return {static_cast<arc_t>(found.max_degree), static_cast<arc_t>(found.cut_arcs)};
}

}  // namespace shoal
