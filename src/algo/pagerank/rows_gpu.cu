#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "algo/words_gpu.cuh"
#include "rows.cuh"
#include "shoal/device/cuda_check.cuh"

namespace shoal {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr int kThreads = 256;
constexpr arc_t kSortAtOnce = arc_t{1} << 28;

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((threads + kThreads - 1) / kThreads, 1, 1 << 20));
}
__device__ std::int64_t thread_index() { return blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; }
__device__ std::int64_t num_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

/// Calls a CUB algorithm twice: for the size of its scratch memory, and to run it.
template <class F>
void with_scratch(F&& call) {
  std::size_t bytes = 0;
  SHOAL_CUDA(call(nullptr, bytes));
  DeviceArray<char> scratch(static_cast<std::int64_t>(bytes), "scratch of a sort");
  SHOAL_CUDA(call(scratch.data(), bytes));
}

__global__ void lengths(CsrView rows, u32* length, vertex_t* number) {
  for (std::int64_t i = thread_index(); i < rows.count; i += num_threads()) {
    length[i] = static_cast<u32>(rows.offsets[i + 1] - rows.offsets[i]);
    number[i] = static_cast<vertex_t>(i);
  }
}

/// ends[k] is set to the number of rows longer than limit[k]. Rows are ordered, longest first.
struct Limits {
  u32 longer_than[3];
};
__global__ void find_ends(const u32* length, u32 count, Limits limits, u32* ends) {
  for (std::int64_t i = thread_index(); i < count; i += num_threads()) {
    for (int k = 0; k < 3; ++k) {
      const u32 limit = limits.longer_than[k];
      if (length[i] > limit && (i + 1 == count || length[i + 1] <= limit)) ends[k] = static_cast<u32>(i + 1);
    }
  }
}

__global__ void set_places(const vertex_t* order, u32 first, u32 count, vertex_t* place) {
  for (std::int64_t i = thread_index(); i < count; i += num_threads())
    place[first + order[i]] = first + static_cast<u32>(i);
}

__global__ void set_degrees(CsrView out, const vertex_t* order, u32* degree) {
  for (std::int64_t i = thread_index(); i < out.count; i += num_threads()) {
    const vertex_t v = order != nullptr ? order[i] : static_cast<vertex_t>(i);
    degree[i] = static_cast<u32>(out.offsets[v + 1] - out.offsets[v]);
  }
}

__global__ void widen(const u32* length, std::int64_t n, arc_t* wide) {
  for (std::int64_t i = thread_index(); i <= n; i += num_threads()) wide[i] = i < n ? length[i] : 0;
}

/// Arcs of rows [begin, end) as (row, place) in one word each; a warp per row.
__global__ void list_arcs(CsrView rows, const vertex_t* order, const vertex_t* place, const arc_t* offsets, u32 begin,
                          u32 end, int bits, u64* arcs) {
  const std::int64_t lane = threadIdx.x & 31;
  for (std::int64_t r = begin + (thread_index() >> 5); r < end; r += num_threads() >> 5) {
    const arc_t from = rows.offsets[order[r]], length = offsets[r + 1] - offsets[r];
    u64* const to = arcs + (offsets[r] - offsets[begin]);
    for (arc_t k = lane; k < length; k += 32) {
      to[k] = static_cast<u64>(r - begin) << bits | place[rows.targets[from + k]];
    }
  }
}

__global__ void take_places(const u64* arcs, arc_t n, u64 mask, vertex_t* targets) {
  for (arc_t i = thread_index(); i < n; i += num_threads()) targets[i] = static_cast<vertex_t>(arcs[i] & mask);
}

