// Generates a PE's rows on its device. Every device draws all edges and keeps the arcs of its own rows. Drawing is cheap
// compared with sorting, devices need not exchange anything, and the work and memory of sorting fall with the number of PEs.
#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <utility>

#include "device_slice.cuh"
#include "shoal/graph/edge_functions.hpp"

namespace shoal {
namespace {

using Key = std::uint64_t;           // local row << target_bits | placed target
using Counter = unsigned long long;  // a type that atomicAdd accepts

/// This slice's rows: whether they include an arc's source, and the arc's key.
struct Rows {
  vertex_t first, count;
  int target_bits;

  __device__ bool own(vertex_t source) const { return source - first < count; }
  __device__ Key key(vertex_t source, vertex_t target) const {
    return static_cast<Key>(source - first) << target_bits | target;
  }
};

constexpr const char* kScratch = "graph building, scratch";

unsigned slice_blocks(std::int64_t threads) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((threads + kSliceThreads - 1) / kSliceThreads, 1, 1 << 16));
}

__device__ std::int64_t global_thread() { return static_cast<std::int64_t>(blockIdx.x) * kSliceThreads + threadIdx.x; }
__device__ std::int64_t all_threads() { return static_cast<std::int64_t>(gridDim.x) * kSliceThreads; }

/// Counts this slice's arcs among the edges (kWrite false), or writes them, in any order.
/// @param forward, backward  which directions of an edge are arcs
template <bool kWrite, class Rule>
__global__ void __launch_bounds__(kSliceThreads)
    take_arcs(Rule edge_of, std::int64_t num_edges, bool forward, bool backward, Placement placed, Rows rows, Key* keys,
              Counter* taken) {
  using Scan = cub::BlockScan<unsigned, kSliceThreads>;
  __shared__ typename Scan::TempStorage scratch;
  __shared__ Counter base;
  for (std::int64_t start = static_cast<std::int64_t>(blockIdx.x) * kSliceThreads; start < num_edges;
       start += all_threads()) {
    const std::int64_t i = start + threadIdx.x;
    vertex_t u = 0, v = 0;
    bool out = false, in = false;
    if (i < num_edges) {
      const Edge edge = edge_of(i);
      u = placed(edge.u);
      v = placed(edge.v);
      out = forward && u != v && rows.own(u);
      in = backward && u != v && rows.own(v);
    }
    unsigned before = 0, total = 0;
    Scan(scratch).ExclusiveSum(static_cast<unsigned>(out) + in, before, total);
    if (threadIdx.x == 0) base = atomicAdd(taken, static_cast<Counter>(total));
    __syncthreads();
    if constexpr (kWrite) {
      if (out) keys[base + before] = rows.key(u, v);
      if (in) keys[base + before + out] = rows.key(v, u);
    }
    __syncthreads();
  }
}

/// Computes degree[r] of each row of this slice. The input vertices [first_input, last_input) include those of the slice.
__global__ void __launch_bounds__(kSliceThreads)
    find_degrees(RowRule rule, std::int64_t first_input, std::int64_t last_input, Placement placed, Rows rows,
                 arc_t* degree) {
  for (std::int64_t v = first_input + global_thread(); v < last_input; v += all_threads()) {
    const vertex_t p = placed(static_cast<vertex_t>(v));
    if (rows.own(p)) degree[p - rows.first] = rule.degree(static_cast<vertex_t>(v));
  }
}

/// One warp per input vertex writes its row: as keys if they must be sorted, as targets if these are in order already.
__global__ void __launch_bounds__(kSliceThreads)
    write_rows(RowRule rule, std::int64_t first_input, std::int64_t last_input, Placement placed, Rows rows,
               const arc_t* offsets, Key* keys, vertex_t* targets) {
  for (std::int64_t v = first_input + global_thread() / 32; v < last_input; v += all_threads() / 32) {
    const vertex_t input = static_cast<vertex_t>(v), p = placed(input);
    if (!rows.own(p)) continue;
    const arc_t begin = offsets[p - rows.first], degree = offsets[p - rows.first + 1] - begin;
    for (arc_t k = threadIdx.x % 32; k < degree; k += 32) {
      const vertex_t target = placed(rule.neighbor(input, k));
      if (keys != nullptr) {
        keys[begin + k] = rows.key(p, target);
      } else {
        targets[begin + k] = target;
      }
    }
  }
}

/// offsets[r] = the first of the sorted keys that is not below row r, for r in [0, count].
__global__ void __launch_bounds__(kSliceThreads)
    find_offsets(const Key* keys, std::int64_t num_keys, Rows rows, arc_t* offsets) {
  for (std::int64_t r = global_thread(); r <= rows.count; r += all_threads()) {
    const Key goal = static_cast<Key>(r) << rows.target_bits;
    std::int64_t low = 0, high = num_keys;
    while (low < high) {
      const std::int64_t mid = (low + high) / 2;
      if (keys[mid] < goal) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    offsets[r] = low;
  }
}

__global__ void __launch_bounds__(kSliceThreads)
    take_targets(const Key* keys, std::int64_t num_keys, int target_bits, vertex_t* targets) {
  const Key mask = (Key{1} << target_bits) - 1;
  for (std::int64_t i = global_thread(); i < num_keys; i += all_threads()) {
    targets[i] = static_cast<vertex_t>(keys[i] & mask);
  }
}

/// A counter in device memory that starts at 0.
class DeviceCounter {
 public:
  DeviceCounter() : word_(1, "counter") { zero(); }
  void zero() { word_.fill_bytes(0); }
  Counter* data() { return word_.data(); }
  std::int64_t get() const {
    Counter value = 0;
    word_.download(&value, 1);
    return static_cast<std::int64_t>(value);
  }

 private:
  DeviceArray<Counter> word_;
};

/// Sorts by the low `bits` bits. Afterwards `keys` may be other memory.
void sort_keys(DeviceArray<Key>& keys, int bits) {
  if (keys.size() == 0) return;
  DeviceArray<Key> other(keys.size(), "graph building, second copy of the arcs");
  cub::DoubleBuffer<Key> buffer(keys.data(), other.data());
  with_scratch(kScratch, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, buffer, keys.size(), 0, bits);
  });
  if (buffer.Current() == other.data()) keys.swap(other);
}

