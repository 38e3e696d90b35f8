// Core numbers in plain serial code, and a definition of the right answer. Graphs here are symmetric, without loops, and a row
// names no target twice.
//
// Numbers C are right when, and only when,
//   1. every vertex v has C[v] neighbours u with C[u] >= C[v];
//   2. all vertices can be removed, one after the other, where v may be removed when at most C[v] of its neighbours u with
//      C[u] >= C[v] are present: those with C[u] > C[v] always count as present, those with C[u] = C[v] until they are removed.
// By rule 1 the vertices with C >= k have k neighbours among themselves, for every k, so no C is too high. Suppose some C were too
// low: then some k-core would have vertices with C < k. Let c be the smallest C in it, and v the first of its vertices with C = c
// that is removed. v has k neighbours in that core, all with C >= c, and none of those with C = c has been removed: these are more
// than c. So v may not be removed. The order in which rule 2 removes vertices does not matter, and the check shares no code with
// the algorithm that finds the numbers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/core/span.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

/// Core numbers by bucket peeling, serial: [num_vertices].
/// Source: Batagelj, Zaversnik, "An O(m) Algorithm for Cores Decomposition of Networks", 2003.
std::vector<std::int32_t> kcore_reference(const Csr& graph);

/// Checks core numbers: rule 1 on all threads, rule 2 on one. Empty when they are right, otherwise one line about a wrong vertex.
/// @param cores  [num_vertices]; any other length is reported as wrong
std::string verify_kcore(const Csr& graph, Span<const std::int32_t> cores);

/// The largest core number, and how many vertices have it; {0, 0} when there are no vertices.
struct InnermostCore {
  std::int32_t k = 0;
  std::int64_t vertices = 0;
};
InnermostCore innermost_core(Span<const std::int32_t> cores);

}  // namespace shoal
