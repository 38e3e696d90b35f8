// What the baselines share: the distribution of vertices, the rows of a rank, and measurements of a level or sweep.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "shoal/core/fn.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal::baselines {

/// Vertex v belongs to rank v mod size, which numbers it v div size.
struct Ranks {
  int rank = 0, size = 1;

  SHOAL_FN int owner(vertex_t v) const { return static_cast<int>(v % static_cast<vertex_t>(size)); }
  SHOAL_FN vertex_t local(vertex_t v) const { return v / static_cast<vertex_t>(size); }
  std::int64_t count(std::int64_t num_vertices, int of) const { return (num_vertices + size - 1 - of) / size; }
  std::int64_t count(std::int64_t num_vertices) const { return count(num_vertices, rank); }
};

/// The rows of a rank's own vertices. Targets are numbered as in the input.
struct Rows {
  std::vector<arc_t> offsets{0};
  std::vector<vertex_t> targets;

  Rows() = default;
  Rows(const Csr& graph, const Ranks& ranks) {
    for (std::int64_t v = ranks.rank; v < graph.num_vertices(); v += ranks.size) {
      const auto row = graph.neighbors(static_cast<vertex_t>(v));
      targets.insert(targets.end(), row.begin(), row.end());
      offsets.push_back(static_cast<arc_t>(targets.size()));
    }
  }
  std::int64_t count() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  arc_t degree(std::int64_t v) const { return offsets[v + 1] - offsets[v]; }
  Span<const vertex_t> operator[](std::int64_t v) const { return {targets.data() + offsets[v], degree(v)}; }
};

/// The layout of a rank's array of sums, one value ("word") per target of its rows: first its own vertices in their order, then
/// those vertices of rank 0, 1, ... that are targets of its rows.
struct TargetWords {
  std::vector<vertex_t> asked;       ///< for each word of another rank's vertex: the number of the vertex at its owner
  std::vector<std::int64_t> counts;  ///< [ranks] how many of these words each owner has

  /// Replaces the targets in `rows` by the indices of their words.
  TargetWords(Rows& rows, const Ranks& ranks, std::int64_t num_vertices) : counts(ranks.size) {
    std::vector<vertex_t> word(num_vertices, kNoVertex);
    for (const vertex_t u : rows.targets) word[u] = 0;
    for (int r = 0; r < ranks.size; ++r) {
      const std::size_t before = asked.size();
      for (std::int64_t u = r, i = 0; u < num_vertices; u += ranks.size, ++i) {
        if (r == ranks.rank) word[u] = static_cast<vertex_t>(i);
        if (r == ranks.rank || word[u] == kNoVertex) continue;
        word[u] = static_cast<vertex_t>(rows.count() + static_cast<std::int64_t>(asked.size()));
        asked.push_back(static_cast<vertex_t>(i));
      }
      counts[r] = static_cast<std::int64_t>(asked.size() - before);
    }
    for (vertex_t& u : rows.targets) u = word[u];
  }
};

/// How many vertices a search reached, and how many arcs they have.
struct Reached {
  std::int64_t vertices = 0, arcs = 0;

  /// Adds those of one rank. @param levels  of its own vertices, -1 where unreached; @param offsets  of its rows
  void add(const std::vector<std::int32_t>& levels, const std::vector<arc_t>& offsets) {
    for (std::size_t v = 0; v < levels.size(); ++v) {
      if (levels[v] < 0) continue;
      ++vertices;
      arcs += offsets[v + 1] - offsets[v];
    }
  }
};

/// Measurements of one rank in one level, sweep or iteration.
struct Step {
  std::int64_t done = 0;  ///< vertices that the rank expanded, or cells that it updated
  std::int64_t sent = 0;  ///< words sent to other ranks
  double compute_seconds = 0;
  double communicate_seconds = 0;  ///< includes waiting for slower ranks
  double seconds = 0;              ///< of the whole step; the rest is the host's, for launches and for waiting

  void add(const Step& more) {
    done += more.done;
    sent += more.sent;
    compute_seconds += more.compute_seconds;
    communicate_seconds += more.communicate_seconds;
    seconds += more.seconds;
  }
};

}  // namespace shoal::baselines
