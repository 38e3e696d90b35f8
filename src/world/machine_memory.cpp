// The memory of a machine's PEs.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/memory.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/large_pages.hpp"
#include "shoal/world/machine.hpp"

#if defined(SHOAL_HAVE_CUDA)
#include "fill_memory.cuh"
#include "shoal/device/device_memory.cuh"
#include "shoal/device/pinned_memory.cuh"
#endif

namespace shoal {
namespace {

constexpr std::size_t kWorthAsking = std::size_t{64} << 20;  ///< for fewer bytes, available memory is not checked

[[noreturn]] void no_memory(const char* what, std::size_t bytes) {
  const std::string name = what;
  const char* const cure = name.starts_with("spill")           ? "use a smaller --spill"
                           : name.starts_with("worklist ring") ? "use a smaller --capacity"
                                                               : "allocate less";
  throw CapacityError(name + ": " + std::to_string(bytes) + " bytes of memory are needed, but only " +
                      std::to_string(available_memory()) + " are available; " + cure + ", or a machine with more");
}

}  // namespace

std::shared_ptr<void> Machine::allocate(pe_t pe, std::size_t bytes, const char* what, Contents contents) const {
#if defined(SHOAL_HAVE_CUDA)
  if (on_gpu_) {
    bytes = std::max<std::size_t>(bytes, 1);
    DeviceGuard guard(devices_[pe]);
    DeviceArray<char> memory(static_cast<std::int64_t>(bytes), what);
    if (contents == Contents::zero) memory.fill_bytes(0);
    void* data = memory.data();
    return {std::move(memory).share(), data};
  }
#endif
  (void)pe;
  if (contents == Contents::zero && bytes >= kWorthAsking && static_cast<std::int64_t>(bytes) > available_memory()) {
    no_memory(what, bytes);  // else the system could kill the process while the memory is cleared
  }
  std::shared_ptr<void> memory = allocate_host(bytes, what);
  if (contents == Contents::zero) std::memset(memory.get(), 0, bytes);
  return memory;
}

std::shared_ptr<void> Machine::allocate_host(std::size_t bytes, const char* what) const {
  bytes = (std::max<std::size_t>(bytes, 1) + kCacheLine - 1) / kCacheLine * kCacheLine;
#if defined(SHOAL_HAVE_CUDA)
  if (on_gpu_) return pinned_memory(bytes, what);
#endif
  void* p = std::aligned_alloc(kCacheLine, bytes);
  if (p == nullptr) no_memory(what, bytes);
  if (bytes >= kWorthLargePages) want_large_pages(p, bytes);
  return {p, std::free};
}

void Machine::copy_in(pe_t pe, void* to, const void* from, std::size_t bytes) const {
#if defined(SHOAL_HAVE_CUDA)
  if (on_gpu_) {
    DeviceGuard guard(devices_[pe]);
    SHOAL_CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return;
  }
#endif
  (void)pe;
  if (bytes > 0) std::memcpy(to, from, bytes);  // no bytes may come from nowhere
}

void Machine::copy_out(pe_t pe, void* to, const void* from, std::size_t bytes) const {
#if defined(SHOAL_HAVE_CUDA)
  if (on_gpu_) {
    DeviceGuard guard(devices_[pe]);
    SHOAL_CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
    return;
  }
#endif
  (void)pe;
  if (bytes > 0) std::memcpy(to, from, bytes);  // no bytes may come from nowhere
}

void Machine::copy_in_later(pe_t pe, void* to, const void* from, std::size_t bytes) const {
#if defined(SHOAL_HAVE_CUDA)
  if (on_gpu_) {
    DeviceGuard guard(devices_[pe]);
    SHOAL_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice));
    return;
  }
#endif
  copy_in(pe, to, from, bytes);
}

void Machine::clear(pe_t pe, void* at, std::size_t bytes) const {
#if defined(SHOAL_HAVE_CUDA)
  if (on_gpu_) {
    DeviceGuard guard(devices_[pe]);
    SHOAL_CUDA(cudaMemset(at, 0, bytes));
    return;
  }
#endif
  (void)pe;
  std::memset(at, 0, bytes);
}

void Machine::repeat(pe_t pe, void* to, const void* pattern, std::size_t bytes, std::uint64_t n) const {
#if defined(SHOAL_HAVE_CUDA)
  if (on_gpu_) {
    DeviceGuard guard(devices_[pe]);
    repeat_on_device(to, static_cast<const std::uint32_t*>(pattern), bytes / sizeof(std::uint32_t), n);
    return;
  }
#endif
  (void)pe;
  for (std::uint64_t i = 0; i < n; ++i) std::memcpy(static_cast<char*>(to) + i * bytes, pattern, bytes);
}

void Machine::number_slots(pe_t pe, void* slots, std::size_t slot_bytes, std::uint64_t n, std::uint64_t period,
                           std::uint64_t full) const {
#if defined(SHOAL_HAVE_CUDA)
  if (on_gpu_) {
    DeviceGuard guard(devices_[pe]);
    number_slots_on_device(slots, slot_bytes, n, period, full);
    return;
  }
#endif
  (void)pe;
  for (std::uint64_t i = 0; i < n; ++i) {
    char* slot = static_cast<char*>(slots) + i * slot_bytes;
    const std::uint64_t words[2] = {i % period + (i < full), i < full ? i : 0};
    std::memcpy(slot, words, sizeof(words));
    std::memset(slot + sizeof(words), 0, slot_bytes - sizeof(words));
  }
}

void Machine::wait_for_memory() const {
#if defined(SHOAL_HAVE_CUDA)
  for (const int device : devices_) {
    DeviceGuard guard(device);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
#endif
}

}  // namespace shoal
