#include <algorithm>
#include <vector>

#include "algo/reached.hpp"
#include "algo/words_gpu.cuh"

namespace shoal {
namespace {

using u64 = unsigned long long;  // as CUDA's atomics name it
struct Sums {
  u64 vertices, arcs, farthest;

  __device__ void add(const Sums& more) {
    atomicAdd(&vertices, more.vertices);
    atomicAdd(&arcs, more.arcs);
    atomicMax(&farthest, more.farthest);
  }
};

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 1024;

template <class Word>
__global__ void __launch_bounds__(kThreads)
    sum_reached(const Word* word, const arc_t* offsets, std::int64_t n, Sums* all) {
  __shared__ Sums of_block;
  if (threadIdx.x == 0) of_block = {};
  __syncthreads();
  Sums mine{};
  for (std::int64_t i = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; i < n;
       i += gridDim.x * std::int64_t{kThreads}) {
    const Word x = word[i];
    if (x == static_cast<Word>(~Word{0})) continue;
    ++mine.vertices;
    mine.arcs += static_cast<u64>(offsets[i + 1] - offsets[i]);
    mine.farthest = max(mine.farthest, static_cast<u64>(x));
  }
  for (int step = 16; step > 0; step /= 2) {
    mine.vertices += __shfl_xor_sync(0xFFFFFFFFu, mine.vertices, step);
    mine.arcs += __shfl_xor_sync(0xFFFFFFFFu, mine.arcs, step);
    mine.farthest = max(mine.farthest, __shfl_xor_sync(0xFFFFFFFFu, mine.farthest, step));
  }
  if (threadIdx.x % 32 == 0) of_block.add(mine);
  __syncthreads();
  if (threadIdx.x == 0) all->add(of_block);
}

template <class Word>
Reached count(const PlacedGraph& graph, const Words& words) {
  const std::vector<const Word*> part = words.as<Word>();
  std::vector<DeviceArray<Sums>> sums;
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const CsrView& rows = graph.out[p];
    DeviceGuard guard(graph.devices[p]);
    sums.emplace_back(1, "counts of reached vertices");
    sums.back().fill_bytes(0);
    if (rows.count == 0) continue;
    const auto blocks = static_cast<unsigned>(std::min((rows.count + std::int64_t{1023}) / 1024, kMostBlocks));
    sum_reached<<<blocks, kThreads>>>(part[p], rows.offsets, rows.count, sums.back().data());
    SHOAL_CUDA(cudaGetLastError());
  }
  Reached all;
  for (const DeviceArray<Sums>& of_pe : sums) {
    Sums found{};
    of_pe.download(&found, 1);
    all.vertices += static_cast<std::int64_t>(found.vertices);
    all.arcs += static_cast<arc_t>(found.arcs);
    all.farthest = std::max<std::uint64_t>(all.farthest, found.farthest);
  }
  return all;
}

}  // namespace

Reached count_reached_on_devices(const PlacedGraph& graph, const Words& words) {
  wait_for_devices(graph);
  return words.bytes == sizeof(std::uint32_t) ? count<std::uint32_t>(graph, words) : count<std::uint64_t>(graph, words);
}

}  // namespace shoal
