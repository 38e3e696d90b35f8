// Host memory that GPUs load and store directly, and streams. Both take long to make, so the process keeps those that
// were given back.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace shoal {

/// Returns `bytes` (at least 1) of uninitialised page-locked host memory, at the same address for every device. It is
/// given back with its last owner; no kernel may use it then. Up to kKeptPinnedBytes of what was given back are kept
/// for the next request, since mapping new memory takes half a millisecond and more
/// (docs/decisions/0011-memory-of-a-run.md).
/// @param name  what it is for, in the error
/// @throws CapacityError  the system has no more
std::shared_ptr<void> pinned_memory(std::size_t bytes, const char* name);

inline constexpr std::size_t kKeptPinnedBytes = std::size_t{64} << 20;

/// Kernels and copies of urgent streams begin before those of others that are ready.
enum class Urgency { usual, urgent };

/// A CUDA stream that does not wait for the legacy stream. It is given back when it is destroyed and must be idle then:
/// its owner waits for its work first.
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
