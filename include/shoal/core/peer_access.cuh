// Kernels of one GPU on the memory of another: the one place that asks for it.
#pragma once
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "shoal/core/cuda_check.cuh"

namespace shoal {

/// Lets kernels of `device` use the memory of `peer`, for the rest of the process. Asked once for each pair: asking again is an
/// error of the runtime, which tools report. From any thread.
/// @throws DeviceError the two cannot reach each other
inline void reach_peer(int device, int peer) {
  static std::mutex mutex;
  static std::set<std::pair<int, int>> reached;
  const std::lock_guard lock(mutex);
  if (device == peer || reached.count({device, peer}) > 0) return;
  DeviceGuard guard(device);
  int can = 0;
  SHOAL_CUDA(cudaDeviceCanAccessPeer(&can, device, peer));
  if (can == 0) {
    throw DeviceError("device " + std::to_string(device) + " cannot reach the memory of device " +
                      std::to_string(peer) + "; run on one GPU (--pes 1)");
  }
  const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();  // by somebody else in this process
  } else {
    cuda_check(status, "cudaDeviceEnablePeerAccess");
  }
  reached.insert({device, peer});
}

}  // namespace shoal
