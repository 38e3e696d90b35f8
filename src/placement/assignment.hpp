// Partitions that are given by a PE number for each vertex. Private to this folder.
#pragma once
#include <string>

#include "shoal/core/array.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/partition.hpp"

namespace shoal {

/// [n] the PE of each vertex, chosen by METIS for few cut arcs; the sum of vertices and arcs is balanced between PEs.
/// @throws UsageError (built without METIS, or the graph is too large for its numbers), CapacityError (METIS found no memory)
HostArray<pe_t> assign_by_metis(const Csr& graph, pe_t n_pes, std::uint64_t seed);

/// [n] the PE of each vertex, read from a file with one number per line.
/// @throws UsageError naming file and line
HostArray<pe_t> read_assignment(const std::string& file, std::int64_t n, pe_t n_pes);

/// Makes a partition from the PE of each vertex: placed numbers go PE by PE, and within a PE in the input's order. Does not count
/// cut arcs.
Partition partition_of_assignment(const HostArray<pe_t>& pe_of, pe_t n_pes);

}  // namespace shoal
