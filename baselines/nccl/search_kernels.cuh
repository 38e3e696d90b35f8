// The phases of a level of breadth-first search on one rank's GPU. Expanding divides the arcs of the frontier evenly among all
// threads, by a prefix sum of the degrees, so that no thread has to wait for a vertex with many arcs.
#pragma once
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <vector>

#include "../common/ranks.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/device_memory.cuh"

namespace shoal::nccl {

using baselines::Ranks;

inline constexpr int kThreads = 256, kPerThread = 4, kTile = kThreads * kPerThread;
inline constexpr int kMostRanks = 256;  // an owner is one byte when words are sorted

using counter_t = unsigned long long;  // the type that CUDA's atomics need; elsewhere counters are std::int64_t

/// As many blocks as fill the device, or fewer if there are fewer `tiles`.
inline int blocks_for(std::int64_t tiles) {
  int device = 0, processors = 0;
  SHOAL_CUDA(cudaGetDevice(&device));
  SHOAL_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  return static_cast<int>(std::max<std::int64_t>(1, std::min<std::int64_t>(tiles, processors * 8)));
}
inline std::int64_t tiles_of(std::int64_t count) { return (count + kTile - 1) / kTile; }

inline void fill_bytes(void* data, int byte, std::size_t bytes, cudaStream_t stream) {
  if (bytes > 0) SHOAL_CUDA(cudaMemsetAsync(data, byte, bytes, stream));
}

/// An array that is never null, not even for `n` = 0.
template <class T>
DeviceArray<T> room_for(std::int64_t n, const char* name) {
  return DeviceArray<T>(std::max<std::int64_t>(n, 1), name);
}

/// The arrays that all kernels of a rank read.
struct Slice {
  Ranks ranks;
  const arc_t* offsets;     // [own vertices + 1]
  const vertex_t* targets;  // of the input
};

/// Where a level puts the own vertices that it finds.
struct Found {
  std::int32_t* levels;  // [own vertices], -1 where not visited
  vertex_t* next;        // [own vertices]
  std::int64_t* count;   // of next

  __device__ bool visit(vertex_t v, std::int32_t level) const {
    return levels[v] < 0 && atomicCAS(levels + v, -1, level) < 0;
  }
};

/// Where a level puts vertices of other ranks, in no particular order.
struct Sending {
  vertex_t* words;          // vertices, as numbered by their owner
  std::uint8_t* owners;     // the owner of each word
  std::int64_t* cursor;     // number of words so far
  std::int64_t* by_owner;   // [ranks] number of words by owner
  std::uint32_t* was_sent;  // a bit for each vertex of the graph; null if words may be sent again

