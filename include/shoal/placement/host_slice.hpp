// Graphs on the host of which each process holds only the rows of its own PEs.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "shoal/data/shared_graph.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/graph/weights.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {

/// Which PEs one of several processes has, and how it sums numbers over all processes.
struct ShareOfPes {
  pe_t n_pes = 1;               ///< PEs of all processes
  pe_t first_pe = 0, here = 1;  ///< this process has the PEs [first_pe, first_pe + here)
  int process = 0, processes = 1;
  /// Every process calls it, with equally many numbers: the sum of each number over all processes.
  std::function<std::vector<std::uint64_t>(const std::vector<std::uint64_t>&)> sum;
  /// Every process calls it: the largest of all processes' numbers.
  std::function<std::uint64_t(std::uint64_t)> largest;
};

/// Estimates the most bytes that each of `processes` processes holds while it generates its share.
std::int64_t generate_share_bytes(const GeneratorSpec& spec, int processes);

/// True if generate_share() can make a partition of this kind.
bool can_generate_share(PartitionKind kind);

/// Every process calls it, and generates the rows of its own PEs of exactly the graph that generate() makes. Each process draws
/// all edges and keeps its own. This takes 12 bytes per own arc at the peak; a random partition takes 8 bytes per vertex of the
/// graph besides.
/// @param kind     block, edges, one or random; automatic: edges. The partition `edges` is cut only between steps of n / 2^16
///                 vertices, and balances the arcs that are drawn, duplicates included
/// @param seed     of the random partition
/// @param weights  hash255 or unit; mean_weight is then the expected mean
/// @throws UsageError (another kind, weights of a file), and what `sum` and `largest` throw
PlacedGraph generate_share(const GeneratorSpec& spec, PartitionKind kind, std::uint64_t seed, const ShareOfPes& share,
                           std::optional<WeightSource> weights = std::nullopt);

/// True if read_share() can make a partition of this kind.
bool can_read_share(PartitionKind kind);

/// Every process calls it, and reads the rows of its own PEs.
/// @param kind        block, edges or one; automatic: edges. The partition `edges` is cut only between steps of
///                    2^SharedGraph::shift() vertices
/// @param weights     also place weights from this source
/// @param undirected  place only each vertex's neighbours, without weights, as simple_undirected() makes them
/// @throws UsageError (another kind, the file's weights), CapacityError, and what the communication of `graph` and `share`
///         throws
PlacedGraph read_share(const SharedGraph& graph, PartitionKind kind, const ShareOfPes& share,
                       std::optional<WeightSource> weights = std::nullopt, bool undirected = false);

}  // namespace shoal
