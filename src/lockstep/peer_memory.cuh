// Device memory of the PEs of one process. What lies where is written in the views that their kernels get, and nowhere
// else: a PE finds a peer's arrays in the peer's view.
#pragma once
#include <utility>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/device/device_memory.cuh"
#include "shoal/device/peer_access.cuh"

namespace shoal {

/// Arrays in the memory of all PEs. They are freed together.
class PeerMemory {
 public:
  /// @param devices  [n_pes] CUDA device of each PE
  /// @throws DeviceError  they cannot reach each other's memory
  explicit PeerMemory(std::vector<int> devices) : devices_(std::move(devices)) { reach_each_other(devices_); }

  /// `n` elements in PE p's memory, not zeroed; null for none. @throws CapacityError naming `name`
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
  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const auto& a : arrays_) sum += a.size();
    return sum;
  }

 private:
  std::vector<int> devices_;
  std::vector<DeviceArray<char>> arrays_;
};

/// Copies `n` elements from any device to host memory. The kernels that wrote them have ended.
template <class T>
void download(T* to, const T* from, std::int64_t n = 1) {
  SHOAL_CUDA(cudaMemcpy(to, from, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDefault));
}

}  // namespace shoal
