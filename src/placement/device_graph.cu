#include "shoal/placement/device_graph.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "device_slice.cuh"
#include "share.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/device/peer_access.cuh"

namespace shoal {
namespace {

/// Also enables peer access between the devices.
void check_devices(const char* who, const std::vector<int>& devices, pe_t n_pes) {
  const int found = num_devices();
  if (found == 0) {
    throw DeviceError(std::string(who) + ": no usable GPU was found; run with --device cpu, or see `shoal doctor`");
  }
  if (n_pes < 1 || n_pes > kMaxPes || static_cast<pe_t>(devices.size()) != n_pes) {
    throw UsageError(std::string(who) + ": " + std::to_string(devices.size()) + " devices given for " +
                     std::to_string(n_pes) + " PEs; give one for each of 1 to " + std::to_string(kMaxPes) + " PEs");
  }
  for (const int device : devices) {
    if (device < 0 || device >= found) {
      throw DeviceError(std::string(who) + ": device " + std::to_string(device) + " does not exist; " +
                        std::to_string(found) + " found, numbered from 0");
    }
  }
  reach_each_other(devices);
}

/// Uploads rows of a host graph in placed numbers to the current device.
/// @param weights  of its arcs; {} for none
DeviceSlice upload_slice(const CsrView& rows, const ArcWeights& weights) {
  DeviceSlice slice;
  slice.first = rows.first;
  slice.count = rows.count;
  const arc_t first = rows.offsets[0];
  HostArray<arc_t> offsets(std::int64_t{rows.count} + 1);
  for (std::int64_t v = 0; v <= rows.count; ++v) offsets[v] = rows.offsets[v] - first;
  const arc_t arcs = offsets[rows.count];
  slice.offsets = DeviceArray<arc_t>(offsets.size(), "offsets");
  slice.offsets.upload(offsets.data(), offsets.size());
  slice.targets = DeviceArray<vertex_t>(arcs, "targets");
  slice.targets.upload(rows.targets + first, arcs);
  if (weights.ints != nullptr) {
    slice.int_weights = DeviceArray<std::int32_t>(arcs, "weights");
    slice.int_weights.upload(weights.ints + first, arcs);
  }
  if (weights.reals != nullptr) {
    slice.real_weights = DeviceArray<double>(arcs, "weights");
    slice.real_weights.upload(weights.reals + first, arcs);
  }
  return slice;
}

/// Pointers to the weights of the whole graph.
ArcWeights all_weights(const Csr& graph) {
  return {graph.weight_kind == WeightKind::int32 ? graph.int_weights.data() : nullptr,
          graph.weight_kind == WeightKind::float64 ? graph.real_weights.data() : nullptr};
}

/// [n + 1] the offsets of the whole graph, from its slices in order.
HostArray<arc_t> gather_offsets(const std::vector<DeviceSlice>& slices, std::int64_t n) {
  HostArray<arc_t> offsets(n + 1, 0);
  for (const DeviceSlice& slice : slices) {
    arc_t* const mine = offsets.data() + slice.first;
    const arc_t before = mine[0];
    slice.offsets.download(mine, std::int64_t{slice.count} + 1);
    for (std::int64_t v = 0; v <= slice.count; ++v) mine[v] += before;
  }
  return offsets;
}

/// Redistributes the rows so that the slices match `owner`; `slices` is consumed.
std::vector<DeviceSlice> cut_again(std::vector<DeviceSlice> slices, const HostArray<arc_t>& offsets,
                                   const OwnerTable& owner, const std::vector<int>& devices) {
  std::vector<DeviceSlice> out(devices.size());
  for (pe_t p = 0; p < owner.n_pes; ++p) {
    DeviceGuard guard(devices[p]);
    DeviceSlice& slice = out[p];
    slice.first = owner.begin[p];
    slice.count = owner.begin[p + 1] - slice.first;
    const arc_t first_arc = offsets[slice.first], last_arc = offsets[owner.begin[p + 1]];
    HostArray<arc_t> mine(std::int64_t{slice.count} + 1);
    for (std::int64_t v = 0; v <= slice.count; ++v) mine[v] = offsets[slice.first + v] - first_arc;
    slice.offsets = DeviceArray<arc_t>(mine.size(), "offsets");
    slice.offsets.upload(mine.data(), mine.size());
    slice.targets = DeviceArray<vertex_t>(last_arc - first_arc, "targets");
    for (const DeviceSlice& from : slices) {
      const arc_t from_first = offsets[from.first];
      const arc_t begin = std::max(first_arc, from_first);
      const arc_t end = std::min(last_arc, from_first + from.targets.size());
      if (begin >= end) continue;
      // The source may be any device, this one included.
      SHOAL_CUDA(cudaMemcpy(slice.targets.data() + (begin - first_arc), from.targets.data() + (begin - from_first),
                            static_cast<std::size_t>(end - begin) * sizeof(vertex_t), cudaMemcpyDefault));
    }
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
  return out;
}

/// Moves the slices' memory into the graph, and appends views of it to `rows` and `weights`.
void keep_slices(PlacedGraph& placed, std::vector<DeviceSlice> slices, std::vector<CsrView>& rows,
                 std::vector<ArcWeights>& weights) {
  for (DeviceSlice& slice : slices) {
    rows.push_back(slice.view());
    placed.keep.push_back(std::move(slice.offsets).share());
    placed.keep.push_back(std::move(slice.targets).share());
    if (placed.weight_kind == WeightKind::none) continue;
    weights.push_back({slice.int_weights.data(), slice.real_weights.data()});
    placed.keep.push_back(std::move(slice.int_weights).share());
    placed.keep.push_back(std::move(slice.real_weights).share());
  }
}

/// Sets sample_levels, by the first PE's rows.
void sample(PlacedGraph& placed) {
  if (placed.out.empty()) return;
  DeviceGuard guard(placed.devices[0]);
  placed.sample_levels = sample_levels(placed.out[0]);
}

/// Moves generated slices into the graph; first computes their weights, if these are asked for.
/// @param in  the in-arcs; for directed graphs only
void keep_weighed(const GeneratorSpec& spec, std::optional<WeightSource> weights, std::vector<DeviceSlice> out,
                  std::vector<DeviceSlice> in, PlacedGraph& placed) {
  const Partition& partition = placed.partition;
  if (weights) {
    placed.weight_kind = WeightKind::int32;
    placed.mean_weight = *weights == WeightSource::unit ? 1 : 128;
    placed.max_weight = *weights == WeightSource::unit ? 1 : 255;
    for (std::size_t p = 0; p < out.size(); ++p) {
      DeviceGuard guard(placed.devices[p]);
      DeviceArray<vertex_t> names(partition.identity() ? 0 : placed.num_vertices,
                                  "input numbers, while arcs are weighed");
      if (!partition.identity()) names.upload(partition.input_of_placed.data(), placed.num_vertices);
      weigh_slice(out[p], *weights, names.data());
      if (spec.directed) weigh_slice(in[p], *weights, names.data());
    }
  }
  keep_slices(placed, std::move(out), placed.out, placed.out_weights);
  if (spec.directed) {
    keep_slices(placed, std::move(in), placed.in, placed.in_weights);
  } else {
    placed.in = placed.out;
    placed.in_weights = placed.out_weights;
  }
}

}  // namespace

PlacedGraph place_on_devices(const Csr& input, Partition partition, std::vector<int> devices, bool weights) {
  const OwnerTable& owner = partition.owner;
  check_devices("place_on_devices", devices, owner.n_pes);
  Csr copy;
  const bool same = partition.identity() && partition.n() == input.num_vertices() && !input.offsets.empty();
  if (!same) copy = place(input, partition);
  const Csr& graph = same ? input : copy;

  PlacedGraph placed;
  placed.devices = devices;
  placed.symmetric = graph.symmetric;
  placed.num_vertices = graph.num_vertices();
  placed.num_arcs = graph.num_arcs();
  for (std::int64_t v = 0; v < placed.num_vertices; ++v) {
    placed.max_degree = std::max(placed.max_degree, graph.degree(static_cast<vertex_t>(v)));
  }
  if (weights) placed.weight_kind = graph.weight_kind;
  const auto upload = [&](const Csr& from, std::vector<CsrView>& rows, std::vector<ArcWeights>& weights_of) {
    std::vector<DeviceSlice> slices;
    for (pe_t p = 0; p < owner.n_pes; ++p) {
      DeviceGuard guard(devices[p]);
      const vertex_t first = owner.begin[p];
      const CsrView rows{from.offsets.data() + first, from.targets.data(), first, owner.begin[p + 1] - first};
      slices.push_back(upload_slice(rows, weights ? all_weights(from) : ArcWeights{}));
      // Kernels on other devices or streams may read the slice next, and are not ordered after copies from pageable memory.
      SHOAL_CUDA(cudaDeviceSynchronize());
    }
    keep_slices(placed, std::move(slices), rows, weights_of);
  };
  upload(graph, placed.out, placed.out_weights);
  if (graph.symmetric || placed.num_arcs == 0) {
    placed.in = placed.out;
    placed.in_weights = placed.out_weights;
  } else {
    upload(transpose(graph), placed.in, placed.in_weights);
  }
  sample(placed);
  placed.partition = std::move(partition);
  return placed;
}

bool can_generate_on_devices(PartitionKind kind) {
  return kind == PartitionKind::automatic || kind == PartitionKind::block || kind == PartitionKind::edges ||
         kind == PartitionKind::one || kind == PartitionKind::random;
}

PlacedGraph generate_on_devices(const GeneratorSpec& spec, pe_t n_pes, PartitionKind kind, std::vector<int> devices,
                                std::uint64_t seed, std::optional<WeightSource> weights) {
  spec.check();
  if (weights == WeightSource::file) {
    throw UsageError("generate_on_devices: " + spec.text() + " has no weights of its own; use hash255 or unit");
  }
  check_devices("generate_on_devices", devices, n_pes);
  if (kind == PartitionKind::automatic) kind = PartitionKind::edges;
  if (!can_generate_on_devices(kind)) {
    throw UsageError(
        "generate_on_devices: only block, edges, one and random partitions are made where the graph is "
        "generated; for others generate on the host and place the graph");
  }
  const std::int64_t n = spec.num_vertices();
  PlacedGraph placed;
  Partition& partition = placed.partition;
  if (kind == PartitionKind::random) partition = random_partition(n, n_pes, seed);
  partition.kind = kind;
  partition.owner = kind == PartitionKind::one ? one_range(n, n_pes) : block_ranges(n, n_pes);
  const Placement placement{partition.identity(), RandomPlacement(n, seed)};
  const auto make = [&](bool reverse) {
    std::vector<DeviceSlice> slices;
    for (pe_t p = 0; p < n_pes; ++p) {
      DeviceGuard guard(devices[p]);
      const vertex_t first = partition.owner.begin[p];
      slices.push_back(generate_slice(spec, placement, first, partition.owner.begin[p + 1] - first, reverse));
    }
    return slices;
  };
  std::vector<DeviceSlice> out = make(false), in;
  if (spec.directed) in = make(true);
  if (kind == PartitionKind::edges && n_pes > 1) {
    // Ranges of equal arcs are known only after the arcs have been generated. So rows now move to their owner.
    const HostArray<arc_t> offsets = gather_offsets(out, n);
    partition.owner = edge_ranges(offsets.data(), n, n_pes);
    out = cut_again(std::move(out), offsets, partition.owner, devices);
    if (spec.directed) {
      const HostArray<arc_t> in_offsets = gather_offsets(in, n);
      in = cut_again(std::move(in), in_offsets, partition.owner, devices);
    }
  }
  placed.devices = devices;
  placed.symmetric = !spec.directed;
  placed.num_vertices = n;
  arc_t most = 0;
  partition.cut_arcs = 0;
  for (pe_t p = 0; p < n_pes; ++p) {
    DeviceGuard guard(devices[p]);
    const SliceMeasures measures = measure_slice(out[p]);
    placed.num_arcs += out[p].targets.size();
    most = std::max(most, out[p].targets.size());
    placed.max_degree = std::max(placed.max_degree, measures.max_degree);
    partition.cut_arcs += measures.cut_arcs;
  }
  partition.imbalance =
      placed.num_arcs > 0 ? static_cast<double>(most) * n_pes / static_cast<double>(placed.num_arcs) : 1;
  keep_weighed(spec, weights, std::move(out), std::move(in), placed);
  sample(placed);
  return placed;
}

PlacedGraph generate_share_on_devices(const GeneratorSpec& spec, PartitionKind kind, std::vector<int> devices,
                                      std::uint64_t seed, const ShareOfPes& share,
                                      std::optional<WeightSource> weights) {
  spec.check();
  check_devices("generate_share_on_devices", devices, share.here);
  if (kind == PartitionKind::automatic) kind = PartitionKind::edges;
  if (!can_generate_on_devices(kind) || weights == WeightSource::file) {
    throw UsageError(
        "generate_share_on_devices: use a block, edges, one or random partition, without weights of a file");
  }
  const std::int64_t n = spec.num_vertices();
  PlacedGraph placed;
  Partition& partition = placed.partition;
  if (kind == PartitionKind::random) partition = random_partition(n, share.n_pes, seed);
  partition.kind = kind;
  partition.owner = kind == PartitionKind::one ? one_range(n, share.n_pes) : block_ranges(n, share.n_pes);
  const Placement placement{partition.identity(), RandomPlacement(n, seed)};
  const auto make = [&](bool reverse) {
    std::vector<DeviceSlice> slices;
    for (pe_t p = 0; p < share.here; ++p) {
      DeviceGuard guard(devices[p]);
      const vertex_t first = partition.owner.begin[share.first_pe + p];
      const vertex_t count = partition.owner.begin[share.first_pe + p + 1] - first;
      slices.push_back(generate_slice(spec, placement, first, count, reverse));
    }
    return slices;
  };
  if (kind == PartitionKind::edges && share.n_pes > 1) {
    // Ranges of equal arcs are known only after the arcs have been generated. Generating twice is less work than sending arcs.
    const int shift = shift_of_steps(n);
    std::vector<std::uint64_t> arcs(static_cast<std::size_t>((n - 1) >> shift) + 1);
    for (const DeviceSlice& slice : make(false)) {
      HostArray<arc_t> offsets(std::int64_t{slice.count} + 1);
      slice.offsets.download(offsets.data(), offsets.size());
      for (std::int64_t v = 0; v < slice.count; ++v) {
        arcs[static_cast<std::size_t>((slice.first + v) >> shift)] +=
            static_cast<std::uint64_t>(offsets[v + 1] - offsets[v]);
      }
    }
    partition.owner = cut_equally(share.sum(arcs), shift, n, share.n_pes);
  }
  std::vector<DeviceSlice> out = make(false), in;
  if (spec.directed) in = make(true);
  placed.first_pe = share.first_pe;
  placed.devices = devices;
  placed.symmetric = !spec.directed;
  placed.num_vertices = n;
  Measured mine;
  for (pe_t p = 0; p < share.here; ++p) {
    DeviceGuard guard(devices[p]);
    const SliceMeasures measures = measure_slice(out[p]);
    mine.arcs.push_back(static_cast<std::uint64_t>(out[p].targets.size()));
    mine.cut += static_cast<std::uint64_t>(measures.cut_arcs);
    mine.most_arcs = std::max(mine.most_arcs, static_cast<std::uint64_t>(measures.max_degree));
  }
  sum_up(placed, share, mine);
  keep_weighed(spec, weights, std::move(out), std::move(in), placed);
  return placed;
}

PlacedGraph move_to_devices(PlacedGraph graph, std::vector<int> devices) {
  check_devices("move_to_devices", devices, graph.n_pes());
  PlacedGraph placed;
  placed.first_pe = graph.first_pe;
  placed.symmetric = graph.symmetric;
  placed.num_vertices = graph.num_vertices;
  placed.num_arcs = graph.num_arcs;
  placed.max_degree = graph.max_degree;
  placed.weight_kind = graph.weight_kind;
  placed.mean_weight = graph.mean_weight;
  placed.max_weight = graph.max_weight;
  placed.devices = devices;
  const auto upload = [&](const std::vector<CsrView>& from, const std::vector<ArcWeights>& weights_of_from,
                          std::vector<CsrView>& rows, std::vector<ArcWeights>& weights) {
    std::vector<DeviceSlice> slices;
    for (std::size_t p = 0; p < from.size(); ++p) {
      DeviceGuard guard(devices[p]);
      slices.push_back(upload_slice(from[p], weights_of_from.empty() ? ArcWeights{} : weights_of_from[p]));
    }
    keep_slices(placed, std::move(slices), rows, weights);
  };
  upload(graph.out, graph.out_weights, placed.out, placed.out_weights);
  if (graph.symmetric || graph.num_arcs == 0) {
    placed.in = placed.out;
    placed.in_weights = placed.out_weights;
  } else {
    upload(graph.in, graph.in_weights, placed.in, placed.in_weights);
  }
  sample(placed);
  placed.partition = std::move(graph.partition);
  return placed;
}

void copy_to_host(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (num_devices() == 0) {
    std::memcpy(to, from, bytes);
  } else {
    SHOAL_CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
  }
}

}  // namespace shoal
