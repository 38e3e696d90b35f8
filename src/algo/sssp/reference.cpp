#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>

#include "algo/first_wrong.hpp"
#include "shoal/core/parallel.hpp"

namespace shoal {
namespace {

constexpr std::uint64_t kUnreachedWord = kUnreachedDistance<std::uint64_t>;

std::string number(std::int64_t x) { return std::to_string(x); }

std::string length(std::uint64_t word, bool real) {
  if (!real) return std::to_string(word);
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", std::bit_cast<double>(word));
  return text;
}

/// An empty text if the lengths and the source fit the graph.
std::string wrong_shape(const Csr& in, std::int64_t size, const char* what, vertex_t source) {
  const std::int64_t n = in.num_vertices();
  if (size != n) return "there are " + number(size) + " " + what + " for " + number(n) + " vertices";
  if (source >= n) return "the source " + number(source) + " is not one of the " + number(n) + " vertices";
  return "";
}

/// Calls f(u) for every in-neighbour u of v whose arc gives v its distance, until f returns false.
template <class F>
void for_givers(const Csr& in, Span<const std::uint64_t> words, vertex_t v, F&& f) {
  for (arc_t a = in.offsets[v]; a < in.offsets[v + 1]; ++a) {
    const vertex_t u = in.targets[a];
    if (words[u] == kUnreachedWord || extend(words[u], weights_of(in), a) != words[v]) continue;
    if (!f(u)) return;
  }
}

/// Gives predecessors to the vertices of `floating`, which have no strictly nearer one, round by round, starting from vertices that
/// have a predecessor. A vertex that cannot be grounded keeps -1.
void ground(const Csr& in, Span<const std::uint64_t> words, const std::vector<vertex_t>& floating,
            std::int32_t* predecessor) {
  struct Arc {
    vertex_t from, to;
  };
  std::vector<Arc> arcs;  // arcs that give floating vertices their distance, each from a vertex at the same distance
  for (const vertex_t v : floating) {
    for_givers(in, words, v, [&](vertex_t u) {
      arcs.push_back({u, v});
      return true;
    });
  }
  std::sort(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) { return a.from < b.from; });
  std::vector<vertex_t> round;
  for (const Arc& arc : arcs) {
    if (predecessor[arc.from] >= 0 && (round.empty() || round.back() != arc.from)) round.push_back(arc.from);
  }
  while (!round.empty()) {
    std::vector<vertex_t> next;
    for (const vertex_t u : round) {  // ascending, so the first to reach v is the smallest
      auto arc = std::lower_bound(arcs.begin(), arcs.end(), u, [](const Arc& a, vertex_t x) { return a.from < x; });
      for (; arc != arcs.end() && arc->from == u; ++arc) {
        if (predecessor[arc->to] >= 0) continue;
        predecessor[arc->to] = static_cast<std::int32_t>(u);
        next.push_back(arc->to);
      }
    }
    std::sort(next.begin(), next.end());
    round.swap(next);
  }
}

}  // namespace

std::string describe_wrong_distance(vertex_t v, vertex_t source, std::uint64_t distance,
                                    const Arrival<std::uint64_t>& best, bool real) {
  const std::string who = (v == source ? "the source " : "vertex ") + number(v);
  const std::string has = distance == kUnreachedWord ? " is unreached" : " has distance " + length(distance, real);
  if (v == source) return who + has + ", not 0";
  if (best.distance == kUnreachedWord) return who + has + ", but none of its neighbours is reached";
  const std::string offer = "neighbour " + number(best.neighbor) + " offers " + length(best.distance, real);
  return who + has + (distance > best.distance ? ", but " + offer : ", but the best is " + offer);
}

HostArray<std::uint64_t> sssp_words(Span<const std::int64_t> distances) {
  HostArray<std::uint64_t> words(distances.size());
  for (std::int64_t v = 0; v < distances.size(); ++v) words[v] = static_cast<std::uint64_t>(distances[v]);
  return words;
}

HostArray<std::uint64_t> sssp_words(Span<const double> distances) {
  HostArray<std::uint64_t> words(distances.size());
  for (std::int64_t v = 0; v < distances.size(); ++v) {
    words[v] = distances[v] == INFINITY ? kUnreachedWord : std::bit_cast<std::uint64_t>(distances[v]);
  }
  return words;
}