/// unit[u] is the first row that begins at or after arc u * kPageRankUnitArcs of the rows from `begin` on.
__global__ void cut_units(const arc_t* offsets, u32 begin, u32 end, u32 num_units, u32* unit) {
  for (std::int64_t u = thread_index(); u <= num_units; u += num_threads()) {
    const arc_t wanted = offsets[begin] + u * arc_t{kPageRankUnitArcs};
    u32 low = begin, high = end;
    while (low < high) {
      const u32 middle = low + (high - low) / 2;
      if (offsets[middle] < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    unit[u] = u == num_units ? end : low;
  }
}

__device__ u32 row_length(const CsrView& rows, vertex_t v) {
  return static_cast<u32>(rows.offsets[v + 1] - rows.offsets[v]);
}

/// How many entries each slice has, padding included; a warp per slice. The last entry is for the sum.
__global__ void measure_slices(CsrView rows, const vertex_t* order, u32 begin, u32 end, u32 num_slices, arc_t* size) {
  const u32 lane = threadIdx.x & 31;
  for (std::int64_t s = thread_index() >> 5; s <= num_slices; s += num_threads() >> 5) {
    const std::int64_t r = begin + 32 * s + lane;
    u32 longest = 0;
    if (r < end) longest = row_length(rows, order != nullptr ? order[r] : static_cast<vertex_t>(r));
    for (int d = 16; d > 0; d /= 2) longest = max(longest, __shfl_xor_sync(0xFFFFFFFFu, longest, d));
    if (lane == 0) size[s] = 32 * arc_t{longest};
  }
}

__global__ void fill_slice(CsrView rows, const vertex_t* order, const vertex_t* place, u32 begin, u32 end,
                           u32 num_slices, const arc_t* slice, vertex_t pad, vertex_t* targets) {
  const u32 lane = threadIdx.x & 31;
  for (std::int64_t s = thread_index() >> 5; s < num_slices; s += num_threads() >> 5) {
    const std::int64_t r = begin + 32 * s + lane;
    const u32 entries = static_cast<u32>((slice[s + 1] - slice[s]) / 32);
    u32 length = 0;
    arc_t from = 0;
    if (r < end) {
      const vertex_t v = order != nullptr ? order[r] : static_cast<vertex_t>(r);
      length = row_length(rows, v);
      from = rows.offsets[v];
    }
    for (u32 k = 0; k < entries; ++k) {
      vertex_t target = pad;
      if (k < length) {
        target = rows.targets[from + k];
        if (place != nullptr) target = place[target];
      }
      targets[slice[s] + 32 * k + lane] = target;
    }
  }
}

}  // namespace

struct PageRankRowsGpu::Scratch {
  DeviceArray<u32> length;      ///< [count] of this PE's rows, in order
  DeviceArray<vertex_t> place;  ///< [n] of all placed vertices; empty where they are the same
};

PageRankRowsGpu::PageRankRowsGpu(const PlacedGraph& graph, World* world) : memory_(graph.devices), pes_(graph.n_pes()) {
  const double mean =
      graph.num_vertices > 0 ? static_cast<double>(graph.num_arcs) / static_cast<double>(graph.num_vertices) : 0;
  // Directed graphs: max_degree tells of out-arcs, so their rows are ordered whatever they are.
  sorted_ = !(graph.symmetric && graph.max_degree <= kPageRankSliceRow && mean < 8);
  std::vector<Scratch> scratch(pes_.size());
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    DeviceGuard guard(graph.devices[p]);
    order_rows(graph, p, scratch[p]);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
  if (sorted_ && world != nullptr) {
    std::vector<vertex_t*> places;
    for (auto& of_pe : scratch) places.push_back(of_pe.place.data());
    complete_on_devices(*world, graph, places, [&graph](pe_t q) { return graph.partition.owner.begin[q]; });
  }
  for (pe_t p = 0; sorted_ && world == nullptr && p < graph.n_pes(); ++p) {
    for (pe_t q = 0; q < graph.n_pes(); ++q) {
      const CsrView& theirs = graph.out[q];
      if (p == q || theirs.count == 0) continue;
      SHOAL_CUDA(cudaMemcpyPeer(scratch[p].place.data() + theirs.first, graph.devices[p],
                                scratch[q].place.data() + theirs.first, graph.devices[q],
                                theirs.count * sizeof(vertex_t)));
    }
  }
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    DeviceGuard guard(graph.devices[p]);
    SHOAL_CUDA(cudaDeviceSynchronize());  // copies between devices have arrived
    if (sorted_) fill_long(graph, p, scratch[p]);
    fill_slices(graph, p, scratch[p]);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
}

void PageRankRowsGpu::order_rows(const PlacedGraph& graph, pe_t p, Scratch& scratch) {
  PageRankRows& view = pes_[p].view;
  const CsrView& rows = graph.in[p];
  const u32 count = rows.count;
  view.first = rows.first;
  view.count = view.active = count;
  if (sorted_ && count > 0) {
    DeviceArray<u32> length(count, "lengths of rows");
    DeviceArray<vertex_t> number(count, "numbers of rows");
    scratch.length = DeviceArray<u32>(count, "lengths of rows");
    vertex_t* const order = memory_.array<vertex_t>(p, count, "order of rows");
    view.order = order;
    lengths<<<blocks_for(count), kThreads>>>(rows, length.data(), number.data());
    SHOAL_CUDA(cudaGetLastError());
    with_scratch([&](void* memory, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairsDescending(memory, bytes, length.data(), scratch.length.data(),
                                                       number.data(), order, static_cast<std::int64_t>(count));
    });
    DeviceArray<u32> ends(3, "ends of kinds of rows");
    ends.fill_bytes(0);
    find_ends<<<blocks_for(count), kThreads>>>(scratch.length.data(), count,
                                               Limits{{kPageRankBlockRow, kPageRankSliceRow, 0}}, ends.data());
    SHOAL_CUDA(cudaGetLastError());
    u32 got[3];
    ends.download(got, 3);
    view.num_block = got[0];
    view.num_long = got[1];
    if (graph.symmetric) view.active = got[2];
  }
  if (sorted_) {
    scratch.place = DeviceArray<vertex_t>(graph.num_vertices, "places");
    if (count > 0) set_places<<<blocks_for(count), kThreads>>>(view.order, view.first, count, scratch.place.data());
    SHOAL_CUDA(cudaGetLastError());
  }
  u32* const degree = memory_.array<u32>(p, count, "out-degrees");
  view.degree = degree;
  if (count > 0) set_degrees<<<blocks_for(count), kThreads>>>(graph.out[p], view.order, degree);
  SHOAL_CUDA(cudaGetLastError());
}

void PageRankRowsGpu::fill_long(const PlacedGraph& graph, pe_t p, Scratch& scratch) {
  PageRankRows& view = pes_[p].view;
  const u32 n = view.num_long;
  arc_t* const ends = memory_.array<arc_t>(p, std::int64_t{n} + 1, "offsets of long rows");
  view.offsets = ends;
  widen<<<blocks_for(std::int64_t{n} + 1), kThreads>>>(scratch.length.data(), n, ends);
  SHOAL_CUDA(cudaGetLastError());
  with_scratch([&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(memory, bytes, ends, ends, std::int64_t{n} + 1);
  });
  HostArray<arc_t> offsets(std::int64_t{n} + 1);
  download(offsets.data(), view.offsets, offsets.size());
  const arc_t arcs = pes_[p].long_arcs = offsets[n];
  vertex_t* const targets = memory_.array<vertex_t>(p, arcs, "long rows");
  view.targets = targets;
  const int bits = std::bit_width(static_cast<u64>(graph.num_vertices));
  DeviceArray<u64> keys, sorted;
  for (u32 begin = 0; begin < n;) {
    u32 end = begin + 1;
    while (end < n && offsets[end + 1] - offsets[begin] <= kSortAtOnce) ++end;
    const arc_t size = offsets[end] - offsets[begin];
    if (keys.size() < size) {
      keys.reset();
      sorted.reset();
      keys = DeviceArray<u64>(size, "arcs to sort");
      sorted = DeviceArray<u64>(size, "sorted arcs");
    }
    list_arcs<<<blocks_for(32 * std::int64_t{end - begin}), kThreads>>>(graph.in[p], view.order, scratch.place.data(),
                                                                        view.offsets, begin, end, bits, keys.data());
    SHOAL_CUDA(cudaGetLastError());
    with_scratch([&](void* memory, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortKeys(memory, bytes, keys.data(), sorted.data(), size, 0,
                                            bits + std::bit_width(end - begin));
    });
    take_places<<<blocks_for(size), kThreads>>>(sorted.data(), size, (u64{1} << bits) - 1, targets + offsets[begin]);
    SHOAL_CUDA(cudaGetLastError());
    begin = end;
  }
  const arc_t in_units = arcs - offsets[view.num_block];
  view.num_units = static_cast<u32>((in_units + kPageRankUnitArcs - 1) / kPageRankUnitArcs);
  u32* const unit = memory_.array<u32>(p, std::int64_t{view.num_units} + 1, "units of rows");
  view.unit = unit;
  cut_units<<<blocks_for(std::int64_t{view.num_units} + 1), kThreads>>>(view.offsets, view.num_block, n, view.num_units,
                                                                        unit);
  SHOAL_CUDA(cudaGetLastError());
}

void PageRankRowsGpu::fill_slices(const PlacedGraph& graph, pe_t p, Scratch& scratch) {
  PageRankRows& view = pes_[p].view;
  const u32 begin = view.num_long, end = view.active;
  view.num_slices = (end - begin + 31) / 32;
  arc_t* const slice = memory_.array<arc_t>(p, std::int64_t{view.num_slices} + 1, "offsets of slices");
  view.slice = slice;
  const unsigned blocks = blocks_for(32 * (std::int64_t{view.num_slices} + 1));
  measure_slices<<<blocks, kThreads>>>(graph.in[p], view.order, begin, end, view.num_slices, slice);
  SHOAL_CUDA(cudaGetLastError());
  with_scratch([&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(memory, bytes, slice, slice, std::int64_t{view.num_slices} + 1);
  });
  arc_t& entries = pes_[p].slice_entries;
  download(&entries, slice + view.num_slices);
  vertex_t* const targets = memory_.array<vertex_t>(p, entries, "slices");
  view.slice_targets = targets;
  if (entries == 0) return;
  fill_slice<<<blocks, kThreads>>>(graph.in[p], view.order, scratch.place.data(), begin, end, view.num_slices,
                                   view.slice, static_cast<vertex_t>(graph.num_vertices), targets);
  SHOAL_CUDA(cudaGetLastError());
}

}  // namespace shoal
