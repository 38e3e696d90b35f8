#include "engine.hpp"

#include <algorithm>

#include "shoal/core/error.hpp"

namespace shoal {

void complete(World* of_all, const PlacedGraph& graph, void* all, std::size_t bytes) {
  if (of_all == nullptr) return;
  World& world = *of_all;
  const vertex_t* const begin = graph.partition.owner.begin;
  std::byte* const base = static_cast<std::byte*>(all);
  const pe_t first = graph.first_pe, end = first + graph.n_pes();
  const std::span mine(base + begin[first] * bytes, (begin[end] - begin[first]) * bytes);
  const auto received = world.exchange({"the answer"}, mine);
  pe_t pe = 0;
  for (int p = 0; p < world.n_processes(); ++p) {
    std::byte* const at = base + begin[pe] * bytes;
    while (pe < world.n_pes() && world.process_of(pe) == p) ++pe;
    const std::size_t wanted = static_cast<std::size_t>(base + begin[pe] * bytes - at);
    const auto& its = received[static_cast<std::size_t>(p)];
    if (its.size() != wanted)
      throw TransportError("process " + std::to_string(p) + " sent a part of the answer of another size");
    if (p != world.process()) std::copy(its.begin(), its.end(), at);
  }
}

std::string first_of_processes(const Machine& machine, const std::string& mine) {
  if (machine.world() == nullptr) return mine;
  for (const auto& bytes : machine.world()->exchange({"a check"}, std::as_bytes(std::span(mine)))) {
    if (!bytes.empty()) return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  return "";
}

}  // namespace shoal
