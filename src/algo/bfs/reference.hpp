// Breadth-first search in plain serial code, and a definition of the right answer.
//
// Levels are right when, and only when, for every vertex v:
//   1. v is the source and has level 0; or
//   2. v has in-neighbours with levels, and v's level is the smallest of theirs plus one; or
//   3. v has no in-neighbour with a level, and is unreached.
// (Rule 2 leads from any level down to the one vertex of level 0, so a level is the length of a path. A shorter path would break
// rule 2 or 3 at its first vertex with a wrong level.) Parents are right when the source is its own parent, every other reached
// vertex has as parent an in-neighbour one level lower, and unreached vertices have none.
//
// A check looks at one vertex at a time through its in-arcs, so the same functions run on CPU threads and on GPUs; they share no
// code with the searches. The in-arcs of a directed graph are the rows of transpose(graph).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/core/fn.hpp"
#include "shoal/core/span.hpp"
#include "shoal/core/types.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

/// Levels by serial search with a queue: [num_vertices] hops from `source`, kUnreached where there is no path.
/// @param source below graph.num_vertices(); the caller has checked it
inline std::vector<level_t> bfs_reference(const Csr& graph, vertex_t source) {
  std::vector<level_t> level(graph.num_vertices(), kUnreached);
  std::vector<vertex_t> queue{source};
  level[source] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const vertex_t u = queue[head];
    for (const vertex_t v : graph.neighbors(u)) {
      if (level[v] != kUnreached) continue;
      level[v] = level[u] + 1;
      queue.push_back(v);
    }
  }
  return level;
}

/// The in-neighbour with the lowest level, as level << 32 | vertex; all ones when no in-neighbour is reached. Reads entries begin,
/// begin + step, ... of v's row, so that the lanes of a worker may share a row and take the smallest of their results.
/// @param in     the rows of in-arcs; they must contain v's
/// @param level  [all vertices]
SHOAL_FN inline std::uint64_t closest_in_neighbor(const CsrView& in, const level_t* level, vertex_t v,
                                                  std::int64_t begin = 0, std::int64_t step = 1) {
  std::uint64_t closest = ~0ull;
  const Span<const vertex_t> row = in.neighbors(v);
  for (std::int64_t k = begin; k < row.size(); k += step) {
    if (level[row[k]] == kUnreached) continue;
    const std::uint64_t candidate = static_cast<std::uint64_t>(level[row[k]]) << 32 | row[k];
    if (candidate < closest) closest = candidate;
  }
  return closest;
}

/// True if the level of v is right, given its closest in-neighbour.
SHOAL_FN inline bool level_is_right(vertex_t v, vertex_t source, level_t level, std::uint64_t closest) {
  if (v == source) return level == 0;
  if (closest == ~0ull) return level == kUnreached;
  return level != kUnreached && level == (closest >> 32) + 1;
}

/// Describes what is wrong with v; `v` and `neighbor` are printed as they are. Call it when level_is_right() returned false.
/// @param closest  the caller may replace its lower half, to print the neighbour in other numbers
std::string describe_wrong_level(vertex_t v, vertex_t source, level_t level, std::uint64_t closest);

/// Checks all levels, on all threads. Empty when they are right; otherwise one line about the first wrong vertex, such as
/// `vertex 17 has level 5 but its neighbour 3 has level 3`.
/// @param in      the graph if it is symmetric, else its transpose
/// @param levels  [num_vertices]; kUnreached (as int32: -1) where unreached; any other length is reported as wrong
std::string verify_levels(const Csr& in, Span<const level_t> levels, vertex_t source);
std::string verify_levels(const Csr& in, Span<const std::int32_t> levels, vertex_t source);

/// Checks a tree against levels that verify_levels() found right, on all threads. Empty when it is right.
/// @param parents   [num_vertices]; -1 where unreached
/// @param smallest  also require the smallest vertex number among the valid parents
std::string verify_parents(const Csr& in, Span<const std::int32_t> levels, Span<const std::int32_t> parents,
                           vertex_t source, bool smallest = false);

}  // namespace shoal
