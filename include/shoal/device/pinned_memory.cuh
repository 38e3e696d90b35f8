// Host memory that GPUs load and store directly, and streams: both dear to make, so the process keeps those that were
// given back.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace shoal {

/// `bytes` (at least 1) of uninitialised page-locked host memory, at the same address for every device. The last owner
/// gives it back, when no kernel uses it any more; up to kKeptPinnedBytes of what was given back wait for the next
/// request. Mapped anew, 64 KiB take half a millisecond and 16 MiB four (H200, 2026-11-21), a third more where four
/// GPUs map them.
/// @param name  what it is for, in the error
/// @throws CapacityError  the system gives no more
std::shared_ptr<void> pinned_memory(std::size_t bytes, const char* name);

inline constexpr std::size_t kKeptPinnedBytes = std::size_t{64} << 20;

/// A stream that does not wait for the legacy stream. Given back idle: whoever owns it waits for its work before it
/// goes.
class Stream {
 public:
  /// @throws DeviceError
  explicit Stream(int device);
  ~Stream();
  Stream(Stream&& other) noexcept : device_(other.device_), stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;

  operator cudaStream_t() const { return stream_; }

 private:
  int device_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace shoal
