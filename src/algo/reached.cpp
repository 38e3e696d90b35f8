#include "algo/reached.hpp"

#include <algorithm>
#include <vector>

#include "algo/own_vertices.hpp"

namespace shoal {
namespace {

Reached sum_of(const std::vector<Reached>& shares) {
  Reached all;
  for (const Reached& share : shares) {
    all.vertices += share.vertices;
    all.arcs += share.arcs;
    all.farthest = std::max(all.farthest, share.farthest);
  }
  return all;
}

template <class Word>
Reached count_on_threads(ThreadTeam& team, const PlacedGraph& graph, const Words& words) {
  const std::vector<const Word*> part = words.as<Word>();
  std::vector<Reached> shares(static_cast<std::size_t>(team.size()));
  for_shares(team, graph, [&](pe_t pe, int thread, vertex_t begin, vertex_t end) {
    const CsrView& rows = graph.out[pe];
    Reached mine;
    for (vertex_t v = begin; v < end; ++v) {
      const vertex_t own = rows.local(v);
      const Word word = part[pe][own];
      if (word == static_cast<Word>(~Word{0})) continue;
      ++mine.vertices;
      mine.arcs += rows.offsets[own + 1] - rows.offsets[own];
      mine.farthest = std::max<std::uint64_t>(mine.farthest, word);
    }
    shares[static_cast<std::size_t>(pe * team.threads_per_pe() + thread)] = mine;
  });
  return sum_of(shares);
}

}  // namespace

Reached count_reached(const Machine& machine, const PlacedGraph& graph, const Words& words) {
#if defined(SHOAL_HAVE_CUDA)
  if (machine.on_gpu()) return sum_of(of_processes(machine, count_reached_on_devices(graph, words)));
#endif
  const Reached mine = words.bytes == sizeof(std::uint32_t)
                           ? count_on_threads<std::uint32_t>(machine.team(), graph, words)
                           : count_on_threads<std::uint64_t>(machine.team(), graph, words);
  return sum_of(of_processes(machine, mine));
}

}  // namespace shoal
