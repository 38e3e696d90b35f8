// Computes the weights of generated arcs, on the device that has the arcs.
#include <algorithm>

#include "device_slice.cuh"

namespace shoal {
namespace {

/// One warp per row.
__global__ void __launch_bounds__(kSliceThreads)
    weigh(CsrView rows, WeightSource source, const vertex_t* input_of_placed, std::int32_t* weights) {
  const auto input = [&](vertex_t placed) { return input_of_placed != nullptr ? input_of_placed[placed] : placed; };
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * kSliceThreads / 32;
  for (std::int64_t r = (static_cast<std::int64_t>(blockIdx.x) * kSliceThreads + threadIdx.x) / 32; r < rows.count;
       r += warps) {
    const vertex_t v = input(rows.first + static_cast<vertex_t>(r));
    for (arc_t a = rows.offsets[r] + threadIdx.x % 32; a < rows.offsets[r + 1]; a += 32) {
      weights[a] = source == WeightSource::unit ? 1 : hash255(v, input(rows.targets[a]));
    }
  }
}

}  // namespace

void weigh_slice(DeviceSlice& slice, WeightSource source, const vertex_t* input_of_placed) {
  slice.int_weights = DeviceArray<std::int32_t>(slice.targets.size(), "weights");
  const std::int64_t blocks = (std::int64_t{slice.count} * 32 + kSliceThreads - 1) / kSliceThreads;
  weigh<<<static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, 1 << 16)), kSliceThreads>>>(
      slice.view(), source, input_of_placed, slice.int_weights.data());
  SHOAL_CUDA(cudaGetLastError());
  SHOAL_CUDA(cudaDeviceSynchronize());
}

}  // namespace shoal