HostArray<std::int32_t> sssp_predecessors(const Csr& in, Span<const std::uint64_t> words, vertex_t source) {
  HostArray<std::int32_t> predecessor(words.size());
  std::vector<vertex_t> floating;
  std::mutex mutex;
  parallel_ranges(words.size(), 1 << 13, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto v = static_cast<vertex_t>(i);
      predecessor[i] = v == source ? static_cast<std::int32_t>(v) : -1;
      if (v == source || words[v] == kUnreachedWord) continue;
      vertex_t best = kNoVertex;
      for_givers(in, words, v, [&](vertex_t u) {
        if (words[u] < words[v]) best = std::min(best, u);
        return true;
      });
      predecessor[i] = static_cast<std::int32_t>(best);
      if (best != kNoVertex) continue;
      const std::lock_guard lock(mutex);
      floating.push_back(v);
    }
  });
  if (!floating.empty()) ground(in, words, floating, predecessor.data());
  return predecessor;
}

std::string verify_distances(const Csr& in, Span<const std::uint64_t> words, vertex_t source) {
  const std::string shape = wrong_shape(in, words.size(), "distances", source);
  if (!shape.empty()) return shape;
  std::atomic<bool> all_from_nearer{true};
  const auto arrival = [&](vertex_t v) { return best_arrival(rows_of(in), weights_of(in), words.data(), v); };
  const std::int64_t wrong = first_wrong(words.size(), [&](vertex_t v) {
    const auto best = arrival(v);
    if (v != source && words[v] != kUnreachedWord && !best.from_nearer) all_from_nearer = false;
    return !distance_is_right(v, source, words[v], best);
  });
  if (wrong < words.size()) {
    const auto v = static_cast<vertex_t>(wrong);
    return describe_wrong_distance(v, source, words[v], arrival(v), in.weight_kind == WeightKind::float64);
  }
  if (all_from_nearer) return "";
  const HostArray<std::int32_t> predecessor = sssp_predecessors(in, words, source);
  for (std::int64_t v = 0; v < words.size(); ++v) {
    if (words[v] == kUnreachedWord || predecessor[v] >= 0) continue;
    return "vertex " + number(v) + " has distance " + length(words[v], in.weight_kind == WeightKind::float64) +
           ", but only a ring of arcs of weight zero says so: no nearer vertex leads to it";
  }
  return "";
}

std::string verify_predecessors(const Csr& in, Span<const std::uint64_t> words, Span<const std::int32_t> predecessors,
                                vertex_t source, bool smallest) {
  const std::int64_t n = in.num_vertices();
  std::string shape = wrong_shape(in, words.size(), "distances", source);
  if (shape.empty()) shape = wrong_shape(in, predecessors.size(), "predecessors", source);
  if (!shape.empty()) return shape;
  const auto describe = [&](vertex_t v) -> std::string {
    const std::int64_t p = predecessors[v];
    const auto say = [&](const std::string& rest) {
      return "vertex " + number(v) + " has predecessor " + number(p) + rest;
    };
    if (v == source) return p == v ? "" : say(" but is the source, its own predecessor");
    if (words[v] == kUnreachedWord) return p == -1 ? "" : say(" but is unreached, without one (-1)");
    if (p < 0 || p >= n) return say(", which is not a vertex");
    bool gives = false;
    vertex_t best = kNoVertex;
    for_givers(in, words, v, [&](vertex_t u) {
      gives |= u == p;
      if (words[u] < words[v]) best = std::min(best, u);
      return true;
    });
    if (!gives) return say(", from which no arc gives it its distance");
    return smallest && best != kNoVertex && best != p ? say(" but " + number(best) + " is the smallest nearer one")
                                                      : "";
  };
  const std::int64_t wrong = first_wrong(n, [&](vertex_t v) { return !describe(v).empty(); });
  if (wrong < n) return describe(static_cast<vertex_t>(wrong));
  // Each walk ends at the source or at a vertex of an earlier walk, or else it has met itself.
  std::vector<vertex_t> walk(n, kNoVertex);
  walk[source] = source;
  for (std::int64_t start = 0; start < n; ++start) {
    for (std::int64_t v = start; predecessors[v] >= 0; v = predecessors[v]) {
      if (walk[v] == kNoVertex) {
        walk[v] = static_cast<vertex_t>(start);
      } else if (walk[v] == start && v != source) {
        return "vertex " + number(v) + " is its own ancestor: following predecessors never reaches the source";
      } else {
        break;
      }
    }
  }
  return "";
}

}  // namespace shoal
