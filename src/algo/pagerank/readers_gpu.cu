#include "readers.cuh"

#include <algorithm>
#include <span>

#include "algo/engine.hpp"
#include "shoal/core/array.hpp"
#include "shoal/core/error.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/world/world.hpp"

namespace shoal {
namespace {

using u8 = std::uint8_t;
using Sent = unsigned long long;

constexpr int kReaderThreads = 256;

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((threads + kReaderThreads - 1) / kReaderThreads, 1, 132 * 32));
}
__device__ std::int64_t thread_index() { return blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; }
__device__ std::int64_t num_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

/// All writers of a byte write the same value. Reading it first avoids that every thread writes the bytes of hubs.
__global__ void mark(const vertex_t* targets, arc_t n, u8* reads) {
  for (arc_t i = thread_index(); i < n; i += num_threads()) {
    const vertex_t place = targets[i];
    if (reads[place] == 0) reads[place] = 1;
  }
}

struct Marks {
  const u8* of[PageRankReadersGpu::kMostPes];  ///< [all places] of each PE, in that PE's own memory
};

__global__ void collect(Marks marks, pe_t n_pes, pe_t me, PageRankRows rows, u8* readers, Sent* sent) {
  unsigned mine = 0;
  for (std::int64_t i = thread_index(); i < rows.count; i += num_threads()) {
    const std::uint32_t place = rows.place(static_cast<std::uint32_t>(i));
    unsigned bits = 0;
    for (pe_t q = 0; q < n_pes; ++q) {
      if (q != me && marks.of[q][place] != 0) bits |= 1u << q;
    }
    readers[i] = static_cast<u8>(bits);
    if (i < rows.active) mine += __popc(bits);
  }
  for (int d = 16; d > 0; d /= 2) mine += __shfl_xor_sync(0xFFFFFFFFu, mine, d);
  if ((threadIdx.x & 31) == 0 && mine > 0) atomicAdd(sent, Sent{mine});
}

}  // namespace

PageRankReadersGpu::PageRankReadersGpu(const PlacedGraph& graph, const PageRankRowsGpu& rows, World* world,
                                       World::Reach reach)
    : pes_(graph.n_pes()) {
  const pe_t n_pes = graph.n_pes();
  if (graph.all_pes() == 1) return;
  if (graph.all_pes() > kMostPes) {
    throw UsageError("PageRank: " + std::to_string(graph.all_pes()) + " GPUs; at most 8 share a graph");
  }
  std::vector<DeviceArray<u8>> reads(n_pes);
  std::vector<DeviceArray<Sent>> sent(n_pes);
  Marks marks{};
  for (pe_t p = 0; p < n_pes; ++p) {  // all at the same time, each on its device
    DeviceGuard guard(graph.devices[p]);
    reads[p] = DeviceArray<u8>(graph.num_vertices + 1, "vertices that a PE reads");  // + 1 for the padding of slices
    reads[p].fill_bytes(0);
    for (const auto& [targets, n] : {rows.long_targets(p), rows.slice_targets(p)}) {
      if (n > 0) mark<<<blocks_for(n), kReaderThreads>>>(targets, n, reads[p].data());
      SHOAL_CUDA(cudaGetLastError());
    }
    marks.of[p] = reads[p].data();
    sent[p] = DeviceArray<Sent>(1, "counts of readers");
    sent[p].fill_bytes(0);
    if (reach == World::Reach::memory) pes_[p] = DeviceArray<u8>(graph.out[p].count, "readers");
  }
  for (pe_t p = 0; p < n_pes; ++p) {
    DeviceGuard guard(graph.devices[p]);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
  if (world != nullptr) {
    collect_of_processes(graph, rows, *world, reads, reach);
    return;
  }
  for (pe_t p = 0; p < n_pes; ++p) {
    DeviceGuard guard(graph.devices[p]);
    const PageRankRows& view = rows.rows(p);
    if (view.count == 0) continue;
    collect<<<blocks_for(view.count), kReaderThreads>>>(marks, n_pes, p, view, pes_[p].data(), sent[p].data());
    SHOAL_CUDA(cudaGetLastError());
  }
  for (pe_t p = 0; p < n_pes; ++p) {
    Sent got = 0;
    sent[p].download(&got, 1);  // also waits, so that `reads` may be freed
    sent_ += static_cast<std::int64_t>(got);
  }
}

/// The same on the host, where processes exchange one byte per vertex, with a bit for each PE that reads it.
void PageRankReadersGpu::collect_of_processes(const PlacedGraph& graph, const PageRankRowsGpu& rows, World& world,
                                              const std::vector<DeviceArray<u8>>& reads, World::Reach reach) {
  const auto n = static_cast<std::size_t>(graph.num_vertices);
  HostArray<u8> bits(graph.num_vertices, 0), mine(graph.num_vertices);
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    reads[p].download(mine.data(), graph.num_vertices);
    for (std::size_t v = 0; v < n; ++v) bits[v] |= static_cast<u8>((mine[v] != 0) << (graph.first_pe + p));
  }
  for (const auto& its : world.exchange({"who reads what"}, std::as_bytes(std::span(bits.data(), n)))) {
    if (its.size() != n) throw TransportError("a process sent the readers of another graph");
    for (std::size_t v = 0; v < n; ++v) bits[v] |= static_cast<u8>(its[v]);
  }
  if (reach == World::Reach::wire) return make_lists(graph, bits.data());
  std::uint64_t sent = 0;
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    DeviceGuard guard(graph.devices[p]);
    const PageRankRows& view = rows.rows(p);
    const u8 me = static_cast<u8>(1u << (graph.first_pe + p));
    for (std::uint32_t i = 0; i < view.count; ++i) {
      u8& of_row = bits[view.first + i];
      of_row &= static_cast<u8>(~me);
      if (i < view.active) sent += static_cast<std::uint64_t>(__builtin_popcount(of_row));
    }
    pes_[p].upload(bits.data() + view.first, view.count);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
  for (const std::uint64_t its : of_processes(&world, sent)) sent_ += static_cast<std::int64_t>(its);
}

/// @param bits  [all places] a bit for each PE that reads the place
void PageRankReadersGpu::make_lists(const PlacedGraph& graph, const u8* bits) {
  const vertex_t* const first = graph.partition.owner.begin;
  std::vector<vertex_t> places;
  /// Appends the places of `owner` that `reader` reads.
  const auto append = [&](pe_t owner, pe_t reader) {
    for (vertex_t place = first[owner]; owner != reader && place < first[owner + 1]; ++place) {
      if ((bits[place] >> reader & 1) != 0) places.push_back(place);
    }
  };
  const auto list = [&](pe_t p, auto&& append_of) {
    List made;
    places.clear();
    for (pe_t q = 0; q < graph.all_pes(); ++q) {
      made.begin.push_back(static_cast<std::int64_t>(places.size()));
      append_of(q);
    }
    made.begin.push_back(static_cast<std::int64_t>(places.size()));
    DeviceGuard guard(graph.devices[p]);
    made.places = DeviceArray<vertex_t>(made.begin.back(), "places that PEs read of each other");
    made.places.upload(places.data(), made.begin.back());
    return made;
  };
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const pe_t me = graph.first_pe + p;
    sent_by_.push_back(list(p, [&](pe_t q) { append(me, q); }));
    received_by_.push_back(list(p, [&](pe_t q) { append(q, me); }));
  }
  for (pe_t q = 0; q < graph.all_pes(); ++q) {
    for (vertex_t place = first[q]; place < first[q + 1]; ++place) {
      sent_ += __builtin_popcount(bits[place] & ~(1u << q));
    }
  }
}

}  // namespace shoal
