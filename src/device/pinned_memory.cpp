// Page-locked memory and streams that the process keeps for later requests. They are never destroyed, because the CUDA runtime may
// shut down before static objects are destroyed.
#if defined(SHOAL_HAVE_CUDA)
#include "shoal/device/pinned_memory.cuh"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "shoal/device/cuda_check.cuh"

namespace shoal {
namespace {

struct Kept {
  std::mutex mutex;
  std::multimap<std::size_t, void*> blocks;  ///< by size
  std::size_t bytes = 0;
  std::map<std::pair<int, Urgency>, std::vector<cudaStream_t>> streams;  ///< by device and urgency
};

Kept& kept() {
  static Kept& all = *new Kept;
  return all;
}

constexpr std::size_t kSmallest = 4096;

}  // namespace

std::shared_ptr<void> pinned_memory(std::size_t bytes, const char* name) {
  // Sizes are rounded up to powers of two, so that a request can reuse memory of a request of about the same size. Sizes that are
  // too large to be kept are not rounded.
  if (bytes <= kKeptPinnedBytes) bytes = std::bit_ceil(std::max(bytes, kSmallest));
  void* p = nullptr;
  {
    const std::lock_guard lock(kept().mutex);
    if (const auto found = kept().blocks.find(bytes); found != kept().blocks.end()) {
      p = found->second;
      kept().blocks.erase(found);
      kept().bytes -= bytes;
    }
  }
  if (p == nullptr) cuda_check(cudaHostAlloc(&p, bytes, cudaHostAllocPortable | cudaHostAllocMapped), name);
  return {p, [bytes](void* q) {
            const std::lock_guard lock(kept().mutex);
            if (kept().bytes + bytes > kKeptPinnedBytes) {
              cudaFreeHost(q);
            } else {
              kept().blocks.emplace(bytes, q);
              kept().bytes += bytes;
            }
          }};
}

Stream::Stream(int device, Urgency urgency) : device_(device), urgency_(urgency) {
  {
    const std::lock_guard lock(kept().mutex);
    std::vector<cudaStream_t>& waiting = kept().streams[{device, urgency}];
    if (!waiting.empty()) {
      stream_ = waiting.back();
      waiting.pop_back();
      return;
    }
  }
  DeviceGuard guard(device);
  int least = 0, greatest = 0;
  SHOAL_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  SHOAL_CUDA(
      cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, urgency == Urgency::urgent ? greatest : least));
}

Stream::~Stream() {
  if (stream_ == nullptr) return;
  const std::lock_guard lock(kept().mutex);
  kept().streams[{device_, urgency_}].push_back(stream_);
}

}  // namespace shoal
#endif
