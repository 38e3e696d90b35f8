#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "algo/components/hook_gpu.hpp"
#include "algo/words_gpu.cuh"
#include "device/with_scratch.cuh"
#include "rows.cuh"
#include "shoal/device/cuda_check.cuh"
#include "short_rows.hpp"

namespace shoal {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr int kThreads = 256;
constexpr u32 kShortRow = kPageRankShortRow;
constexpr arc_t kSortAtOnce = arc_t{1} << 28;
constexpr std::int64_t kLabelsAsked = 4096;  ///< about this many labels are sampled to find the largest component
constexpr int kWarpsPerSm = 32, kUnitsPerWarp = 4;
constexpr arc_t kLeastUnit = 256, kMostUnit = 2048;  ///< in arcs

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((threads + kThreads - 1) / kThreads, 1, 1 << 20));
}
__device__ std::int64_t thread_index() { return blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; }
__device__ std::int64_t num_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

/// Sets the sort keys of rows, which are sorted in descending order: a row's length or, if the largest component is to come before
/// the others, its length plus kShortRow for rows of that component.
/// @param label   [count] null: rows are sorted by length alone
/// @param misfit  set to 1 if a row of another component is not short
__global__ void set_keys(CsrView rows, const vertex_t* label, vertex_t largest, u32* key, vertex_t* number,
                         u32* misfit) {
  for (std::int64_t i = thread_index(); i < rows.count; i += num_threads()) {
    const u32 length = static_cast<u32>(rows.offsets[i + 1] - rows.offsets[i]);
    const bool in_largest = label != nullptr && label[i] == largest;
    if (label != nullptr && !in_largest && length > kShortRow) *misfit = 1;
    key[i] = length + (in_largest && length > 0 ? kShortRow : 0);
    number[i] = static_cast<vertex_t>(i);
  }
}

/// Kinds of rows, in their order.
enum End { kBlockRows, kLongRows, kNotShort, kTied, kActive, kEnds };
/// ends[k] becomes the number of keys above limit[k]. The keys are descending.
struct Limits {
  u32 above[kEnds];
};
__global__ void find_ends(const u32* key, u32 count, Limits limits, u32* ends) {
  for (std::int64_t i = thread_index(); i < count; i += num_threads()) {
    for (int k = 0; k < kEnds; ++k) {
      const u32 limit = limits.above[k];
      if (key[i] > limit && (i + 1 == count || key[i + 1] <= limit)) ends[k] = static_cast<u32>(i + 1);
    }
  }
}

__global__ void number_places(PageRankRows rows, vertex_t* place) {
  for (std::int64_t i = thread_index(); i < rows.count; i += num_threads())
    place[rows.first + rows.order[i]] = rows.place(static_cast<u32>(i));
}

__global__ void set_degrees(CsrView out, const vertex_t* order, u32* degree) {
  for (std::int64_t i = thread_index(); i < out.count; i += num_threads()) {
    const vertex_t v = order != nullptr ? order[i] : static_cast<vertex_t>(i);
    degree[i] = static_cast<u32>(out.offsets[v + 1] - out.offsets[v]);
  }
}

/// Computes the lengths of rows from their keys; all rows have `more` in their key.
__global__ void widen(const u32* key, u32 more, std::int64_t n, arc_t* wide) {
  for (std::int64_t i = thread_index(); i <= n; i += num_threads()) wide[i] = i < n ? key[i] - more : 0;
}

/// Lists the arcs of rows [begin, end) as (row, place), one word each; one warp per row.
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

/// unit[u] becomes the first row that begins at or after arc u * unit_arcs, counted from row `begin`.
__global__ void cut_units(const arc_t* offsets, u32 begin, u32 end, arc_t unit_arcs, u32 num_units, u32* unit) {
  for (std::int64_t u = thread_index(); u <= num_units; u += num_threads()) {
    const arc_t wanted = offsets[begin] + u * unit_arcs;
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

/// Computes how many entries each slice has, with padding; one warp per slice. The last element is for the prefix sum.
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
  DeviceArray<u32> key;         ///< [count] keys of this PE's rows, sorted
  u32 more = 0;                 ///< added to the length in the keys of the largest component's rows
  DeviceArray<vertex_t> place;  ///< [n] of all placed vertices; empty if rows keep their order
};

struct PageRankRowsGpu::Labels {
  explicit Labels(const PlacedGraph& graph) : components(graph) {
    Report unused;
    components.run(unused);
    std::vector<vertex_t> asked;
    const std::int64_t step = std::max<std::int64_t>(graph.num_vertices / kLabelsAsked, 1);
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      const std::int64_t rows = graph.out[p].count / step;
      const auto before = static_cast<std::ptrdiff_t>(asked.size());
      asked.resize(asked.size() + static_cast<std::size_t>(rows));
      if (rows == 0) continue;
      DeviceGuard guard(graph.devices[p]);
      SHOAL_CUDA(cudaMemcpy2D(asked.data() + before, sizeof(vertex_t), components.label(p),
                              static_cast<std::size_t>(step) * sizeof(vertex_t), sizeof(vertex_t),
                              static_cast<std::size_t>(rows), cudaMemcpyDeviceToHost));
    }
    largest = most_frequent(std::move(asked));
  }
  ComponentsHookGpu components;
  vertex_t largest = kNoVertex;
};

