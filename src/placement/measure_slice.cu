// Measures the rows of one PE on their device: the largest degree, the cut arcs, and how far the vertices near a vertex are.
#include <algorithm>
#include <vector>

#include "device_slice.cuh"

namespace shoal {
namespace {

/// In types that atomics accept.
struct Counts {
  unsigned long long max_degree, cut_arcs;
};

__global__ void __launch_bounds__(kSliceThreads) measure(CsrView rows, arc_t num_arcs, Counts* counts) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kSliceThreads + threadIdx.x;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kSliceThreads;
  arc_t largest = 0;
  for (std::int64_t r = first; r < rows.count; r += step) {
    const arc_t degree = rows.offsets[r + 1] - rows.offsets[r];
    largest = degree > largest ? degree : largest;
  }
  arc_t cut = 0;
  for (std::int64_t a = first; a < num_arcs; a += step) cut += rows.targets[a] - rows.first >= rows.count;
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    const arc_t other = __shfl_down_sync(0xFFFFFFFFu, largest, lanes);
    largest = other > largest ? other : largest;
    cut += __shfl_down_sync(0xFFFFFFFFu, cut, lanes);
  }
  if (threadIdx.x % 32 != 0) return;
  if (largest > 0) atomicMax(&counts->max_degree, static_cast<unsigned long long>(largest));
  if (cut > 0) atomicAdd(&counts->cut_arcs, static_cast<unsigned long long>(cut));
}

constexpr unsigned kSampled = 2048;  ///< vertices that a search reaches
constexpr unsigned kSamples = 15;    ///< searches
constexpr unsigned kSeen =
    1 << 13;  ///< slots of the table of reached vertices, with room for what a block adds meanwhile
constexpr unsigned kMostArcs =
    1024;  ///< of a vertex, that a search looks at: more would reach everything in two levels

/// Each block searches from a vertex of its own: levels[block] is how many levels it needs to reach kSampled vertices, 0 if it does not.
__global__ void __launch_bounds__(kSliceThreads) search_near(CsrView rows, int* levels) {
  __shared__ vertex_t reached[kSampled], seen[kSeen];
  __shared__ unsigned count;
  for (unsigned i = threadIdx.x; i < kSeen; i += kSliceThreads) seen[i] = rows.count;
  __syncthreads();
  const auto reach = [&](vertex_t local) {
    for (unsigned at = local * 2654435761u >> 19;; ++at) {
      const vertex_t before = atomicCAS(&seen[at % kSeen], rows.count, local);
      if (before == local) return;
      if (before != rows.count) continue;
      const unsigned place = atomicAdd(&count, 1u);
      if (place < kSampled) reached[place] = local;
      return;
    }
  };
  if (threadIdx.x == 0) {
    count = 0;
    reach(static_cast<vertex_t>(std::uint64_t{rows.count} * blockIdx.x / gridDim.x));
  }
  __syncthreads();
  int level = 0;
  for (unsigned begin = 0, end = 1; begin < end && end < kSampled; ++level) {
    for (unsigned i = begin + threadIdx.x; i < end; i += kSliceThreads) {
      const arc_t first = rows.offsets[reached[i]], last = rows.offsets[reached[i] + 1];
      for (arc_t a = first; a < last && a < first + kMostArcs && atomicAdd(&count, 0u) < kSampled; ++a) {
        const vertex_t local = rows.targets[a] - rows.first;
        if (local < rows.count) reach(local);
      }
    }
    __syncthreads();
    begin = end;
    end = count < kSampled ? count : kSampled;
    __syncthreads();
  }
  if (threadIdx.x == 0) levels[blockIdx.x] = count < kSampled ? 0 : level;
}

}  // namespace

int sample_levels(const CsrView& rows) {
  if (rows.count < static_cast<vertex_t>(kSampled)) return 0;
  DeviceArray<int> levels(kSamples, "levels of some searches");
  search_near<<<kSamples, kSliceThreads>>>(rows, levels.data());
  SHOAL_CUDA(cudaGetLastError());
  std::vector<int> found(kSamples);
  levels.download(found.data(), kSamples);
  std::nth_element(found.begin(), found.begin() + kSamples / 2, found.end());
  return found[kSamples / 2];
}

SliceMeasures measure_slice(const DeviceSlice& slice) {
  DeviceArray<Counts> counts(1, "counts of a slice");
  counts.fill_bytes(0);
  const std::int64_t most = std::max<std::int64_t>(slice.count, slice.targets.size());
  measure<<<static_cast<unsigned>(std::clamp<std::int64_t>((most + kSliceThreads - 1) / kSliceThreads, 1, 4096)),
            kSliceThreads>>>(slice.view(), slice.targets.size(), counts.data());
  SHOAL_CUDA(cudaGetLastError());
  Counts found{};
  counts.download(&found, 1);
  return {static_cast<arc_t>(found.max_degree), static_cast<arc_t>(found.cut_arcs)};
}

}  // namespace shoal
