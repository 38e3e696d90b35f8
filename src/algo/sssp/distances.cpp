#include "distances.hpp"

#include <algorithm>
#include <atomic>

#include "shoal/core/array.hpp"

namespace shoal {

void fetch_words(const Machine& machine, const PlacedGraph& graph, const SsspWords& words, pe_t pe, std::uint64_t* to) {
  const std::int64_t n = graph.out[pe].count;
  if (n == 0) return;
  if (words.wide) {
    machine.copy_out(pe, to, words.pes[pe], static_cast<std::size_t>(n) * sizeof *to);
    return;
  }
  HostArray<std::uint32_t> narrow(n);
  machine.copy_out(pe, narrow.data(), words.pes[pe], static_cast<std::size_t>(n) * sizeof(std::uint32_t));
  for (std::int64_t i = 0; i < n; ++i) {
    to[i] = narrow[i] == kUnreachedDistance<std::uint32_t> ? kUnreachedDistance<std::uint64_t> : narrow[i];
  }
}

bool any_too_far(const Machine& machine, const PlacedGraph& graph, const SsspWords& words) {
  if (words.wide) return false;
#if defined(SHOAL_HAVE_CUDA)
  if (machine.on_gpu()) return any_too_far_on_devices(graph, words);
#endif
  std::atomic<bool> found{false};
  machine.team().run([&](pe_t pe, int thread) {
    const auto* const word = static_cast<const std::uint32_t*>(words.pes[pe]);
    const std::int64_t n = graph.out[pe].count, t = machine.threads_per_pe();
    const auto* const end = word + n * (thread + 1) / t;
    if (std::find(word + n * thread / t, end, kTooFar) != end) found = true;
  });
  return found;
}

std::string wrong_placed_vertex(const PlacedGraph& graph, vertex_t v, vertex_t source, std::uint64_t distance,
                                Arrival<std::uint64_t> best) {
  const Partition& names = graph.partition;
  if (best.neighbor != kNoVertex) best.neighbor = names.input(best.neighbor);
  return describe_wrong_distance(names.input(v), names.input(source), distance, best,
                                 graph.weight_kind == WeightKind::float64);
}

SsspCheck check_words(const Machine& machine, const PlacedGraph& graph, const SsspWords& words, vertex_t source) {
#if defined(SHOAL_HAVE_CUDA)
  if (machine.on_gpu()) return check_words_on_devices(graph, words, source);
#endif
  HostArray<std::uint64_t> distance(graph.num_vertices);
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    fetch_words(machine, graph, words, p, distance.data() + graph.out[p].first);
  }
  std::vector<SsspCheck> found(static_cast<std::size_t>(machine.team().size()));
  machine.team().run([&](pe_t pe, int thread) {
    const CsrView& rows = graph.in[pe];
    const std::int64_t n = rows.count, t = machine.threads_per_pe();
    SsspCheck& mine = found[pe * t + thread];
    mine.all_from_nearer = true;
    for (std::int64_t i = n * thread / t; i < n * (thread + 1) / t; ++i) {
      const vertex_t v = rows.first + static_cast<vertex_t>(i);
      const auto best = best_arrival(rows, graph.in_weights[pe], distance.data(), v);
      mine.all_from_nearer &= v == source || best.neighbor == kNoVertex || best.from_nearer;
      if (distance_is_right(v, source, distance[v], best)) continue;
      mine.wrong = wrong_placed_vertex(graph, v, source, distance[v], best);
      return;
    }
  });
  SsspCheck all{"", true};
  for (const SsspCheck& one : found) {
    if (all.wrong.empty()) all.wrong = one.wrong;
    all.all_from_nearer &= one.all_from_nearer;
  }
  return all;
}

}  // namespace shoal