PageRankRowsGpu::PageRankRowsGpu(const PlacedGraph& graph, World* world) : memory_(graph.devices), pes_(graph.n_pes()) {
  const double mean =
      graph.num_vertices > 0 ? static_cast<double>(graph.num_arcs) / static_cast<double>(graph.num_vertices) : 0;
  // max_degree counts out-arcs, so rows of directed graphs are always sorted.
  sorted_ = !(graph.symmetric && graph.max_degree <= kPageRankSliceRow && mean < 8);
  std::vector<Scratch> scratch(pes_.size());
  if (sorted_ && world == nullptr && graph.symmetric && graph.num_arcs > 0) {
    const Labels labels(graph);
    tied_ = order_all(graph, scratch, &labels);
  }
  if (!tied_) order_all(graph, scratch, nullptr);
  number_rows();
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    DeviceGuard guard(graph.devices[p]);
    describe_rows(graph, p, scratch[p]);
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
    SHOAL_CUDA(cudaDeviceSynchronize());  // copies between devices have arrived after this
    if (sorted_) fill_long(graph, p, scratch[p]);
    fill_slices(graph, p, scratch[p]);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
}

bool PageRankRowsGpu::in_phases() const {
  arc_t in_short = 0, all = 0;
  for (const Pe& pe : pes_) {
    in_short += pe.short_entries;
    all += pe.long_arcs + pe.slice_entries;
  }
  return tied_ && pays_to_sweep_again(in_short, all);
}

/// @param labels  null: rows of all components are sorted together
/// @return whether the largest component has most of the vertices with arcs, and all others have only short rows
bool PageRankRowsGpu::order_all(const PlacedGraph& graph, std::vector<Scratch>& scratch, const Labels* labels) {
  bool fits = labels != nullptr;
  std::int64_t in_largest = 0, active = 0;
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    DeviceGuard guard(graph.devices[p]);
    fits &= order_rows(graph, p, scratch[p], labels);
    SHOAL_CUDA(cudaDeviceSynchronize());
    in_largest += pes_[p].view.tied;
    active += pes_[p].view.active;
  }
  return fits && 2 * in_largest > active;
}

/// Sets the order of a PE's rows and where its kinds of rows end. @return whether all rows outside the largest component are short
bool PageRankRowsGpu::order_rows(const PlacedGraph& graph, pe_t p, Scratch& scratch, const Labels* labels) {
  PageRankRows& view = pes_[p].view;
  const CsrView& rows = graph.in[p];
  const u32 count = rows.count;
  view.first = rows.first;
  view.count = view.active = view.tied = view.first_short = count;
  if (!sorted_ || count == 0) return true;
  DeviceArray<u32> key(count, "lengths of rows");
  DeviceArray<vertex_t> number(count, "numbers of rows");
  DeviceArray<u32> found(kEnds + 1, "ends of kinds of rows");
  found.fill_bytes(0);
  if (scratch.key.size() == 0) scratch.key = DeviceArray<u32>(count, "lengths of rows");
  if (pes_[p].order == nullptr) pes_[p].order = memory_.array<vertex_t>(p, count, "order of rows");
  view.order = pes_[p].order;
  scratch.more = labels != nullptr ? kShortRow : 0;
  set_keys<<<blocks_for(count), kThreads>>>(rows, labels != nullptr ? labels->components.label(p) : nullptr,
                                            labels != nullptr ? labels->largest : kNoVertex, key.data(), number.data(),
                                            found.data() + kEnds);
  SHOAL_CUDA(cudaGetLastError());
  with_scratch("scratch of a sort", [&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairsDescending(memory, bytes, key.data(), scratch.key.data(), number.data(),
                                                     pes_[p].order, static_cast<std::int64_t>(count));
  });
  const u32 more = scratch.more;
  find_ends<<<blocks_for(count), kThreads>>>(
      scratch.key.data(), count,
      Limits{{kPageRankBlockRow + more, kPageRankSliceRow + more, kShortRow + more, more, 0}}, found.data());
  SHOAL_CUDA(cudaGetLastError());
  u32 got[kEnds + 1];
  found.download(got, kEnds + 1);
  view.num_block = got[kBlockRows];
  view.num_long = got[kLongRows];
  if (graph.symmetric) view.active = got[kActive];
  if (labels == nullptr) return true;
  view.tied = got[kTied];
  const u32 slices_before = (got[kNotShort] - got[kLongRows] + 31) / 32;  // rows that share a slice are of one kind
  const u32 first_short = view.num_long + 32 * slices_before;
  if (first_short < view.active) view.first_short = first_short;
  return got[kEnds] == 0;
}

