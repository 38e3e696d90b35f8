#if defined(SHOAL_HAVE_CUDA)
#include "shoal/device/cuda_check.cuh"

#include <string>

namespace shoal {

void throw_cuda_error(cudaError_t status, const char* what) {
  cudaGetLastError();
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess) device = -1;
  const std::string line = std::string(what) + " on device " + std::to_string(device) + ": " +
                           cudaGetErrorName(status) + ", " + cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) throw CapacityError(line + "; use more PEs or a smaller graph");
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) {
    throw DeviceError(line + "; run on the CPU (--device cpu), or see `shoal doctor`");
  }
  throw DeviceError(line);
}

}  // namespace shoal
#endif
