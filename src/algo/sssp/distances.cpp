#include "distances.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "algo/own_vertices.hpp"
#include "shoal/core/array.hpp"

namespace shoal {

bool any_too_far(const Machine& machine, const PlacedGraph& graph, const Words& words) {
  if (is_wide(words)) return false;
#if defined(SHOAL_HAVE_CUDA)
  if (machine.on_gpu()) {
    const std::vector<int> all = of_processes<int>(machine, any_too_far_on_devices(graph, words));
    return std::find(all.begin(), all.end(), 1) != all.end();
  }
#endif
  std::atomic<bool> found{false};
  const std::vector<const std::uint32_t*> part = words.as<std::uint32_t>();
  for_shares(machine.team(), graph, [&](pe_t pe, int, vertex_t begin, vertex_t end) {
    const std::uint32_t *const first = part[pe] + (begin - graph.out[pe].first), *const last = first + (end - begin);
    if (std::find(first, last, kTooFar) != last) found = true;
  });
  for (const int its : of_processes<int>(machine, found)) found = found || its != 0;
  return found;
}

std::string wrong_placed_vertex(const PlacedGraph& graph, vertex_t v, vertex_t source, std::uint64_t distance,
                                Arrival<std::uint64_t> best) {
  const Partition& names = graph.partition;
  if (best.neighbor != kNoVertex) best.neighbor = names.input(best.neighbor);
  return describe_wrong_distance(names.input(v), names.input(source), distance, best,
                                 graph.weight_kind == WeightKind::float64);
}

namespace {

template <class Word>
SsspCheck check_on_threads(const Machine& machine, const PlacedGraph& graph, const Words& words, vertex_t source) {
  const HostArray<Word> distance = fetch_words<Word>(machine, graph, words);
  std::atomic<bool> floating{false};
  std::string wrong = first_wrong_line(machine.team(), graph, [&](pe_t pe, vertex_t v) -> std::string {
    const auto best = best_arrival(graph.in[pe], graph.in_weights[pe], distance.data(), v);
    if (v != source && best.neighbor != kNoVertex && !best.from_nearer) floating.store(true, std::memory_order_relaxed);
    if (distance_is_right(v, source, distance[v], best)) return "";
    return wrong_placed_vertex(graph, v, source, widened(distance[v]),
                               {widened(best.distance), best.neighbor, best.from_nearer});
  });
  for (const int its : of_processes<int>(machine, floating)) floating = floating || its != 0;
  return {first_of_processes(machine, wrong), !floating};
}

}  // namespace

#if defined(SHOAL_HAVE_CUDA)
namespace {

/// Each process checks the vertices of its PEs, with the words of all vertices.
template <class Word>
SsspCheck check_on_gpus_of_processes(const Machine& machine, const PlacedGraph& graph, const Words& words,
                                     vertex_t source) {
  const HostArray<Word> all = fetch_words<Word>(machine, graph, words);
  SsspCheck check = check_words_on_devices(graph, words, source, all.data());
  check.wrong = first_of_processes(machine, check.wrong);
  for (const int its : of_processes<int>(machine, check.all_from_nearer)) check.all_from_nearer &= its != 0;
  return check;
}

}  // namespace
#endif

SsspCheck check_words(const Machine& machine, const PlacedGraph& graph, const Words& words, vertex_t source) {
#if defined(SHOAL_HAVE_CUDA)
  if (machine.on_gpu() && machine.world() != nullptr) {
    return is_wide(words) ? check_on_gpus_of_processes<std::uint64_t>(machine, graph, words, source)
                          : check_on_gpus_of_processes<std::uint32_t>(machine, graph, words, source);
  }
  if (machine.on_gpu()) return check_words_on_devices(graph, words, source);
#endif
  return is_wide(words) ? check_on_threads<std::uint64_t>(machine, graph, words, source)
                        : check_on_threads<std::uint32_t>(machine, graph, words, source);
}

}  // namespace shoal
