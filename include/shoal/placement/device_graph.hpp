// Graphs in the memory of GPUs: uploaded from the host, or generated on the device that uses them. This header needs no CUDA
// types. In a build without CUDA the functions that need a GPU throw DeviceError.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "shoal/graph/csr.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/graph/weights.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {

struct ShareOfPes;

/// Uploads each PE's rows (and in-arcs, for a directed graph) to its device. Offsets of each slice begin at 0.
/// @param graph    may be destroyed afterwards
/// @param devices  [n_pes] CUDA device of each PE; PEs may share one. Enables peer access between the devices
/// @param weights  also upload the graph's weights, if it has some
/// @throws UsageError (the partition is of another graph, `devices` has another length), CapacityError, DeviceError;
///         nothing is left on any device then
PlacedGraph place_on_devices(const Csr& graph, Partition partition, std::vector<int> devices, bool weights = false);

/// True if generate_on_devices() can make a partition of this kind, whatever the graph.
bool can_generate_on_devices(PartitionKind kind);

/// Generates each PE's rows on its device: exactly the graph that generate() makes, without passing through the host. While
/// a device sorts, it holds 16 bytes per arc of its PE, counted before duplicates are removed.
/// @param kind     block, edges, one or random; automatic: edges
/// @param seed     of the random partition
/// @param weights  hash255 or unit: also computed on the device, 4 bytes per arc (mean_weight is then the expected mean)
/// @throws UsageError (another kind, lengths, weights of a file), CapacityError (sizes wanted and free), DeviceError; nothing
///         is left on any device then
PlacedGraph generate_on_devices(const GeneratorSpec& spec, pe_t n_pes, PartitionKind kind, std::vector<int> devices,
                                std::uint64_t seed = 1, std::optional<WeightSource> weights = std::nullopt);

/// Every process calls it: the same for the rows of its own PEs (see generate_share()). The partition `edges` is cut only
/// between steps of n / 2^16 vertices.
/// @param devices  [share.here]
/// @throws as generate_on_devices(), and what `share.sum` and `share.largest` throw
PlacedGraph generate_share_on_devices(const GeneratorSpec& spec, PartitionKind kind, std::vector<int> devices,
                                      std::uint64_t seed, const ShareOfPes& share,
                                      std::optional<WeightSource> weights = std::nullopt);

/// Moves a graph, or the slices of it that this process has, from the host to the memory of devices.
/// @param devices  [graph.n_pes()]
/// @throws CapacityError, DeviceError; nothing is left on any device then
PlacedGraph move_to_devices(PlacedGraph graph, std::vector<int> devices);

/// Copies the whole graph back to the host, from GPUs or CPU PEs, with the weights that were placed.
/// @param input_numbers  true: vertices have the input's numbers and order; false: placed numbers
Csr fetch_graph(const PlacedGraph& graph, bool input_numbers = true);

/// Copies `bytes` bytes from the memory of the host or of any device to host memory; returns when the copy is complete.
void copy_to_host(void* to, const void* from, std::size_t bytes);

}  // namespace shoal
