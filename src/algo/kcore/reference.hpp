// Core numbers in plain serial code, and what a right answer is. Graphs here are symmetric, without loops, and name no
// target twice in a row.
//
// Numbers C are right when, and only when,
//   1. every vertex v has C[v] neighbours u with C[u] >= C[v];
//   2. all vertices can be taken away, one after the other, where v may go while at most C[v] of its neighbours u with
//      C[u] >= C[v] are there: those with C[u] > C[v] always are, those with C[u] = C[v] until they have gone.
// By 1 the vertices with C >= k have k neighbours among themselves, for every k: so no C is too high. Were one too low, some
// k-core would have vertices with C < k. Let c be the least C in it, and v the first of those with C = c that goes. It has k
// neighbours in that core, all with C >= c, and of those with C = c none has gone: more than c. So v may not go. The order
// in which 2 takes vertices does not matter, and nothing is shared with the code that found the numbers.
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

/// Checks core numbers: rule 1 on all threads, rule 2 by one. Empty when they are right, else one line about a wrong vertex.
/// @param cores  [num_vertices]; any other length is reported as wrong
std::string verify_kcore(const Csr& graph, Span<const std::int32_t> cores);

/// The largest core number, and how many vertices have it; {0, 0} without vertices.
struct InnermostCore {
  std::int32_t k = 0;
  std::int64_t vertices = 0;
};
InnermostCore innermost_core(Span<const std::int32_t> cores);

}  // namespace shoal
