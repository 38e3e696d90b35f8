// The phases of a PageRank sweep on one rank's GPU. Arcs are sorted by the word that they add to (TargetWords), so that a thread
// makes one atomic addition for a run of arcs with the same word.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <vector>

#include "../common/sweeps.hpp"
#include "search_kernels.cuh"
#include "shoal/device/device_memory.cuh"

namespace shoal::nccl {

using baselines::Sums;

inline constexpr int kRun = 8;  ///< consecutive arcs of a thread: their words fill one 32-byte sector

/// The arcs of a rank, sorted by word.
struct SortedArcs {
  DeviceArray<vertex_t> words, sources;  // sources: own vertices

  /// @param rows  their targets are indices of words
  SortedArcs(const baselines::Rows& rows, cudaStream_t stream) {
    const auto arcs = static_cast<std::int64_t>(rows.targets.size());
    if (arcs == 0) return;
    std::vector<vertex_t> from(rows.targets.size());
    for (std::int64_t v = 0; v < rows.count(); ++v) {
      std::fill(from.begin() + rows.offsets[v], from.begin() + rows.offsets[v + 1], static_cast<vertex_t>(v));
    }
    DeviceArray<vertex_t> words_in(arcs, "words of arcs"), sources_in(arcs, "sources of arcs");
    words_in.upload(rows.targets.data(), arcs);
    sources_in.upload(from.data(), arcs);
    words = DeviceArray<vertex_t>(arcs, "words of arcs");
    sources = DeviceArray<vertex_t>(arcs, "sources of arcs");
    SHOAL_CUDA(cudaDeviceSynchronize());  // uploads are not ordered with the stream
    std::size_t bytes = 0;
    SHOAL_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, words_in.data(), words.data(), sources_in.data(),
                                               sources.data(), arcs, 0, 32, stream));
    DeviceArray<char> scratch(static_cast<std::int64_t>(bytes), "scratch");
    SHOAL_CUDA(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, words_in.data(), words.data(), sources_in.data(),
                                               sources.data(), arcs, 0, 32, stream));
    SHOAL_CUDA(cudaStreamSynchronize(stream));
  }
};

/// The share that each vertex gives along each of its arcs.
__global__ void __launch_bounds__(kThreads)
    share_kernel(const double* ranks, const arc_t* offsets, std::int64_t own, double* shares) {
  for (std::int64_t v = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; v < own;
       v += static_cast<std::int64_t>(gridDim.x) * kThreads) {
    const arc_t degree = offsets[v + 1] - offsets[v];
    shares[v] = degree > 0 ? ranks[v] / static_cast<double>(degree) : 0;
  }
}

__global__ void __launch_bounds__(kThreads)
    add_kernel(const vertex_t* words, const vertex_t* sources, arc_t arcs, const double* shares, double* sums) {
  for (arc_t begin = (static_cast<arc_t>(blockIdx.x) * kThreads + threadIdx.x) * kRun; begin < arcs;
       begin += static_cast<arc_t>(gridDim.x) * kThreads * kRun) {
    vertex_t word = words[begin];
    double sum = 0;
    for (arc_t i = begin; i < min(begin + kRun, arcs); ++i) {
      if (words[i] != word) {
        atomicAdd(sums + word, sum);
        word = words[i];
        sum = 0;
      }
      sum += shares[sources[i]];
    }
    atomicAdd(sums + word, sum);
  }
}

/// Adds the words that other ranks sent.
__global__ void __launch_bounds__(kThreads)
    add_received_kernel(const double* received, const vertex_t* targets, std::int64_t count, double* sums) {
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count;
       i += static_cast<std::int64_t>(gridDim.x) * kThreads) {
    atomicAdd(sums + targets[i], received[i]);
  }
}

/// Sets the ranks, and adds their change, sum and dangling part to `all`.
__global__ void __launch_bounds__(kThreads) update_kernel(const double* sums, const arc_t* offsets, std::int64_t own,
                                                          double alpha, double jump, double* ranks, Sums* all) {
  using Reduce = cub::BlockReduce<double, kThreads>;
  __shared__ typename Reduce::TempStorage scratch[3];
  Sums part{};
  for (std::int64_t v = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; v < own;
       v += static_cast<std::int64_t>(gridDim.x) * kThreads) {
    const double rank = alpha * sums[v] + jump;
    part.change += fabs(rank - ranks[v]);
    part.rank += rank;
    part.dangling += offsets[v + 1] == offsets[v] ? rank : 0;
    ranks[v] = rank;
  }
  const double change = Reduce(scratch[0]).Sum(part.change), rank = Reduce(scratch[1]).Sum(part.rank),
               dangling = Reduce(scratch[2]).Sum(part.dangling);
  if (threadIdx.x == 0) {
    atomicAdd(&all->change, change);
    atomicAdd(&all->rank, rank);
    atomicAdd(&all->dangling, dangling);
  }
}

__global__ void __launch_bounds__(kThreads) scale_kernel(double* ranks, std::int64_t own, double factor) {
  for (std::int64_t v = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; v < own;
       v += static_cast<std::int64_t>(gridDim.x) * kThreads) {
    ranks[v] *= factor;
  }
}

inline void share(const double* ranks, const arc_t* offsets, std::int64_t own, double* shares, cudaStream_t stream) {
  share_kernel<<<blocks_for(tiles_of(own)), kThreads, 0, stream>>>(ranks, offsets, own, shares);
  SHOAL_CUDA(cudaGetLastError());
}
/// @param sums  [words]; it is set to 0 first
inline void add(const SortedArcs& arcs, const double* shares, double* sums, std::int64_t num_words,
                cudaStream_t stream) {
  fill_bytes(sums, 0, num_words * sizeof(double), stream);
  add_kernel<<<blocks_for(tiles_of(arcs.words.size() / 2)), kThreads, 0, stream>>>(
      arcs.words.data(), arcs.sources.data(), arcs.words.size(), shares, sums);
  SHOAL_CUDA(cudaGetLastError());
}
inline void add_received(const double* received, const vertex_t* targets, std::int64_t count, double* sums,
                         cudaStream_t stream) {
  add_received_kernel<<<blocks_for(tiles_of(count)), kThreads, 0, stream>>>(received, targets, count, sums);
  SHOAL_CUDA(cudaGetLastError());
}
inline void update(const double* sums, const arc_t* offsets, std::int64_t own, double alpha, double jump, double* ranks,
                   Sums* all, cudaStream_t stream) {
  fill_bytes(all, 0, sizeof(Sums), stream);
  update_kernel<<<blocks_for(tiles_of(own)), kThreads, 0, stream>>>(sums, offsets, own, alpha, jump, ranks, all);
  SHOAL_CUDA(cudaGetLastError());
}
inline void scale(double* ranks, std::int64_t own, double factor, cudaStream_t stream) {
  scale_kernel<<<blocks_for(tiles_of(own)), kThreads, 0, stream>>>(ranks, own, factor);
  SHOAL_CUDA(cudaGetLastError());
}

}  // namespace shoal::nccl
