// An owner of a CUDA event.
#pragma once
#include <cuda_runtime.h>

#include <utility>

#include "shoal/device/cuda_check.cuh"

namespace shoal {

/// An event of one device.
class Event {
 public:
  /// @param flags  of cudaEventCreateWithFlags; by default without timing, since most events are only waited for
  explicit Event(int device, unsigned flags = cudaEventDisableTiming) : device_(device) {
    DeviceGuard guard(device);
    SHOAL_CUDA(cudaEventCreateWithFlags(&event_, flags));
  }
  Event(Event&& other) noexcept : device_(other.device_), event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (event_ == nullptr) return;
    int before = 0;
    cudaGetDevice(&before);
    cudaSetDevice(device_);
    cudaEventDestroy(event_);
    cudaSetDevice(before);
  }
  operator cudaEvent_t() const { return event_; }

 private:
  int device_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace shoal
