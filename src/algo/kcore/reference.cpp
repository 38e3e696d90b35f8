#include "reference.hpp"

#include <algorithm>
#include <numeric>

#include "algo/first_wrong.hpp"

namespace shoal {
namespace {

std::string number(std::int64_t x) { return std::to_string(x); }

/// How many neighbours of v have at least v's core number.
std::int64_t as_deep(const Csr& graph, Span<const std::int32_t> cores, vertex_t v) {
  const Span<const vertex_t> row = graph.neighbors(v);
  return std::count_if(row.begin(), row.end(), [&](vertex_t u) { return cores[u] >= cores[v]; });
}

}  // namespace

std::vector<std::int32_t> kcore_reference(const Csr& graph) {
  const auto n = static_cast<vertex_t>(graph.num_vertices());
  std::vector<std::int32_t> degree(n);
  for (vertex_t v = 0; v < n; ++v) degree[v] = static_cast<std::int32_t>(graph.degree(v));
  // Vertices sorted by degree: those of degree d begin at begin[d], and v is at place[v].
  const std::int32_t most = n > 0 ? *std::max_element(degree.begin(), degree.end()) : 0;
  std::vector<std::int64_t> begin(static_cast<std::size_t>(most) + 2);
  for (const std::int32_t d : degree) ++begin[static_cast<std::size_t>(d) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<vertex_t> order(n);
  std::vector<std::int64_t> place(n), next(begin.begin(), begin.end() - 1);
  for (vertex_t v = 0; v < n; ++v) order[place[v] = next[degree[v]]++] = v;
  for (std::int64_t i = 0; i < n; ++i) {
    const vertex_t v = order[i];
    for (const vertex_t u : graph.neighbors(v)) {
      if (degree[u] <= degree[v]) continue;
      // Swaps u with the first vertex of its degree; u's degree then begins one place later.
      const std::int64_t first = begin[degree[u]]++;
      const vertex_t other = order[first];
      std::swap(order[place[u]], order[first]);
      std::swap(place[u], place[other]);
      --degree[u];
    }
  }
  return degree;
}

std::string verify_kcore(const Csr& graph, Span<const std::int32_t> cores) {
  const std::int64_t n = graph.num_vertices();
  if (cores.size() != n) return "there are " + number(cores.size()) + " core numbers for " + number(n) + " vertices";
  const std::int64_t v =
      first_wrong(n, [&](vertex_t u) { return cores[u] < 0 || as_deep(graph, cores, u) < cores[u]; });
  if (v < n) {
    const auto wrong = static_cast<vertex_t>(v);
    const std::string who = "vertex " + number(v) + " has core number " + number(cores[v]);
    if (cores[v] < 0) return who;
    return who + " but only " + number(as_deep(graph, cores, wrong)) + " neighbours of that or a higher one";
  }
  // Rule 2.
  std::vector<std::int64_t> left(n);
  std::vector<vertex_t> going;
  for (vertex_t u = 0; u < n; ++u) {
    left[u] = as_deep(graph, cores, u);
    if (left[u] <= cores[u]) going.push_back(u);
  }
  std::vector<bool> gone(n);
  for (const vertex_t u : going) gone[u] = true;
  while (!going.empty()) {
    const vertex_t u = going.back();
    going.pop_back();
    for (const vertex_t w : graph.neighbors(u)) {
      if (gone[w] || cores[w] != cores[u] || --left[w] > cores[w]) continue;
      gone[w] = true;
      going.push_back(w);
    }
  }
  const auto stays = std::find(gone.begin(), gone.end(), false);
  if (stays == gone.end()) return "";
  const std::int64_t low = stays - gone.begin();
  return "vertex " + number(low) + " has core number " + number(cores[low]) +
         ", which is too low: it lies in a part in " + "which every vertex has more neighbours";
}

InnermostCore innermost_core(Span<const std::int32_t> cores) {
  InnermostCore in;
  for (const std::int32_t core : cores) {
    if (core > in.k) in = {core, 0};
    in.vertices += core == in.k;
  }
  return in;
}

}  // namespace shoal
