// Events in the streams of blocks on GPUs: those that are waited for, and those that a trace times.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "shoal/core/state_log.hpp"
#include "shoal/core/types.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::blocks::gpu {

/// An event of one device.
class Event {
 public:
  /// @param flags  most are waited for and not timed
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

/// For traces: when a GPU came to places in its streams. Each device has a place whose time is known by the host's clock as well.
class GpuTimes {
 public:
  /// @param streams  [PEs] without work
  GpuTimes(const std::vector<int>& devices, const std::vector<Stream>& streams) {
    for (std::size_t p = 0; p < devices.size(); ++p) {
      DeviceGuard guard(devices[p]);
      zero_.emplace_back(devices[p], cudaEventDefault);
      SHOAL_CUDA(cudaEventRecord(zero_.back(), streams[p]));
      SHOAL_CUDA(cudaEventSynchronize(zero_.back()));
      zero_at_.push_back(trace_now());
      for (int i = 0; i < 2; ++i) {  // so that none is made while a kernel waits for another one's launch
        events_.push_back({static_cast<pe_t>(p), Event(devices[p], cudaEventDefault)});
        spare_.push_back(std::ssize(events_) - 1);
      }
    }
  }
  /// An event of PE p; its number. -1: there are too many.
  std::ptrdiff_t event(pe_t p, int device) {
    const auto spare = std::find_if(spare_.begin(), spare_.end(),
                                    [&](std::ptrdiff_t i) { return events_[static_cast<std::size_t>(i)].first == p; });
    if (spare != spare_.end()) {
      const std::ptrdiff_t found = *spare;
      spare_.erase(spare);
      return found;
    }
    if (events_.size() >= kMost) return -1;
    events_.push_back({p, Event(device, cudaEventDefault)});
    return std::ssize(events_) - 1;
  }
  cudaEvent_t operator[](std::ptrdiff_t i) const { return events_[static_cast<std::size_t>(i)].second; }
  /// After all work has ended: by the host's clock.
  std::int64_t at(std::ptrdiff_t i) const {
    const auto& [p, event] = events_[static_cast<std::size_t>(i)];
    float ms = 0;
    SHOAL_CUDA(cudaEventElapsedTime(&ms, zero_[p], event));
    return zero_at_[p] + static_cast<std::int64_t>(static_cast<double>(ms) * 1e6);
  }

 private:
  static constexpr std::size_t kMost = 100'000;
  std::vector<Event> zero_;
  std::vector<std::int64_t> zero_at_;
  std::vector<std::pair<pe_t, Event>> events_;
  std::vector<std::ptrdiff_t> spare_;
};

}  // namespace shoal::blocks::gpu
