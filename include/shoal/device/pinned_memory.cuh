// Page-locked host memory, which GPUs load and store directly, and CUDA streams. Both take long to create, so the process keeps
// those that are no longer used for later requests.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace shoal {

/// Returns `bytes` (at least 1) of uninitialised page-locked host memory, at the same address for every device. It is
/// given back when its last owner is destroyed; no kernel may use it then. Up to kKeptPinnedBytes of memory that was given back are
/// kept for later requests, since mapping new memory takes half a millisecond and more
/// (docs/decisions/0011-memory-of-a-run.md).
/// @param name  what the memory is for, for the error
/// @throws CapacityError  the system has no more page-locked memory
std::shared_ptr<void> pinned_memory(std::size_t bytes, const char* name);

inline constexpr std::size_t kKeptPinnedBytes = std::size_t{64} << 20;

/// A stream's priority: if several kernels or copies are ready, those of urgent streams begin first.
enum class Urgency { usual, urgent };

/// A CUDA stream that does not synchronise with the legacy stream. When this object is destroyed, the stream is kept for a later
/// Stream. It must be idle then: the owner must have waited for its work.
class Stream {
 public:
  /// @throws DeviceError
  explicit Stream(int device, Urgency urgency = Urgency::usual);
  ~Stream();
  Stream(Stream&& other) noexcept
      : device_(other.device_), urgency_(other.urgency_), stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;

  operator cudaStream_t() const { return stream_; }

 private:
  int device_;
  Urgency urgency_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace shoal
