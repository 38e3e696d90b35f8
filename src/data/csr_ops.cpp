// Reverses graphs and checks symmetry. Every thread sweeps all rows in order, but handles only the targets in a range of its own.
// So it meets the arcs into a vertex in the order of their sources: nothing has to be sorted, and threads share no data.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <utility>

#include "formats.hpp"
#include "parallel.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/csr_build.hpp"

namespace shoal {
namespace io {
namespace {

Csr copy_of(const Csr& graph) {
  auto copy = [](const auto& from) {
    std::remove_cvref_t<decltype(from)> to(from.size());
    if (!from.empty())
      std::memcpy(to.data(), from.data(), static_cast<std::size_t>(from.size()) * sizeof(*from.data()));
    return to;
  };
  Csr out;
  out.offsets = copy(graph.offsets);
  out.targets = copy(graph.targets);
  out.weight_kind = graph.weight_kind;
  out.int_weights = copy(graph.int_weights);
  out.real_weights = copy(graph.real_weights);
  out.weight_remarks = graph.weight_remarks;
  out.vertices_remark = graph.vertices_remark;
  out.symmetric = graph.symmetric;
  out.name = graph.name;
  return out;
}

/// Calls f(u, a, v) for every arc a: u -> v with v in [first, last), in the order of (u, a). Rows must be sorted. Stops when f
/// returns false.
template <class F>
void sweep(const Csr& graph, std::int64_t first, std::int64_t last, F&& f) {
  const vertex_t* targets = graph.targets.data();
  const std::int64_t n = graph.num_vertices();
  for (std::int64_t u = 0; u < n; ++u) {
    arc_t a = graph.offsets[u];
    const arc_t end = graph.offsets[u + 1];
    if (first > 0) a = std::lower_bound(targets + a, targets + end, static_cast<vertex_t>(first)) - targets;
    for (; a < end && targets[a] < last; ++a)
      if (!f(static_cast<vertex_t>(u), a, targets[a])) return;
  }
}

bool same_weight(const Csr& graph, arc_t a, arc_t b) {
  if (graph.weight_kind == WeightKind::int32) return graph.int_weights[a] == graph.int_weights[b];
  if (graph.weight_kind == WeightKind::float64) return graph.real_weights[a] == graph.real_weights[b];
  return true;
}

}  // namespace

Lonely find_lonely_arc(const Csr& unsorted) {
  Csr copy;
  if (!rows_sorted(unsorted)) {
    copy = copy_of(unsorted);
    sort_rows(copy);
  }
  const Csr& graph = copy.offsets.empty() ? unsorted : copy;
  const std::int64_t n = graph.num_vertices();
  if (n == 0) return {};
  // The arcs into v, in the order of their sources, must match the arcs of row v one by one.
  const auto cuts = balanced_rows(graph.offsets.data(), n, thread_count(graph.num_arcs() / kArcGrain));
  std::vector<Lonely> found(cuts.size() - 1);
  std::atomic<std::int64_t> lowest{static_cast<std::int64_t>(found.size())};  // the first part that found an arc
  parallel_tasks(static_cast<std::int64_t>(found.size()), [&](std::int64_t part) {
    const std::int64_t first = cuts[part], last = cuts[part + 1];
    HostArray<arc_t> next(last - first);
    std::memcpy(next.data(), graph.offsets.data() + first, static_cast<std::size_t>(last - first) * sizeof(arc_t));
    sweep(graph, first, last, [&](vertex_t u, arc_t a, vertex_t v) {
      const arc_t b = next[v - first]++;
      if (b < graph.offsets[v + 1] && graph.targets[b] == u && same_weight(graph, a, b))
        return lowest.load(std::memory_order_relaxed) > part;
      // Row v has another arc in the place of the reverse of u -> v. If its target is smaller, it is the arc without a reverse.
      const bool other = b < graph.offsets[v + 1] && graph.targets[b] < u;
      found[part] = other ? Lonely{true, v, graph.targets[b]} : Lonely{true, u, v};
      for (std::int64_t seen = lowest; part < seen && !lowest.compare_exchange_weak(seen, part);) {
      }
      return false;
    });
  });
  for (const Lonely& lonely : found)
    if (lonely.found) return lonely;
  return {};
}

}  // namespace io

bool is_symmetric(const Csr& graph) { return !io::find_lonely_arc(graph).found; }

Csr transpose(const Csr& unsorted) {
  Csr copy;
  if (!io::rows_sorted(unsorted)) {
    copy = io::copy_of(unsorted);
    io::sort_rows(copy);
  }
  const Csr& graph = copy.offsets.empty() ? unsorted : copy;
  const std::int64_t n = graph.num_vertices();
  const arc_t m = graph.num_arcs();
  Csr out;
  out.name = graph.name;
  out.vertices_remark = graph.vertices_remark;
  out.symmetric = graph.symmetric;
  out.weight_kind = graph.weight_kind;
  out.weight_remarks.wide = graph.weight_remarks.wide;  // not `negative`, which names an edge in its original direction
  out.offsets = HostArray<arc_t>(n + 1, 0);
  out.targets = HostArray<vertex_t>(m);
  if (graph.weight_kind == WeightKind::int32) out.int_weights = HostArray<std::int32_t>(m);
  if (graph.weight_kind == WeightKind::float64) out.real_weights = HostArray<double>(m);
  parallel_ranges(m, io::kArcGrain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t a = b; a < e; ++a)
      std::atomic_ref<arc_t>(out.offsets[graph.targets[a]]).fetch_add(1, std::memory_order_relaxed);
  });
  arc_t total = 0;
  for (std::int64_t v = 0; v <= n; ++v) total += std::exchange(out.offsets[v], total);
  const auto cuts = io::balanced_rows(out.offsets.data(), n, io::thread_count(m / io::kArcGrain));
  io::parallel_tasks(static_cast<std::int64_t>(cuts.size()) - 1, [&](std::int64_t part) {
    io::sweep(graph, cuts[part], cuts[part + 1], [&](vertex_t u, arc_t a, vertex_t v) {
      const arc_t slot = out.offsets[v]++;
      out.targets[slot] = u;
      if (!out.int_weights.empty()) out.int_weights[slot] = graph.int_weights[a];
      if (!out.real_weights.empty()) out.real_weights[slot] = graph.real_weights[a];
      return true;
    });
  });
  // Each entry now holds its row's end, which is the start of the next row.
  std::memmove(out.offsets.data() + 1, out.offsets.data(), static_cast<std::size_t>(n) * sizeof(arc_t));
  out.offsets[0] = 0;
  return out;
}

bool is_simple_undirected(const Csr& graph) {
  if (!graph.symmetric) return false;
  std::atomic<bool> simple{true};
  parallel_ranges(graph.num_vertices(), kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end && simple.load(std::memory_order_relaxed); ++v) {
      const Span<const vertex_t> row = graph.neighbors(static_cast<vertex_t>(v));
      const bool ascends = std::adjacent_find(row.begin(), row.end(), std::greater_equal<>()) == row.end();
      if (!ascends || std::binary_search(row.begin(), row.end(), static_cast<vertex_t>(v))) simple = false;
    }
  });
  return simple;
}

Csr simple_undirected(const Csr& graph) {
  struct Edge {
    vertex_t u, v;
  };
  const arc_t* const first = graph.offsets.data();
  Csr out = csr_from_edges(graph.num_vertices(), graph.num_arcs(), /*both=*/true, [&](arc_t a) {
    const arc_t* const row = std::upper_bound(first, first + graph.num_vertices() + 1, a) - 1;
    return Edge{static_cast<vertex_t>(row - first), graph.targets[a]};
  });
  out.name = graph.name;
  out.vertices_remark = graph.vertices_remark;
  return out;
}

}  // namespace shoal