  __device__ bool first_time(vertex_t u) const {
    if (was_sent == nullptr) return true;
    const std::uint32_t bit = 1u << (u % 32);
    return (was_sent[u / 32] & bit) == 0 && (atomicOr(was_sent + u / 32, bit) & bit) == 0;
  }
};

/// The first i from `low` on with ends[i] > arc. There must be one below `high`.
__device__ inline std::int64_t row_of(const arc_t* ends, std::int64_t low, std::int64_t high, arc_t arc) {
  while (low + 1 < high) {
    const std::int64_t middle = low + (high - low - 1) / 2;
    if (ends[middle] > arc) {
      high = middle + 1;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

struct DegreeOf {
  const arc_t* offsets;
  __host__ __device__ arc_t operator()(vertex_t v) const { return offsets[v + 1] - offsets[v]; }
};

__global__ void start_kernel(Found found, vertex_t source) {
  found.levels[source] = 0;
  found.next[0] = source;
}

/// @param ends  [count] inclusive prefix sum of the degrees of the frontier's vertices
__global__ void __launch_bounds__(kThreads)
    expand_kernel(Slice slice, const vertex_t* frontier, const arc_t* ends, std::int64_t count, std::int32_t level,
                  Found found, Sending sending) {
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  __shared__ typename Scan::TempStorage scan;
  __shared__ std::int64_t first, last;
  __shared__ counter_t found_begin, sent_begin;
  __shared__ std::uint32_t by_owner[kMostRanks];
  for (int r = threadIdx.x; r < slice.ranks.size; r += kThreads) by_owner[r] = 0;
  const arc_t arcs = ends[count - 1];
  for (arc_t tile = static_cast<arc_t>(blockIdx.x) * kTile; tile < arcs;
       tile += static_cast<arc_t>(gridDim.x) * kTile) {
    __syncthreads();
    if (threadIdx.x == 0) first = row_of(ends, 0, count, tile);
    if (threadIdx.x == 32) last = row_of(ends, 0, count, min(tile + kTile, arcs) - 1);
    __syncthreads();
    vertex_t words[kPerThread];
    int owners[kPerThread];  // -1: the arc needs no further work
    std::uint32_t finds = 0, sends = 0;
    for (int k = 0; k < kPerThread; ++k) {
      owners[k] = -1;
      const arc_t arc = tile + k * kThreads + static_cast<int>(threadIdx.x);
      if (arc >= arcs) continue;
      const std::int64_t i = row_of(ends, first, last + 1, arc);
      const vertex_t u = slice.targets[slice.offsets[frontier[i] + 1] - (ends[i] - arc)];
      const int owner = slice.ranks.owner(u);
      words[k] = slice.ranks.local(u);
      if (owner == slice.ranks.rank) {
        if (!found.visit(words[k], level)) continue;
        ++finds;
      } else {
        if (!sending.first_time(u)) continue;
        ++sends;
      }
      owners[k] = owner;
    }
    std::uint32_t before = 0, all = 0;  // own vertices found in the lower 16 bits, words to send in the upper ones
    Scan(scan).ExclusiveSum(finds | sends << 16, before, all);
    if (threadIdx.x == 0) {
      if ((all & 0xFFFF) != 0) found_begin = atomicAdd(reinterpret_cast<counter_t*>(found.count), all & 0xFFFF);
      if (all >> 16 != 0) sent_begin = atomicAdd(reinterpret_cast<counter_t*>(sending.cursor), all >> 16);
    }
    __syncthreads();
    counter_t find = found_begin + (before & 0xFFFF), send = sent_begin + (before >> 16);
    for (int k = 0; k < kPerThread; ++k) {
      const bool here = owners[k] == slice.ranks.rank;
      if (here) found.next[find++] = words[k];
      if (!here && owners[k] >= 0) {
        sending.words[send] = words[k];
        sending.owners[send++] = static_cast<std::uint8_t>(owners[k]);
      }
      // One addition for all lanes of a warp whose words go to the same rank.
      const int to = here ? -1 : owners[k];
      const unsigned same = __match_any_sync(0xFFFFFFFFu, to);
      if (to >= 0 && __ffs(static_cast<int>(same)) - 1 == static_cast<int>(threadIdx.x % 32)) {
        atomicAdd(by_owner + to, static_cast<std::uint32_t>(__popc(same)));
      }
    }
  }
  __syncthreads();
  for (int r = threadIdx.x; r < slice.ranks.size; r += kThreads) {
    if (by_owner[r] > 0) atomicAdd(reinterpret_cast<counter_t*>(sending.by_owner + r), by_owner[r]);
  }
}

/// Visits the vertices that other ranks sent.
__global__ void __launch_bounds__(kThreads)
    receive_kernel(const vertex_t* words, std::int64_t count, std::int32_t level, Found found) {
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  __shared__ typename Scan::TempStorage scan;
  __shared__ counter_t begin;
  for (std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * kTile; tile < count;
       tile += static_cast<std::int64_t>(gridDim.x) * kTile) {
    __syncthreads();
    vertex_t own[kPerThread];
    std::uint32_t finds = 0;
    for (int k = 0; k < kPerThread; ++k) {
      const std::int64_t i = tile + k * kThreads + static_cast<int>(threadIdx.x);
      if (i < count && found.visit(words[i], level)) own[finds++] = words[i];
    }
    std::uint32_t before = 0, all = 0;
    Scan(scan).ExclusiveSum(finds, before, all);
    if (threadIdx.x == 0 && all > 0) begin = atomicAdd(reinterpret_cast<counter_t*>(found.count), all);
    __syncthreads();
    for (std::uint32_t k = 0; k < finds; ++k) found.next[begin + before + k] = own[k];
  }
}

inline void start(const Found& found, vertex_t source, cudaStream_t stream) {
  start_kernel<<<1, 1, 0, stream>>>(found, source);
  SHOAL_CUDA(cudaGetLastError());
}

/// The prefix sum of the frontier's degrees, for expand().
inline void sum_degrees(const Slice& slice, const vertex_t* frontier, std::int64_t count, arc_t* ends, void* scratch,
                        std::size_t scratch_bytes, cudaStream_t stream) {
  const auto degrees = thrust::make_transform_iterator(frontier, DegreeOf{slice.offsets});
  SHOAL_CUDA(cub::DeviceScan::InclusiveSum(scratch, scratch_bytes, degrees, ends, count, stream));
}

inline void expand(const Slice& slice, const vertex_t* frontier, const arc_t* ends, std::int64_t count,
                   std::int32_t level, const Found& found, const Sending& sending, cudaStream_t stream) {
  expand_kernel<<<blocks_for(kMaxVertices), kThreads, 0, stream>>>(slice, frontier, ends, count, level, found, sending);
  SHOAL_CUDA(cudaGetLastError());
}

/// Sorts the words by rank.
inline void sort_by_owner(const std::uint8_t* owners, std::uint8_t* sorted_owners, const vertex_t* words,
                          vertex_t* sorted_words, std::int64_t count, const Ranks& ranks, void* scratch,
                          std::size_t scratch_bytes, cudaStream_t stream) {
  const int bits = std::bit_width(static_cast<unsigned>(ranks.size - 1));
  SHOAL_CUDA(cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, owners, sorted_owners, words, sorted_words, count,
                                             0, bits, stream));
}

inline void receive(const vertex_t* words, std::int64_t count, std::int32_t level, const Found& found,
                    cudaStream_t stream) {
  receive_kernel<<<blocks_for(tiles_of(count)), kThreads, 0, stream>>>(words, count, level, found);
  SHOAL_CUDA(cudaGetLastError());
}

/// Bytes of scratch memory for sum_degrees and sort_by_owner.
inline std::size_t search_scratch_bytes(std::int64_t own, std::int64_t most_sent, const Ranks& ranks) {
  std::size_t scan = 0, sort = 0;
  const auto degrees = thrust::make_transform_iterator(static_cast<const vertex_t*>(nullptr), DegreeOf{nullptr});
  SHOAL_CUDA(cub::DeviceScan::InclusiveSum(nullptr, scan, degrees, static_cast<arc_t*>(nullptr), own));
  if (ranks.size > 1) {
    const std::uint8_t* owners = nullptr;
    const vertex_t* words = nullptr;
    SHOAL_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, sort, owners, static_cast<std::uint8_t*>(nullptr), words,
                                               static_cast<vertex_t*>(nullptr), most_sent, 0,
                                               std::bit_width(static_cast<unsigned>(ranks.size - 1))));
  }
  return std::max({scan, sort, std::size_t{1}});
}

/// The largest number of words that a rank may send to each other rank in a search.
inline std::vector<std::int64_t> most_words(const baselines::Rows& rows, const Ranks& ranks, std::int64_t num_vertices,
                                            bool send_once) {
  std::vector<std::int64_t> words(ranks.size);
  for (const vertex_t u : rows.targets) ++words[ranks.owner(u)];
  words[ranks.rank] = 0;
  if (send_once) {
    for (int r = 0; r < ranks.size; ++r) words[r] = std::min(words[r], ranks.count(num_vertices, r));
  }
  return words;
}

}  // namespace shoal::nccl
