// Partitions that come as one PE number for each vertex. Private to this room.
#pragma once
#include <string>

#include "shoal/core/array.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/partition.hpp"

namespace shoal {

/// [n] a PE for each vertex, by METIS: few cut arcs, balanced by arcs and vertices together.
/// @throws UsageError (built without METIS, or beyond its 32-bit numbers), CapacityError (METIS found no memory)
HostArray<pe_t> assign_by_metis(const Csr& graph, pe_t n_pes, std::uint64_t seed);

/// [n] a PE for each vertex, from a file with one number per line.
/// @throws UsageError naming file and line
HostArray<pe_t> read_assignment(const std::string& file, std::int64_t n, pe_t n_pes);

/// Numbers the vertices PE after PE, in the input's order within each. Nothing is counted.
Partition partition_of_assignment(const HostArray<pe_t>& pe_of, pe_t n_pes);

}  // namespace shoal
