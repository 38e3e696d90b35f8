#include "reference.hpp"

#include <algorithm>
#include <atomic>

#include "shoal/core/parallel.hpp"

namespace shoal {
namespace {

std::string number(std::int64_t x) { return std::to_string(x); }

/// The smallest owned vertex that breaks rule 1 or 2, or kNoVertex. Uses all threads.
vertex_t first_wrong(const CsrView& rows, Span<const vertex_t> labels) {
  std::atomic<vertex_t> first{kNoVertex};
  parallel_ranges(rows.count, 1 << 13, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const vertex_t v = rows.first + static_cast<vertex_t>(i);
      if (v >= first.load(std::memory_order_relaxed)) return;
      if (label_is_rooted(labels.data(), v) && other_label_neighbor(rows, labels.data(), v) == kNoVertex) continue;
      for (vertex_t old = first; v < old && !first.compare_exchange_weak(old, v);) {
      }
      return;
    }
  });
  return first;
}

}  // namespace

std::string describe_wrong_label(vertex_t v, vertex_t label, vertex_t neighbor, vertex_t neighbor_label,
                                 vertex_t label_of_label) {
  const std::string who = "vertex " + number(v) + " has label " + number(label);
  if (neighbor != kNoVertex) {
    return who + " but its neighbour " + number(neighbor) + " has label " + number(neighbor_label);
  }
  if (label > v) return who + ", which is larger than the vertex itself";
  if (label_of_label != label) return who + " but vertex " + number(label) + " has label " + number(label_of_label);
  return who + " but no path leads there";
}

std::string verify_components(const std::vector<CsrView>& slices, Span<const vertex_t> labels,
                              const std::function<vertex_t(vertex_t)>& name) {
  const auto n = static_cast<vertex_t>(labels.size());
  for (vertex_t v = 0; v < n; ++v) {
    if (labels[v] >= n) {  // must come before code that looks up the label of a label
      return "vertex " + number(name(v)) + " has label " + number(static_cast<std::int32_t>(labels[v])) +
             ", which is not one of the " + number(n) + " vertices";
    }
  }
  for (const CsrView& rows : slices) {
    const vertex_t v = first_wrong(rows, labels);
    if (v == kNoVertex) continue;
    const vertex_t label = labels[v], other = other_label_neighbor(rows, labels.data(), v);
    if (other == kNoVertex) return describe_wrong_label(name(v), name(label), other, 0, name(labels[label]));
    return describe_wrong_label(name(v), name(label), name(other), name(labels[other]), 0);
  }
  UnionFind sets(n);
  for (const CsrView& rows : slices) {
    for (vertex_t i = 0; i < rows.count; ++i) {
      for (const vertex_t u : rows.neighbors(rows.first + i)) sets.unite(rows.first + i, u);
    }
  }
  for (vertex_t v = 0; v < n; ++v) {
    if (sets.find(v) == sets.find(labels[v])) continue;
    return describe_wrong_label(name(v), name(labels[v]), kNoVertex, 0, name(labels[v]));
  }
  return "";
}

std::string verify_components(const Csr& graph, Span<const std::int32_t> labels) {
  if (labels.size() != graph.num_vertices()) {
    return "there are " + number(labels.size()) + " labels for " + number(graph.num_vertices()) + " vertices";
  }
  if (labels.empty()) return "";
  const CsrView rows{graph.offsets.data(), graph.targets.data(), 0, static_cast<vertex_t>(graph.num_vertices())};
  // As unsigned, a negative label is above every vertex number.
  const Span<const vertex_t> unsigned_labels{reinterpret_cast<const vertex_t*>(labels.data()), labels.size()};
  return verify_components({rows}, unsigned_labels, [](vertex_t v) { return v; });
}

ComponentSizes component_sizes(Span<const std::int32_t> labels) {
  std::vector<std::int32_t> size(static_cast<std::size_t>(labels.size()), 0);
  ComponentSizes sizes;
  for (const std::int32_t label : labels) {
    const std::int64_t now = ++size[static_cast<std::size_t>(label)];
    sizes.count += now == 1;
    sizes.largest = std::max(sizes.largest, now);
  }
  return sizes;
}

}  // namespace shoal
