// Turns a CUDA status into an exception (no other code does), and makes a device current for a scope.
#pragma once
#include <cuda_runtime.h>

#include "shoal/core/error.hpp"

namespace shoal {

/// Throws the error of a call that did not succeed, as cuda_check() says.
[[noreturn]] void throw_cuda_error(cudaError_t status, const char* what);

/// Throws if `status` is not success. Clears the runtime's last error, so that no later call reports it again.
/// @param what  the call or its purpose, for the message, e.g. "cudaMemcpyPeer(...)"
/// @throws CapacityError for cudaErrorMemoryAllocation, DeviceError for everything else
inline void cuda_check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw_cuda_error(status, what);
}

/// Makes a CUDA runtime call, checks its status, and names the call in the error.
#define SHOAL_CUDA(call) ::shoal::cuda_check((call), #call)

/// The number of CUDA devices; 0 without a GPU or a driver. Does not throw.
inline int num_devices() {
  int n = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return n;
}

/// Makes `device` current for this thread until the guard is destroyed.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    SHOAL_CUDA(cudaGetDevice(&before_));
    if (device != before_) SHOAL_CUDA(cudaSetDevice(device));
  }
  ~DeviceGuard() { cudaSetDevice(before_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = 0;
};

}  // namespace shoal
