// Device memory of the PEs of a run. Addresses are recorded only in the views that kernels get: a PE finds a peer's arrays in the
// peer's view or, if the peer belongs to another process, in what that process sends.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "shared_arrays.cuh"
#include "shoal/core/types.hpp"
#include "shoal/device/device_memory.cuh"
#include "shoal/device/peer_access.cuh"

namespace shoal {

/// Arrays in the memory of the PEs of this process. All are freed together.
class PeerMemory {
 public:
  /// @param devices  [PEs of this process] the CUDA device of each
  /// @param world    the world of several processes, which all construct one at the same point of the program; null: there is one
  ///                 process
  /// @throws DeviceError  the devices cannot access each other's memory
  explicit PeerMemory(std::vector<int> devices, World* world = nullptr) : devices_(std::move(devices)) {
    reach_each_other(devices_);
    if (world != nullptr) shared_ = std::make_unique<SharedArrays>(devices_, *world);
  }

  /// `n` elements in the memory of PE p of this process, not zeroed; null for none. @throws CapacityError naming `name`
  template <class T>
  T* array(pe_t p, std::int64_t n, const char* name) {
    static_assert(std::is_trivially_copyable_v<T>, "device memory is copied byte by byte");
    DeviceGuard guard(devices_[p]);
    arrays_.emplace_back(n * static_cast<std::int64_t>(sizeof(T)), name);
    return reinterpret_cast<T*>(arrays_.back().data());
  }
  /// The same with all bytes 0, ordered by the device's legacy stream.
  template <class T>
  T* zeros(pe_t p, std::int64_t n, const char* name) {
    T* const out = array<T>(p, n, name);
    arrays_.back().fill_bytes(0);
    return out;
  }
  /// An array that kernels of all PEs use.
  template <class T>
  T* shared(pe_t p, std::int64_t n, const char* name) {
    static_assert(std::is_trivially_copyable_v<T>, "device memory is copied byte by byte");
    if (!shared_) return array<T>(p, n, name);
    return static_cast<T*>(shared_->allocate(p, static_cast<std::size_t>(n) * sizeof(T), name));
  }
  template <class T>
  T* shared_zeros(pe_t p, std::int64_t n, const char* name) {
    T* const out = shared<T>(p, n, name);
    if (n == 0) return out;
    DeviceGuard guard(devices_[p]);
    SHOAL_CUDA(cudaMemset(out, 0, static_cast<std::size_t>(n) * sizeof(T)));
    return out;
  }

  /// Called by every process: the addresses at which kernels of this process's PEs find the arrays of all PEs.
  /// @param mine  [PEs of this process] what shared() returned for each, or null; lists of all PEs of all processes have equal
  ///              lengths
  /// @throws as World::exchange(); DeviceError: the memory of another process cannot be mapped
  PeerArrays of_all(const std::vector<PeerArrays::List>& mine) {
    return shared_ ? shared_->of_all(mine) : PeerArrays(mine);
  }

  std::int64_t bytes() const {
    std::int64_t sum = shared_ ? shared_->bytes() : 0;
    for (const auto& a : arrays_) sum += a.size();
    return sum;
  }

 private:
  std::vector<int> devices_;
  std::vector<DeviceArray<char>> arrays_;
  std::unique_ptr<SharedArrays> shared_;  ///< null: one process, whose PEs can access all its memory
};

/// Copies `n` elements from any device to host memory. The kernels that wrote them must have ended.
template <class T>
void download(T* to, const T* from, std::int64_t n = 1) {
  SHOAL_CUDA(cudaMemcpy(to, from, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDefault));
}

}  // namespace shoal
