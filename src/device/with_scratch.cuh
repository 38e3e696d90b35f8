// Scratch memory for functions of CUB.
#pragma once
#include <algorithm>
#include <cstddef>

#include "shoal/device/cuda_check.cuh"
#include "shoal/device/device_memory.cuh"

namespace shoal {

/// Calls a CUB function twice: f(nullptr, bytes) to get the size, then f(scratch, bytes) with that much memory. Returns when it is done.
/// @param what  for errors. @throws CapacityError, DeviceError
template <class F>
void with_scratch(const char* what, F&& f) {
  std::size_t bytes = 0;
  SHOAL_CUDA(f(nullptr, bytes));
  DeviceArray<unsigned char> scratch(static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1)), what);
  SHOAL_CUDA(f(scratch.data(), bytes));
  SHOAL_CUDA(cudaDeviceSynchronize());  // before the scratch memory is freed; also reports errors of CUB's kernels
}

}  // namespace shoal
