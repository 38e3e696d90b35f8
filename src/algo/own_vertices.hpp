// Loops over the vertices of CPU PEs: each PE's threads take equal shares of its vertices.
#pragma once
#include <string>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worker/thread_team.hpp"

namespace shoal {

/// Calls f(pe, thread, begin, end) with each thread's share [begin, end) of the vertices of its PE, in placed numbers.
template <class F>
void for_shares(ThreadTeam& team, const PlacedGraph& graph, F&& f) {
  team.run([&](pe_t pe, int thread) {
    const std::int64_t first = graph.out[pe].first, n = graph.out[pe].count, t = team.threads_per_pe();
    f(pe, thread, static_cast<vertex_t>(first + n * thread / t), static_cast<vertex_t>(first + n * (thread + 1) / t));
  });
}

/// One line about the first vertex that is wrong, or an empty text.
/// @param wrong_at  wrong_at(pe, v) says in one line what is wrong with vertex v of PE pe; empty when it is right
template <class WrongAt>
std::string first_wrong_line(ThreadTeam& team, const PlacedGraph& graph, WrongAt&& wrong_at) {
  std::vector<std::string> found(static_cast<std::size_t>(team.size()));  // by thread; shares ascend with threads
  for_shares(team, graph, [&](pe_t pe, int thread, vertex_t begin, vertex_t end) {
    std::string& mine = found[static_cast<std::size_t>(pe * team.threads_per_pe() + thread)];
    for (vertex_t v = begin; v < end && mine.empty(); ++v) mine = wrong_at(pe, v);
  });
  for (std::string& line : found) {
    if (!line.empty()) return std::move(line);
  }
  return "";
}

}  // namespace shoal