/// Assigns places PE by PE; if short rows have places apart, these come after all others.
void PageRankRowsGpu::number_rows() {
  u32 long_places = 0, short_places = 0;
  for (Pe& pe : pes_) {
    pe.view.place_of_long = pe.view.place_of_short = pe.view.first;
    if (!tied_) pe.view.tied = pe.view.first_short = pe.view.count;
    long_places += pe.view.first_short;
  }
  u32 before = 0;
  for (Pe& pe : pes_) {
    pe.view.long_places = long_places;
    if (!tied_) continue;
    pe.view.place_of_long = before;
    pe.view.place_of_short = long_places + short_places - pe.view.first_short;
    before += pe.view.first_short;
    short_places += pe.view.count - pe.view.first_short;
  }
}

/// Computes the places and out-degrees of a PE's rows, which must be sorted already.
void PageRankRowsGpu::describe_rows(const PlacedGraph& graph, pe_t p, Scratch& scratch) {
  PageRankRows& view = pes_[p].view;
  const u32 count = view.count;
  if (sorted_) {
    scratch.place = DeviceArray<vertex_t>(graph.num_vertices, "places");
    if (count > 0) number_places<<<blocks_for(count), kThreads>>>(view, scratch.place.data());
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
  widen<<<blocks_for(std::int64_t{n} + 1), kThreads>>>(scratch.key.data(), scratch.more, n, ends);
  SHOAL_CUDA(cudaGetLastError());
  with_scratch("scratch of a sort", [&](void* memory, std::size_t& bytes) {
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
    with_scratch("scratch of a sort", [&](void* memory, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortKeys(memory, bytes, keys.data(), sorted.data(), size, 0,
                                            bits + std::bit_width(end - begin));
    });
    take_places<<<blocks_for(size), kThreads>>>(sorted.data(), size, (u64{1} << bits) - 1, targets + offsets[begin]);
    SHOAL_CUDA(cudaGetLastError());
    begin = end;
  }
  const arc_t in_units = arcs - offsets[view.num_block];
  // Enough units to keep all warps busy, but not so many that handing them out takes long.
  int multiprocessors = 0;
  SHOAL_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, graph.devices[p]));
  const arc_t unit_arcs =
      std::clamp(in_units / (arc_t{multiprocessors} * kWarpsPerSm * kUnitsPerWarp), kLeastUnit, kMostUnit);
  view.num_units = static_cast<u32>((in_units + unit_arcs - 1) / unit_arcs);
  u32* const unit = memory_.array<u32>(p, std::int64_t{view.num_units} + 1, "units of rows");
  view.unit = unit;
  cut_units<<<blocks_for(std::int64_t{view.num_units} + 1), kThreads>>>(view.offsets, view.num_block, n, unit_arcs,
                                                                        view.num_units, unit);
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
  with_scratch("scratch of a sort", [&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(memory, bytes, slice, slice, std::int64_t{view.num_slices} + 1);
  });
  arc_t& entries = pes_[p].slice_entries;
  download(&entries, slice + view.num_slices);
  if (view.first_short < view.count) {
    download(&pes_[p].short_entries, slice + (view.first_short - begin) / 32);
    pes_[p].short_entries = entries - pes_[p].short_entries;
  }
  vertex_t* const targets = memory_.array<vertex_t>(p, entries, "slices");
  view.slice_targets = targets;
  if (entries == 0) return;
  fill_slice<<<blocks, kThreads>>>(graph.in[p], view.order, scratch.place.data(), begin, end, view.num_slices,
                                   view.slice, static_cast<vertex_t>(graph.num_vertices), targets);
  SHOAL_CUDA(cudaGetLastError());
}

}  // namespace shoal
