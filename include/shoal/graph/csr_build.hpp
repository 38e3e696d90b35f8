// Builds graphs from functions that compute an edge, or a row, from its number. Uses all threads; the result depends only
// on the function.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "shoal/core/array.hpp"
#include "shoal/core/parallel.hpp"
#include "shoal/core/types.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

inline constexpr std::int64_t kRowGrain = 1 << 14;  ///< rows that one thread takes at a time

/// Turns the degrees in offsets[0, n) into offsets[0, n], in place. Returns their sum.
inline arc_t offsets_from_degrees(arc_t* offsets, std::int64_t n) {
  arc_t total = 0;
  for (std::int64_t v = 0; v < n; ++v) total += std::exchange(offsets[v], total);
  offsets[n] = total;
  return total;
}

/// Builds a symmetric or directed graph from a rule with `degree(v)` and `neighbor(v, k)`. Neighbours must ascend with k.
/// @throws std::bad_alloc
template <class Rule>
Csr csr_from_rows(std::int64_t n, const Rule& rule) {
  Csr graph;
  graph.offsets = HostArray<arc_t>(n + 1);
  parallel_ranges(n, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) graph.offsets[v] = rule.degree(static_cast<vertex_t>(v));
  });
  graph.targets = HostArray<vertex_t>(offsets_from_degrees(graph.offsets.data(), n));
  parallel_ranges(n, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      vertex_t* row = graph.targets.data() + graph.offsets[v];
      const arc_t degree = graph.degree(static_cast<vertex_t>(v));
      for (arc_t k = 0; k < degree; ++k) row[k] = rule.neighbor(static_cast<vertex_t>(v), k);
    }
  });
  return graph;
}

/// Builds only the rows [first, first + n) of the graph that csr_from_edges() builds. Row 0 is that of vertex `first`; targets
/// are vertex numbers of the whole graph.
template <class EdgeOf>
Csr csr_rows_from_edges(vertex_t first, std::int64_t n, std::int64_t num_edges, bool both, const EdgeOf& edge_of) {
  // Buckets of 2^shift consecutive rows: few enough to write to all of them at once, and small enough to sort each in cache.
  const std::int64_t wanted = std::clamp<std::int64_t>(num_edges * (both ? 2 : 1) >> 17, 1, 2048);
  int shift = 0;
  while ((n >> shift) > wanted) ++shift;
  const std::int64_t buckets = (n >> shift) + 1;
  const std::int64_t grain = std::max<std::int64_t>(1 << 14, (num_edges + 255) / 256);
  const std::int64_t chunks = (num_edges + grain - 1) / grain;
  auto for_arcs = [&](std::int64_t begin, std::int64_t end, auto&& f) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto edge = edge_of(i);
      if (edge.u == edge.v) continue;
      if (edge.u - first < n) f(edge.u - first, edge.v);
      if (both && edge.v - first < n) f(edge.v - first, edge.u);
    }
  };

  // next[c * buckets + b] is first the number of arcs that chunk c has for bucket b, and later the place of the next of them.
  std::vector<arc_t> next(chunks * buckets, 0);
  parallel_chunks(num_edges, grain, [&](std::int64_t c, std::int64_t begin, std::int64_t end) {
    arc_t* mine = next.data() + c * buckets;
    for_arcs(begin, end, [&](vertex_t from, vertex_t) { ++mine[from >> shift]; });
  });
  std::vector<arc_t> bucket_begin(buckets + 1, 0);
  arc_t total = 0;
  for (std::int64_t b = 0; b < buckets; ++b) {
    bucket_begin[b] = total;
    for (std::int64_t c = 0; c < chunks; ++c) total += std::exchange(next[c * buckets + b], total);
  }
  bucket_begin[buckets] = total;
  HostArray<std::uint64_t> arcs(total);
  parallel_chunks(num_edges, grain, [&](std::int64_t c, std::int64_t begin, std::int64_t end) {
    arc_t* mine = next.data() + c * buckets;
    for_arcs(begin, end, [&](vertex_t from, vertex_t to) {
      arcs[mine[from >> shift]++] = static_cast<std::uint64_t>(from) << 32 | to;
    });
  });

  // Turns the arcs of each bucket into rows, sorted and without duplicates. The rows are packed at the front of the bucket.
  Csr graph;
  graph.symmetric = both;
  graph.offsets = HostArray<arc_t>(n + 1);
  auto rows_of = [&](std::int64_t b) { return std::pair{b << shift, std::min(n, (b + 1) << shift)}; };
  auto packed = [&](std::int64_t b) { return reinterpret_cast<vertex_t*>(arcs.data() + bucket_begin[b]); };
  parallel_ranges(buckets, 1, [&](std::int64_t b, std::int64_t) {
    const auto [first, last] = rows_of(b);
    const arc_t begin = bucket_begin[b], end = bucket_begin[b + 1];
    std::vector<arc_t> row_end(std::max<std::int64_t>(last - first, 0) + 1, 0);
    for (arc_t a = begin; a < end; ++a) ++row_end[(arcs[a] >> 32) - first + 1];
    for (std::size_t r = 1; r < row_end.size(); ++r) row_end[r] += row_end[r - 1];
    HostArray<vertex_t> row(end - begin);
    for (arc_t a = begin; a < end; ++a) row[row_end[(arcs[a] >> 32) - first]++] = static_cast<vertex_t>(arcs[a]);
    vertex_t* out = packed(b);
    arc_t row_begin = 0;
    for (std::int64_t v = first; v < last; ++v) {
      vertex_t* const from = row.data() + row_begin;
      vertex_t* const to = row.data() + row_end[v - first];
      std::sort(from, to);
      const arc_t degree = std::unique(from, to) - from;
      std::copy(from, from + degree, out);
      out += degree;
      graph.offsets[v] = degree;
      row_begin = row_end[v - first];
    }
  });
  graph.targets = HostArray<vertex_t>(offsets_from_degrees(graph.offsets.data(), n));
  parallel_ranges(buckets, 1, [&](std::int64_t b, std::int64_t) {
    const auto [first, last] = rows_of(b);
    if (first >= last) return;
    const arc_t begin = graph.offsets[first], count = graph.offsets[last] - begin;
    if (count > 0)
      std::memcpy(graph.targets.data() + begin, packed(b), static_cast<std::size_t>(count) * sizeof(vertex_t));
  });
  return graph;
}

/// Builds a graph from the edges edge_of(i), i in [0, num_edges), whose members u and v are below n. Leaves out loops and
/// duplicates; rows are sorted. `edge_of` is called twice for each i. Holds 12 bytes per arc at its peak.
/// @param both  add both directions of every edge, so that the graph is symmetric
/// @throws std::bad_alloc
template <class EdgeOf>
Csr csr_from_edges(std::int64_t n, std::int64_t num_edges, bool both, const EdgeOf& edge_of) {
  return csr_rows_from_edges(0, n, num_edges, both, edge_of);
}

}  // namespace shoal
