// Turns arcs into rows: counts them, places them, and sorts each row. Uses all threads. The result does not depend on the order
// of the arcs.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "formats.hpp"
#include "parallel.hpp"
#include "shared/shared.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"

namespace shoal {
namespace io {
namespace {

constexpr std::int64_t kRowParts = 256;  // more than there are threads, so that a long row does not delay other rows

arc_t add(arc_t& x, arc_t v) { return std::atomic_ref<arc_t>(x).fetch_add(v, std::memory_order_relaxed); }

template <class W>
struct Weighted {
  vertex_t target;
  W weight;
  bool operator<(const Weighted& other) const {
    return target != other.target ? target < other.target : weight < other.weight;
  }
};

/// Calls f(row_begin, row_end) for ranges of rows with about equal work.
template <class F>
void for_rows(const HostArray<arc_t>& offsets, F&& f) {
  if (offsets.size() < 2) return;
  const auto cuts = balanced_rows(offsets.data(), offsets.size() - 1, kRowParts);
  parallel_tasks(static_cast<std::int64_t>(cuts.size()) - 1, [&](std::int64_t i) { f(cuts[i], cuts[i + 1]); });
}

template <class W>
void sort_weighted_rows(const HostArray<arc_t>& offsets, vertex_t* targets, W* weights) {
  for_rows(offsets, [&](std::int64_t first, std::int64_t last) {
    std::vector<Weighted<W>> row;
    for (std::int64_t v = first; v < last; ++v) {
      row.clear();
      for (arc_t a = offsets[v]; a < offsets[v + 1]; ++a) row.push_back({targets[a], weights[a]});
      if (std::is_sorted(row.begin(), row.end())) continue;
      std::sort(row.begin(), row.end());
      for (std::size_t i = 0; i < row.size(); ++i) {
        targets[offsets[v] + static_cast<arc_t>(i)] = row[i].target;
        weights[offsets[v] + static_cast<arc_t>(i)] = row[i].weight;
      }
    }
  });
}

/// Counts, scans and places the arcs. The arcs of a row are in any order.
template <class W>
void place_arcs(Csr& graph, std::int64_t n, const std::vector<vertex_t>& sources, const std::vector<vertex_t>& targets,
                const std::vector<W>& weights, HostArray<W>& out_weights, bool undirected) {
  const auto m = static_cast<std::int64_t>(sources.size());
  graph.offsets = HostArray<arc_t>(n + 1);
  arc_t* next = graph.offsets.data();
  parallel_ranges(n + 1, kArcGrain, [&](std::int64_t b, std::int64_t e) { std::fill(next + b, next + e, arc_t{0}); });
  parallel_ranges(m, kArcGrain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      add(next[sources[i]], 1);
      if (undirected && sources[i] != targets[i]) add(next[targets[i]], 1);
    }
  });
  arc_t total = 0;
  for (std::int64_t v = 0; v <= n; ++v) total += std::exchange(next[v], total);
  graph.targets = HostArray<vertex_t>(total);
  out_weights = HostArray<W>(weights.empty() ? 0 : total);
  auto put = [&](vertex_t from, vertex_t to, std::int64_t i) {
    const arc_t slot = add(next[from], 1);
    graph.targets[slot] = to;
    if (!weights.empty()) out_weights[slot] = weights[i];
  };
  parallel_ranges(m, kArcGrain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      put(sources[i], targets[i], i);
      if (undirected && sources[i] != targets[i]) put(targets[i], sources[i], i);
    }
  });
  // Each entry now holds the end of its row, which is the start of the next row.
  std::memmove(next + 1, next, static_cast<std::size_t>(n) * sizeof(arc_t));
  next[0] = 0;
}

template <class W>
HostArray<W> keep_marked(const HostArray<W>& from, const Csr& old, const HostArray<arc_t>& offsets) {
  HostArray<W> out(offsets[offsets.size() - 1]);
  for_rows(old.offsets, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t v = first; v < last; ++v) {
      arc_t to = offsets[v];
      for (arc_t a = old.offsets[v]; a < old.offsets[v + 1]; ++a)
        if (a == old.offsets[v] || old.targets[a] != old.targets[a - 1]) out[to++] = from[a];
    }
  });
  return out;
}

}  // namespace

Csr rows_of_arcs(std::int64_t rows, ArcList&& arcs, bool dedup) {
  Csr out;
  out.weight_kind = arcs.weight_kind;
  if (arcs.weight_kind == WeightKind::float64) {
    place_arcs(out, rows, arcs.sources, arcs.targets, arcs.real_weights, out.real_weights, false);
  } else {
    place_arcs(out, rows, arcs.sources, arcs.targets, arcs.int_weights, out.int_weights, false);
  }
  arcs = {};
  sort_rows(out);
  if (dedup) merge_parallel_arcs(out);
  return out;
}

