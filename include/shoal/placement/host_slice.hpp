// Graphs of which each process holds the rows of its own PEs only, on the host.
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

/// Which PEs one of several processes has, and how it learns what all of them counted.
struct ShareOfPes {
  pe_t n_pes = 1;  ///< of all processes
  pe_t first_pe = 0, here = 1;
  int process = 0, processes = 1;
  /// Every process: of each number the sum over all processes. [as many everywhere]
  std::function<std::vector<std::uint64_t>(const std::vector<std::uint64_t>&)> sum;
  /// Every process: the largest.
  std::function<std::uint64_t(std::uint64_t)> largest;
};

/// About the most bytes that one of so many processes holds while it generates.
std::int64_t generate_share_bytes(const GeneratorSpec& spec, int processes);

/// True if generate_share() makes this partition.
bool can_generate_share(PartitionKind kind);

/// Every process: generates the rows of its PEs: those of the very graph that generate() makes. Each draws all edges and keeps its
/// own, which takes 12 bytes per arc of its own at the peak, and 8 bytes per vertex of the graph with a random partition.
/// @param kind     block, edges, one or random; automatic: edges. Edges are balanced in steps of n / 2^16 vertices, by what is drawn
///                 before duplicates are removed
/// @param seed     of the random partition
/// @param weights  hash255 or unit; mean_weight is then the expected one
/// @throws UsageError (another kind, weights of a file), and what `sum` and `largest` throw
PlacedGraph generate_share(const GeneratorSpec& spec, PartitionKind kind, std::uint64_t seed, const ShareOfPes& share,
                           std::optional<WeightSource> weights = std::nullopt);

/// True if read_share() makes this partition.
bool can_read_share(PartitionKind kind);

/// Every process: reads the rows of its PEs.
/// @param kind        block, edges or one; automatic: edges. Edges of a text are balanced in steps of vertices (SharedGraph::shift())
/// @param weights     placed as well
/// @param undirected  neighbours alone, as simple_undirected() makes them; then without weights
/// @throws UsageError (another kind, the file's weights), CapacityError, and what talking to the others throws
PlacedGraph read_share(const SharedGraph& graph, PartitionKind kind, const ShareOfPes& share,
                       std::optional<WeightSource> weights = std::nullopt, bool undirected = false);

}  // namespace shoal
