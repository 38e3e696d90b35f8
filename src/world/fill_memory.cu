#include "fill_memory.cuh"

#include <algorithm>

#include "shoal/device/cuda_check.cuh"

namespace shoal {
namespace {

constexpr int kFillThreads = 256;
constexpr std::size_t kMostWords = 16;

struct Pattern {
  std::uint32_t word[kMostWords];
};

unsigned blocks_for(std::uint64_t n) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>((n + kFillThreads - 1) / kFillThreads, 1, 2048));
}
__device__ std::uint64_t global_thread() { return static_cast<std::uint64_t>(blockIdx.x) * kFillThreads + threadIdx.x; }
__device__ std::uint64_t all_threads() { return static_cast<std::uint64_t>(gridDim.x) * kFillThreads; }

__global__ void __launch_bounds__(kFillThreads)
    number_slots_kernel(std::uint64_t* slots, std::size_t slot_words, std::uint64_t n, std::uint64_t period,
                        std::uint64_t full) {
  for (std::uint64_t i = global_thread(); i < n; i += all_threads()) {
    std::uint64_t* slot = slots + i * slot_words;
    slot[0] = i % period + (i < full);
    slot[1] = i < full ? i : 0;
    for (std::size_t k = 2; k < slot_words; ++k) slot[k] = 0;
  }
}

__global__ void __launch_bounds__(kFillThreads)
    repeat_kernel(std::uint32_t* to, const __grid_constant__ Pattern pattern, std::size_t words, std::uint64_t n) {
  for (std::uint64_t i = global_thread(); i < n * words; i += all_threads()) to[i] = pattern.word[i % words];
}

}  // namespace

void number_slots_on_device(void* slots, std::size_t slot_bytes, std::uint64_t n, std::uint64_t period,
                            std::uint64_t full) {
  number_slots_kernel<<<blocks_for(n), kFillThreads>>>(static_cast<std::uint64_t*>(slots),
                                                       slot_bytes / sizeof(std::uint64_t), n, period, full);
  SHOAL_CUDA(cudaGetLastError());
}

void repeat_on_device(void* to, const std::uint32_t* pattern, std::size_t words, std::uint64_t n) {
  if (words > kMostWords) throw UsageError("a pattern has up to 64 bytes");
  Pattern by_value{};
  std::copy_n(pattern, words, by_value.word);
  repeat_kernel<<<blocks_for(n * words), kFillThreads>>>(static_cast<std::uint32_t*>(to), by_value, words, n);
  SHOAL_CUDA(cudaGetLastError());
}

}  // namespace shoal