/// Copies sorted keys without duplicates to new memory; returns how many there are.
std::int64_t unique_keys(DeviceArray<Key>& keys) {
  if (keys.size() == 0) return 0;
  DeviceArray<Key> other(keys.size(), "graph building, arcs without duplicates");
  DeviceCounter kept;
  with_scratch(kScratch, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Unique(scratch, bytes, keys.data(), other.data(), kept.data(), keys.size());
  });
  keys.swap(other);
  return kept.get();
}

template <class Rule>
DeviceSlice slice_of_edges(const GeneratorSpec& spec, const Placement& placement, const Rows& rows, int key_bits,
                           bool reverse) {
  const Rule rule(spec);
  const std::int64_t num_edges = spec.num_vertices() * spec.degree;
  const bool forward = !spec.directed || !reverse, backward = !spec.directed || reverse;
  DeviceCounter taken;
  take_arcs<false><<<slice_blocks(num_edges), kSliceThreads>>>(rule, num_edges, forward, backward, placement, rows,
                                                               nullptr, taken.data());
  SHOAL_CUDA(cudaGetLastError());
  DeviceArray<Key> keys(taken.get(), "graph building, arcs as drawn");
  taken.zero();
  take_arcs<true><<<slice_blocks(num_edges), kSliceThreads>>>(rule, num_edges, forward, backward, placement, rows,
                                                              keys.data(), taken.data());
  SHOAL_CUDA(cudaGetLastError());
  sort_keys(keys, key_bits);
  const std::int64_t arcs = unique_keys(keys);

  DeviceSlice slice;
  slice.first = rows.first;
  slice.count = rows.count;
  slice.offsets = DeviceArray<arc_t>(std::int64_t{rows.count} + 1, "offsets");
  slice.targets = DeviceArray<vertex_t>(arcs, "targets");
  find_offsets<<<slice_blocks(slice.offsets.size()), kSliceThreads>>>(keys.data(), arcs, rows, slice.offsets.data());
  SHOAL_CUDA(cudaGetLastError());
  take_targets<<<slice_blocks(arcs), kSliceThreads>>>(keys.data(), arcs, rows.target_bits, slice.targets.data());
  SHOAL_CUDA(cudaGetLastError());
  SHOAL_CUDA(cudaDeviceSynchronize());
  return slice;
}

DeviceSlice slice_of_rows(const GeneratorSpec& spec, const Placement& placement, const Rows& rows, int key_bits) {
  const RowRule rule(spec);
  const std::int64_t first = placement.identity ? rows.first : 0;
  const std::int64_t last = placement.identity ? first + rows.count : spec.num_vertices();
  DeviceSlice slice;
  slice.first = rows.first;
  slice.count = rows.count;
  slice.offsets = DeviceArray<arc_t>(std::int64_t{rows.count} + 1, "offsets");
  slice.offsets.fill_bytes(0);  // find_degrees does not write the last entry
  find_degrees<<<slice_blocks(last - first), kSliceThreads>>>(rule, first, last, placement, rows, slice.offsets.data());
  SHOAL_CUDA(cudaGetLastError());
  with_scratch(kScratch, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, slice.offsets.data(), slice.offsets.data(),
                                         slice.offsets.size());
  });
  arc_t arcs = 0;
  slice.offsets.download(&arcs, 1, rows.count);
  DeviceArray<Key> keys(placement.identity ? 0 : arcs, "graph building, arcs");
  slice.targets = DeviceArray<vertex_t>(arcs, "targets");
  write_rows<<<slice_blocks((last - first) * 32), kSliceThreads>>>(
      rule, first, last, placement, rows, slice.offsets.data(), keys.data(), slice.targets.data());
  SHOAL_CUDA(cudaGetLastError());
  if (!placement.identity) {
    sort_keys(keys, key_bits);
    take_targets<<<slice_blocks(arcs), kSliceThreads>>>(keys.data(), arcs, rows.target_bits, slice.targets.data());
    SHOAL_CUDA(cudaGetLastError());
  }
  SHOAL_CUDA(cudaDeviceSynchronize());
  return slice;
}

}  // namespace

DeviceSlice generate_slice(const GeneratorSpec& spec, const Placement& placement, vertex_t first, vertex_t count,
                           bool reverse) {
  const int target_bits = RandomPlacement::bits_for(spec.num_vertices());
  const Rows rows{first, count, target_bits};
  const int key_bits = target_bits + RandomPlacement::bits_for(count);
  if (!spec.draws_edges()) return slice_of_rows(spec, placement, rows, key_bits);
  return spec.kind == GraphKind::community ? slice_of_edges<CommunityRule>(spec, placement, rows, key_bits, reverse)
                                           : slice_of_edges<EdgeRule>(spec, placement, rows, key_bits, reverse);
}

}  // namespace shoal
