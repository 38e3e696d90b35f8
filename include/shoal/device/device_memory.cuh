// Device memory with one owner. AllocationFault counts every allocation on a device, so that a test can make the k-th one fail.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "shoal/core/span.hpp"
#include "shoal/device/cuda_check.cuh"

namespace shoal {

/// For tests: the number of allocations since the start of the process, the number that are not freed yet, and which one (counted
/// from 0) is to fail.
struct AllocationFault {
  static inline std::atomic<std::int64_t> count{0};
  static inline std::atomic<std::int64_t> held{0};
  static inline std::atomic<std::int64_t> fail_at{-1};  ///< -1: none; compared with `count` before that is incremented

  /// The k-th allocation from now on fails, once.
  static void arm(std::int64_t k) { fail_at = count + k; }
  static void disarm() { fail_at = -1; }
};

/// Allocates `bytes` of uninitialised memory on the current device, which kernels of every stream may use; returns null for 0
/// bytes. Free it with device_free().
///
/// The memory comes from a memory pool of the CUDA runtime, because cudaMalloc and cudaFree take a hundred times as
/// long (docs/decisions/0011-memory-of-a-run.md). There is one pool per device, which the first call creates. It keeps up to
/// kKeptBytes of freed memory and returns the rest to the system. Before a request fails, the pool returns all freed memory, and
/// the request is tried again.
///
/// With the environment variable SHOAL_PLAIN_MALLOC, and on devices without pools, each call is a cudaMalloc. memcheck
/// finds the same errors either way; initcheck treats memory that a pool hands out again as initialised.
/// @param name  what the memory is for, for the error
/// @throws CapacityError naming `name`, the device, the bytes wanted and the bytes free; nothing is left behind
void* device_alloc(std::size_t bytes, const char* name);

/// Frees memory that device_alloc() returned; its device must be current. Null is ignored. Waits for the device's work, as cudaFree
/// does, and until the pool has returned to the system what it does not keep.
void device_free(void* p) noexcept;

/// Bytes of the current device that device_alloc() could still return: free memory, and freed memory that its pool keeps.
std::size_t free_device_bytes();

inline constexpr std::uint64_t kKeptBytes = std::uint64_t{1} << 30;  ///< of freed memory that a pool keeps

/// `size()` elements of T on one device. Move-only. A new array is *not* zeroed.
template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>, "device memory is copied byte by byte");

 public:
  DeviceArray() = default;
  /// Allocates on the current device. @throws CapacityError as device_alloc()
  explicit DeviceArray(std::int64_t n, const char* name = "device array") : size_(n) {
    SHOAL_CUDA(cudaGetDevice(&device_));
    data_ = static_cast<T*>(device_alloc(static_cast<std::size_t>(n) * sizeof(T), name));
  }
  ~DeviceArray() { reset(); }
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    DeviceArray(std::move(other)).swap(*this);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::int64_t size() const { return size_; }
  std::size_t size_bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }
  int device() const { return device_; }
  Span<T> span() { return {data_, size_}; }
  Span<const T> span() const { return {data_, size_}; }

  /// Sets every byte to `byte`, in the legacy stream; may return before that is done.
  void fill_bytes(int byte) {
    if (size_ == 0) return;
    DeviceGuard guard(device_);
    SHOAL_CUDA(cudaMemset(data_, byte, size_bytes()));
  }
  /// Copies `n` elements from host memory, which may be changed afterwards, to the start of the array. The copy is in the
  /// legacy stream; from pageable memory, the call may return before the elements are in the array.
  void upload(const T* from, std::int64_t n) {
    if (n == 0) return;
    DeviceGuard guard(device_);
    SHOAL_CUDA(cudaMemcpy(data_, from, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyHostToDevice));
  }
  /// Copies `n` elements, from index `first` on, to host memory; returns when they are there.
  void download(T* to, std::int64_t n, std::int64_t first = 0) const {
    if (n == 0) return;
    DeviceGuard guard(device_);
    SHOAL_CUDA(cudaMemcpy(to, data_ + first, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDeviceToHost));
  }
  /// Frees the memory now; see device_free().
  void reset() noexcept {
    if (data_ != nullptr) {
      int before = 0;
      cudaGetDevice(&before);
      if (before != device_) cudaSetDevice(device_);
      device_free(data_);
      if (before != device_) cudaSetDevice(before);
    }
    data_ = nullptr;
    size_ = 0;
  }
  void swap(DeviceArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(device_, other.device_);
  }
  /// Moves the memory to a shared owner (PlacedGraph::keep). Pointers to it stay valid; this array becomes empty.
  std::shared_ptr<void> share() && { return std::make_shared<DeviceArray>(std::move(*this)); }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
  int device_ = 0;
};

}  // namespace shoal