void sort_rows(Csr& graph) {
  if (graph.weight_kind == WeightKind::int32)
    return sort_weighted_rows(graph.offsets, graph.targets.data(), graph.int_weights.data());
  if (graph.weight_kind == WeightKind::float64)
    return sort_weighted_rows(graph.offsets, graph.targets.data(), graph.real_weights.data());
  for_rows(graph.offsets, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t v = first; v < last; ++v) {
      vertex_t* begin = graph.targets.data() + graph.offsets[v];
      vertex_t* end = graph.targets.data() + graph.offsets[v + 1];
      if (!std::is_sorted(begin, end)) std::sort(begin, end);
    }
  });
}

bool rows_sorted(const Csr& graph) {
  std::atomic<bool> sorted{true};
  for_rows(graph.offsets, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t v = first; v < last && sorted.load(std::memory_order_relaxed); ++v) {
      for (arc_t a = graph.offsets[v] + 1; a < graph.offsets[v + 1]; ++a) {
        bool ordered = graph.targets[a - 1] <= graph.targets[a];
        if (graph.targets[a - 1] == graph.targets[a]) {
          if (graph.weight_kind == WeightKind::int32) ordered = graph.int_weights[a - 1] <= graph.int_weights[a];
          if (graph.weight_kind == WeightKind::float64) ordered = graph.real_weights[a - 1] <= graph.real_weights[a];
        }
        if (!ordered) sorted.store(false, std::memory_order_relaxed);
      }
    }
  });
  return sorted;
}

void merge_parallel_arcs(Csr& graph) {
  const std::int64_t n = graph.num_vertices();
  HostArray<arc_t> offsets(n + 1);
  for_rows(graph.offsets, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t v = first; v < last; ++v) {
      arc_t kept = 0;
      for (arc_t a = graph.offsets[v]; a < graph.offsets[v + 1]; ++a)
        kept += a == graph.offsets[v] || graph.targets[a] != graph.targets[a - 1];
      offsets[v] = kept;
    }
  });
  offsets[n] = 0;
  arc_t total = 0;
  for (std::int64_t v = 0; v <= n; ++v) total += std::exchange(offsets[v], total);
  if (total == graph.num_arcs()) return;
  if (graph.weight_kind == WeightKind::int32) graph.int_weights = keep_marked(graph.int_weights, graph, offsets);
  if (graph.weight_kind == WeightKind::float64) graph.real_weights = keep_marked(graph.real_weights, graph, offsets);
  graph.targets = keep_marked(graph.targets, graph, offsets);
  graph.offsets = std::move(offsets);
}

}  // namespace io

Csr csr_from_arcs(std::int64_t num_vertices, std::vector<vertex_t> sources, std::vector<vertex_t> targets,
                  std::vector<std::int32_t> int_weights, std::vector<double> real_weights, bool undirected,
                  bool dedup) {
  const std::size_t m = sources.size();
  if (num_vertices < 0 || num_vertices > kMaxVertices)
    throw UsageError("csr_from_arcs: num_vertices is " + std::to_string(num_vertices) + "; it must be in [0, " +
                     std::to_string(kMaxVertices) + "]");
  if (targets.size() != m)
    throw UsageError("csr_from_arcs: " + std::to_string(m) + " sources but " + std::to_string(targets.size()) +
                     " targets; give one target per source");
  if (!int_weights.empty() && !real_weights.empty())
    throw UsageError("csr_from_arcs: integer and real weights are both given; give one of them");
  for (const std::size_t weights : {int_weights.size(), real_weights.size()})
    if (weights != 0 && weights != m)
      throw UsageError("csr_from_arcs: " + std::to_string(m) + " arcs but " + std::to_string(weights) +
                       " weights; give one weight per arc, or none");
  parallel_ranges(static_cast<std::int64_t>(m), io::kArcGrain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      if (sources[i] >= num_vertices || targets[i] >= num_vertices)
        throw UsageError("csr_from_arcs: arc " + std::to_string(i) + " is " + std::to_string(sources[i]) + " -> " +
                         std::to_string(targets[i]) + ", but there are only " + std::to_string(num_vertices) +
                         " vertices (numbered from 0)");
      if (!real_weights.empty() && !std::isfinite(real_weights[i]))
        throw UsageError("csr_from_arcs: the weight of arc " + std::to_string(i) +
                         " is not finite; weights must be numbers");
    }
  });
  Csr graph;
  if (!real_weights.empty()) {
    graph.weight_kind = WeightKind::float64;
    io::place_arcs(graph, num_vertices, sources, targets, real_weights, graph.real_weights, undirected);
  } else {
    if (!int_weights.empty()) graph.weight_kind = WeightKind::int32;
    io::place_arcs(graph, num_vertices, sources, targets, int_weights, graph.int_weights, undirected);
  }
  io::sort_rows(graph);
  if (dedup) io::merge_parallel_arcs(graph);
  graph.symmetric = undirected;
  return graph;
}

}  // namespace shoal
